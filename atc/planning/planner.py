"""Worked examples of an API, written from the data flow between its tools: no model, no question, no call.

`PUT_me_following(ids=…)` says little to a small model; the three lines that find an artist and follow it say how.
"""

from __future__ import annotations

import json
import keyword
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from atc.language.intent import asks, changes_only
from atc.language.question import Question, is_among
from atc.planning.comparison import compared
from protocols.dataflow.call_paths import steps
from protocols.dataflow.graph import ProtocolGraph, ProvidedField, selector_arguments
from protocols.dataflow.identifiers import IdentifierReference
from protocols.dataflow.operations import is_current, is_own, looks_like_read
from protocols.model import Parameter, Protocol, Tool
from protocols.schema_fields import ResponseField, Step, fields, type_of
from protocols.text.words import SEARCHES, SIZES, cut_short, is_identifier, noun_of, singular, stem, words

__all__ = ["FINDS", "examples", "worked"]

_EMPTY = frozenset({"all", "by", "find", "for", "from", "get", "in", "list", "me", "of", "on", "search", "the", "to"})
"""Words that a question and a path share by chance."""
_ABOUT = 6.0
"""What a source gains that is about another kind of thing of which the question speaks: from there one gets on."""
_FAR = 20.0
"""What a source loses that is of no use here, more than it can gain."""
_STEP = 1.0
_FEW = 3
"""Optional arguments of a tool that is of use without any of them; with more it wants to be told what is looked for."""
FINDS = re.compile(r'(\w+) = (\w+\(.*?\))((?:\["[^"]+"\])*)\[0\]')
"""A line that takes the first of what a call finds: the variable, the call, and what is taken out of its response."""
_TELLING = frozenset(map(stem, ["barcode", "coordinates", "gps", "latitude", "longitude", "postcode", "zip"]))
"""Words of a description that say by what something is found, other than by its name."""
_TEXT = re.compile(r'\["[^"]*"\]|"[^"]*"')
_PREFIX = "prefix"
_SETS = re.compile(r"(\w+) = ([A-Z]+_\w+)\(")
_COORDINATES = frozenset({("lat",), ("latitude",), ("lon",), ("lng",), ("long",), ("longitude",)})
"""Last words of the names of arguments that take a latitude or a longitude."""
_LEAST, _BOUNDS = frozenset({"min", "minimum"}), frozenset({"max", "maximum", "min", "minimum"})
"""First words of the names of arguments that take the least or the most of something."""
_DEEPEST = 3
"""Calls that one value may take."""


_TITLES = (("name",), ("title",), ("label",))


def examples(
    graph: ProtocolGraph, tools: Sequence[str], callable_tools: Collection[str], query: str, sure: Collection[str] = ()
) -> tuple[str, ...]:
    """Worked examples of several tools, a program each: those that begin alike and read are one.

    Where the question names several things of a kind, or how many it means, what follows from one is done for each.
    Args:
        sure: Of the tools, those that are shown though they need nothing from any other.
    The others as of `worked`.
    """
    groups: dict[tuple[str, str], dict[str, None]] = {}
    for name in tools:
        lines = worked(graph, name, callable_tools, query)
        if lines and (len(lines) > 1 or name in sure):  # that a tool can be called does not say that it should be
            removes = name if graph.protocol.tool(name).method == "DELETE" else ""  # all else fails after it
            groups.setdefault((lines[0], removes), {}).update(dict.fromkeys(lines))
    programs = list(groups.values())
    shortest = [
        group
        for place, group in enumerate(programs)
        if not any(_is_in(group, longer) for longer in programs)
        and not any(_is_found(group, likelier) for likelier in programs[:place])
    ]
    question = Question(query)
    complete = [group for group in shortest if len(group) > 1 and not any('"…"' in line for line in group)]
    if complete:  # a small model copies `…`, too
        shortest = [group for group in shortest if group in complete or not _is_untold(group, graph.protocol)]
    return tuple(
        "\n".join(
            compared(
                _for_each(
                    _apart(_once([line for line in group if not _is_set(line, group)])), question, graph.protocol
                ),
                question,
                graph,
            )
        )
        for group in shortest
    )


