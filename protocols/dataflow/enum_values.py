"""The fixed values of an API's fields: enumerations, and values that examples repeat."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import cast

from protocols.model import Protocol
from protocols.schema_fields import fields
from protocols.text.words import stem, words

__all__ = ["enum_values", "mentioned_values"]

_MAX_VALUES = 200
"""Distinct values; a field with more holds free text."""
_OPPOSITES = ("un", "not ", "not_", "non", "in", "dis")
"""What stands before a value in the name of its opposite. Made from one question, and tried on no other document."""


def enum_values(protocol: Protocol) -> dict[str, frozenset[str]]:
    """The fixed values of each field, from its enumeration and the examples.

    A field whose values hardly ever repeat (a name, a title) has none.
    """
    example_texts: dict[str, list[str]] = defaultdict(list)
    enumerated: dict[str, set[str]] = defaultdict(set)
    for tool in protocol.tools:
        for response in tool.responses:
            for example in response.examples:
                _collect_texts(example, "", example_texts)
        if (success := tool.success) is not None and success.schema is not None:
            for field in fields(success.schema, protocol, 3):
                allowed = cast("list[object]", field.schema.get("enum") or [])
                enumerated[field.name].update(value for value in allowed if isinstance(value, str))
    for name, texts in example_texts.items():
        counts = Counter(texts)
        if len(texts) >= 4 and len(counts) <= min(_MAX_VALUES, 0.7 * len(texts)):
            enumerated[name].update(counts)
    return {
        name: frozenset(value for value in values if _is_word(value)) for name, values in enumerated.items() if values
    }


def _collect_texts(value: object, name: str, example_texts: dict[str, list[str]]) -> None:
    if isinstance(value, Mapping):
        for key, part in value.items():
            _collect_texts(part, str(key), example_texts)
    elif isinstance(value, list):
        for part in value:
            _collect_texts(part, name, example_texts)
    elif isinstance(value, str) and name:
        example_texts[name].append(value)


def _is_word(value: str) -> bool:
    return 3 <= len(value) <= 24 and value.replace(" ", "").isalpha() and len(value.split()) <= 2


def mentioned_values(spoken_stems: Iterable[str], field_values: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """The fields with a value among the stems of a question: {"job": "Director"} for "Who directed it?".

    For "not sent" it is "unsent", where that is a value, too.
    """
    spoken = tuple(spoken_stems)
    query_stems = frozenset(spoken)
    mentions: dict[str, str] = {}
    for name, values in field_values.items():
        # One word is meant more likely than several, and the shortest is the plainest.
        for value in sorted(values, key=lambda value: (len(words(value)), len(value), value)):
            parts = [stem(word) for word in words(value)]
            if parts and query_stems.issuperset(parts) and stem(words(name)[-1]) not in parts:
                opposites = [f"{prefix}{value}" for prefix in _OPPOSITES if f"{prefix}{value}" in values]
                mentions[name] = opposites[0] if opposites and ("not", parts[0]) in pairwise(spoken) else value
                break
    return mentions
