"""Comparisons in plans: of several items the compared values are collected, then the best is taken.

Of the four questions of ToolFlow's development split (20) that the small model answers right, three are answered with
it alone (AMD EPYC, OpenVINO, 2026-11-27). These are tasks that it was made on;
no unread half has judged it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Literal as OneOf

from atc.assist.language.question import Question
from atc.program.plan import Append, Call, Each, Items, Literal, Object, Path, Pick, Plan, Ref, Step
from protocols.dataflow.graph import ProtocolGraph
from protocols.schema_fields import fields, type_of
from protocols.text.words import stem, words

__all__ = ["with_comparison"]

_BEST, _ITEM = "best", "one"


def with_comparison(plan: Plan, question: Question, graph: ProtocolGraph) -> Plan:
    """The plan with the comparison of the question behind its loop, if it ends with one."""
    loop = plan.steps[-1]
    if not isinstance(loop, Each):
        return plan
    responses = {step.variable: step.value for step in loop.steps if isinstance(step, Step) and _is_response(step)}
    names = [*([loop.item] if isinstance(loop.value, Call) else []), *responses]
    for order, field_words in question.superlatives if len(names) > 1 else ():
        for name, call in responses.items():
            if isinstance(call, Call) and (most := _entry_value(name, call, field_words, graph)) is not None:
                several = next(name for name in (f"{names[0]}s", "found", "compared") if name not in names)
                entry = Object(tuple((Literal(name), Ref(name)) for name in names))
                collecting = replace(loop, steps=(*loop.steps, Append(several, entry)))
                best = Step(_BEST, Pick(order, Ref(several), _ITEM, *most))
                return Plan((*plan.steps[:-1], Step(several, Items()), collecting, best))
    return plan


def _is_response(step: Step) -> bool:
    """True if a step sets a variable to a response, to a part of it, or to the first item of a list in it."""
    return bool(step.variable) and isinstance(step.value, Call) and 0 not in step.value.path[:-1]


def _entry_value(
    name: str, call: Call, field_words: Collection[str], graph: ProtocolGraph
) -> tuple[Path, OneOf["value", "length"]] | None:
    """The path to a compared value in an entry: a list, compared by its length, or a number in a response."""
    if 0 in call.path:
        return None
    stems = {stem(word) for word in field_words}
    about = words(" ".join([name, *map(str, call.path)]))
    if call.path:
        return ((name,), "length") if not stems.isdisjoint(map(stem, about)) else None
    path = _number(graph, call.tool, stems)
    return ((name, *path), "value") if path else None


def _number(graph: ProtocolGraph, tool: str, stems: set[str]) -> Path | None:
    """The path to the number in a response, lists aside, whose name shares most words with a comparison."""
    schema = graph.protocol.tool(tool).response_schema
    numbers = []
    for candidate in fields(schema, graph.protocol, 4) if schema is not None else ():
        shared = stems.intersection(map(stem, words(" ".join(map(str, candidate.path)))))
        if shared and 0 not in candidate.path and type_of(candidate.schema) in ("integer", "number"):
            numbers.append((-len(shared), len(candidate.path), candidate.path))
    return min(numbers, key=lambda rated: rated[:2])[2] if numbers else None
