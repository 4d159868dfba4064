"""Which of an API's fixed words a question speaks of.

"Who directed it?" is answered by a field called `job` whose value is "Director". Nothing but the document's own
examples and enumerations connects the two, and a small model sees the connection only when it is pointed out.
"""

from __future__ import annotations

from collections.abc import Mapping

from protocols.text.words import stem, words

__all__ = ["mentioned_values"]


def mentioned_values(query: str, field_values: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """Fields of which a question names a value, and that value: {"job": "Director"} for "Who directed it?"."""
    query_stems = {stem(word) for word in words(query)}
    mentions: dict[str, str] = {}
    for name, values in field_values.items():
        # One word is meant more likely than several, and the shortest is the plainest.
        for value in sorted(values, key=lambda value: (len(words(value)), len(value), value)):
            parts = [stem(word) for word in words(value)]
            if parts and query_stems.issuperset(parts) and stem(words(name)[-1]) not in parts:
                mentions[name] = value
                break
    return mentions
