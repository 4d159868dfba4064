"""Plans for a question, written from the data flow between the tools of an API: no model, no call.

`PUT_me_following(ids=…)` says little to a small model; the three lines that find an artist and follow it say how.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from atc.assist.language.question import Question, is_mentioned
from atc.assist.planning.comparison import with_comparison
from atc.assist.planning.loops import looped, return_words
from atc.assist.planning.providers import path_nouns
from atc.assist.planning.step_writer import StepWriter, name_in
from atc.program.chain import placeholder
from atc.program.plan import PLACEHOLDER, Call, Plan, Step, parts
from protocols.dataflow.graph import ProtocolGraph
from protocols.dataflow.identifiers import looks_like_read
from protocols.model import Protocol, Tool
from protocols.text.words import is_identifier, singular, words

__all__ = ["plans", "steps_to"]

_MAX_UNFILTERED = 3
"""Optional arguments of a tool that is of use without any of them; one with more needs a filter."""

_Steps = tuple[Step, ...]


def plans(
    graph: ProtocolGraph,
    tools: Sequence[str],
    callable_tools: Collection[str],
    question: Question,
    sure: Collection[str] = (),
) -> tuple[Plan, ...]:
    """Plans that call several tools; those that begin alike and only read are merged.

    Where the question names several items, or says how many it means, the rest is done for each.

    Args:
        sure: Tools that are called although they need nothing from any other.
    The others as of `steps_to`.
    """
    groups: dict[tuple[Step, str], dict[Step, None]] = {}
    for name in tools:
        steps = steps_to(graph, name, callable_tools, question)
        if steps and (len(steps) > 1 or name in sure):  # that a tool can be called does not say that it should be
            removes = name if graph.protocol.tool(name).method == "DELETE" else ""  # all else fails after it
            groups.setdefault((steps[0], removes), {}).update(dict.fromkeys(steps))
    whole = [Plan(tuple(group)) for group in groups.values()]
    shortest = [
        plan
        for place, plan in enumerate(whole)
        if not any(map(plan.is_part_of, whole)) and not any(_is_redundant(plan, likelier) for likelier in whole[:place])
    ]
    complete = [plan for plan in shortest if len(plan.steps) > 1 and not plan.has_placeholder]
    if complete:  # a small model copies `…`, too
        shortest = [plan for plan in shortest if plan in complete or not _is_vague(plan, graph.protocol)]
    finished = (looped(list(plan.every_step), question, graph.protocol) for plan in shortest)
    return tuple(with_comparison(plan, question, graph) for plan in finished)


def _is_vague(plan: Plan, protocol: Protocol) -> bool:
    """True if a plan only reads, and begins with a search for something that the question does not say."""
    first = next(plan.every_step)
    return PLACEHOLDER in parts(first.value) and not any(protocol.tool(tool).writes for tool in plan.tools)


def _is_redundant(plan: Plan, likelier: Plan) -> bool:
    """True if the plan is one call, and a likelier, longer plan finds the same entity type elsewhere."""
    first = next(plan.every_step)
    if len(plan.steps) > 1 or len(likelier.steps) < 2 or not isinstance(first.value, Call) or first.value.arguments:
        return False
    return singular(first.variable) in {step.variable for step in likelier.every_step if step.first_of}


def steps_to(graph: ProtocolGraph, tool: str, callable_tools: Collection[str], question: Question) -> _Steps:
    """The steps that call a tool, with its arguments from other tools; empty where none provides them.

    A placeholder stands for what a question says.

    Args:
        callable_tools: Tools that may be called.
        question: It decides between several providers; a new entity is created and not searched for, and an owned one
            is looked for at its owner. An empty one decides nothing.
    """
    writer = StepWriter(graph, {*callable_tools, tool}, question)
    target = graph.protocol.tool(tool)
    if question.text and (_creates_unasked(target, question, graph.protocol) or _lacks_date(target, question)):
        return ()
    call = writer.call(target, 0)
    if call is None or (not writer.steps and _is_unlikely(target, call, question)):
        return ()
    if target.writes:
        if target.function is not None and not writer.steps:
            return ()  # nothing flows between functions that are told what the question says
        return (*writer.steps, Step("", call))
    lists = graph.lists(tool)
    name = _result_variable(target, {step.variable for step in writer.steps})
    return (*writer.steps, Step(name, call.at(lists[0] if len(lists) == 1 else ())))


def _is_unlikely(tool: Tool, call: Call, question: Question) -> bool:
    """True if a call by itself leads nowhere: it searches for an owned entity by its owner's name, or has no filter."""
    owned = any(is_mentioned(kind, question.owned) for kind in path_nouns(tool)[-1:])
    return (owned and name_in(call, question)) or (not call.arguments and len(tool.arguments) > _MAX_UNFILTERED)


def _creates_unasked(tool: Tool, question: Question, protocol: Protocol) -> bool:
    """True if a tool creates an entity of a type that can be listed, and the question only names an existing one."""
    listed = any(other_tool.method == "GET" and other_tool.path == tool.path for other_tool in protocol.tools)
    if tool.method != "POST" or not listed or "{" in tool.path or looks_like_read(tool):
        return False
    return question.is_information_request or question.changes_only


def _lacks_date(tool: Tool, question: Question) -> bool:
    """True if a tool that reads requires a date, and the question has none."""
    days = [p for p in tool.arguments if p.required and words(p.argument)[-1:] in (("date",), ("day",))]
    return not tool.writes and not question.dated and any(placeholder(p) == PLACEHOLDER for p in days)


def _result_variable(tool: Tool, taken: Collection[str]) -> str:
    """A free name for the result of a tool: the last word of its own name that is no identifier."""
    name_words = return_words(tool)
    plain = bool(name_words) and not is_identifier(name_words[-1])
    return name_words[-1] if plain and name_words[-1] not in taken else "details"
