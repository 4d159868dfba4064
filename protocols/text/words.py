"""The words of an API's names: `filmUuid`, `film_uuid` and `film-uuid` are all the words film and uuid.

The data flow between tools is read from these words, so all modules must split names alike. Word lists are data:
text files in which a list is a name, a colon and its words, under a comment after `#`; it goes on in the indented lines
below.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path

__all__ = [
    "ID_WORDS",
    "NAMES",
    "PAGING",
    "SEARCHES",
    "SIZES",
    "TEXTS",
    "WRAPPERS",
    "abbreviated_names",
    "attribute_of",
    "fold",
    "identifier_stem",
    "is_identifier",
    "name_similarity",
    "noun_of",
    "noun_of_identifier",
    "read_word_lists",
    "selects_page",
    "singular",
    "stem",
    "words",
]


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

ID_WORDS = NAMES["identifiers"]
WRAPPERS = NAMES["wrappers"]
SIZES = NAMES["sizes"]
SEARCHES = NAMES["searches"]
PAGING = NAMES["paging"]
_PAGE_PARAMETERS = NAMES["limits"] | NAMES["offsets"] | NAMES["pages"] | NAMES["cursors"] | {"marker", "token"}
_PAGE_WORDS = frozenset({"page", "pagination", "cursor", "offset", "limit"})

_MIN_ABBREVIATION = 4
"""Letters that an abbreviated name has at least."""
_IRREGULAR = {"ids": "id", "people": "person", "children": "child", "men": "man", "women": "woman", "data": "datum"}
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


@lru_cache(maxsize=8192)
def words(name: str) -> tuple[str, ...]:
    """The lower-case words of a name, in order; camelCase, snake_case, kebab-case and dots alike."""
    return tuple(part.lower() for part in _WORD.findall(name))


@lru_cache(maxsize=8192)
def singular(word: str) -> str:
    """A word of a name in the singular: companies -> company, people -> person; unknown words come back as they are."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in NAMES["singular in s"] or len(word) < 4 or word.endswith("ss") or not word.endswith("s"):
        return word
    if word.endswith("ies") and word not in NAMES["plurals of ie"]:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "zes")):
        return word[:-2]
    return word[:-1]


@lru_cache(maxsize=8192)
def noun_of(name: str) -> str:
    """The last word of a name in the singular: production_companies -> company; empty for a name without words."""
    parts = words(name)
    return singular(parts[-1]) if parts else ""


@lru_cache(maxsize=8192)
def is_identifier(name: str) -> bool:
    """True if a name ends like an identifier: `id`, `film_uuid`, `genre_ids`."""
    return noun_of(name) in ID_WORDS


def attribute_of(name: str) -> str | None:
    """The identifier word at the end of a name, in the singular; None without one."""
    return noun_of(name) if is_identifier(name) else None


def noun_of_identifier(name: str) -> str:
    """The noun before the identifier word: film for `filmUuid` and `film_ids`; empty for a bare `id`."""
    parts = words(name)
    return singular(parts[-2]) if len(parts) > 1 else ""


def identifier_stem(name: str) -> tuple[str, ...]:
    """The words before the identifier words of a name: (film,) for `film_ids`; empty for `id` and other names."""
    parts = words(name)
    end = len(parts)
    while end and singular(parts[end - 1]) in ID_WORDS:
        end -= 1
    return (*parts[: end - 1], singular(parts[end - 1])) if 0 < end < len(parts) else ()


_MIN_ADVERB = 4
_ENDINGS = ("ing", "ion", "ed", "or", "er", "e")


def name_similarity(first: str, second: str) -> float:
    """The similarity of two tool names from 0 to 1, in any order of their words."""

    def ordered(text: str) -> str:
        return " ".join(sorted(text.lower().split("_")))

    pairs = ((first.lower(), second.lower()), (ordered(first), ordered(second)))
    return max(SequenceMatcher(None, *pair).ratio() for pair in pairs)


def abbreviated_names(word: str, names: Iterable[str]) -> list[str]:
    """The names that abbreviate a word: carbs for carbohydrate, temp for temperature."""
    word = word.lower()
    shortened = [(name, name.lower().rstrip("s")) for name in names]
    return [
        name for name, part in shortened if len(part) >= _MIN_ABBREVIATION and part != word and word.startswith(part)
    ]


def fold(text: str) -> str:
    """Normalize a text for comparing names: words only, without case, accents and possessives."""
    text = "".join(part for part in unicodedata.normalize("NFKD", text) if not unicodedata.combining(part)).casefold()
    text = re.sub(r"['\u2019]s\b", "", text)
    return " ".join(re.findall(r"\w+", text.replace("'", "").replace("\u2019", "")))


def stem(word: str) -> str:
    """A rough stem, the same for director, directing and directed, or day and daily."""
    word = singular(word)
    if word.endswith("ly") and len(word) > _MIN_ADVERB:
        word = f"{word[:-3]}y" if word.endswith("ily") else word[:-2]
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def selects_page(name: str) -> bool:
    """True if an argument selects a part of a list, or its size."""
    return name.lower() in _PAGE_PARAMETERS or not _PAGE_WORDS.isdisjoint(words(name))
