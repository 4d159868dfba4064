"""The words of an API in a question: its enum values.

"Who directed it?" is answered by a field `job` whose value is "Director": only the
examples and enums of the document connect the two, and a small model has to be told of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from protocols.text.word_lists import NAMES, TEXTS
from protocols.text.words import stem, words

__all__ = ["MIN_WORD_LETTERS", "SMALL_WORDS", "mentioned_values", "tool_stems"]

SMALL_WORDS = TEXTS["articles"] | TEXTS["small words"] | NAMES["identifiers"]
"""Words that say nothing of what a tool is about."""
MIN_WORD_LETTERS = 4


def mentioned_values(spoken_stems: Iterable[str], field_values: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """The fields with a value among the stems of a question: {"job": "Director"} for "Who directed it?"."""
    query_stems = frozenset(spoken_stems)
    mentions: dict[str, str] = {}
    for name, values in field_values.items():
        # One word is meant more likely than several, and the shortest is the plainest.
        for value in sorted(values, key=lambda value: (len(words(value)), len(value), value)):
            parts = [stem(word) for word in words(value)]
            if parts and query_stems.issuperset(parts) and stem(words(name)[-1]) not in parts:
                mentions[name] = value
                break
    return mentions


def tool_stems(name: str | None) -> frozenset[str]:
    """The stems of the words in the name of a tool that say what it is about; its HTTP method does not."""
    about = (word for word in words(name or "")[1:] if word not in SMALL_WORDS and len(word) >= MIN_WORD_LETTERS)
    return frozenset(map(stem, about))
