"""Word lists as data: text files in which a list is a name, a colon and its words, under a comment after `#`.

A list goes on in the indented lines below it. The files of other packages have the same form.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["NAMES", "TEXTS", "read_word_lists"]


def read_word_lists(file: Path) -> dict[str, tuple[str, ...]]:
    """The lists of a file by name, in its order."""
    lists: dict[str, tuple[str, ...]] = {}
    name = ""
    for line in file.read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            if not line.startswith(" "):
                name, _, line = line.partition(":")
            lists[name] = (*lists.get(name, ()), *line.split())
    return lists


def _sets(name: str) -> dict[str, frozenset[str]]:
    return {key: frozenset(words) for key, words in read_word_lists(Path(__file__).with_name(f"{name}.txt")).items()}


NAMES = _sets("names")
"""Words in the names of an API, by list."""
TEXTS = _sets("texts")
"""English words in a text, by list."""
