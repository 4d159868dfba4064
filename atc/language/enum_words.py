"""The enum values of an API that a question mentions.

"Who directed it?" is answered by a field `job` whose value is "Director". Only the examples and enums of the document
connect the two, and a small model has to be told of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from protocols.text.words import stem, words

__all__ = ["mentioned_values"]


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
