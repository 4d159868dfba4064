"""Where the values of a run come from, read from the trace and the recorded responses.

The sandbox records the calls and paths of values; here they become facts for a person or a model.

A call contributes to an answer in two ways. Its values are printed, or passed to a call that contributes. Or they
decide something: an `if`, a loop, a filter, an early end. The provenance of the run has what happened, the program's
def-use analysis what would have happened on another way, and either is enough.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from atc.program.source import parsed
from atc.query import Query
from protocols.dataflow.graph import ProtocolGraph
from protocols.json_path import Step, leaves
from protocols.model import Tool
from protocols.text.words import words
from sandbox.body_store import LargeBody
from sandbox.records import CallRecord, Run, Source

__all__ = [
    "ArgumentFlow",
    "MissingValue",
    "TracedRun",
    "failed",
    "flows",
    "lists_in",
    "lookup",
    "orders",
    "question_says",
    "traced_arguments",
]


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


def failed(call: CallRecord) -> bool:
    """True if a call has no good response."""
    return call.status is None or call.status >= 300


def question_says(query: Query, value: object) -> bool:
    """True if a question holds the text of a value, in any case, or what came before it does."""
    text = str(value).casefold()
    return text in query.text.casefold() or (bool(query.context) and text in query.context.casefold())


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
                observed.append(
                    ArgumentFlow(call.index, name, "query" if text and question_says(query, text) else "constant")
                )
    return tuple(observed)


_ORDER_WORDS = frozenset({"sort", "order", "ordering", "orderby", "sortby", "rank", "top"})
"""Words of an argument that orders a list."""


class TracedRun:
    """A run that ended well, with the properties that facts are read from.

    Args:
        graph: The protocol's graph; without it, what needs the tools is not known.
        numbers: The numbers of the question, in digits.
    """

    def __init__(
        self, program: str, run: Run, graph: ProtocolGraph | None = None, numbers: frozenset[str] = frozenset()
    ) -> None:
        self.program = program
        self.run = run
        self.graph = graph
        self.numbers = numbers

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed program; empty if it does not parse."""
        return parsed(self.program) or ast.Module([], [])

    @cached_property
    def lines(self) -> list[str]:
        """The printed lines, without empty ones."""
        return [line.strip() for line in self.run.stdout.strip().splitlines() if line.strip()]

    @cached_property
    def good_calls(self) -> tuple[CallRecord, ...]:
        """The calls with a good response."""
        return tuple(call for call in self.run.calls if not failed(call))

    @cached_property
    def writes(self) -> tuple[CallRecord, ...]:
        """The writes that the service accepted."""
        return tuple(call for call in self.good_calls if call.writes)

    @cached_property
    def tools(self) -> dict[str, Tool]:
        """The tools of the protocol by name; none without a graph."""
        return {tool.name: tool for tool in self.graph.protocol.tools} if self.graph is not None else {}

    @property
    def printed_sources(self) -> Sequence[Source]:
        """The sources of the printed values."""
        return self.run.provenance.printed if self.run.provenance else ()

    @cached_property
    def data_sources(self) -> tuple[Source, ...]:
        """The sources that the printed values hold, not those that only decided about them."""
        return tuple(source for source in self.printed_sources if source.how != "decided")

    @property
    def shows_data(self) -> bool:
        """True if the output has the text of a value of a reply."""
        values = map(self.value_of, self.data_sources)
        return any(str(value) in self.run.stdout for value in values if isinstance(value, str | int | float))

    def arguments(self, call: CallRecord) -> Iterator[tuple[str, object, tuple[Source, ...]]]:
        """Each argument of a call: its name, its value, and where that comes from, nearest first."""
        return traced_arguments(call, self.run, self.tools.get(call.tool or ""))

    @cached_property
    def all_arguments(self) -> tuple[tuple[CallRecord, str, object, tuple[Source, ...]], ...]:
        """The arguments of all calls."""
        return tuple((call, *argument) for call in self.run.calls for argument in self.arguments(call))

    @cached_property
    def literal_arguments(self) -> tuple[tuple[CallRecord, str, object], ...]:
        """The arguments that come from no response: call, name, value."""
        return tuple((call, name, value) for call, name, value, sources in self.all_arguments if not sources)

    @cached_property
    def used_sources(self) -> tuple[Source, ...]:
        """The sources of the printed values and of all arguments."""
        return (*self.printed_sources, *(source for *_, sources in self.all_arguments for source in sources))

    @cached_property
    def contributing_calls(self) -> frozenset[int]:
        """The indices of the calls that the answer or a write depends on, directly or through other calls."""
        feeds: dict[int, set[int]] = {}
        for call, _, _, sources in self.all_arguments:
            feeds.setdefault(call.index, set()).update(source.call for source in sources)
        pending = [*(source.call for source in self.printed_sources), *(call.index for call in self.writes)]
        reached: set[int] = set()
        while pending:
            if (index := pending.pop()) not in reached:
                reached.add(index)
                pending += feeds.get(index, ())
        return frozenset(reached)

    @cached_property
    def lines_behind_output(self) -> frozenset[int]:
        """The lines of the calls that the output or a write depends on as the program is written, executed or not."""
        from atc.program.choices import lines_behind_output

        writing = {name for name, tool in self.tools.items() if tool.writes}
        return lines_behind_output(self.program, writing | {call.tool for call in self.writes if call.tool})

    def is_behind_output(self, call: CallRecord) -> bool:
        """True if the answer or a write depends on a call, by its values or by what they decide."""
        return call.index in self.contributing_calls or call.line in self.lines_behind_output

    @cached_property
    def live_calls(self) -> tuple[CallRecord, ...]:
        """The good calls that the answer or a write depends on; all of them where nobody followed the values."""
        if self.run.provenance is None:
            return self.good_calls
        return tuple(call for call in self.good_calls if call.index in self.contributing_calls)

    @cached_property
    def _responses(self) -> tuple[object, ...]:
        return tuple(lookup(call.response, ()) for call in self.run.calls)

    def response(self, call: CallRecord) -> object:
        """The response to a call; a large body is loaded."""
        return self._responses[call.index]

    def value_at(self, call: CallRecord, path: tuple[Step, ...]) -> object:
        """The value at a path in the response to a call; MissingValue if there is none."""
        return lookup(self._responses[call.index], path)

    def value_of(self, source: Source) -> object:
        """The value at a source; MissingValue if there is none."""
        return lookup(self._responses[source.call], source.path)

    @cached_property
    def values(self) -> tuple[tuple[CallRecord, tuple[Step, ...], object], ...]:
        """The scalar values of all good responses: call, path, value."""
        return tuple((call, *leaf) for call in self.good_calls for leaf in leaves(self.response(call)))


def orders(call: CallRecord) -> bool:
    """True if an argument of a call orders its list."""
    return any(
        isinstance(step, str) and not _ORDER_WORDS.isdisjoint({*words(step), step.lower()})
        for path, _ in leaves(call.arguments)
        for step in path
    )


def lists_in(value: object, depth: int = 2) -> Iterator[tuple[tuple[str, ...], list[object], dict[str, object]]]:
    """The lists of a response, at most `depth` objects deep: path, items, and the object around them."""
    if isinstance(value, list):
        yield (), value, {}
    pending: list[tuple[tuple[str, ...], dict[str, object]]] = [((), value)] if isinstance(value, dict) else []
    while pending:
        path, fields = pending.pop(0)
        for key, part in fields.items():
            if isinstance(part, list):
                yield (*path, key), part, fields
            elif isinstance(part, dict) and len(path) + 1 < depth:
                pending.append(((*path, key), part))
