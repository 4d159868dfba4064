"""Comparisons in plan sketches: the recipe with the least equipment, the hottest day."""

from __future__ import annotations

import re
from collections.abc import Collection

from atc.language.question import Question
from protocols.dataflow.graph import ProtocolGraph
from protocols.json_path import Step, subscripts
from protocols.schema_fields import ResponseField, fields, type_of
from protocols.text.words import stem, words

__all__ = ["with_comparison"]

_MOMENTS = frozenset({("date",), ("day",), ("datetime",), ("hour",), ("time",)})
"""Last words of the names of fields with the day or hour of a list item."""
_HOLDS = re.compile(r' *(\w+) = ([A-Z]+_\w+)\(.*\)((?:\["[^"]+"\])*)(\[0\])?')
"""A line that sets a variable to a response, or to a part of it."""


def with_comparison(lines: list[str], question: Question, graph: ProtocolGraph) -> list[str]:
    """The lines of a sketch, with the comparison of the question.

    Of several days the best one is taken; of several items the compared values are collected, then the best is taken.
    """
    days = [(place, match) for place, line in enumerate(lines) if (match := _HOLDS.fullmatch(line)) is not None]
    bests = (
        (place, _best_day(match, by, unit, graph)) for by, unit in question.day_superlatives for place, match in days
    )
    if (best_line := next(((place, best) for place, best in bests if best), None)) is not None:
        place, best = best_line
        indent = lines[place][: len(lines[place]) - len(lines[place].lstrip())]
        lines = [*lines[: place + 1], f"{indent}{best}", *lines[place + 1 :]]
    begin = next((place for place, line in enumerate(lines) if line.startswith("for ")), None)
    if begin is None or not question.superlatives:
        return lines
    matches = [match for match in map(_HOLDS.fullmatch, lines[begin + 1 :]) if match is not None]
    looped = lines[begin].split()[1]
    held_names = [*([looped] if looped != "name" else []), *(match[1] for match in matches)]
    most = next(
        (most for by in question.superlatives for match in matches if (most := _most_of(match, by, graph))), None
    )
    if most is None or len(held_names) < 2:
        return lines
    several = next(name for name in (f"{held_names[0]}s", "found", "compared") if name not in held_names)
    entry = ", ".join(f'"{name}": {name}' for name in held_names)
    return [
        *lines[:begin],
        f"{several} = []",
        *lines[begin:],
        f"    {several}.append({{{entry}}})",
        f"best = {most[0]}({several}, key=lambda one: {most[1]})",
    ]


def _most_of(match: re.Match[str], by: tuple[str, frozenset[str]], graph: ProtocolGraph) -> tuple[str, str] | None:
    """`max` or `min`, and the text of the compared value; None where the line has none.

    The value is the length of the list that a line assigns, or a number in its response.
    """
    order, field_words = by
    variable, tool, inside, first = match.groups()
    if first:
        return None
    stems = {stem(word) for word in field_words}
    if inside and not stems.isdisjoint(map(stem, words(f"{variable} {inside}"))):
        return order, f'len(one["{variable}"])'
    path = None if inside else _number(graph, tool, (), field_words)
    return (order, f'one["{variable}"]{subscripts(path)}') if path else None


def _best_day(match: re.Match[str], by: tuple[str, frozenset[str]], unit: str, graph: ProtocolGraph) -> str | None:
    """The line that takes the best of the days or hours in a list; None where a line has none that can be compared."""
    variable, tool, inside, first = match.groups()
    items = (*re.findall(r'"([^"]+)"', inside), 0)
    moments = [moment.name for moment in _inside(graph, tool, items) if words(moment.name)[-1:] in _MOMENTS]
    if not inside or first or not moments:
        return None
    if not any(word.startswith(unit) for word in words(f"{tool} {' '.join(moments)}")):
        return None
    path = _number(graph, tool, items, by[1])
    return f"best = {by[0]}({variable}, key=lambda one: one{subscripts(path)})" if path else None


def _number(
    graph: ProtocolGraph, tool: str, holder: tuple[Step, ...], field_words: Collection[str]
) -> tuple[Step, ...] | None:
    """The path to the number in an object of a response whose name shares most words with `field_words`."""
    stems = {stem(word) for word in field_words}
    numbers = []
    for candidate in _inside(graph, tool, holder):
        path = candidate.path[len(holder) :]
        shared = stems.intersection(map(stem, words(" ".join(map(str, path)))))
        if shared and type_of(candidate.schema) in ("integer", "number"):
            numbers.append((-len(shared), len(path), path))
    return min(numbers, key=lambda rated: rated[:2])[2] if numbers else None


def _inside(graph: ProtocolGraph, tool: str, holder: tuple[Step, ...]) -> list[ResponseField]:
    """The fields inside an object of a response, except those in lists."""
    success = graph.protocol.tool(tool).success
    all_fields = fields(success.schema, graph.protocol, 4) if success is not None and success.schema is not None else ()
    length = len(holder)
    return [inner for inner in all_fields if inner.path[:length] == holder and 0 not in inner.path[length:]]
