"""Worked examples of an API, written from the data flow between its tools: no model, no question, no call.

`PUT_me_following(ids=…)` says little to a small model; the three lines that find an artist and follow it say how.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from protocols.graph import ProtocolGraph, Source, chosen
from protocols.model import Parameter, Tool
from protocols.routes import steps
from protocols.shapes import Step, type_of
from protocols.vocabulary import stem
from protocols.words import SEARCHES, noun_of, singular, words

__all__ = ["worked"]

_NEW = frozenset({"build", "create", "creat", "make", "mak", "new", "start"})
_MINE = frozenset({"i", "mine", "my"})
_EMPTY = frozenset({"all", "by", "find", "for", "from", "get", "in", "list", "me", "of", "on", "search", "the", "to"})
"""Words that a question and a path share by chance."""
_ABOUT = 6.0
"""What a source gains that is about another kind of thing of which the question speaks: from there one gets on."""
_ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
_NUMBERED = re.compile(rf"\b({'|'.join(_ORDINALS)}|\d+(?:st|nd|rd|th)?)\s+([a-z]+)|\b([a-z]+)\s+(\d+)\b", re.IGNORECASE)
_OWNED = re.compile(r"\w['\u2019]s?((?:\s+[a-z]+){1,3})|\b([a-z]+)(?:\s+[a-z]+)?\s+by\s+(?:[A-Z\"\u201c]|the\b)")
"""`Ana's latest film`, `films by Ana`, `films made by Ana`: the film is not called so, somebody who has films is."""
_DEEPEST = 3
"""Calls that one value may take."""


def worked(graph: ProtocolGraph, tool: str, among: Collection[str], query: str = "") -> list[str]:
    """The lines of a program that calls a tool with values from others; empty where it needs none of them.

    `…` stands for what a question says.

    Args:
        among: Tools that may be called.
        query: A question: of several tools that yield a value, the one is called of which it speaks most; what it wants
            to be made new is made and not searched for, and what somebody has is looked for from there.
    """
    writer = _Writer(graph, frozenset(among) | {tool}, query, tuple(stem(word) for word in words(query)))
    call = writer.call(graph.protocol.tool(tool), 0)
    if call is None or not writer.lines:
        return []
    if graph.protocol.tool(tool).writes:
        return [*writer.lines, call]
    lists = graph.lists(tool)
    inside = steps(lists[0]) if len(lists) == 1 else ""
    return [*writer.lines, f"{_variable(graph.protocol.tool(tool), writer.names)} = {call}{inside}"]


@dataclass
class _Writer:
    graph: ProtocolGraph
    among: frozenset[str]
    query: str
    asked: tuple[str, ...]
    lines: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """Variables by the expression that they hold."""
    sought: list[str] = field(default_factory=list)
    """The kinds of things that are being looked for: what leads back to one of them leads nowhere."""

    def call(self, tool: Tool, depth: int) -> str | None:
        """The call of a tool, its values found before; None where one of them cannot be found."""
        flow = [p for p in tool.arguments if p.required]
        if tool.writes and all(p.location == "path" for p in flow):
            flow += [p for p in tool.arguments if not p.required and self._sources(tool, p)][:1]
        elif not flow:
            flow = [p for p in tool.arguments if p.argument.lower() in SEARCHES][:1]
            if depth == 0 and not flow:
                flow = [p for p in tool.arguments if self._sources(tool, p)][:1]
        given = []
        for parameter in flow:
            value = self._value(tool, parameter, depth)
            if value is None:
                return None
            given.append(f"{parameter.argument}={value}")
        return f"{tool.name}({', '.join(given)})"

    def _sources(self, tool: Tool, parameter: Parameter) -> tuple[Source, ...]:
        found = self.graph.producers(tool.name, parameter.argument, self.among - {tool.name})
        sources = [source for source in found if not source.header and not source.link]
        want = self.graph.want(tool.name, parameter.argument)
        if not self.asked or want is None or not sources:
            return tuple(sources)
        owned = stem(want.noun) in self.owned

        def worth(source: Source) -> float:
            return source.score + self._spoken(source, want.noun) + owned * self._of(source)

        return tuple(sorted(sources, key=worth, reverse=True))

    def _of(self, source: Source) -> float:
        """What a source gains where a thing is somebody's: from that one it is reached, and not by its own name."""
        return _ABOUT if self.graph.needs(source.tool) else 0.0

    @cached_property
    def owned(self) -> frozenset[str]:
        """The kinds of things of which the question says whose they are."""
        found = [one or other for one, other in _OWNED.findall(self.query)]
        return frozenset(stem(singular(word.lower())) for text in found for word in text.split())

    @cached_property
    def numbered(self) -> Mapping[str, int]:
        """The numbers that the question gives to things: `the second season` has 2 for season."""
        found = {}
        for ordinal, thing, other, number in _NUMBERED.findall(self.query):
            said = (ordinal or number).lower()
            digits = re.sub(r"\D", "", said)
            found[stem(singular((thing or other).lower()))] = int(digits) if digits else _ORDINALS.index(said) + 1
        return found

    def _spoken(self, source: Source, noun: str) -> float:
        """How much a question speaks of a source, in the measure of the graph's scores."""
        tool = self.graph.protocol.tool(source.tool)
        if tool.writes:
            return 10.0 if self._made(source, noun) else 0.0
        told = {stem(word) for word in words(f"{tool.path} {' '.join(chosen(tool, source.path).values())}")}
        mine = 1.0 if "me" in words(tool.path) and not _MINE.isdisjoint(self.asked) else 0.0
        kinds = {stem(kind) for kind in self.graph.nouns.intersection(_kinds(tool))} - {stem(noun)}
        about = 0.0 if kinds.isdisjoint(self.asked) else _ABOUT
        return len(told.intersection(self.asked) - _EMPTY - {stem(noun)}) + mine + about

    def _made(self, source: Source, noun: str) -> bool:
        """Whether a source makes a thing that a question wants to be made."""
        tool = self.graph.protocol.tool(source.tool)
        if tool.method != "POST" or len(source.path) != 1 or _NEW.isdisjoint(self.asked):
            return False
        about = {stem(noun), *map(stem, _kinds(tool)[-1:])}
        return not about.isdisjoint(self.asked)

    def _value(self, tool: Tool, parameter: Parameter, depth: int) -> str | None:
        want = self.graph.want(tool.name, parameter.argument)
        if want is not None and words(parameter.argument)[-1:] == ("number",) and stem(want.noun) in self.numbered:
            return str(self.numbered[stem(want.noun)])
        sources = self._sources(tool, parameter)
        if want is None or (not sources and not parameter.required):
            return _said(parameter)
        for source in sources:
            found = self._found(source, want.noun, parameter, depth)
            if found is not None:
                return found
        return _said(parameter) if not sources else None

    def _found(self, source: Source, noun: str, parameter: Parameter, depth: int) -> str | None:
        """The text of a value that a source yields, after the lines that call it."""
        if depth >= _DEEPEST or noun in self.sought:
            return None
        before = list(self.lines), dict(self.names)
        giver = self.graph.protocol.tool(source.tool)
        self.sought.append(noun)
        call = self.call(giver, depth + 1)
        self.sought.pop()
        if call is None:
            self.lines, self.names = before
            return None
        call = _with(call, giver, source.path)
        several = type_of(parameter.schema) == "array" or parameter.argument.endswith("s")
        ends = [place for place, step in enumerate(source.path) if step == 0]
        if several and ends:
            items, rest = source.path[: ends[-1]], source.path[ends[-1] + 1 :]
            name = self._name(f"{call}{steps(items)}", f"{noun}s")
            return f"[{noun}{steps(rest)} for {noun} in {name}]"
        holder, rest = source.path[:-1], source.path[-1:]
        name = self._name(f"{call}{steps(holder)}", noun)
        return f"{name}{steps(rest)}"

    def _name(self, expression: str, noun: str) -> str:
        """The variable that holds an expression, set on a line of its own at its first use."""
        if expression not in self.names:
            taken = set(self.names.values())
            name = noun if noun.isidentifier() else "found"
            self.names[expression] = name if name not in taken else f"{name}{len(taken) + 1}"
            self.lines.append(f"{self.names[expression]} = {expression}")
        return self.names[expression]


