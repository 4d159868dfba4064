"""Other versions of a program that ran, whoever wrote it: its tree is changed and printed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence

from atc.program.source import called_name, calls_of, nodes_of, parsed
from probing.prober.values import renumbered
from protocols.model import Tool
from protocols.schema_fields import type_of
from protocols.text.words import SIZES, words

__all__ = ["MAX_ITEMS", "argument_variants", "item_variants", "kept_creation"]

_MAX_CHOICES = 4
"""Values of an enumeration to try."""
MAX_ITEMS = 8
"""Entities to call a complete tool for: a field that some lack is optional."""


def argument_variants(program: str, tool: Tool) -> Iterator[str]:
    """The program with each other value of a required enumeration, and with pages of one item.

    A list of enumerated values is tried with each one alone: the response may depend on it.
    """
    call = _call_of(parsed(program), tool)
    if call is None:
        return
    arguments = {keyword.arg: keyword.value for keyword in call.keywords}
    for param in tool.arguments:
        used = _value(arguments.get(param.argument))
        enum, items = param.schema.get("enum"), param.schema.get("items")
        several = items.get("enum") if isinstance(items, Mapping) else None
        choices: list[object] = []
        if param.required and isinstance(enum, list) and used in enum[:_MAX_CHOICES]:
            choices += enum[:_MAX_CHOICES]
        if param.required and isinstance(several, list) and isinstance(arguments.get(param.argument), ast.List):
            choices += [[value] for value in several[:_MAX_CHOICES]]
        is_size = not SIZES.isdisjoint(words(param.argument)[-1:]) and type_of(param.schema) == "integer"
        if is_size and param.argument not in arguments:
            choices.append(1)
        yield from (_with_argument(program, tool, param.argument, value) for value in choices if value != used)


def item_variants(program: str, tool: Tool, word: str, names: Sequence[str]) -> Iterator[str]:
    """The program for other entities, to learn which fields are optional.

    Args:
        word: The search term of the program, "" for none.
    """
    tree = parsed(program)
    call = _call_of(tree, tool)
    if call is None or tree is None:
        return
    match tree.body[0]:
        case ast.Assign(targets=[ast.Name() as target], value=ast.Subscript(items, ast.Constant(0))) if _is_list(items):
            rest = ast.Subscript(items, ast.Slice(ast.Constant(1), ast.Constant(MAX_ITEMS)))
            yield _printed(ast.Module([ast.For(target, rest, tree.body[1:], [])], []))
    searches = word and any(text == word for text in _texts(tree))
    for other_name in [name for name in names if searches and name != word][: MAX_ITEMS - 2]:
        yield _with_texts(program, {word: other_name}.get)
    if any(param.argument == "page" for param in tool.arguments) and not any(kw.arg == "page" for kw in call.keywords):
        yield from (_with_argument(program, tool, "page", page) for page in (2, 3))


def kept_creation(program: str, variable: str, number: int) -> str | None:
    """A creating program that sets a variable to the response which it printed; None if it printed none.

    Args:
        number: Another number for the names of its objects.
    """
    tree = parsed(_with_texts(program, lambda text: renumbered(text, number)))
    match tree.body[-1] if tree is not None and tree.body else None:
        case ast.Expr(ast.Call(ast.Name("print"), [response])) if tree is not None:
            assignment = ast.Assign([ast.Name(variable)], response)
            return _printed(ast.Module([*tree.body[:-1], assignment], []))
    return None


def _texts(tree: ast.Module) -> Iterator[str]:
    return (node.value for node in nodes_of(tree, ast.Constant) if isinstance(node.value, str))


def _with_texts(program: str, other: Callable[[str], str | None]) -> str:
    """A program with other texts; where there is none, the text stays."""
    tree = parsed(program) or ast.Module([], [])
    for node in nodes_of(tree, ast.Constant):
        if isinstance(node.value, str):
            node.value = other(node.value) or node.value
    return _printed(tree)


def _call_of(tree: ast.Module | None, tool: Tool) -> ast.Call | None:
    """The last call of a tool."""
    calls = [call for call, _ in calls_of(tree or ast.Module([], []), [tool.name])]
    return max(calls, key=lambda call: (call.lineno, call.col_offset), default=None)


def _value(node: ast.expr | None) -> object:
    try:
        return ast.literal_eval(node) if node is not None else None
    except ValueError:
        return None


def _is_list(node: ast.expr) -> bool:
    """True for a part of a tool's response that no place in a list leads to."""
    match node:
        case ast.Subscript(inner, ast.Constant(str())):
            return _is_list(inner)
    return bool(called_name(node))


def _with_argument(program: str, tool: Tool, name: str, value: object) -> str:
    """A program with another value of an argument of the last call of a tool, or with one more argument."""
    tree = parsed(program)
    call = _call_of(tree, tool)
    assert tree is not None and call is not None
    call.keywords = [keyword for keyword in call.keywords if keyword.arg != name]
    call.keywords.append(ast.keyword(name, ast.parse(repr(value), mode="eval").body))
    return _printed(tree)


def _printed(tree: ast.Module) -> str:
    return ast.unparse(ast.fix_missing_locations(tree))
