"""The words of questions: templates, phrases for lists, fields in plain words, and superlatives."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from string import Template

from protocols.text.word_lists import read_word_lists
from protocols.text.words import singular, words

__all__ = [
    "NounPhrase",
    "counted",
    "field_phrase",
    "form",
    "is_person",
    "is_place",
    "is_short",
    "ordering",
    "plural",
    "plural_field",
    "possessive",
    "preposition",
    "spoken",
    "stands_behind",
    "superlative",
    "template",
]

_FOLDER = Path(__file__).parent
_WORDS = read_word_lists(_FOLDER / "words.txt")
_NUMBER_OF = ("number_of_", "total_number_of_", "num_")
_IRREGULAR_PLURALS = {"person": "people", "child": "children", "man": "men", "woman": "women"}
_CASUAL, _BEGUN = 0.2, 0.1
"""Shares of questions without capital and sign, and with words before them."""
_SHORT = 5
"""Words of an owner that stands before what it owns."""
_NUMBER = re.compile(r"\d+(?:[.:-]\d+)*")


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A list in words: `the` before it, what stands before and behind the noun, and the noun in both numbers.

    With `first`, only so many items of it are meant.
    """

    noun: str
    nouns: str
    before: str = ""
    behind: str = ""
    article: str = "the"
    first: int = 0

    def text(self, count: int | None = None) -> str:
        """The list as a whole, or its first `count` items."""
        count = count or self.first
        number = f"first {count}" if count else ""
        return " ".join(filter(None, (self.article, number, self.before, self.nouns, self.behind)))

    def item(self, which: str) -> str:
        """One item of it: the `first`, the `newest`."""
        if self.first and which:
            return f"the {which} of {self.text()}"
        return " ".join(filter(None, (self.article, which, self.before, self.noun, self.behind)))

    def narrowed(self, behind: str) -> NounPhrase:
        """The phrase with more behind its noun."""
        return replace(self, behind=f"{self.behind} {behind}".strip())


def template(name: str, rng: Random, values: Mapping[str, str]) -> str:
    """A question in one of the forms of a name. Raises: KeyError: A placeholder has no value."""
    forms = [text for text in map(Template, _templates()[name]) if set(text.get_identifiers()) <= values.keys()]
    return rng.choice(forms or [Template(_templates()[name][0])]).substitute(values)


@cache
def _templates() -> dict[str, tuple[str, ...]]:
    sections: dict[str, tuple[str, ...]] = {}
    for section in (_FOLDER / "templates.txt").read_text("utf-8").split("== ")[1:]:
        name, *lines = section.strip().splitlines()
        sections[name] = tuple(line for line in lines if line.strip() and not line.startswith("#"))
    return sections


def form(question: str, values: list[str]) -> str:
    """A question without its names, values and numbers, in small letters."""
    for value in sorted(filter(None, values), key=len, reverse=True):
        question = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "…", question, flags=re.IGNORECASE)
    return _NUMBER.sub("…", question).casefold()


def plural(noun: str) -> str:
    """A noun in the plural: company, companies."""
    if noun in _IRREGULAR_PLURALS or singular(noun) != noun:
        return _IRREGULAR_PLURALS.get(noun, noun)
    if noun.endswith("y") and noun[-2:-1] not in tuple("aeiou"):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def is_short(phrase: str) -> bool:
    """True if a phrase may stand before what it owns."""
    return len(phrase.split()) <= _SHORT


def possessive(phrase: str) -> str:
    """`the movie's`, and `the movies'`."""
    return f"{phrase}'" if phrase.endswith("s") else f"{phrase}'s"


def counted(name: str) -> str | None:
    """The things that a number counts: `seasons` for `number_of_seasons` and `season_count`; None for others."""
    lowered = "_".join(words(name))
    for prefix in _NUMBER_OF:
        if lowered.startswith(prefix):
            return plural(lowered.removeprefix(prefix).replace("_", " "))
    return plural(lowered.removesuffix("_count").replace("_", " ")) if lowered.endswith("_count") else None


def field_phrase(name: str, rng: Random) -> str:
    """A field in plain words, sometimes in other ones."""
    parts = [word for word in words(name) if not word.isdigit()]
    if counted(name):
        return f"number of {counted(name)}"
    spoken = _WORDS.get(parts[-1], ()) if parts else ()
    if spoken and rng.random() < 0.6:
        return rng.choice(spoken).replace("_", " ")
    return " ".join(parts)


def superlative(field: str, order: str, rng: Random) -> str | None:
    """`newest` for the highest release date; None for a field without such a word. `order`: highest or lowest."""
    for word in reversed(words(field)):
        if options := _WORDS.get(f"{order} {'date' if word in ('day', 'at', 'birthday') else word}"):
            return rng.choice(options).replace("_", " ")
    return None


def is_person(noun: str) -> bool:
    """True if a question asks for a noun with `who`."""
    return bool(words(noun)) and singular(words(noun)[-1]) in _WORDS["people"]


def is_place(field: str) -> bool:
    """True if a question asks for a field with `where`."""
    return not set(words(field)).isdisjoint(_WORDS["places"])


def preposition(word: str) -> str:
    """The word between a list and its owner."""
    return next((name for name in ("to", "for", "by", "at") if word in _WORDS[name]), "of")


def stands_behind(modifier: list[str]) -> bool:
    """True if words of a path stand behind the noun: `on the air`."""
    return bool(modifier) and modifier[0] in _WORDS["behind"]


def spoken(question: str, rng: Random) -> str:
    """A question as people write it: some without capitals and signs, some with a greeting."""
    if rng.random() < _BEGUN:
        question = template("begin", rng, {"question": _lowered(question)})
    if rng.random() < _CASUAL:
        question = question.rstrip("?.")
        question = _lowered(question)
    return question[:1].upper() + question[1:] if rng.random() < 0.3 else question


def _lowered(question: str) -> str:
    """A question with a small first letter, unless it begins with a name or `I`."""
    second = question[1:2]
    return question[:1].lower() + question[1:] if second.islower() else question


def plural_field(field: str) -> str:
    """A field of several objects in plain words."""
    return plural(" ".join(word for word in words(field) if not word.isdigit()))


def ordering(order: str, is_date: bool, rng: Random) -> str:
    """The words for an order: `latest` for the highest date."""
    if is_date:
        return rng.choice(["latest", "later"] if order == "highest" else ["earliest", "earlier"])
    return rng.choice([order, "highest", "greater"] if order == "highest" else [order, "lower", "smallest"])
