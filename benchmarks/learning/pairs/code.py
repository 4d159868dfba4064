"""Programs as trees: patterns of Python with parts filled in, printed once in the style of the prompts."""

from __future__ import annotations

import ast
import copy
import hashlib
import io
import json
import tokenize
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
    text = ast.unparse(ast.fix_missing_locations(ast.Module(list(body), [])))
    tokens = [_requoted(token) for token in tokenize.generate_tokens(io.StringIO(text).readline)]
    return _joined(tokens, text)


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


def _requoted(token: tokenize.TokenInfo) -> tuple[tokenize.TokenInfo, str]:
    is_text = token.type == tokenize.STRING and token.string[:1] == "'"
    return token, json.dumps(ast.literal_eval(token.string), ensure_ascii=False) if is_text else token.string


def _joined(tokens: Iterable[tuple[tokenize.TokenInfo, str]], text: str) -> str:
    """The text with each token in its new spelling."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    pieces, end = [], 0
    for token, spelling in tokens:
        start = starts[token.start[0] - 1] + token.start[1] if token.start[0] <= len(lines) else len(text)
        if token.type == tokenize.STRING:
            pieces += [text[end:start], spelling]
            end = start + len(token.string)
    return "".join([*pieces, text[end:]])
