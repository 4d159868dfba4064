"""Typed stubs of tools that are Python functions: their signatures, the objects that hold them, and value classes.

They take what the call takes: any kind of list where a list is asked for, a dict in place of a value class.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from protocols.functions.host_function import HostFunction
from protocols.model import Tool

__all__ = ["NAMESPACE", "function_stubs", "namespaces"]

NAMESPACE = "_N_"
"""What the name of the class of an object begins with."""

_LISTS = "list[Any] | tuple[Any, ...] | set[Any] | frozenset[Any] | range | _Iterator[Any]"
_SCALARS = {"string": "str", "integer": "float", "number": "float", "boolean": "bool", "null": "None"}


_PLACES = (
    "    def __iter__(self) -> _Iterator[Any]: ...",
    "    def __len__(self) -> int: ...",
    "    def __getitem__(self, place: Any) -> Any: ...",
)
"""What a named tuple has beside its fields."""


def namespaces(names: Iterable[str]) -> frozenset[str]:
    """The objects that tools of these names belong to."""
    return frozenset(name.partition(".")[0] for name in names if "." in name)


def function_stubs(tools: Iterable[Tool]) -> list[str]:
    """The stubs of those tools that are functions, line by line."""
    lines: list[str] = []
    members: dict[str, list[str]] = {}
    for function in (tool.function for tool in tools if tool.function is not None):
        holder, _, name = function.name.rpartition(".")
        if function.made is not None:
            lines += _value_class(function)
        elif holder:
            body = members.setdefault(holder, [])
            body += [
                "    @staticmethod",
                f"    def {name}({_parameters(function)}) -> {_result(function.result.schema)}: ...",
            ]
        else:
            lines.append(f"def {name}({_parameters(function)}) -> {_result(function.result.schema)}: ...")
    for holder, body in members.items():
        lines += [f"class {NAMESPACE}{holder}:", *body, f"{holder}: {NAMESPACE}{holder}"]
    return ["from collections.abc import Iterator as _Iterator", *lines] if lines else []


def _value_class(function: HostFunction) -> list[str]:
    fields = [f"    {name}: {_result(hint.schema)}" for name, hint in function.hints.items()]
    places = function.made is not None and function.made.is_tuple
    return [
        f"class {function.name}:",
        f"    def __init__(self, {_parameters(function)}) -> None: ...",
        *(_PLACES if places else ()),
        *fields,
    ]


def _parameters(function: HostFunction) -> str:
    kinds = function.kinds
    types = {}
    for name, hint in function.hints.items():
        schema: Any = hint.schema
        if kinds[name].name == "VAR_POSITIONAL":
            schema = schema["items"]
        elif kinds[name].name == "VAR_KEYWORD":
            schema = {}
        types[name] = _accepted(schema)
    return function.written(types, "...")


def _accepted(schema: Mapping[str, Any]) -> str:
    """The type of what an argument takes."""
    if "enum" in schema:
        values = schema["enum"]
        return f"Literal[{', '.join(map(repr, values))}]" if all(map(_is_literal, values)) else "Any"
    if "anyOf" in schema:
        return _union(map(_accepted, schema["anyOf"]))
    kinds = schema.get("type")
    types = {"array": _LISTS, "object": "_Mapping[str, object]", **_SCALARS}
    if kinds == "object" and "title" in schema:
        return f"{schema['title']} | _Mapping[str, object]"
    if "format" in schema:
        return "Any"  # dates and times, which have classes of their own
    return _union(types[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds or ())) or "Any"


def _is_literal(value: object) -> bool:
    return value is None or isinstance(value, str | bool | int)


def _result(schema: Mapping[str, Any]) -> str:
    """The type of a result; Any where it may be of several."""
    kind = schema.get("type")
    if "anyOf" in schema or "enum" in schema or not isinstance(kind, str):
        return "Any"
    if kind == "array":
        return f"list[{_result(schema.get('items') or {})}]"
    if kind == "object":
        items = schema.get("additionalProperties")
        return (
            str(schema["title"])
            if "title" in schema
            else f"dict[str, {_result(items) if isinstance(items, dict) else 'Any'}]"
        )
    return "int" if kind == "integer" else _SCALARS[kind]


def _union(types: Iterable[str]) -> str:
    parts = list(dict.fromkeys(types))
    return "Any" if "Any" in parts else " | ".join(parts)
