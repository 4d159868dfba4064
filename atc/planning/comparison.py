"""Comparisons in plans: the recipe with the least equipment, the hottest day."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from atc.language.question import Question
from atc.planning.plan import Append, Best, Call, Each, Items, Literal, Object, Path, Plan, Ref, Statement, Step
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
    for by, unit in question.day_superlatives:
        for step, call in days:
            if (path := _best_day(call, by[1], unit, graph)) is not None:
                best = Step(_BEST, Best(by[0], Ref(step.variable), _ITEM, path))
                return _compared(Plan(tuple(_after(plan.steps, step, best))), question, graph)
    return _compared(plan, question, graph)


def _after(steps: tuple[Statement, ...], before: Step, new: Step) -> Iterator[Statement]:
    """Steps with a new one behind one of them."""
    for step in steps:
        yield replace(step, steps=tuple(_after(step.steps, before, new))) if isinstance(step, Each) else step
        if step is before:
            yield new


def _compared(plan: Plan, question: Question, graph: ProtocolGraph) -> Plan:
    """The plan with the best item of its loop."""
    loop = plan.steps[-1]
    if not isinstance(loop, Each):
        return plan
    steps = [step for step in loop.steps if isinstance(step, Step) and step.variable]
    held = [step for step in steps if isinstance(step.value, Call) and 0 not in step.value.path[:-1]]
    names = [*([loop.item] if isinstance(loop.items, Call) else []), *(step.variable for step in held)]
    for order, field_words in question.superlatives if len(names) > 1 else ():
        for step in held:
            if (most := _most_of(step, order, field_words, graph)) is not None:
                several = next(name for name in (f"{names[0]}s", "found", "compared") if name not in names)
                entry = Object(tuple((Literal(name), Ref(name)) for name in names))
                collecting = replace(loop, steps=(*loop.steps, Append(several, entry)))
                best = Step(_BEST, replace(most, items=Ref(several)))
                return Plan((*plan.steps[:-1], Step(several, Items()), collecting, best))
    return plan


def _most_of(step: Step, order: str, field_words: frozenset[str], graph: ProtocolGraph) -> Best | None:
    """The comparison of entries by the value of a step: by the length of its list, or by a number in its response."""
    call = step.value
    if not isinstance(call, Call) or 0 in call.path:
        return None
    stems = {stem(word) for word in field_words}
    about = " ".join([step.variable, *map(str, call.path)])
    if call.path and not stems.isdisjoint(map(stem, words(about))):
        return Best(order, Ref(""), _ITEM, (step.variable,), "length")
    path = None if call.path else _number(graph, call.tool, (), field_words)
    return Best(order, Ref(""), _ITEM, (step.variable, *path)) if path else None


def _best_day(call: Call, field_words: frozenset[str], unit: str, graph: ProtocolGraph) -> Path | None:
    """The path in the days or hours of a list by which they are compared; None where they cannot be."""
    items = (*call.path, 0)
    if not call.path or 0 in call.path:
        return None
    moments = [field.name for field in _inside(graph, call.tool, items) if words(field.name)[-1:] in _MOMENTS]
    named = words(f"{call.tool} {' '.join(moments)}")
    if not moments or not any(word.startswith(unit) for word in named):
        return None
    return _number(graph, call.tool, items, field_words)


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
