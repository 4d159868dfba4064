"""Programs as trees: patterns of Python with parts filled in, printed once in the style of the prompts."""

from __future__ import annotations

import ast
import copy
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

__all__ = ["constant", "expression", "part", "print_program", "request", "shape", "statements"]

_NAMED_FIELDS = ("id", "arg", "name", "attr", "lineno", "col_offset", "end_lineno", "end_col_offset", "kind", "ctx")


def statements(pattern: str, **parts: ast.expr | str) -> list[ast.stmt]:
    """The statements of a pattern; each name in it that is a key of `parts` becomes that expression or name.

    For example `statements("print(len(ITEMS))", ITEMS=part)`.
    """
    tree = copy.deepcopy(_parsed(pattern))
    return [_Filling(parts).visit(statement) for statement in tree.body]


def expression(pattern: str, **parts: ast.expr | str) -> ast.expr:
    """The expression of a pattern; see `statements`."""
    [statement] = statements(pattern, **parts)
    assert isinstance(statement, ast.Expr), pattern
    return statement.value


def constant(value: object) -> ast.expr:
    """A JSON value as an expression."""
    return ast.parse(repr(value), mode="eval").body


def part(whole: ast.expr | str, path: Iterable[str | int]) -> ast.expr:
    """The part of a value at a path."""
    node: ast.expr = ast.Name(whole) if isinstance(whole, str) else whole
    for step in path:
        node = ast.Subscript(node, ast.Constant(step))
    return node


def request(tool: str, arguments: Mapping[str, ast.expr]) -> ast.expr:
    """A call of a tool."""
    return ast.Call(ast.Name(tool), [], [ast.keyword(name, value) for name, value in arguments.items()])


def print_program(body: Sequence[ast.stmt]) -> str:
    """The text of a program, its texts in double quotes."""
    module = _DoubleQuoting().visit(copy.deepcopy(ast.Module(list(body), [])))
    return ast.unparse(ast.fix_missing_locations(module))


def shape(program: str) -> str:
    """A digest of a program's syntax tree without its names and constants."""
    tree = ast.parse(program)
    for node in ast.walk(tree):
        for name in _NAMED_FIELDS:
            if hasattr(node, name):
                setattr(node, name, None)
        if isinstance(node, ast.Constant):
            node.value = None
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()[:12]


@cache
def _parsed(pattern: str) -> ast.Module:
    return ast.parse(pattern)


class _Filling(ast.NodeTransformer):
    """Puts parts in the place of names."""

    def __init__(self, parts: Mapping[str, ast.expr | str]) -> None:
        self._parts = parts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """A name, or what stands for it."""
        filled = self._parts.get(node.id, node)
        return ast.Name(filled) if isinstance(filled, str) else copy.deepcopy(filled)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """The argument of a lambda."""
        filled = self._parts.get(node.arg)
        return ast.arg(filled) if isinstance(filled, str) else node


class _DoubleQuoting(ast.NodeTransformer):
    """Spells texts in double quotes: `ast.unparse` writes a name as it is, and a constant in single ones."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """A constant, or how a text is spelled."""
        return ast.Name(json.dumps(node.value, ensure_ascii=False)) if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        """A formatted text as it is: its constants are no texts of their own."""
        return node
