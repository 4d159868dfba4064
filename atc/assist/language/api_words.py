"""The words in the names of tools that say what they are about."""

from __future__ import annotations

from protocols.text.word_lists import NAMES, TEXTS
from protocols.text.words import stem, words

__all__ = ["MIN_WORD_LETTERS", "SMALL_WORDS", "tool_stems"]

SMALL_WORDS = TEXTS["articles"] | TEXTS["small words"] | NAMES["identifiers"]
"""Words that say nothing of what a tool is about."""
MIN_WORD_LETTERS = 4


def tool_stems(name: str | None) -> frozenset[str]:
    """The stems of the words in the name of a tool that say what it is about; its HTTP method does not."""
    about = (word for word in words(name or "")[1:] if word not in SMALL_WORDS and len(word) >= MIN_WORD_LETTERS)
    return frozenset(map(stem, about))
