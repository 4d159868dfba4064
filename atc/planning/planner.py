"""Plan sketches of an API, written from the data flow between its tools: no model, no call.

`PUT_me_following(ids=…)` says little to a small model; the three lines that find an artist and follow it say how.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from atc.language.intent import changes_only, is_information_request
from atc.language.question import Question, is_mentioned
from atc.planning.comparison import with_comparison
from atc.planning.loops import FINDS, is_assigned, looped, return_words
from atc.planning.providers import ProviderRanking, path_nouns
from atc.planning.step_writer import StepWriter, placeholder, quoted
from protocols.dataflow.graph import ProtocolGraph
from protocols.dataflow.operations import looks_like_read
from protocols.json_path import subscripts
from protocols.model import Protocol, Tool
from protocols.text.words import is_identifier, singular, words

__all__ = ["plan_sketch", "plan_sketches"]

_MAX_UNFILTERED = 3
"""Optional arguments of a tool that is of use without any of them; one with more needs a filter."""


def plan_sketches(
    graph: ProtocolGraph, tools: Sequence[str], callable_tools: Collection[str], query: str, sure: Collection[str] = ()
) -> tuple[str, ...]:
    """Plan sketches of several tools, a program each; sketches that begin alike and only read are merged.

    Where the question names several items, or says how many it means, the rest is done for each.

    Args:
        sure: Tools that are shown although they need nothing from any other.
    The others as of `plan_sketch`.
    """
    groups: dict[tuple[str, str], dict[str, None]] = {}
    for name in tools:
        lines = plan_sketch(graph, name, callable_tools, query)
        if lines and (len(lines) > 1 or name in sure):  # that a tool can be called does not say that it should be
            removes = name if graph.protocol.tool(name).method == "DELETE" else ""  # all else fails after it
            groups.setdefault((lines[0], removes), {}).update(dict.fromkeys(lines))
    programs = list(groups.values())
    shortest = [
        group
        for place, group in enumerate(programs)
        if not any(_is_part(group, longer) for longer in programs)
        and not any(_is_redundant(group, likelier) for likelier in programs[:place])
    ]
    question = Question(query)
    complete = [group for group in shortest if len(group) > 1 and not any('"…"' in line for line in group)]
    if complete:  # a small model copies `…`, too
        shortest = [group for group in shortest if group in complete or not _is_vague(group, graph.protocol)]
    return tuple("\n".join(_finished(group, question, graph)) for group in shortest)


def _finished(group: Collection[str], question: Question, graph: ProtocolGraph) -> list[str]:
    """The lines of a sketch without duplicates, with the loop and the comparison that the question asks for."""
    lines = looped([line for line in group if not is_assigned(line, group)], question, graph.protocol)
    return with_comparison(lines, question, graph)


def _is_vague(group: Collection[str], protocol: Protocol) -> bool:
    """True if a sketch only reads, and begins with a search for something that the question does not say."""
    called = [tool for line in group if (tool := re.search(r"\b([A-Z]+_\w+)\(", line)) is not None]
    return '"…"' in next(iter(group)) and not any(protocol.tool(call[1]).writes for call in called)


def _is_part(group: Collection[str], longer: Collection[str]) -> bool:
    """True if another, longer sketch makes all calls of this one."""
    calls = [line.partition(" = ")[2] or line for line in group]
    return len(group) < len(longer) and all(any(call in line for line in longer) for call in calls)


def _is_redundant(group: Collection[str], likelier: Collection[str]) -> bool:
    """True if the sketch is one call, and a likelier, longer sketch finds the same entity type elsewhere."""
    [line, *later_lines] = group
    kind = singular(line.partition(" = ")[0])
    found_kinds = {match[1] for match in map(FINDS.fullmatch, likelier) if match}
    return "()" in line and not later_lines and len(likelier) > 1 and kind in found_kinds


def plan_sketch(graph: ProtocolGraph, tool: str, callable_tools: Collection[str], query: str = "") -> list[str]:
    """The lines of a program that calls a tool, with its arguments from other tools; empty where none provides them.

    `…` stands for what a question says.

    Args:
        callable_tools: Tools that may be called.
        query: The question. It decides between several providers; a new entity is created and not searched for, and an
            owned one is looked for at its owner.
    """
    question = Question(query)
    writer = StepWriter(ProviderRanking(graph, frozenset(callable_tools) | {tool}, question))
    target = graph.protocol.tool(tool)
    if query and (_creates_unasked(target, question, graph.protocol) or _lacks_date(target, question)):
        return []
    call = writer.call(target, 0)
    if call is None or (not writer.lines and _is_unlikely(target, call, question)):
        return []
    if target.writes:
        return [*writer.lines, call]
    lists = graph.lists(tool)
    inside = subscripts(lists[0]) if len(lists) == 1 else ""
    return [*writer.lines, f"{_result_variable(target, writer.names)} = {call}{inside}"]


def _is_unlikely(tool: Tool, call: str, question: Question) -> bool:
    """True if a call by itself leads nowhere: it searches for an owned entity by its owner's name, or has no filter."""
    by_name = any(quoted(name.text) in call for name in question.names)
    owned = any(is_mentioned(kind, question.owned) for kind in path_nouns(tool)[-1:])
    return (by_name and owned) or (call.endswith("()") and len(tool.arguments) > _MAX_UNFILTERED)


def _creates_unasked(tool: Tool, question: Question, protocol: Protocol) -> bool:
    """True if a tool creates an entity of a type that can be listed, and the question only names an existing one."""
    listed = any(other_tool.method == "GET" and other_tool.path == tool.path for other_tool in protocol.tools)
    if tool.method != "POST" or not listed or "{" in tool.path or looks_like_read(tool):
        return False
    return is_information_request(question.text) or changes_only(question.text)


def _lacks_date(tool: Tool, question: Question) -> bool:
    """True if a tool that reads requires a date, and the question has none."""
    days = [p for p in tool.arguments if p.required and words(p.argument)[-1:] in (("date",), ("day",))]
    return not tool.writes and not question.dated and any(placeholder(p) == '"…"' for p in days)


def _result_variable(tool: Tool, names: dict[str, str]) -> str:
    """A free name for the result of a tool: the last word of its own name that is no identifier."""
    name_words = return_words(tool.name)
    plain = bool(name_words) and not is_identifier(name_words[-1])
    return name_words[-1] if plain and name_words[-1] not in names.values() else "details"
