"""Plausible mistakes in right programs: each mutant is the program with one of them, and may still print an answer.

A mistake is made in the syntax tree. Other fields and values are taken from the replies that the right program read, so
that a mutant is what somebody could have written who had them in view.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from protocols.model import Protocol
from sandbox import CallRecord

__all__ = ["Mutant", "mutants", "plain"]

_PLAUSIBLE = 0.4  # x
_WRONG_IDENTIFIER = "wrong identifier"
_IDENTIFIERS = ("id", "uuid", "key", "number", "code")


@dataclass(frozen=True, slots=True)
class Mutant:
    """A program with one mistake of a kind."""

    kind: str
    program: str


@dataclass(frozen=True)
class _Seen:
    """What a mistake may be made of: the tools, and the objects in the replies."""

    protocol: Protocol
    calls: Sequence[CallRecord]

    @cached_property
    def objects(self) -> list[dict[str, object]]:
        """All objects in the replies."""
        pending: list[object] = [call.response for call in self.calls]
        objects = []
        while pending:
            value = pending.pop()
            if isinstance(value, dict):
                objects.append(value)
                pending += value.values()
            elif isinstance(value, list):
                pending += value
        return objects

    def sibling(self, key: str, kind: str) -> str | None:
        """The field beside another one that is most like it, with a value of the same type."""
        rated = [
            (_PLAUSIBLE * (kind == _WRONG_IDENTIFIER and _is_identifier(name)) + _likeness(key, name), name)
            for fields in self.objects
            if key in fields
            for name, value in fields.items()
            if name != key and type(value) is type(fields[key]) and value != fields[key] and value not in ("", [], {})
        ]
        ratio, name = max(rated, default=(0.0, ""))
        return name if ratio >= _PLAUSIBLE else None

    def other_value(self, value: str) -> str | None:
        """Another value of a field that has this one somewhere in the replies."""
        keys = {key for fields in self.objects for key, text in fields.items() if text == value}
        texts = {text for fields in self.objects for key, text in fields.items() if key in keys}
        return min((text for text in texts if isinstance(text, str) and text not in ("", value)), default=None)

    def other_choice(self, tool: str, argument: str, value: object) -> object:
        """Another value that the document lists for an argument; None without one."""
        parameters = self.protocol.tool(tool).arguments if tool in self.protocol else ()
        schema = next((parameter.schema for parameter in parameters if parameter.argument == argument), {})
        choices: Sequence[object] = schema.get("enum", ()) if isinstance(schema, dict) else ()
        return next((choice for choice in choices if type(choice) is type(value) and choice != value), None)


def plain(program: str) -> str:
    """The program without comments, as mutants are: the layout tells nothing."""
    return ast.unparse(ast.parse(program))


def mutants(program: str, protocol: Protocol, calls: Sequence[CallRecord]) -> Iterator[Mutant]:
    """All mutants of a right program.

    Args:
        calls: Those of its run.
    """
    tree, seen = ast.parse(program), _Seen(protocol, calls)
    passed = {node for call in _tool_calls(tree, protocol) for node in ast.walk(call)}
    for place, node in enumerate(ast.walk(tree)):
        for kind, mistake in _mistakes(node, seen, node in passed):
            copy = deepcopy(tree)
            mistake(list(ast.walk(copy))[place])
            yield Mutant(kind, ast.unparse(copy))


def _tool_calls(tree: ast.AST, protocol: Protocol) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in protocol:
            yield node


_Mistake = Callable[[ast.AST], object]


def _mistakes(node: ast.AST, seen: _Seen, passed: bool) -> Iterator[tuple[str, _Mistake]]:
    """The mistakes that can be made at a node; each changes the same node of a copy.

    Args:
        passed: The node is a part of what a tool is called with.
    """
    match node:
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as args):
            yield from _of_function(name, len(args), node)
        case ast.Call(func=ast.Attribute(attr="sort")):
            yield "sort direction", _reversed
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in seen.protocol:
            yield from _of_tool_call(name, node, seen)
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(key)), *_]):
            if other := seen.sibling(key, kind := _field_kind(key, passed)):
                yield kind, lambda copy: copy.args.__setitem__(0, ast.Constant(other))  # type: ignore[attr-defined]
        case ast.Subscript(slice=ast.Constant(value=str(key)), ctx=ast.Load()):
            if other := seen.sibling(key, kind := _field_kind(key, passed)):
                yield kind, _setting("slice", ast.Constant(other))
        case ast.Subscript(slice=ast.Constant(value=int(index)), ctx=ast.Load()):
            yield "index", _setting("slice", ast.Constant(index + 1 if index >= 0 else index - 1))
        case ast.Slice(upper=ast.Constant(value=int(count))):
            yield "index", _setting("upper", ast.Constant(count - 1))
        case ast.While(body=body) if not isinstance(body[-1], ast.Break):
            yield "first page only", lambda copy: copy.body.append(ast.Break())  # type: ignore[attr-defined]
        case ast.comprehension(ifs=[_, *_]):
            yield "dropped condition", lambda copy: copy.ifs.pop()  # type: ignore[attr-defined]
        case ast.BoolOp(op=ast.And(), values=[_, *_]):
            yield "dropped condition", lambda copy: copy.values.pop()  # type: ignore[attr-defined]
        case ast.AugAssign(op=ast.Add(), value=ast.Name() | ast.Subscript() | ast.Call()):
            yield "aggregation", _setting("value", ast.Constant(1))
        case ast.BinOp(op=ast.Div(), right=ast.Call(func=ast.Name(id="len"))):
            yield "aggregation", _setting("right", ast.Constant(2))
    yield from _of_comparison(node, seen)


def _field_kind(key: str, passed: bool) -> str:
    return _WRONG_IDENTIFIER if passed and _is_identifier(key) else "another field"


def _is_identifier(key: str) -> bool:
    return key.lower().split("_")[-1] in _IDENTIFIERS or key.endswith(("Id", "ID"))


def _likeness(one: str, two: str) -> float:
    return SequenceMatcher(None, one, two).ratio()


def _setting(name: str, value: object) -> _Mistake:
    return lambda copy: setattr(copy, name, value)


def _of_function(name: str, arguments: int, node: ast.Call) -> Iterator[tuple[str, _Mistake]]:
    """Of a builtin: the other end, the other order, another aggregation."""
    if name in ("max", "min"):
        yield "min or max", _setting("func", ast.Name("min" if name == "max" else "max", ast.Load()))
    elif name == "sorted":
        yield "sort direction", _reversed
    elif name == "sum" and arguments == 1:
        yield "aggregation", _setting("func", ast.Name("max", ast.Load()))
    elif name in ("any", "all"):
        yield "aggregation", _setting("func", ast.Name("all" if name == "any" else "any", ast.Load()))
    elif name == "len" and isinstance(node.args[0], ast.SetComp):
        listed = ast.ListComp(node.args[0].elt, node.args[0].generators)
        yield "aggregation", _setting("args", [listed])


def _reversed(copy: ast.AST) -> None:
    """Sort the other way round."""
    assert isinstance(copy, ast.Call), "only calls sort"
    others = [keyword for keyword in copy.keywords if keyword.arg != "reverse"]
    missing = len(others) == len(copy.keywords)
    copy.keywords = [*others, ast.keyword("reverse", ast.Constant(True))] if missing else others


def _of_tool_call(name: str, node: ast.Call, seen: _Seen) -> Iterator[tuple[str, _Mistake]]:
    """Of a call: a filter left out, or with another value."""
    required = {parameter.argument for parameter in seen.protocol.tool(name).arguments if parameter.required}
    for place, keyword in enumerate(node.keywords):
        if keyword.arg is None:
            continue
        if keyword.arg not in required and isinstance(keyword.value, ast.Constant):
            yield "dropped condition", lambda copy, place=place: copy.keywords.pop(place)  # type: ignore[misc]
        if isinstance(keyword.value, ast.Constant):
            other = seen.other_choice(name, keyword.arg, keyword.value.value)
            if other is not None:
                yield (
                    "other filter",
                    lambda copy, place=place, other=other: setattr(  # type: ignore[misc]
                        copy.keywords[place], "value", ast.Constant(other)
                    ),
                )


_BOUNDARIES: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Gt: ast.Lt,
    ast.Lt: ast.Gt,
    ast.GtE: ast.Gt,
    ast.LtE: ast.Lt,
}


def _of_comparison(node: ast.AST, seen: _Seen) -> Iterator[tuple[str, _Mistake]]:
    """Of a comparison: another constant, or the wrong side."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return
    operator, right = node.ops[0], node.comparators[0]
    if type(operator) in _BOUNDARIES:
        yield "comparison", _setting("ops", [_BOUNDARIES[type(operator)]()])
    if isinstance(operator, ast.Eq) and isinstance(right, ast.Constant) and isinstance(right.value, str):
        other = seen.other_value(right.value)
        if other is not None:
            yield "other filter", _setting("comparators", [ast.Constant(other)])