def _is_untold(group: Collection[str], protocol: Protocol) -> bool:
    """Whether an example reads, and begins with a search for something that the question does not say."""
    called = [tool for line in group if (tool := re.search(r"\b([A-Z]+_\w+)\(", line)) is not None]
    return '"…"' in next(iter(group)) and not any(protocol.tool(call[1]).writes for call in called)


def _is_in(group: Collection[str], longer: Collection[str]) -> bool:
    """Whether all that one example calls is called by another, longer one."""
    calls = [line.partition(" = ")[2] or line for line in group]
    return len(group) < len(longer) and all(any(call in line for line in longer) for call in calls)


def _is_found(group: Collection[str], likelier: Collection[str]) -> bool:
    """Whether one call gets, unasked, things of a kind that a likelier, longer example finds elsewhere."""
    [line, *later_lines] = group
    kind = singular(line.partition(" = ")[0])
    found_kinds = {match[1] for match in map(FINDS.fullmatch, likelier) if match}
    return "()" in line and not later_lines and len(likelier) > 1 and kind in found_kinds


def _once(lines: list[str]) -> list[str]:
    """The lines without those that only set another variable to what an earlier one is set to."""
    set_to: dict[str, str] = {}
    for line in lines:
        set_to.setdefault(line.partition(" = ")[2] or line, line)
    read = [line for line in lines if _is_read(line.partition(" = ")[0], lines)]
    return [line for line in lines if line in read or set_to[line.partition(" = ")[2] or line] == line]


def _apart(lines: list[str]) -> list[str]:
    """The lines, with a longer name for each variable that more than one of them sets and none reads."""
    setters = [_SETS.match(line) for line in lines]
    times = Counter(setter[1] for setter in setters if setter)
    taken = set(times)
    renamed = []
    for line, setter in zip(lines, setters, strict=True):
        if setter and times[setter[1]] > 1 and not _is_read(setter[1], lines):
            name_words = [word for word in _said_of(setter[2]) if not is_identifier(word)]
            name = "_".join(name_words[-2:])
            if name not in taken:
                taken.add(name)
                line = f"{name}{line[len(setter[1]) :]}"
        renamed.append(line)
    return renamed


def _is_read(variable: str, lines: Iterable[str]) -> bool:
    return any(re.search(rf"\b{variable}\[| in {variable}\]", line) for line in lines)


def _is_set(call: str, lines: Iterable[str]) -> bool:
    """Whether another line sets a variable to what this line calls."""
    return any(line.endswith(f" = {call}") for line in lines)


def _wanting(call: str, count: int, protocol: Protocol) -> str:
    """A call that asks for so many things, where it would get fewer without."""
    for parameter in protocol.tool(call.partition("(")[0]).arguments:
        default = parameter.schema.get("default")
        if (
            SIZES.isdisjoint(words(parameter.argument)[-1:])
            or not isinstance(default, int)
            or f"{parameter.argument}=" in call
        ):
            continue
        comma = "" if call.endswith("()") else ", "
        return f"{call[:-1]}{comma}{parameter.argument}={count})" if default < count else call
    return call


def _for_each(lines: list[str], question: Question, protocol: Protocol) -> list[str]:
    """The lines of an example, in a loop where the question is about several of what one of them finds.

    Where it asks how many there are, the list of them is the end.
    """
    for place, line in enumerate(lines):
        if (finder := FINDS.fullmatch(line)) is not None and question.how_many(_listed(finder[3]) or finder[1]):
            return [*lines[:place], f"{finder[1]}s = {finder[2]}{finder[3]}"]
    finder = FINDS.fullmatch(lines[0])
    if finder is None or len(lines) < 2:
        return lines
    variable, call, inside = finder.groups()
    several = question.kinds(variable)
    searched = _quoted(several[0]) if several else '"…"'
    if len(names := several if len(several) > 1 else question.joined) > 1 and searched in call:
        listed_names = ", ".join(_quoted(name) for name in names)
        search = call.replace(searched, "name")
        inner = [f"    {line}" for line in lines[1:]]
        return [f"for name in [{listed_names}]:", f"    {variable} = {search}{inside}[0]", *inner]
    for place, line in enumerate(lines[:-1]):
        if (finder := FINDS.fullmatch(line)) is not None:
            variable, call, inside = finder.groups()
            if (count := max(question.counted(variable), question.counted(_listed(inside)))) > 1:
                inner = [f"    {line}" for line in lines[place + 1 :]]
                sized_call = _wanting(call, count, protocol)
                return [*lines[:place], f"for {variable} in {sized_call}{inside}[:{count}]:", *inner]
    return lines


