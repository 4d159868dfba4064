"""The fixed words that an API answers with, and which of them a question speaks of.

"Who directed it?" is answered by a field called `job` whose value is "Director". Nothing but the document's own
examples and enumerations connects the two, and a small model sees the connection only when it is pointed out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import cast

from protocols.model import Protocol
from protocols.shapes import fields
from protocols.words import singular, words

__all__ = ["mentioned", "stem", "vocabulary"]

_MOST = 200
"""Different values from which on a field is taken to hold free text."""
_ADVERB = 4
_ENDINGS = ("ing", "ion", "ed", "or", "er", "e")


def stem(word: str) -> str:
    """What director, directing and directed have in common, or day and daily; rough, and the same for question and
    document."""
    word = singular(word)
    if word.endswith("ly") and len(word) > _ADVERB:
        word = f"{word[:-3]}y" if word.endswith("ily") else word[:-2]
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def vocabulary(protocol: Protocol) -> dict[str, frozenset[str]]:
    """For each field that draws on a fixed set of words, those words: from its enumeration and the examples.

    A field whose values hardly ever repeat (a name, a title) has none.
    """
    seen: dict[str, list[str]] = defaultdict(list)
    fixed: dict[str, set[str]] = defaultdict(set)
    for tool in protocol.tools:
        for response in tool.responses:
            for example in response.examples:
                _collect(example, "", seen)
        if (success := tool.success) is not None and success.schema is not None:
            for field in fields(success.schema, protocol, 3):
                allowed = cast("list[object]", field.schema.get("enum") or [])
                fixed[field.name].update(value for value in allowed if isinstance(value, str))
    for name, texts in seen.items():
        counts = Counter(texts)
        if len(texts) >= 4 and len(counts) <= min(_MOST, 0.7 * len(texts)):
            fixed[name].update(counts)
    return {name: frozenset(value for value in values if _is_word(value)) for name, values in fixed.items() if values}


def mentioned(query: str, known: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """Fields of which a question names a value, and that value: {"job": "Director"} for "Who directed it?"."""
    asked = {stem(word) for word in words(query)}
    found: dict[str, str] = {}
    for name, values in known.items():
        # One word is meant more likely than several, and the shortest is the plainest.
        for value in sorted(values, key=lambda value: (len(words(value)), len(value), value)):
            parts = [stem(word) for word in words(value)]
            if parts and asked.issuperset(parts) and stem(words(name)[-1]) not in parts:
                found[name] = value
                break
    return found


def _collect(value: object, name: str, seen: dict[str, list[str]]) -> None:
    if isinstance(value, Mapping):
        for key, part in value.items():
            _collect(part, str(key), seen)
    elif isinstance(value, list):
        for part in value:
            _collect(part, name, seen)
    elif isinstance(value, str) and name:
        seen[name].append(value)


def _is_word(value: str) -> bool:
    return 3 <= len(value) <= 24 and value.replace(" ", "").isalpha() and len(value.split()) <= 2
