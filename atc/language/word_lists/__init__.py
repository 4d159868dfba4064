"""English word lists as data: text files with one entry a line, and comments after `#`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

__all__ = ["comparison_phrases", "word_list"]


@cache
def word_list(name: str) -> tuple[str, ...]:
    """The lines of a list."""
    lines = (Path(__file__).parent / f"{name}.txt").read_text("utf-8").splitlines()
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def comparison_phrases(name: str) -> Mapping[str, tuple[str, frozenset[str]]]:
    """By phrase, `max` or `min`, and words in the name of the field to compare."""
    phrases: dict[str, tuple[str, frozenset[str]]] = {}
    for line in word_list(name):
        texts, _, measure = line.partition(": ")
        order, *fields = measure.split()
        phrases.update(dict.fromkeys(texts.split(", "), (order, frozenset(fields))))
    return phrases