def _listed(inside: str) -> str:
    """What a list is called that is taken out of a response, as in `["parcels"]`."""
    return noun_of(inside.rpartition("[")[2].strip('"]'))


def worked(graph: ProtocolGraph, tool: str, callable_tools: Collection[str], query: str = "") -> list[str]:
    """The lines of a program that calls a tool, with values from others where it needs them; empty where none has them.

    `…` stands for what a question says.

    Args:
        callable_tools: Tools that may be called.
        query: A question: of several tools that yield a value, the one is called of which it speaks most; what it wants
            to be made new is made and not searched for, and what somebody has is looked for from there.
    """
    writer = _Writer(graph, frozenset(callable_tools) | {tool}, Question(query))
    target = graph.protocol.tool(tool)
    if query and writer.makes_unasked(target):
        return []
    call = writer.call(target, 0)
    if call is None or (not writer.lines and writer.is_unlikely(target, call)) or (query and writer.is_undated(target)):
        return []
    if target.writes:
        return [*writer.lines, call]
    lists = graph.lists(tool)
    inside = steps(lists[0]) if len(lists) == 1 else ""
    return [*writer.lines, f"{_variable(target, writer.names)} = {call}{inside}"]


@dataclass
class _Writer:
    graph: ProtocolGraph
    among: frozenset[str]
    asked: Question
    lines: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """Variables by the expression that they hold."""
    sought: list[str] = field(default_factory=list)
    """The kinds of things that are being looked for: what leads back to one of them leads nowhere."""

    def call(self, tool: Tool, depth: int) -> str | None:
        """The call of a tool, its values found before; None where one of them cannot be found."""
        flow = [p for p in tool.arguments if p.required]
        if tool.writes and all(p.location == "path" for p in flow):
            optional = [p for p in tool.arguments if not p.required]
            written = sorted(
                filter(self._is_content, optional),
                key=lambda p: (not self._is_said_of(p), p.argument not in ("name", "title")),
            )
            sourced = sorted(
                (p for p in optional if self._sources(tool, p)), key=lambda p: not self._is_spoken_of(tool, p)
            )
            mentioned = [p for p in written if self._is_said_of(p) and p not in sourced]
            flow += [p for p in sourced[:1] if not mentioned or self._is_spoken_of(tool, p)] or (mentioned or written)[
                :1
            ]
        elif not flow:
            flow = self._telling(tool)
        if depth == 0 and not any(p.argument.lower() in SEARCHES or self._sources(tool, p) for p in flow):
            flow += [p for p in tool.arguments if p not in flow and self._sources(tool, p)][:1]
        arguments = []
        for parameter in flow:
            value = self._value(tool, parameter, depth)
            if value is None:
                return None
            arguments.append(f"{parameter.argument}={value}")
        return f"{tool.name}({', '.join(arguments)})"

    def _is_spoken_of(self, tool: Tool, parameter: Parameter) -> bool:
        """Whether an argument takes things of a kind of which the question speaks."""
        want = self._want(tool, parameter)
        return want is not None and stem(want.noun) in self.asked.stems

    def _want(self, tool: Tool, parameter: Parameter) -> IdentifierReference | None:
        """What an argument asks for: of the kinds that its description names, the one of which the question speaks."""
        want = self.graph.reference(tool.name, parameter.argument)
        if want is None or stem(want.noun) in self.asked.stems or noun_of(parameter.name) == want.noun:
            return want
        described = {stem(word) for word in words(parameter.description)}
        nouns = [
            noun for noun in sorted(self.graph.nouns) if stem(noun) in described and stem(noun) in self.asked.stems
        ]
        return replace(want, noun=nouns[0]) if len(nouns) == 1 else want

    def _is_said_of(self, parameter: Parameter) -> bool:
        """Whether the question has the words of an argument: `set the due date`."""
        argument_stems = set(map(stem, words(parameter.argument)))
        return bool(argument_stems) and argument_stems <= set(self.asked.stems)

    def _is_content(self, parameter: Parameter) -> bool:
        """Whether an argument is what is written, and not how."""
        text = type_of(parameter.schema) == "string" and _placeholder(parameter) == '"…"'
        return text and parameter.location == "body" and parameter.argument != "body"

    def is_unlikely(self, tool: Tool, call: str) -> bool:
        """Whether a call by itself leads nowhere: it looks for somebody's things by his name, or for nothing at all."""
        by_name = any(_quoted(name.text) in call for name in self.asked.names)
        owned = any(is_among(kind, self.asked.owned) for kind in _kinds(tool)[-1:])
        return (by_name and owned) or (call.endswith("()") and len(tool.arguments) > _FEW)

    def makes_unasked(self, tool: Tool) -> bool:
        """Whether a tool makes a thing of a kind that can be listed, and the question only names one that is there."""
        listed = any(
            other_tool.method == "GET" and other_tool.path == tool.path for other_tool in self.graph.protocol.tools
        )
        if tool.method != "POST" or not listed or "{" in tool.path or looks_like_read(tool):
            return False
        return asks(self.asked.text) or changes_only(self.asked.text)

    def is_undated(self, tool: Tool) -> bool:
        """Whether a tool that reads has to be told a day, and the question speaks of none."""
        days = [p for p in tool.arguments if p.required and words(p.argument)[-1:] in (("date",), ("day",))]
        return not tool.writes and not self.asked.dated and any(_placeholder(p) == '"…"' for p in days)

    def _telling(self, tool: Tool) -> list[Parameter]:
        """The optional arguments that take what the question says: a place's coordinates, words to look for, or what
        is called like something of which it speaks."""
        limits = [p for p in tool.arguments if self._limit(p) is not None]
        if self.asked.coordinates and not any(self._sources(tool, p) for p in tool.arguments):
            here = [p for p in tool.arguments if words(p.argument)[-1:] in _COORDINATES]
            if len(here) == 2:
                return here
        searches = [p for p in tool.arguments if p.argument.lower() in SEARCHES]
        free = [
            p
            for p in tool.arguments
            if _placeholder(p) == '"…"' and self.graph.reference(tool.name, p.argument) is None
        ]
        about = {*self.asked.stems, *map(stem, words(tool.path))}
        if limits:
            return [*searches[:1], *limits]
        return (searches or [p for p in free if set(map(stem, words(p.argument))) <= about])[:1]

    def _limit(self, parameter: Parameter) -> str | None:
        """The number that the question gives for the least or the most of something: 500 for `maxCalories` where it
        says `at most 500 calories`."""
        bound, *of = words(parameter.argument)
        if bound not in _BOUNDS or not of or type_of(parameter.schema) in ("array", "boolean", "object"):
            return None
        for amount, least, most in self.asked.limits:
            if stem(amount) == stem(of[-1]) or cut_short(amount, of[-1:]) or cut_short(of[-1], [amount]):
                return least if bound in _LEAST else most
        return None

    def _sources(self, tool: Tool, parameter: Parameter) -> tuple[ProvidedField, ...]:
        want = self._want(tool, parameter)
        noun = want.noun if want is not None else None
        producers = self.graph.providers(tool.name, parameter.argument, self.among - {tool.name}, noun)
        sources = [source for source in producers if not source.header and not source.link]
        if not self.asked.text or want is None or not sources:
            return tuple(sources)
        owned = is_among(want.noun, self.asked.owned) or self._is_elsewhere(want.noun)

        def worth(source: ProvidedField) -> float:
            of = owned * self._of(source) + 2 * _ABOUT * self._is_meant(source, want.noun)
            collection = self._there(source, want.noun, tool) - _FAR * self._is_there(source, tool)
            return source.score + self._spoken(source, want.noun, tool) + of + collection

        return tuple(sorted(sources, key=worth, reverse=True))

    def _there(self, source: ProvidedField, noun: str, taker: Tool) -> float:
        """What a source gains that lists what is to be removed from where it is, unless the question may name it."""
        listed = taker.method == "DELETE" and self.graph.protocol.tool(source.tool).path == taker.path
        other_kinds = {stem(kind) for kind in self.graph.nouns} - {stem(noun)}
        named = any(other_kinds.isdisjoint(map(stem, name.beside)) for name in self.asked.names)
        return 2 * _ABOUT if listed and not named else 0.0

    def _is_there(self, source: ProvidedField, taker: Tool) -> bool:
        """Whether a source lists what is where something is to be added, and no other place is named: it is no news."""
        path = self.graph.protocol.tool(source.tool).path
        if any(len(self.asked.beside(kind)) > 1 for kind in _kinds(taker)):
            return False
        return taker.method in ("POST", "PUT") and 0 in source.path and f"{taker.path}/".startswith(f"{path}/")

    def _is_meant(self, source: ProvidedField, noun: str) -> bool:
        """Whether a list is all that is spoken of, the top rated, where nothing is named that could be looked for."""
        tool = self.graph.protocol.tool(source.tool)
        path_stems = {stem(word) for word in words(tool.path) if word.isalpha()} - {stem(noun)}
        if (
            self.asked.names
            or 0 not in source.path
            or "search" in path_stems
            or any(p.required for p in tool.arguments)
        ):
            return False
        return bool(path_stems) and path_stems <= set(self.asked.stems)

    def _of(self, source: ProvidedField) -> float:
        """What a source gains where a thing is somebody's: from that one it is reached, and not by its own name."""
        return _ABOUT + _STEP - self._far(source.tool) if self.graph.needs(source.tool) else 0.0

    def _far(self, tool: str, depth: int = 0) -> float:
        """What a source loses for each call but one that has to go before it."""
        needs = self.graph.needs(tool) if depth < _DEEPEST else ()
        distances = [
            min((self._far(producer.tool, depth + 1) for producer in self._given(tool, need)), default=0.0)
            for need in needs
        ]
        return max(distances) + (_STEP if depth else 0.0) if distances else 0.0

    def _given(self, tool: str, argument: str) -> list[ProvidedField]:
        return [
            producer for producer in self.graph.providers(tool, argument, self.among - {tool}) if not producer.header
        ][:3]

    def _spoken(self, source: ProvidedField, noun: str, taker: Tool) -> float:
        """How much a question speaks of a source, in the measure of the graph's scores; what it says of the tool that
        takes the value, it does not say of the source."""
        tool = self.graph.protocol.tool(source.tool)
        if tool.writes:
            return 10.0 if self._made(source, noun) else 0.0
        path_stems = {
            stem(word) for word in words(f"{tool.path} {' '.join(selector_arguments(tool, source).values())}")
        }
        hints = _TELLING.intersection(stem(word) for word in words(f"{tool.summary} {tool.description}"))
        score = 1.0 if is_own(tool) and self.asked.personal else 0.0
        if score and self.asked.names and self._is_anybodys(tool, noun):
            score -= _ABOUT
        if is_own(tool) and self._is_elsewhere(noun):
            score -= _ABOUT
        if _PREFIX in path_stems and any(name.prefix for name in self.asked.names):
            score += _ABOUT
        score += 0.0 if hints.isdisjoint(self.asked.stems) else _ABOUT
        score += 2 * _ABOUT if self.asked.now and is_current(tool) else 0.0
        score += _ABOUT * self._is_said(source)
        if not self.asked.kinds(noun) and not self.asked.names and any(map(self._limit, tool.arguments)):
            score += 2 * _ABOUT
        other_kinds = self.graph.nouns.intersection(_kinds(tool)).difference(_kinds(taker), {noun})
        if any(p.argument.lower() in SEARCHES for p in tool.arguments):
            named = self._named(noun) is not None and not self.asked.is_mine(noun)
            inside = {stem(word) for key in (tool.path, *source.path) for word in words(str(key))}
            named = named or (len(self.asked.owners(noun)) == 1 and stem(noun) in inside)
            score += 2 * _ABOUT if self.asked.kinds(noun) else _ABOUT * named
        about = 0.0 if {stem(kind) for kind in other_kinds}.isdisjoint(self.asked.stems) else _ABOUT
        return len(path_stems.intersection(self.asked.stems) - _EMPTY - {stem(noun)}) + score + about

    def _is_said(self, source: ProvidedField) -> bool:
        """Whether a question has the words that a path ends with, one after another: `top tracks`."""
        tool = self.graph.protocol.tool(source.tool)
        *before, last = tool.path.strip("/").split("/")
        if last.startswith("{"):
            last = " ".join([*before[-1:], *selector_arguments(tool, source).values()])
        phrase = tuple(map(stem, words(last)))
        stems = self.asked.stems
        return len(phrase) > 1 and phrase in [stems[at : at + len(phrase)] for at in range(len(stems))]

    def _is_anybodys(self, tool: Tool, noun: str) -> bool:
        """Whether a list of one's own things is of another kind than what is spoken of as one's own: the songs in `add
        the songs of Queen to my playlist`."""
        path_stems = {stem(word) for word in words(tool.path)} - {stem(noun)} - _EMPTY - {"me"}
        mine = {kind for kind in self.graph.nouns if self.asked.is_mine(kind)}
        return bool(mine and _kinds(tool)[1:]) and noun not in mine and path_stems.isdisjoint(self.asked.stems)

    def _is_elsewhere(self, noun: str) -> bool:
        """Whether all that a question calls by name is of other kinds than a thing of which it speaks: the singers in
        `follow the singers of the song Dusk`."""
        names = [name for name in self.asked.names if name.text != self.asked.called]
        if not names or self.asked.makes or self.asked.is_mine(noun) or stem(noun) not in self.asked.stems:
            return False
        other_kinds = {stem(kind) for kind in self.graph.nouns} - {stem(noun)}
        return all(not other_kinds.isdisjoint(map(stem, one.beside)) for one in names)

    def _named(self, noun: str) -> str | None:
        """What the question calls a thing, beside the word for its kind: `parcel Blue`, but not `Ana's best parcel`."""
        if not self.asked.beside(noun) or is_among(noun, self.asked.owned):
            return None
        name = self.asked.name_of(noun)
        return name if name != self.asked.called else None

    def _made(self, source: ProvidedField, noun: str) -> bool:
        """Whether a source makes a thing that a question wants to be made."""
        tool = self.graph.protocol.tool(source.tool)
        if tool.method != "POST" or len(source.path) != 1 or not self.asked.makes:
            return False
        about = {stem(noun), *map(stem, _kinds(tool)[-1:])}
        return not about.isdisjoint(self.asked.stems)

    def _value(self, tool: Tool, parameter: Parameter, depth: int) -> str | None:
        want = self._want(tool, parameter)
        number = self.asked.numbered.get(stem(want.noun)) if want is not None else None
        if number is not None and words(parameter.argument)[-1:] == ("number",):
            return str(number)
        if want is not None and type_of(parameter.schema) == "string" and (code := self.asked.code_of(want.noun)):
            return json.dumps(code)
        sources = self._sources(tool, parameter)
        if want is None or (not sources and not parameter.required):
            return self._said(tool, parameter)
        for source in sources:
            expression = self._found(
                source, want.noun, parameter, depth, self.graph.item_key(tool.name, parameter.argument)
            )
            if expression is not None:
                return expression
        return self._said(tool, parameter) if not sources else None

    def _said(self, tool: Tool, parameter: Parameter) -> str:
        """What the question says of what is looked for, where it says one thing."""
        if (limit := self._limit(parameter)) is not None:
            return limit
        about = self.sought[-1] if self.sought else (_kinds(tool) or [""])[-1]
        text = _placeholder(parameter)
        last = words(parameter.argument)[-1:]
        if self.asked.coordinates and last in _COORDINATES:
            coordinate = self.asked.coordinates["lon" in last[0] or "lng" in last[0]]
            return json.dumps(coordinate) if text == '"…"' else coordinate
        if text != '"…"':
            mentioned = [
                choice for choice in _values(parameter) if set(map(stem, words(choice))) <= set(self.asked.stems)
            ]
            return _quoted(mentioned[0]) if len(mentioned) == 1 else text
        name = None
        if parameter.argument.lower() in SEARCHES:
            new = self.asked.called if tool.writes else None
            name = new or next(iter(self.asked.kinds(about)), None) or self.asked.name_of(about)
        elif last in (("date",), ("day",)):
            name = self.asked.day
        return _quoted(name) if name is not None else text

    def _found(self, source: ProvidedField, noun: str, parameter: Parameter, depth: int, entry: str) -> str | None:
        """The text of a value that a source yields, after the lines that call it.

        Args:
            entry: The key of the value in each entry of the list that is asked for; empty where it stands by itself.
        """
        if depth >= _DEEPEST or noun in self.sought:
            return None
        before = list(self.lines), dict(self.names)
        provider = self.graph.protocol.tool(source.tool)
        self.sought.append(noun)
        call = self.call(provider, depth + 1)
        self.sought.pop()
        if call is None:
            self.lines, self.names = before
            return None
        call = _with(call, provider, source)
        several = type_of(parameter.schema) == "array" or parameter.argument.endswith("s")
        ends = [place for place, step in enumerate(source.path) if step == 0]
        if several and ends and not self._is_one(call, noun):
            items, rest = source.path[: ends[-1]], source.path[ends[-1] + 1 :]
            name = self._name(f"{call}{steps(items)}", f"{noun}s")
            item = _identifier(noun)
            count = self.asked.counted(noun)
            value = _entry(entry, f"{item}{steps(rest)}")
            return f"[{value} for {item} in {name}{f'[:{count}]' if count > 1 else ''}]"
        holder, rest = source.path[:-1], source.path[-1:]
        name = self._name(self._best(call, source, noun) or f"{call}{steps(holder)}", noun)
        listed = type_of(parameter.schema) == "array" or (several and bool(ends))
        value = _entry(entry, f"{name}{steps(rest)}")
        return f"[{value}]" if listed else value

    def _is_one(self, call: str, noun: str) -> bool:
        """Whether what a call looks for is the one thing that the question names, or the first, and speaks of in the
        singular."""
        if self._are_several(noun):
            return False
        first = [kind for kind, number in self.asked.numbered.items() if number == 1]
        called_so = stem(noun) in first or (bool(first) and stem(noun) not in self.asked.stems)
        return called_so or any(_quoted(name.text) in call for name in self.asked.names)

    def _are_several(self, noun: str) -> bool:
        """Whether a question speaks of things of a kind in the plural."""
        return noun in {singular(word) for word in words(self.asked.text) if singular(word) != word}

    def _best(self, call: str, source: ProvidedField, noun: str) -> str | None:
        """The one of a list that the question means, as the latest, or by its name, where its items tell by what."""
        items = source.path[:-1]
        if items[-1:] != (0,):
            return None
        name = self._named(noun)
        title = _title(
            [
                string_field.name
                for string_field in self._fields(source.tool, items)
                if type_of(string_field.schema) == "string"
            ]
        )
        if name is not None and title is not None and not self._are_several(noun):
            call = _unfiltered(call, self.graph.protocol.tool(source.tool), name)
        if name is not None and title is not None and _quoted(name) not in call:
            item = _identifier(noun)
            return f'next({item} for {item} in {call}{steps(items[:-1])} if {item}["{title}"] == {_quoted(name)})'
        listed = noun_of(str(items[-2])) if len(items) > 1 else _kinds(self.graph.protocol.tool(source.tool))[-1]
        order, by = self.asked.ordered(noun) or self.asked.ordered(listed) or ("", frozenset())
        sort_fields = [
            candidate for candidate in self._fields(source.tool, items) if not by.isdisjoint(words(candidate.name))
        ]
        texts = "date" in by
        sort_fields = [
            candidate for candidate in sort_fields if texts or type_of(candidate.schema) in ("integer", "number")
        ]
        if not sort_fields:
            return None
        item = _identifier(noun)
        value = f'{item}["{sort_fields[0].name}"]'
        key = f'str({value} or "")' if texts else f"{value} or 0"
        return f"{order}({call}{steps(items[:-1])}, key=lambda {item}: {key})"

    def _fields(self, tool: str, items: tuple[Step, ...]) -> list[ResponseField]:
        """The fields of the items of a list in a tool's response."""
        protocol = self.graph.protocol
        success = protocol.tool(tool).success
        all_fields = fields(success.schema, protocol, 3) if success is not None and success.schema is not None else ()
        return [item_field for item_field in all_fields if item_field.path[:-1] == items]

    def _name(self, expression: str, noun: str) -> str:
        """The variable that holds an expression, set on a line of its own at its first use."""
        if expression not in self.names:
            taken = set(self.names.values())
            name = _identifier(noun)
            self.names[expression] = name if name not in taken else f"{name}{len(taken) + 1}"
            self.lines.append(f"{self.names[expression]} = {expression}")
        return self.names[expression]


