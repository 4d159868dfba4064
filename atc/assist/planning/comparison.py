"""Comparisons in plans: the recipe with the least equipment, the hottest day."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Literal as OneOf

from atc.assist.language.question import Question
from atc.program.plan import Append, Call, Each, Items, Literal, Object, Path, Pick, Plan, Ref, Statement, Step
from protocols.dataflow.graph import ProtocolGraph
from protocols.schema_fields import ResponseField, fields, type_of
from protocols.text.words import stem, words

__all__ = ["with_comparison"]

_MOMENTS = frozenset({("date",), ("day",), ("datetime",), ("hour",), ("time",)})
"""Last words of the names of fields with the day or hour of a list item."""
_BEST, _ITEM = "best", "one"


def with_comparison(plan: Plan, question: Question, graph: ProtocolGraph) -> Plan:
    """The plan with the comparison of the question.

    Of several days the best one is taken; of several items the compared values are collected, then the best is taken.
    """
    days = [(step, step.value) for step in plan.every_step if isinstance(step.value, Call)]
    bests = (
        (step, Step(_BEST, Pick(order, Ref(step.variable), _ITEM, path)))
        for (order, field_words), unit in question.day_superlatives
        for step, call in days
        if (path := _day_value(call, field_words, unit, graph)) is not None
    )
    if (best_day := next(bests, None)) is not None:
        plan = Plan(tuple(_after(plan.steps, *best_day)))
    loop = plan.steps[-1]
    if not isinstance(loop, Each):
        return plan
    held = {step.variable: step.value for step in loop.steps if isinstance(step, Step) and _is_held(step)}
    names = [*([loop.item] if isinstance(loop.value, Call) else []), *held]
    for by in question.superlatives if len(names) > 1 else ():
        for name, call in held.items():
            if isinstance(call, Call) and (most := _entry_value(name, call, by[1], graph)) is not None:
                several = next(name for name in (f"{names[0]}s", "found", "compared") if name not in names)
                entry = Object(tuple((Literal(name), Ref(name)) for name in names))
                collecting = replace(loop, steps=(*loop.steps, Append(several, entry)))
                best = Step(_BEST, Pick(by[0], Ref(several), _ITEM, *most))
                return Plan((*plan.steps[:-1], Step(several, Items()), collecting, best))
    return plan


def _after(steps: tuple[Statement, ...], before: Step, new: Step) -> Iterator[Statement]:
    """Steps with a new one behind one of them."""
    for step in steps:
        yield replace(step, steps=tuple(_after(step.steps, before, new))) if isinstance(step, Each) else step
        if step is before:
            yield new


def _is_held(step: Step) -> bool:
    """True if a step sets a variable to a response, to a part of it, or to the first item of a list in it."""
    return bool(step.variable) and isinstance(step.value, Call) and 0 not in step.value.path[:-1]


def _entry_value(
    name: str, call: Call, field_words: Collection[str], graph: ProtocolGraph
) -> tuple[Path, OneOf["value", "length"]] | None:
    """The path to a compared value in an entry: a list, compared by its length, or a number in a response."""
    if 0 in call.path:
        return None
    about = words(" ".join([name, *map(str, call.path)]))
    if call.path and not {stem(word) for word in field_words}.isdisjoint(map(stem, about)):
        return (name,), "length"
    path = None if call.path else _number(graph, call.tool, (), field_words)
    return ((name, *path), "value") if path else None


def _day_value(call: Call, field_words: Collection[str], unit: str, graph: ProtocolGraph) -> Path | None:
    """The path in the days or hours of a list by which they are compared; None where they cannot be."""
    items = (*call.path, 0)
    if not call.path or 0 in call.path:
        return None
    moments = [field.name for field in _inside(graph, call.tool, items) if words(field.name)[-1:] in _MOMENTS]
    named = words(f"{call.tool} {' '.join(moments)}")
    return _number(graph, call.tool, items, field_words) if moments and any(w.startswith(unit) for w in named) else None


def _number(graph: ProtocolGraph, tool: str, holder: Path, field_words: Collection[str]) -> Path | None:
    """The path to the number in an object of a response whose name shares most words with `field_words`."""
    stems = {stem(word) for word in field_words}
    numbers = []
    for candidate in _inside(graph, tool, holder):
        path = candidate.path[len(holder) :]
        shared = stems.intersection(map(stem, words(" ".join(map(str, path)))))
        if shared and type_of(candidate.schema) in ("integer", "number"):
            numbers.append((-len(shared), len(path), path))
    return min(numbers, key=lambda rated: rated[:2])[2] if numbers else None


def _inside(graph: ProtocolGraph, tool: str, holder: Path) -> list[ResponseField]:
    """The fields inside an object of a response, except those in lists."""
    schema = graph.protocol.tool(tool).response_schema
    all_fields = fields(schema, graph.protocol, 4) if schema is not None else ()
    length = len(holder)
    return [inner for inner in all_fields if inner.path[:length] == holder and 0 not in inner.path[length:]]
