"""Provenance of a run's values, read from the trace and the recorded responses.

The sandbox records the calls and paths of values; this module turns them into facts for a person or a model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import networkx as nx

from atc.language.question import Question
from protocols.dataflow.graph import ProtocolGraph
from protocols.json_path import readable_path
from protocols.model import Tool
from sandbox.body_store import LargeBody
from sandbox.records import CallRecord, Run, Source

__all__ = [
    "ArgumentFlow",
    "MissingValue",
    "evidence",
    "flow_graph",
    "flows",
    "lookup",
    "readable_path",
    "traced_arguments",
]

_KEYS = 14


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
    facts: dict[str, None] = {}
    for source in run.provenance.fault:
        call = run.calls[source.call]
        if (fact := _fact(call, source, run.error.type, run.error.message)) is not None:
            facts[fact] = None
    return tuple(facts)


def _fact(call: CallRecord, source: Source, error: str, message: str) -> str | None:
    if call.status is None or call.status >= 400:
        return f"{call.tool or call.url} was not answered with data: {call.error}"
    name = call.tool or f"{call.method} {call.url}"
    value = lookup(call.response, source.path)
    if isinstance(value, MissingValue):
        steps = list(source.path)
        while steps and isinstance(lookup(call.response, steps), MissingValue):
            steps.pop()
        return f"{name} → {readable_path(steps)} has no {value.step!r}; {_described_keys(value.parent)}"
    where = f"{name} → {readable_path(source.path)}"
    if error == "KeyError" and isinstance(value, dict) and (key := message.strip("'\"")) not in value:
        return f"{where} has no {key!r}; {_described_keys(value)}"
    return f"{where} is {_described_value(value)}"


def _described_keys(value: object) -> str:
    if isinstance(value, dict):
        return f"its keys are {', '.join(list(map(str, value))[:_KEYS]) or 'none'}"
    return f"it is {_described_value(value)}"


def _described_value(value: object) -> str:
    if isinstance(value, dict):
        return f"an object with the keys {', '.join(list(map(str, value))[:_KEYS])}" if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value)} items" if value else "an empty list"
    if isinstance(value, str):
        return f"the text {value[:60]!r}" + ("…" if len(value) > 60 else "")
    return repr(value)


def traced_arguments(call: CallRecord, run: Run, tool: Tool | None) -> Iterator[tuple[str, object, tuple[Source, ...]]]:
    """Each argument of a call by its name: its value, and its sources, nearest first."""
    traced = run.provenance.arguments.get(call.index, {}) if run.provenance else {}
    positional = [p.argument for p in tool.arguments if p.location == "path"] if tool else []
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
        replace(source, how="exact") if source.how == "made" and _text(run, source) == str(value) else source
        for source in sources
    )


def _text(run: Run, source: Source) -> str:
    return str(lookup(run.calls[source.call].response, source.path))


def flows(question: Question, run: Run, graph: ProtocolGraph) -> tuple[ArgumentFlow, ...]:
    """The observed data flow of a run: an entry for each argument of each call."""
    observed = []
    tools = {tool.name: tool for tool in graph.protocol.tools}
    for call in run.calls:
        for name, value, sources in traced_arguments(call, run, tools.get(call.tool or "")):
            nearest = next(iter(sources), None)
            if nearest is not None:
                observed.append(ArgumentFlow(call.index, name, "response", nearest.call, nearest.path))
            else:
                in_question = str(value).strip() != "" and question.says(str(value).strip())
                observed.append(ArgumentFlow(call.index, name, "query" if in_question else "constant"))
    return tuple(observed)


def flow_graph(run: Run, observed: Sequence[ArgumentFlow]) -> nx.MultiDiGraph[int]:
    """The data flow as a graph: calls as nodes (attribute `tool`), an edge for each provided argument.

    Edges have the attributes `argument` and `path`.
    """
    graph: nx.MultiDiGraph[int] = nx.MultiDiGraph()
    for call in run.calls:
        graph.add_node(call.index, tool=call.tool)
    for flow in observed:
        if flow.source is not None:
            graph.add_edge(flow.source, flow.call, argument=flow.argument, path=flow.path)
    return graph
