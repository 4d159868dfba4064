"""Says what a program changed, from its calls: `product 2: price 79.5 -> 89`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from protocols.dataflow.identifiers import literals_of
from protocols.model import Protocol, Tool
from protocols.text.words import WRAPPERS, noun_of
from sandbox.journal.call_fingerprint import SAFE
from sandbox.records import CallRecord

__all__ = ["changes"]

_LONGEST = 60
_FIELDS = 6
"""Fields of one thing that are told."""


def changes(calls: Sequence[CallRecord], protocol: Protocol) -> str:
    """A line for each write that was done; empty where there was none."""
    lines = []
    for place, call in enumerate(calls):
        if call.method in SAFE or call.status is None or call.status >= 300:
            continue
        tool = protocol.tool(call.tool) if call.tool is not None and call.tool in protocol else None
        lines.append(_told(call, tool, calls[:place]) if tool is not None else f"{call.method} {call.url}")
    return "\n".join(dict.fromkeys(lines))


def _told(call: CallRecord, tool: Tool, earlier: Sequence[CallRecord]) -> str:
    literals = literals_of(tool.path)
    noun = noun_of(literals[-1]) if literals else "it"
    inside = {p.argument for p in tool.arguments if p.location == "path"}
    names = [_short(call.arguments[name]) for name in call.arguments if name in inside]
    made = _thing(call.response)
    ends_open = tool.path.rstrip("/").endswith("}")
    if not ends_open and "id" in made and not isinstance(made["id"], dict | list):
        names.append(_short(made["id"]))
    thing = " ".join([noun, *names[-1:]])
    if tool.method == "DELETE":
        return f"{thing}: removed"
    before = _before(names[-1:], earlier) if ends_open else {}
    written = {name: value for name, value in _written(call, tool).items() if name not in inside}
    fields = []
    for name, value in written.items():
        old = f"{_short(before[name])} -> " if name in before and before[name] != value else ""
        fields.append(f"{name} {old}{_short(value)}")
    more = ", …" if len(fields) > _FIELDS else ""
    done = "made" if tool.method == "POST" and not ends_open else "changed"
    return f"{thing}: {', '.join(fields[:_FIELDS])}{more}" if fields and ends_open else _made(thing, done, fields, more)


def _made(thing: str, done: str, fields: Sequence[str], more: str) -> str:
    return f"{thing}: {done}" + (f" with {', '.join(fields[:_FIELDS])}{more}" if fields else "")


def _written(call: CallRecord, tool: Tool) -> Mapping[str, object]:
    """What a call wrote, by the names of the service."""
    names = {p.argument: p.name for p in tool.arguments if p.location == "body"}
    found = {names[name]: value for name, value in call.arguments.items() if names.get(name)}
    whole = call.arguments.get("body")
    return {**found, **whole} if isinstance(whole, Mapping) else found


def _before(names: Sequence[str], earlier: Sequence[CallRecord]) -> Mapping[str, object]:
    """The thing as the last reply before had it."""
    for call in reversed(earlier):
        for thing in _things(call.response):
            if names and any(_short(value) == names[0] for key, value in thing.items() if noun_of(str(key)) == "id"):
                return thing
    return {}


def _thing(body: object) -> Mapping[str, object]:
    """What a reply is about, without what wraps it."""
    if isinstance(body, Mapping):
        if "id" in body:
            return body
        inner = [part for key, part in body.items() if isinstance(part, Mapping)]
        wrapped = [part for key, part in body.items() if isinstance(part, Mapping) and noun_of(str(key)) in WRAPPERS]
        found = wrapped or (inner if len(inner) == 1 else [])
        return found[0] if found else {}
    return {}


def _things(body: object, depth: int = 0) -> Iterator[Mapping[str, object]]:
    if depth > 4:
        return
    if isinstance(body, Mapping):
        yield body
        for part in body.values():
            yield from _things(part, depth + 1)
    elif isinstance(body, list):
        for part in body:
            yield from _things(part, depth + 1)


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