def _entry(key: str, value: str) -> str:
    """A value in an object under a key, if there is one."""
    return f'{{"{key}": {value}}}' if key else value


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _identifier(noun: str) -> str:
    """A kind of thing as the name of a variable."""
    return noun if noun.isidentifier() and not keyword.iskeyword(noun) else "found"


def _kinds(tool: Tool) -> list[str]:
    """What the fixed parts of a path speak of, each in the singular."""
    return [noun_of(segment) for segment in tool.path.split("/") if segment and not segment.startswith("{")]


def _with(call: str, tool: Tool, source: ProvidedField) -> str:
    """A call with the arguments that say which kind of thing is asked for."""
    for argument, text in selector_arguments(tool, source).items():
        before, sign, after = call.partition(f"{argument}=")
        if literal := _TEXT.match(after):
            call = before + sign + text + after[literal.end() :]
    return call


def _unfiltered(call: str, tool: Tool, name: str) -> str:
    """A call without an optional argument that looks for a name: what it finds by it is the service's own affair."""
    for parameter in tool.arguments:
        if not parameter.required and parameter.argument.lower() in SEARCHES:
            call = re.sub(rf"(?:, )?\b{parameter.argument}={re.escape(_quoted(name))}", "", call).replace("(, ", "(")
    return call


