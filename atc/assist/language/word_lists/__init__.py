"""English word lists as data, in the form of `protocols.text.words`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from protocols.text.words import read_word_lists

__all__ = ["QUESTIONS", "comparison_phrases"]

_FOLDER = Path(__file__).parent
QUESTIONS = read_word_lists(_FOLDER / "questions.txt")
"""Words of a question, by list."""


def comparison_phrases(name: str) -> Mapping[str, tuple[str, frozenset[str]]]:
    """By phrase, `max` or `min`, and words in the name of the field to compare."""
    lists = read_word_lists(_FOLDER / f"{name}.txt")
    return {
        phrase: (order, frozenset(fields))
        for phrases, (order, *fields) in lists.items()
        for phrase in phrases.split(", ")
    }
