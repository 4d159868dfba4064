"""What a run's values rest on: read from its provenance and its recorded responses, without asking anybody.

The sandbox tells which calls and paths the values come from; here that becomes facts that a person or a model can use.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import networkx as nx

from protocols.dataflow.graph import ProtocolGraph
from protocols.model import Tool
from sandbox.body_store import LargeBody
from sandbox.records import CallRecord, Run, Source

__all__ = ["Flow", "Missing", "arguments", "evidence", "flow_graph", "flows", "lookup", "place"]

_KEYS = 14


@dataclass(frozen=True, slots=True)
class Missing:
    """What stands in for a value that is not there: the deepest value on its path that is, and the step it lacks."""

    parent: object
    step: str | int


@dataclass(frozen=True, slots=True)
class Flow:
    """Where one argument of a call came from.

    `origin` is response (then `source` says which, and `path` where in it), query (the words of the question) or
    constant (the program's own).
    """

    call: int
    argument: str
    origin: Literal["response", "query", "constant"]
    source: int | None = None
    path: tuple[str | int, ...] = ()


def lookup(response: object, path: Sequence[str | int]) -> object:
    """The value at a path, or Missing."""
    value = response
    if isinstance(value, LargeBody):
        try:
            value = json.loads(value.read())
        except (ValueError, RecursionError, OSError):
            return Missing(None, "")
    for step in path:
        try:
            value = value[step]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            return Missing(value, step)
    return value


def place(path: Sequence[str | int]) -> str:
    """A path as people write it: `crew[3].name`; "its response" for all of it."""
    text = ""
    for step in path:
        plain = isinstance(step, str) and re.fullmatch(r"\w+", step)
        text += f".{step}" if plain else f"[{step!r}]"
    return text.lstrip(".") or "its response"


def evidence(run: Run) -> tuple[str, ...]:
    """Facts about what the failing operation worked on, nearest first: `GET_credits → crew[3] has no 'department'; its
    keys are …`. Empty when no response was involved, and when that is not known."""
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
    if isinstance(value, Missing):
        steps = list(source.path)
        while steps and isinstance(lookup(call.response, steps), Missing):
            steps.pop()
        return f"{name} → {place(steps)} has no {value.step!r}; {_described(value.parent)}"
    where = f"{name} → {place(source.path)}"
    if error == "KeyError" and isinstance(value, dict) and (key := message.strip("'\"")) not in value:
        return f"{where} has no {key!r}; {_described(value)}"
    return f"{where} is {_shown(value)}"


def _described(value: object) -> str:
    if isinstance(value, dict):
        return f"its keys are {', '.join(list(map(str, value))[:_KEYS]) or 'none'}"
    return f"it is {_shown(value)}"


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return f"an object with the keys {', '.join(list(map(str, value))[:_KEYS])}" if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value)} items" if value else "an empty list"
    if isinstance(value, str):
        return f"the text {value[:60]!r}" + ("…" if len(value) > 60 else "")
    return repr(value)


def arguments(call: CallRecord, run: Run, tool: Tool | None) -> Iterator[tuple[str, object, tuple[Source, ...]]]:
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
    """Sources of an argument; one from which it was made without changing its text is where it lies exactly."""
    unchanged = [source.how == "made" and _text(run, source) == str(value) for source in sources]
    return tuple(
        replace(source, how="exact") if is_exact else source
        for source, is_exact in zip(sources, unchanged, strict=True)
    )


def _text(run: Run, source: Source) -> str:
    return str(lookup(run.calls[source.call].response, source.path))


def flows(query: str, run: Run, graph: ProtocolGraph) -> tuple[Flow, ...]:
    """The observed data flow of a run: an entry for each argument of each call."""
    observed = []
    tools = {tool.name: tool for tool in graph.protocol.tools}
    for call in run.calls:
        for name, value, sources in arguments(call, run, tools.get(call.tool or "")):
            nearest = next(iter(sources), None)
            if nearest is not None:
                observed.append(Flow(call.index, name, "response", nearest.call, nearest.path))
            else:
                in_question = str(value).strip().lower() in query.lower() and str(value).strip() != ""
                observed.append(Flow(call.index, name, "query" if in_question else "constant"))
    return tuple(observed)


def flow_graph(run: Run, observed: Sequence[Flow]) -> nx.MultiDiGraph[int]:
    """The same as a graph: calls as nodes (attribute `tool`), and an edge for each argument that a response gave
    (attributes `argument` and `path`)."""
    graph: nx.MultiDiGraph[int] = nx.MultiDiGraph()
    for call in run.calls:
        graph.add_node(call.index, tool=call.tool)
    for flow in observed:
        if flow.source is not None:
            graph.add_edge(flow.source, flow.call, argument=flow.argument, path=flow.path)
    return graph
