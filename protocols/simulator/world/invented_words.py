"""Words for fields without examples: names of people, firms, works and places, and plain sentences.

All of them are invented or common property; the words of a field's name decide which list serves it.
"""

from __future__ import annotations

from pathlib import Path

from protocols.simulator.world.seeded_rng import SeededRNG
from protocols.text.words import read_word_lists, singular, words

__all__ = ["city", "country", "invent_name", "is_venue", "nouns", "person", "place", "sentence", "title"]

_LISTS = read_word_lists(Path(__file__).with_name("invented_words.txt"))
_CITIES = [tuple(pair.replace("_", " ").split("/")) for pair in _LISTS["cities"]]
_SENTENCES = (
    "Two strangers meet by chance and find that they share more than a journey.",
    "A quiet year turns upside down when an old promise has to be kept.",
    "What begins as a small mistake grows into something nobody can stop.",
    "Made with care over many months, and better for it.",
    "Everyone in town has a version of what happened that night.",
    "Warm, precise and full of small surprises.",
    "It starts slowly, then never lets go.",
    "A calm look at people who keep going.",
)


def _draw(rng: SeededRNG, *lists: str) -> str:
    return " ".join(rng.choose(_LISTS[name]) for name in lists)


def person(rng: SeededRNG) -> str:
    """First and last name of an invented person."""
    return _draw(rng, "first names", "last names")


def title(rng: SeededRNG) -> str:
    """The title of a work."""
    adjective, noun, second_noun = _draw(rng, "adjectives", "nouns", "nouns").split()
    forms = (
        f"The {adjective} {noun}",
        f"{adjective} {noun}",
        f"{noun} of the {second_noun}",
        f"{adjective} {noun} and {second_noun}",
    )
    return rng.choose(forms)


def nouns(rng: SeededRNG, count: int) -> list[str]:
    """Different nouns, capitalised as in names."""
    return rng.sample(_LISTS["nouns"], count)


def city(rng: SeededRNG) -> str:
    """A real city."""
    return rng.choose(_CITIES)[0]


def place(rng: SeededRNG) -> str:
    """A real city with its country."""
    return ", ".join(rng.choose(_CITIES))


def country(rng: SeededRNG) -> str:
    """The two-letter code of a country."""
    return rng.choose(_LISTS["countries"])


def sentence(rng: SeededRNG, count: int = 1) -> str:
    """A few sentences that suit almost anything."""
    return " ".join(rng.sample(_SENTENCES, count))


def is_venue(kind: str) -> bool:
    """True if a type's name means a place that people visit."""
    return singular(kind) in _LISTS["of venues"]


def invent_name(kind: str, rng: SeededRNG) -> str:
    """A name for an entity, by the meaning of its type's name."""
    parts = {singular(part) for part in words(kind)}
    if parts.intersection(_LISTS["of people"]):
        return person(rng)
    if parts.intersection(_LISTS["of firms"]):
        return _draw(rng, "adjectives", "nouns", "firms")
    if parts.intersection(_LISTS["of places"]):
        return city(rng)
    if parts.intersection(_LISTS["of venues"]):
        return _draw(rng, "adjectives", "nouns")
    return title(rng)