def _title(names: Sequence[str]) -> str | None:
    """The field by which a thing is called: `name`, `title` or `label`, else the one that ends so (`displayName`)."""
    last = [name for name in names if words(name)[-1:] in _TITLES]
    return min(last, key=lambda name: (len(words(name)), _TITLES.index(words(name)[-1:])), default=None)


def _values(parameter: Parameter) -> list[str]:
    """The texts of which an argument takes one."""
    return [value for value in cast("list[object]", parameter.schema.get("enum") or []) if isinstance(value, str)]


def _placeholder(parameter: Parameter) -> str:
    """What a question says, or the first of the values that may be chosen."""
    values = parameter.schema.get("enum")
    if isinstance(values, list) and values:
        return repr(values[0]).replace("'", '"')
    return {"array": '["…"]', "integer": "1", "number": "1", "boolean": "True"}.get(type_of(parameter.schema), '"…"')


def _said_of(name: str) -> list[str]:
    """The words of a tool's name that say what it returns."""
    returned = " ".join(name.split("_")[1:]).partition(" by ")[0]
    return [word for word in words(returned) if word.isidentifier()]


def _variable(tool: Tool, names: dict[str, str]) -> str:
    """A name for what a tool returns, that is not taken: the last word of its own name that is no identifier."""
    name_words = _said_of(tool.name)
    plain = bool(name_words) and not is_identifier(name_words[-1])
    return name_words[-1] if plain and name_words[-1] not in names.values() else "details"
