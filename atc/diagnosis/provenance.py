"""Provenance of a run's values, read from the trace and the recorded responses.

The sandbox records the calls and paths of values; this module turns them into facts for a person or a model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from atc.query import Query
from protocols.dataflow.graph import ProtocolGraph
from protocols.json_path import readable_path
from protocols.model import Tool
from protocols.quoting import one_line
from sandbox.body_store import LargeBody
from sandbox.records import CallRecord, ProgramError, Run, Source

__all__ = ["ArgumentFlow", "MissingValue", "evidence", "flows", "lookup", "traced_arguments"]

_KEYS = 14
_MAX_KEY = 80
"""Characters of a key of a reply; a longer one is no name."""


@dataclass(frozen=True, slots=True)
class MissingValue:
    """The result of a lookup that failed: the deepest existing value on the path, and the missing step."""

    parent: object
    step: str | int


@dataclass(frozen=True, slots=True)
class ArgumentFlow:
    """The origin of one argument of a call.

    `origin` is response (then `source` and `path` say which and where), query (the words of the question) or constant
    (the program's own).
    """

    call: int
    argument: str
    origin: Literal["response", "query", "constant"]
    source: int | None = None
    path: tuple[str | int, ...] = ()


def lookup(response: object, path: Sequence[str | int]) -> object:
    """The value at a path, or MissingValue."""
    value = response
    if isinstance(value, LargeBody):
        try:
            value = json.loads(value.read())
        except (ValueError, RecursionError, OSError):
            return MissingValue(None, "")
    for step in path:
        try:
            value = value[step]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            return MissingValue(value, step)
    return value


def evidence(run: Run) -> tuple[str, ...]:
    """Facts about the operands of the failing operation, nearest first.

    `GET_credits → crew[3] has no 'department'; its keys are …`. Empty when no response was involved, or unknown.
    """
    if run.provenance is None or run.error is None:
        return ()
    facts = (_fact(run.calls[source.call], source, run.error) for source in run.provenance.fault)
    return tuple(dict.fromkeys(facts))


def _fact(call: CallRecord, source: Source, error: ProgramError) -> str:
    if call.status is None or call.status >= 400:
        return f"{call.tool or call.url} was not answered with data: {call.error}"
    name = call.tool or f"{call.method} {call.url}"
    value = lookup(call.response, source.path)
    if isinstance(value, MissingValue):
        path = source.path
        while path and isinstance(lookup(call.response, path), MissingValue):
            path = path[:-1]
        return f"{name} → {readable_path(path)} has no {value.step!r}; {_described_keys(value.parent)}"
    where = f"{name} → {readable_path(source.path)}"
    if error.type == "KeyError" and isinstance(value, dict) and (key := error.message.strip("'\"")) not in value:
        return f"{where} has no {key!r}; {_described_keys(value)}"
    return f"{where} is {_described(value)}"


def _described_keys(value: object) -> str:
    return f"its keys are {_listed_keys(value) or 'none'}" if isinstance(value, dict) else f"it is {_described(value)}"


def _listed_keys(value: dict[str, object]) -> str:
    return ", ".join(one_line(str(key), _MAX_KEY) for key in list(value)[:_KEYS])


def _described(value: object) -> str:
    match value:
        case dict() | list() if not value:
            return f"an empty {'object' if isinstance(value, dict) else 'list'}"
        case dict():
            return f"an object with the keys {_listed_keys(value)}"
        case list():
            return f"a list of {len(value)} items"
        case str():
            return f"the text {value[:60]!r}" + "…" * (len(value) > 60)
    return repr(value)


def traced_arguments(call: CallRecord, run: Run, tool: Tool | None) -> Iterator[tuple[str, object, tuple[Source, ...]]]:
    """Each argument of a call by its name: its value, and its sources, nearest first."""
    traced = run.provenance.arguments.get(call.index, {}) if run.provenance else {}
    positional = [parameter.argument for parameter in tool.positional] if tool else []
    wire = {p.name: p.argument for p in tool.arguments} if tool else {}
    for name, value in call.arguments.items():
        if call.style == "function":
            refused = re.fullmatch(r"args\[(\d+)\]", name)  # its arguments were not found to be any of the tool's
            key = refused[1] if refused else str(positional.index(name)) if name in positional else ""
            yield name, value, _sharpened(run, traced.get(name, traced.get(key, ())), value)
            continue
        ends = [key for key in traced if "." in key and wire.get(key.partition(".")[2], key.partition(".")[2]) == name]
        sources = traced[ends[0]] if ends else traced.get("url", traced.get("0", ())) + traced.get("1", ())
        sources = _sharpened(run, sources, value)
        yield name, value, sources if ends else tuple(source for source in sources if source.how == "exact")


def _sharpened(run: Run, sources: Sequence[Source], value: object) -> tuple[Source, ...]:
    """The sources of an argument; `exact` where the value is the source's text unchanged."""
    return tuple(
        replace(source, how="exact")
        if source.how == "made" and str(lookup(run.calls[source.call].response, source.path)) == str(value)
        else source
        for source in sources
    )


def flows(query: Query, run: Run, graph: ProtocolGraph) -> tuple[ArgumentFlow, ...]:
    """The observed data flow of a run: an entry for each argument of each call."""
    observed = []
    tools = {tool.name: tool for tool in graph.protocol.tools}
    for call in run.calls:
        for name, value, sources in traced_arguments(call, run, tools.get(call.tool or "")):
            if sources:
                observed.append(ArgumentFlow(call.index, name, "response", sources[0].call, sources[0].path))
            else:
                text = str(value).strip()
                observed.append(ArgumentFlow(call.index, name, "query" if text and query.says(text) else "constant"))
    return tuple(observed)
