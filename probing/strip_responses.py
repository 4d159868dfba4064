"""What a prober may know: a protocol without a word about responses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from protocols.model import Protocol

__all__ = ["blinded"]


def blinded(protocol: Protocol) -> Protocol:
    """The protocol without responses: schemas, examples, headers and the definitions that only they use."""
    tools = tuple(replace(tool, responses=()) for tool in protocol.tools)
    left = {
        name
        for tool in tools
        for schema in (*(one.schema for one in tool.arguments), *([tool.body.schema] if tool.body else []))
        for name in _named(schema)
    }
    kept: dict[str, Mapping[str, object]] = {}
    while left:
        name = left.pop()
        if name in protocol.definitions and name not in kept:
            kept[name] = protocol.definitions[name]
            left |= set(_named(kept[name]))
    left_over = {name: kept[name] for name in protocol.definitions if name in kept}
    used: dict[int, object] = {}  # by identity: a named schema is the same object wherever it is used
    for tool in tools:
        for schema in (*(one.schema for one in tool.arguments), *([tool.body.schema] if tool.body else [])):
            _gather(schema, used)
    components = {name: schema for name, schema in protocol.components.items() if id(schema) in used}
    return replace(protocol, tools=tools, definitions=left_over, components=components)


def _gather(value: object, used: dict[int, object]) -> None:
    if id(value) in used or not isinstance(value, Mapping | list):
        return
    used[id(value)] = value
    for part in value.values() if isinstance(value, Mapping) else value:
        _gather(part, used)


def _named(value: object) -> Iterator[str]:
    """The definitions that a schema points to."""
    if isinstance(value, Mapping):
        target = value.get("$ref")
        if isinstance(target, str):
            yield target.rpartition("/")[2]
        for part in value.values():
            yield from _named(part)
    elif isinstance(value, list):
        for part in value:
            yield from _named(part)
