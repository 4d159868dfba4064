"""Change the syntax tree of a program in small steps: exchange nodes, try its statements, say something else."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeGuard

__all__ = [
    "Change",
    "guard_first_item",
    "index_of",
    "is_print",
    "is_tool_call",
    "key_of",
    "print_statement",
    "replace_nodes",
    "replace_prints",
    "split_head",
    "string_constants",
    "wrap_in_try",
]

Change = Callable[[ast.AST], ast.AST | None]
"""The replacement of a node; None where it stays."""


class _NodeReplacer(ast.NodeTransformer):
    def __init__(self, change: Change) -> None:
        self._change = change

    def visit(self, node: ast.AST) -> ast.AST:
        """Exchange a node, or go on inside it."""
        replacement = self._change(node)
        return self.generic_visit(node) if replacement is None else replacement


def replace_nodes(tree: ast.Module, change: Change) -> ast.Module:
    """A program with some nodes exchanged; the tree itself stays as it is."""
    copied = _NodeReplacer(change).visit(copy.deepcopy(tree))
    assert isinstance(copied, ast.Module)
    return copied


def is_print(node: ast.AST) -> TypeGuard[ast.Call]:
    """True for a call of print."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"


def is_tool_call(node: ast.AST) -> TypeGuard[ast.Call]:
    """True for a call of a tool."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and bool(re.match(r"[A-Z]+_", node.func.id))


def key_of(node: ast.AST) -> str | None:
    """`title` of `work["title"]`."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        return node.slice.value
    return None


def index_of(node: ast.AST) -> int | None:
    """`0` of `works[0]`."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
        return node.slice.value
    return None


def string_constants(tree: ast.AST) -> Iterator[str]:
    """The string constants of a program."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def print_statement(arguments: Sequence[ast.expr]) -> ast.Expr:
    """A call of print."""
    return ast.Expr(ast.Call(ast.Name("print", ast.Load()), list(arguments), []))


def replace_prints(tree: ast.Module, arguments: Sequence[ast.expr]) -> ast.Module:
    """A program whose first print has these arguments, without its other prints."""
    replacements = [print_statement(arguments)]

    def change(node: ast.AST) -> ast.AST | None:
        if not isinstance(node, ast.Expr) or not is_print(node.value):
            return None
        return replacements.pop() if replacements else ast.Pass()

    return replace_nodes(tree, change)


def split_head(tree: ast.Module) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """The imports and functions of a program, and the rest of it."""
    heads: list[ast.stmt] = [
        statement for statement in tree.body if isinstance(statement, (ast.Import, ast.ImportFrom, ast.FunctionDef))
    ]
    return heads, [statement for statement in tree.body if statement not in heads]


def wrap_in_try(body: list[ast.stmt], handler: str) -> ast.Try:
    """Statements in a `try`; `handler` is one line, in which the error is `error`."""
    statement = ast.parse(f"try:\n    pass\nexcept Exception as error:\n    {handler}").body[0]
    assert isinstance(statement, ast.Try)
    statement.body = body
    return statement


def guard_first_item(tree: ast.Module, instead: str) -> ast.Module:
    """A program that prints `instead` where a list is empty, before it takes the first item."""
    for at, statement in enumerate(tree.body):
        if not isinstance(statement, ast.Assign):
            continue
        taken = [node for node in ast.walk(statement.value) if isinstance(node, ast.Subscript) and index_of(node) == 0]
        if not taken or not any(map(is_tool_call, ast.walk(taken[0].value))):
            continue
        whole = ast.dump(taken[0].value)
        assignment = ast.Assign([ast.Name("found", ast.Store())], taken[0].value)

        def use_variable(node: ast.AST, whole: str = whole) -> ast.AST | None:
            return ast.Name("found", ast.Load()) if ast.dump(node) == whole else None

        rest = replace_nodes(ast.Module(tree.body[at:], []), use_variable)
        condition = ast.If(ast.Name("found", ast.Load()), rest.body, [print_statement([ast.Constant(instead)])])
        return ast.Module([*tree.body[:at], assignment, condition], [])
    return tree
