"""A protocol without its responses: what a blind prober may know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from protocols.model import Protocol, Schema, Tool

__all__ = ["strip_responses"]


def strip_responses(protocol: Protocol) -> Protocol:
    """Remove all responses, with the definitions and components that only they use."""
    tools = tuple(replace(tool, responses=()) for tool in protocol.tools)
    schemas = [schema for tool in tools for schema in _input_schemas(tool)]
    pending = {name for schema in schemas for name in _references(schema)}
    used_names: set[str] = set()
    while pending:
        name = pending.pop()
        if name in protocol.definitions and name not in used_names:
            used_names.add(name)
            pending |= set(_references(protocol.definitions[name]))
    definitions = {name: schema for name, schema in protocol.definitions.items() if name in used_names}
    reachable: dict[int, object] = {}  # by identity: a named schema is the same object wherever it is used
    for schema in schemas:
        _gather(schema, reachable)
    components = {name: schema for name, schema in protocol.components.items() if id(schema) in reachable}
    return replace(protocol, tools=tools, definitions=definitions, components=components)


def _input_schemas(tool: Tool) -> Iterator[Schema]:
    yield from (argument.schema for argument in tool.arguments)
    if tool.body:
        yield tool.body.schema


def _gather(value: object, reachable: dict[int, object]) -> None:
    if id(value) in reachable or not isinstance(value, Mapping | list):
        return
    reachable[id(value)] = value
    for part in value.values() if isinstance(value, Mapping) else value:
        _gather(part, reachable)


def _references(value: object) -> Iterator[str]:
    """The definitions that a schema points to."""
    if isinstance(value, Mapping):
        target = value.get("$ref")
        if isinstance(target, str):
            yield target.rpartition("/")[2]
        for part in value.values():
            yield from _references(part)
    elif isinstance(value, list):
        for part in value:
            yield from _references(part)
