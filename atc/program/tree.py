"""Queries of a syntax tree: nodes of a type, names that are called or assigned."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import TypeVar

__all__ = ["assigned_names", "called_name", "called_tool", "full_name", "lines_of", "nodes_of"]

Node = TypeVar("Node", bound=ast.AST)


def nodes_of(tree: ast.AST, kind: type[Node]) -> Iterator[Node]:
    """The nodes of one type, in the order of `ast.walk`."""
    return (node for node in ast.walk(tree) if isinstance(node, kind))


def assigned_names(tree: ast.AST) -> Counter[str]:
    """How often each name is assigned, by loops and comprehensions, too."""
    return Counter(node.id for node in nodes_of(tree, ast.Name) if isinstance(node.ctx, ast.Store))


def called_name(node: ast.AST) -> str:
    """The name of a called function; empty for any other node."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def full_name(node: ast.AST) -> str:
    """`search` of such a name, `api.search` of an attribute of a name; empty for any other node."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def called_tool(node: ast.AST) -> str:
    """The name of a called function, or `object.method` as a tool may be called; empty for any other node."""
    return full_name(node.func) if isinstance(node, ast.Call) else ""


def lines_of(node: ast.expr | ast.stmt) -> range:
    """The lines of an expression or statement, from 1."""
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)