def _kinds(tool: Tool) -> list[str]:
    """What the fixed parts of a path speak of, each in the singular."""
    return [noun_of(segment) for segment in tool.path.split("/") if segment and not segment.startswith("{")]


def _with(call: str, tool: Tool, path: tuple[Step, ...]) -> str:
    """A call with the arguments that say which kind of thing is asked for."""
    for argument, text in chosen(tool, path).items():
        parameter = tool.argument(argument)
        if parameter is not None:
            call = call.replace(f"{argument}={_said(parameter)}", f"{argument}={text}")
    return call


def _said(parameter: Parameter) -> str:
    """What a question says, or the first of the values that may be chosen."""
    values = parameter.schema.get("enum")
    if isinstance(values, list) and values:
        return repr(values[0]).replace("'", '"')
    return {"array": '["…"]', "integer": "1", "number": "1", "boolean": "True"}.get(type_of(parameter.schema), '"…"')


def _variable(tool: Tool, names: dict[str, str]) -> str:
    """A name for what a tool returns, that is not taken: the last word of its path, as it stands there."""
    last = tool.path.rstrip("/").rpartition("/")[2]
    told = [word for word in words(last) if word.isidentifier()]
    name = told[-1] if told and not last.startswith("{") else "details"
    return name if name not in names.values() else "details"
