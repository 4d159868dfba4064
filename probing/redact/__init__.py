"""Replaces what is secret or personal in what is written down. `KEYS` are the words of keys and of names of schemas."""

from __future__ import annotations

from pathlib import Path

from protocols.text.words import read_word_lists

__all__ = ["KEYS"]

_LISTS = read_word_lists(Path(__file__).with_name("keys.txt"))
KEYS = {name: frozenset(word.replace("_", " ") for word in words) for name, words in _LISTS.items()}
