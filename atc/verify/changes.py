"""Describe the writes of a program, from its calls: `product 2: price 79.5 -> 89`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from protocols.dataflow.identifiers import literals_of
from protocols.model import Protocol, Tool
from protocols.text.words import WRAPPERS, noun_of
from sandbox.records import SAFE, CallRecord

__all__ = ["changes"]

_MAX_VALUE_LENGTH = 60
_MAX_FIELDS = 6
"""Fields described for one entity."""


def changes(calls: Sequence[CallRecord], protocol: Protocol) -> str:
    """Describe each successful write on a line of its own; empty without one."""
    lines = []
    for position, call in enumerate(calls):
        if call.method in SAFE or call.status is None or call.status >= 300:
            continue
        tool = protocol.tool(call.tool) if call.tool is not None and call.tool in protocol else None
        lines.append(_describe(call, tool, calls[:position]) if tool is not None else f"{call.method} {call.url}")
    return "\n".join(dict.fromkeys(lines))


def _describe(call: CallRecord, tool: Tool, earlier: Sequence[CallRecord]) -> str:
    literals = literals_of(tool.path)
    noun = noun_of(literals[-1]) if literals else "it"
    path_arguments = {p.argument for p in tool.arguments if p.location == "path"}
    identifiers = [_short(call.arguments[name]) for name in call.arguments if name in path_arguments]
    returned = _returned_entity(call.response)
    ends_open = tool.path.rstrip("/").endswith("}")
    if not ends_open and "id" in returned and not isinstance(returned["id"], dict | list):
        identifiers.append(_short(returned["id"]))
    subject = " ".join([noun, *identifiers[-1:]])
    if tool.method == "DELETE":
        return f"{subject}: removed"
    before = _previous_state(identifiers[-1:], earlier) if ends_open else {}
    written = {name: value for name, value in _written_fields(call, tool).items() if name not in path_arguments}
    fields = []
    for name, value in written.items():
        previous = f"{_short(before[name])} -> " if name in before and before[name] != value else ""
        fields.append(f"{name} {previous}{_short(value)}")
    ellipsis = ", …" if len(fields) > _MAX_FIELDS else ""
    verb = "made" if tool.method == "POST" and not ends_open else "changed"
    return (
        f"{subject}: {', '.join(fields[:_MAX_FIELDS])}{ellipsis}"
        if fields and ends_open
        else _describe_creation(subject, verb, fields, ellipsis)
    )


def _describe_creation(subject: str, verb: str, fields: Sequence[str], ellipsis: str) -> str:
    return f"{subject}: {verb}" + (f" with {', '.join(fields[:_MAX_FIELDS])}{ellipsis}" if fields else "")


def _written_fields(call: CallRecord, tool: Tool) -> Mapping[str, object]:
    """The body that a call sent, by the names of the service."""
    names = {p.argument: p.name for p in tool.arguments if p.location == "body"}
    fields = {names[name]: value for name, value in call.arguments.items() if names.get(name)}
    body = call.arguments.get("body")
    return {**fields, **body} if isinstance(body, Mapping) else fields


def _previous_state(identifiers: Sequence[str], earlier: Sequence[CallRecord]) -> Mapping[str, object]:
    """The entity as the last earlier response held it."""
    for call in reversed(earlier):
        for entity in _entities_in(call.response):
            if identifiers and any(
                _short(value) == identifiers[0] for key, value in entity.items() if noun_of(str(key)) == "id"
            ):
                return entity
    return {}


def _returned_entity(body: object) -> Mapping[str, object]:
    """The entity in a response, without its wrapper."""
    if isinstance(body, Mapping):
        if "id" in body:
            return body
        objects = [part for key, part in body.items() if isinstance(part, Mapping)]
        wrapped = [part for key, part in body.items() if isinstance(part, Mapping) and noun_of(str(key)) in WRAPPERS]
        candidates = wrapped or (objects if len(objects) == 1 else [])
        return candidates[0] if candidates else {}
    return {}


def _entities_in(body: object, depth: int = 0) -> Iterator[Mapping[str, object]]:
    if depth > 4:
        return
    if isinstance(body, Mapping):
        yield body
        for part in body.values():
            yield from _entities_in(part, depth + 1)
    elif isinstance(body, list):
        for part in body:
            yield from _entities_in(part, depth + 1)


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MAX_VALUE_LENGTH else f"{text[: _MAX_VALUE_LENGTH - 1]}…"
