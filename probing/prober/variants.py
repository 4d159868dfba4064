"""Other versions of a program that ran, whoever wrote it: its tree says where to change it, the rest keeps its text."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from textwrap import indent

from atc.program.source import calls_of, parsed
from atc.program.tree import called_name, nodes_of
from probing.prober.values import OWN_NAME, renumbered
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
    call = _call_of(program, tool)
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
        yield from (_with_argument(program, call, param.argument, value) for value in choices if value != used)


def item_variants(program: str, tool: Tool, word: str, names: Sequence[str]) -> Iterator[str]:
    """The program for other entities, to learn which fields are optional.

    Args:
        word: The search term of the program, "" for none.
    """
    call = _call_of(program, tool)
    tree = parsed(program)
    if call is None or tree is None:
        return
    match tree.body[0]:
        case ast.Assign(targets=[ast.Name(variable)], value=ast.Subscript(items, ast.Constant(0))) if _is_list(items):
            rest = program.split("\n")[tree.body[0].end_lineno :]
            loop = f"for {variable} in {ast.get_source_segment(program, items)}[1:{MAX_ITEMS}]:"
            yield "\n".join([loop, indent("\n".join(rest), "    ")])
    searches = [node for node, text in _texts(program).items() if word and text == word]
    for other_name in [name for name in names if searches and name != word][: MAX_ITEMS - 2]:
        yield _rewritten(program, dict.fromkeys(searches, json.dumps(other_name, ensure_ascii=False)))
    if any(param.argument == "page" for param in tool.arguments) and not any(kw.arg == "page" for kw in call.keywords):
        yield from (_with_argument(program, call, "page", page) for page in (2, 3))


def kept_creation(program: str, variable: str, number: int) -> str | None:
    """A creating program that sets a variable to the response which it printed; None if it printed none.

    Args:
        number: Another number for the names of its objects.
    """
    names = {node: repr(renumbered(text, number)) for node, text in _texts(program).items() if OWN_NAME.search(text)}
    program = _rewritten(program, names)
    tree = parsed(program)
    last = tree.body[-1] if tree is not None and tree.body else None
    match last:
        case ast.Expr(ast.Call(ast.Name("print"), [response])):
            before = program.split("\n")[: last.lineno - 1]
            return "\n".join([*before, f"{variable} = {ast.get_source_segment(program, response)}"])
    return None


def _texts(program: str) -> dict[ast.expr, str]:
    """The strings of a program, but for the parts of formatted ones: these have no place of their own."""
    tree = parsed(program) or ast.Module([], [])
    formatted = [part for node in nodes_of(tree, ast.JoinedStr) for part in node.values]
    constants = (node for node in nodes_of(tree, ast.Constant) if node not in formatted)
    return {node: node.value for node in constants if isinstance(node.value, str)}


def _call_of(program: str, tool: Tool) -> ast.Call | None:
    """The last call of a tool."""
    calls = [call for call, _ in calls_of(parsed(program) or ast.Module([], []), [tool.name])]
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


def _with_argument(program: str, call: ast.Call, name: str, value: object) -> str:
    """A program with another value of an argument of a call, or with one more argument."""
    arguments = {keyword.arg: keyword.value for keyword in call.keywords}
    if name in arguments:
        return _rewritten(program, {arguments[name]: repr(value)})
    if not call.args and not arguments:
        return _rewritten(program, {call: f"{called_name(call)}({name}={value!r})"})
    last = max([*call.args, *arguments.values()], key=lambda node: (node.lineno, node.col_offset))
    return _rewritten(program, {last: f"{ast.get_source_segment(program, last)}, {name}={value!r}"})


def _rewritten(program: str, texts: Mapping[ast.expr, str]) -> str:
    """A program with other texts for some expressions, none inside another."""
    source = program.encode()  # syntax trees count bytes
    starts = [0, *accumulate(map(len, source.splitlines(keepends=True)))]
    for node in sorted(texts, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        source = source[: starts[node.lineno - 1] + node.col_offset] + texts[node].encode() + source[end:]
    return source.decode()
