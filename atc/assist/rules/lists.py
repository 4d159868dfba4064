"""Readings of which entry of a list, or which list of a reply, a question asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from atc.assist.rules.inspection import Inspection
from atc.diagnosis.provenance import lists_in, orders
from atc.evidence.answers import Finding, name_of
from atc.program.choices import choices, compares
from protocols.json_path import Step, leaves, subscripts
from protocols.text.words import NAMES, TEXTS, fold, is_identifier, stem, words
from sandbox.records import CallRecord, Source

__all__ = ["no_extreme", "other_entry", "other_list", "taken_by_place"]

_SMALL_WORDS = TEXTS["articles"] | TEXTS["small words"] | NAMES["identifiers"]
"""Words that say nothing of what a tool is about."""
_MIN_WORD_LETTERS = 4
_DATE = re.compile(r"\d{4}-\d\d|/Date\(|\d\d?:\d\d")
_MIN_FIELDS = 3
"""Fields of an entity, at least."""
_MANY = 3
"""Items of a list of which more than one may be wanted."""


def taken_by_place(inspection: Inspection) -> Finding | None:
    """The question asks for an extreme, and the entry was taken by its place, where no field makes it the extreme."""
    if not inspection.question.asks_for_extreme or compares(inspection.tree):
        return None
    if not _is_limited(inspection) or _names_superlative(inspection):
        return None
    for call, path, items, index in _taken_entries(inspection):
        if any(map(orders, inspection.live_calls)) and (not orders(call) or len(items) < _MANY):
            continue
        if len(items) > 1 and not _is_extreme(items, index):
            message = (
                f"the question asks for an extreme, and the program took item {index} of the list "
                f"{subscripts(path)} of {name_of(call)} by its place; compare the items"
            )
            return Finding.of_call("TakenByPlace", message, call, (*path, index))
    return None


def no_extreme(inspection: Inspection) -> Finding | None:
    """The question asks for an extreme, and nothing in the program or its calls chooses one from a list."""
    if not inspection.question.asks_for_extreme or inspection.run.provenance is None:
        return None
    made = choices(inspection.program)
    if compares(inspection.tree) or any(choice.kind != "filter" for choice in made):
        return None
    if any(map(orders, inspection.live_calls)) or _names_superlative(inspection):
        return None
    for call in inspection.live_calls:
        if not call.writes and any(len(items) > 1 for _, items, _ in lists_in(inspection.response(call), 3)):
            superlatives = ", ".join(inspection.question.superlative_words)
            message = f"the question asks for an extreme ({superlatives}), and the program compares nothing; compare"
            return Finding.of_call("TakenByPlace", message, call)
    return None


def _is_limited(inspection: Inspection) -> bool:
    """True if an item taken by its place, or a part of a list, is behind the output."""
    return any(choice.kind == "limit" for choice in choices(inspection.program))


def _names_superlative(inspection: Inspection) -> bool:
    """True if a tool of the answer is named after the superlative: `top_rated`."""
    stems = {word for call in inspection.live_calls for word in _tool_stems(call.tool)}
    return not inspection.superlative_stems.isdisjoint(stems)


def _taken_entries(inspection: Inspection) -> Iterator[tuple[CallRecord, tuple[Step, ...], list[object], int]]:
    """The entries of lists that printed values and arguments were taken from, where it is one of each list."""
    places: dict[tuple[int, tuple[Step, ...]], set[int]] = {}
    for source in inspection.used_sources:
        if source.how == "decided":
            continue
        for at, step in enumerate(source.path):
            if isinstance(step, int):
                places.setdefault((source.call, source.path[:at]), set()).add(step)
    for (call_index, path), indices in places.items():
        call = inspection.run.calls[call_index]
        items = inspection.value_at(call, path)
        if len(indices) == 1 and isinstance(items, list):
            yield call, path, items, indices.pop()


def _is_extreme(items: list[object], index: int) -> bool:
    """True if an item is the greatest or least of a list by a number or a date in it."""
    fields: dict[tuple[Step, ...], dict[int, object]] = {}
    for place, item in enumerate(items):
        for path, value in leaves(item):
            key = next((step for step in reversed(path) if isinstance(step, str)), "")
            date = isinstance(value, str) and _DATE.match(value) is not None
            number = isinstance(value, int | float) and not isinstance(value, bool) and not is_identifier(key)
            if date or number:
                fields.setdefault(path, {})[place] = value
    return any(_is_extreme_value(values.get(index), list(values.values())) for values in fields.values())


def _is_extreme_value(value: object, values: list[object]) -> bool:
    """True if a value is the greatest or least of several different numbers or texts."""
    comparable = [other for other in values if isinstance(other, str) == isinstance(value, str)]
    if value is None or len(set(map(str, comparable))) == 1:
        return False
    return value in (max(comparable), min(comparable))  # type: ignore[type-var]


def other_entry(inspection: Inspection) -> Finding | None:
    """An entry was taken by its place, and another one of its list has a text of the question in a field of both."""
    if not _is_limited(inspection):
        return None
    question_text = f" {fold(inspection.question.text)} "
    for call, path, items, index in _taken_entries(inspection):
        own = dict(leaves(items[index])) if index < len(items) else {}
        if not own or not isinstance(items[index], dict) or len(own) < _MIN_FIELDS:
            continue  # a cell of a table
        for place, item in enumerate(items):
            for field, value in leaves(item):
                text, own_text = fold(str(value)), fold(str(own.get(field, "")))
                if place == index or not isinstance(value, str) or len(text) < _MIN_WORD_LETTERS:
                    continue
                if inspection.question.yes_or_no and text in inspection.enum_values:
                    continue  # whether it is so is what the question asks
                if own_text and f" {text} " in question_text and f" {own_text} " not in question_text:
                    message = (
                        f"the program took item {index} of {subscripts(path)} of {name_of(call)} by its place, where "
                        f"{subscripts(field)} is {own.get(field)!r}; the question says {value!r}, which is item {place}"
                    )
                    return Finding.of_call("OtherEntity", message, call, (*path, index))
    return None


def other_list(inspection: Inspection) -> Finding | None:
    """The printed items come from one list of a reply, and a list beside it has items with a word of the question."""
    question_words = {word for word in inspection.question.stems if len(word) >= _MIN_WORD_LETTERS}
    for source in inspection.data_sources:
        call, path = inspection.run.calls[source.call], _list_path(source)
        if not path:
            continue
        around = inspection.value_at(call, path[:-1])
        if not isinstance(around, dict):
            continue
        own_words = {*_item_words(around.get(str(path[-1]))), *map(stem, words(str(path[-1])))}
        for key, items in around.items():
            wanted = _item_words(items) & question_words - own_words if key != path[-1] else set()
            if isinstance(items, list) and wanted:
                message = (
                    f"the program printed from the list {subscripts(path)} of {name_of(call)}, and the list {key!r} "
                    f"beside it has what the question asks for ({inspection.spoken(wanted)}); look there"
                )
                return Finding.of_call("OtherList", message, call, path)
    return None


def _list_path(source: Source) -> tuple[Step, ...] | None:
    """The path of the innermost list that a source lies in; the step after it is the item. None outside of lists."""
    ends = [at for at, step in enumerate(source.path) if isinstance(step, int)]
    return source.path[: ends[-1]] if ends else None


def _item_words(items: object) -> set[str]:
    """The stems of one-word texts in the items of a list: `Director` of `{"job": "Director"}`."""
    texts = [value for _, value in leaves(items) if isinstance(value, str)] if isinstance(items, list) else []
    return {stem(fold(text)) for text in texts if text.isalpha()}


def _tool_stems(name: str | None) -> frozenset[str]:
    """The stems of the words in the name of a tool that say what it is about; its HTTP method does not."""
    about = (word for word in words(name or "")[1:] if word not in _SMALL_WORDS and len(word) >= _MIN_WORD_LETTERS)
    return frozenset(map(stem, about))
