"""Describe what a program did, from its calls: `product 2: price 79.5 -> 89`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from atc.diagnosis.provenance import MissingValue, lookup
from protocols.dataflow.identifiers import literals_of
from protocols.json_path import nodes
from protocols.model import Protocol, Tool
from protocols.text.words import WRAPPERS, noun_of
from sandbox.records import CallRecord

__all__ = ["account", "changes"]

_MAX_VALUE_LENGTH = 60
_MAX_DEPTH = 4
_MAX_FIELDS = 6
"""Fields described for one entity."""
_MAX_CALLED = 4
"""Functions named in an account."""


def changes(calls: Sequence[CallRecord], protocol: Protocol) -> str:
    """Describe each successful write on a line of its own; empty without one."""
    lines = []
    for position, call in enumerate(calls):
        if not call.writes or call.status is None or call.status >= 300:
            continue
        tool = protocol.tool(call.tool) if call.tool is not None and call.tool in protocol else None
        lines.append(_describe(call, tool, calls[:position]) if tool is not None else f"{call.method} {call.url}")
    return "\n".join(dict.fromkeys(lines))


def account(calls: Sequence[CallRecord]) -> str:
    """What the last of some calls of functions returned; where that is nothing, which functions were called."""
    result = lookup(calls[-1].response, ())
    if result is not None and not isinstance(result, MissingValue):
        return str(result)
    names = list(dict.fromkeys(call.tool or call.url for call in calls))
    return f"called {', '.join(names if len(names) <= _MAX_CALLED else [*names[:2], '…', names[-1]])}"


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
    listed = ", ".join(fields[:_MAX_FIELDS]) + ", …" * (len(fields) > _MAX_FIELDS)
    if fields and ends_open:
        return f"{subject}: {listed}"
    verb = "made" if tool.method == "POST" and not ends_open else "changed"
    return f"{subject}: {verb}" + f" with {listed}" * bool(fields)


def _written_fields(call: CallRecord, tool: Tool) -> Mapping[str, object]:
    """The body that a call sent, by the names of the service."""
    names = {p.argument: p.name for p in tool.arguments if p.location == "body"}
    fields = {names[name]: value for name, value in call.arguments.items() if names.get(name)}
    body = call.arguments.get("body")
    return {**fields, **body} if isinstance(body, Mapping) else fields


def _previous_state(identifiers: Sequence[str], earlier: Sequence[CallRecord]) -> Mapping[str, object]:
    """The entity as the last earlier response held it."""
    for call in reversed(earlier):
        for path, entity in nodes(call.response):
            if not isinstance(entity, dict) or len(path) > _MAX_DEPTH:
                continue
            own = (_short(value) for key, value in entity.items() if noun_of(str(key)) == "id")
            if not set(identifiers).isdisjoint(own):
                return entity
    return {}


def _returned_entity(body: object) -> Mapping[str, object]:
    """The entity in a response, without its wrapper."""
    if not isinstance(body, dict):
        return {}
    if "id" in body:
        return body
    objects = {str(key): part for key, part in body.items() if isinstance(part, dict)}
    wrapped = [part for key, part in objects.items() if noun_of(key) in WRAPPERS]
    candidates = wrapped or (list(objects.values()) if len(objects) == 1 else [])
    return candidates[0] if candidates else {}


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MAX_VALUE_LENGTH else f"{text[: _MAX_VALUE_LENGTH - 1]}…"
