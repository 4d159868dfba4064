"""What the words of a question say about the calls that answer it, read by rules: no model, no API.

Whose a thing is, which number it has, how many of a kind are meant, and of what parts a long question is made.
"""

from __future__ import annotations

import calendar
import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from protocols.text.entities import NamedEntity, read_entities
from protocols.text.words import singular, stem, words

__all__ = ["Question", "is_mentioned"]

_ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
_COUNTS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_NUMBERED = re.compile(rf"\b({'|'.join(_ORDINALS)}|\d+(?:st|nd|rd|th)?)\s+([a-z]+)|\b([a-z]+)\s+(\d+)\b", re.IGNORECASE)
_COUNTED = re.compile(rf"\b({'|'.join(_COUNTS)}|\d+)\s+((?:[a-z]+\s+){{0,2}}[a-z]+)", re.IGNORECASE)
_HOW_MANY = re.compile(r"\b(?:how many|number of)\s+(?:(?:different|other)\s+)?([a-z]+)(?:\s+([a-z]+))?", re.IGNORECASE)
_MINE = re.compile(r"\b(?:my|our)\s+((?:[a-z]+\s+){0,2}[a-z]+)", re.IGNORECASE)
_PERSONAL = re.compile(r"\b(?:i|mine|my|our|ours|we)\b", re.IGNORECASE)
_MAKES = frozenset({"build", "create", "creat", "make", "mak", "new", "start"})
_NOW = re.compile(
    r"\bcurrent(?:ly)?\b|\b(?:right|just|playing|on|showing|running) now\b|\bat (?:the|this) moment\b"
    r"|(?<!start )(?<!stop )(?<!keep )(?<!begin )(?<!resume )(?<!continue )\bplaying\b|\b(?:listening to|hearing)\b",
    re.IGNORECASE,
)
"""What is going on now: `the song that is playing`, `what I'm listening to`."""
_JOINED = re.compile(r"\s*(?:,|,?\s*\b(?:and|or)\b|&)\s*[\"'\u201c]?\s*")
_DATES = frozenset({"at", "birth", "birthday", "created", "date", "day", "released", "time", "timestamp", "year"})
_BY: Mapping[str, tuple[str, frozenset[str]]] = {
    **dict.fromkeys(("latest", "newest", "youngest", "most recent"), ("max", _DATES)),
    **dict.fromkeys(("earliest", "oldest"), ("min", _DATES)),
    "heaviest": ("max", frozenset({"mass", "weight"})),
    "lightest": ("min", frozenset({"mass", "weight"})),
    **dict.fromkeys(("most expensive", "priciest"), ("max", frozenset({"cost", "fee", "price"}))),
    **dict.fromkeys(("cheapest", "least expensive"), ("min", frozenset({"cost", "fee", "price"}))),
    "longest": ("max", frozenset({"distance", "duration", "length", "minutes", "runtime"})),
    "shortest": ("min", frozenset({"distance", "duration", "length", "minutes", "runtime"})),
    "tallest": ("max", frozenset({"height"})),
    **dict.fromkeys(("biggest", "largest"), ("max", frozenset({"area", "capacity", "population", "size"}))),
    "smallest": ("min", frozenset({"area", "capacity", "population", "size"})),
    **dict.fromkeys(("best rated", "highest rated"), ("max", frozenset({"average", "rating", "score", "stars"}))),
    **dict.fromkeys(("lowest rated", "worst rated"), ("min", frozenset({"average", "rating", "score", "stars"}))),
    "most popular": ("max", frozenset({"popularity"})),
    "least popular": ("min", frozenset({"popularity"})),
}
"""What says which of several is meant: by the most or the least of what, in words of a field's name."""
_COST = frozenset({"cost", "fee", "price"})
_HEAT, _WIND = frozenset({"temperature"}), frozenset({"speed", "wind"})
_THAN: Mapping[str, tuple[str, frozenset[str]]] = {
    **dict.fromkeys(("cheaper", "cheapest", "less expensive", "least expensive"), ("min", _COST)),
    **dict.fromkeys(("more expensive", "most expensive", "pricier", "dearer"), ("max", _COST)),
    **dict.fromkeys(("warmer", "warmest", "hotter", "hottest"), ("max", _HEAT)),
    **dict.fromkeys(("colder", "coldest", "cooler", "coolest"), ("min", _HEAT)),
    **dict.fromkeys(("windier", "windiest"), ("max", _WIND)),
}
"""What compares things by something that it does not name, in words of a field's name."""
_MOST = re.compile(
    r"(?<!\bat )(?<!\bno )\b(?:(fewer|fewest|less|least|lower|lowest)|(more|most|higher|highest|greater|greatest))\s+"
    r"(?!than\b)((?:[a-z]+\s+){0,3}[a-z]+)",
    re.IGNORECASE,
)
"""What compares things by how much there is of something: `the least equipment`, `fewer pieces of equipment`."""
_WHICH_DAY = re.compile(r"\b(?:which|what)\b(?:\s+\w+){0,5}?\s+(day|hour|date|time|month)s?\b", re.IGNORECASE)
"""Which of several moments is asked for."""
_NUMBER = r"(\d+(?:\.\d+)?)"
_UNIT = r"(?:\s*(?:g|grams?|mg|milligrams?|kcal|percent|%|kg|km|minutes?)\b)?(?:\s+of)?"
_UP = r"(?:at least|no less than|not less than|more than|over|above|a minimum of)"
_DOWN = r"(?:at most|no more than|not more than|no higher than|less than|fewer than|under|below|up to|a maximum of)"
_LIMITS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:between|from)\s+{_NUMBER}\s+(?:and|to)\s+{_NUMBER}{_UNIT}\s+([a-z]+)",
        rf"\b{_UP}\s+{_NUMBER}(){_UNIT}\s+([a-z]+)",
        rf"\b{_DOWN}\s+(){_NUMBER}{_UNIT}\s+([a-z]+)",
    )
)
"""The least and the most of something, and what it is: `at least 20 grams of protein`."""
_ER = re.compile(r"\b([a-z]{4,}?)i?(?:er|est)\b", re.IGNORECASE)
_WORDS_OF_BY = "|".join(sorted(_BY, key=len, reverse=True)).replace(" ", r"[\s-]+")
_OWNED = re.compile(
    r"\w['\u2019]s?((?:\s+[a-z]+){1,3})|\b([a-z]+(?:\s+[a-z]+)?)\s+by\s+(?:[A-Z\"\u201c]|the\b)"
    rf"|\b(?:{_WORDS_OF_BY})\s+([a-z]+)\s+of\s+[A-Z\"\u201c]"
    r"|\b([a-z]+)\s+(?:that|which|who|whom)\s+(?:[a-z]+\s+){0,2}[A-Z\"\u201c]"
)
_FIRST = re.compile(rf"\b({_WORDS_OF_BY})\s+((?:[a-z]+\s+){{0,2}}[a-z]+)", re.IGNORECASE)
_PLACES = frozenset({"city", "country", "county", "island", "province", "state", "town", "village"})
_ONE = re.compile(r"\b(?:an?|the|one)\s+((?:[\w-]+\s+){1,3}?)([a-z]+)\b", re.IGNORECASE)
_CALLED = re.compile(
    r"\b(?:call|called|name|named|rename|title|titled)(?:\s+(?:it|them|to))?\s+[\"'\u2018\u201c]?$"
    r"|\b(?:rename|change)\b[^.?!]*\bto\s+[\"'\u2018\u201c]?$",
    re.I,
)
_END = re.compile(
    r"[.?!;](?:\s+|$)|,\s+(?:and|also|then|which|what|how)\s+|\s+(?:and also|and then|and tell|also)\s+"
    r"|\s+and\s+(?=(?:how|what|when|where|which|who)\b)"
)
_ANY = frozenset(
    [
        "any",
        "certain",
        "different",
        "favorite",
        "favourite",
        "following",
        "given",
        "good",
        "great",
        "new",
        "nice",
        "particular",
        "popular",
        "random",
        "same",
        "simple",
        "single",
        "specific",
        "suitable",
    ]
)
"""What says nothing of which thing is meant."""
_WHICH = frozenset(
    {
        *_ORDINALS,
        *_COUNTS,
        "current",
        "last",
        "least",
        "main",
        "more",
        "most",
        "next",
        "other",
        "own",
        "previous",
        "recent",
        "top",
        "whole",
    }
)
"""What says which one it is, and not what."""
_COORDINATES = re.compile(
    r"(\d{1,2}(?:\.\d+)?)\s*(?:°|degrees?)?\s*([NS])\w*[\s,;]+(?:and\s+)?(\d{1,3}(?:\.\d+)?)\s*(?:°|degrees?)?\s*([EW])",
    re.I,
)
_PAIR = re.compile(r"(?<![\d.])(-?\d{1,2}\.\d+)\s*[,;]\s*(-?\d{1,3}\.\d+)(?![\d.])")
_MONTHS = tuple(name.lower() for name in calendar.month_name[1:])
_MONTH = rf"({'|'.join(f'{month[:3]}(?:{month[3:]})?' for month in _MONTHS)})"
_DATED = re.compile(
    rf"\b(?:on|in|of|since|until|before|after)\s+{_MONTH}\b|\b(?:yesterday|last (?:year|month|week)|on this day)\b"
    r"|\b\d{4}-\d\d-\d\d\b",
    re.IGNORECASE,
)
_AMERICAN = re.compile(rf"\b{_MONTH}\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})\b", re.IGNORECASE)
_EUROPEAN = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}\.?,?\s+(\d{{4}})\b", re.IGNORECASE)
_ISO = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_NEXT = f"the|an?|all|any|each|every|me|my|some|these|this|those|{'|'.join(_COUNTS)}"
"""Words that follow a verb, and no name."""
_LEAST = 3
"""Words that a part of a question has at least."""
_HELD = 3
"""Letters that a word has at least for what somebody has."""
_PART = 4
"""Letters from which on a word may be the last part of another one."""


@dataclass(frozen=True)
class Question:
    """A question, as it was asked."""

    text: str

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """Its words, without their endings (see `protocols.dataflow.enum_values.stem`)."""
        return tuple(stem(word) for word in words(self.text))

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """Its sentences, and what is asked for besides within one; the whole where it has no parts."""
        sentences = tuple(part.strip() for part in _END.split(self.text) if len(words(part)) >= _LEAST)
        return sentences or (self.text,)

    @cached_property
    def owned(self) -> frozenset[str]:
        """The stems of the things of which it says whose they are.

        `Ana's latest film`, `films by Ana`, `films made by Ana`, `films that Ana made`, `the latest film of Ana`: the
        film is not called so, somebody who has films is.
        """
        possessions = ["".join(groups) for groups in _OWNED.findall(self.text)]
        return frozenset(_stem(word) for text in possessions for word in text.split())

    def is_mine(self, noun: str) -> bool:
        """Whether it speaks of a thing of a kind as the asker's own: `my first playlist`."""
        return any(is_mentioned(noun, possession.split()) for possession in _MINE.findall(self.text))

    @cached_property
    def ordinals(self) -> Mapping[str, int]:
        """The numbers that it gives to things, by their stems: `the second season` has 2 for season."""
        numbers = {}
        for ordinal, noun_after, noun_before, number in _NUMBERED.findall(self.text):
            numeral = (ordinal or number).lower()
            digits = re.sub(r"\D", "", numeral)
            numbers[_stem(noun_after or noun_before)] = int(digits) if digits else _ORDINALS.index(numeral) + 1
        return numbers

    @cached_property
    def names(self) -> tuple[NamedEntity, ...]:
        """What it calls by name (see `protocols.text.entities`), without names that are parts of others."""
        names = [name for name in read_entities(self.text).names if not self._is_imperative(name.text)]
        return tuple(
            name for name in names if not any(name.text in longer.text for longer in names if longer is not name)
        )

    def _is_imperative(self, name: str) -> bool:
        """Whether what looks like a name is how a sentence begins that tells what to do: `Take the first`, or
        `Keep playing`."""
        return re.search(rf"(?:^|[.?!]\s+){re.escape(name)}\s+(?:{_NEXT}|[a-z]+ing)\b", self.text) is not None

    def beside(self, noun: str) -> tuple[NamedEntity, ...]:
        """The names that stand beside the word for a kind of thing, and name it: not the songs `of Queen`."""
        return tuple(
            name
            for name in self.names
            if _stem(noun) in map(stem, name.beside) and not self._is_possession_of(noun, name.text)
        )

    def owners(self, noun: str) -> tuple[NamedEntity, ...]:
        """The names of those whose things it speaks of, where they are of a kind that it does not name: the artist in
        `songs of Queen`."""
        if stem(noun) in self.stems:
            return ()
        return tuple(name for name in self.names if name.maker or len(self._possession(name.text)) >= _HELD)

    def _is_possession_of(self, noun: str, name: str) -> bool:
        """Whether things of a kind are somebody's of this name; the city of Rome is Rome."""
        return noun not in _PLACES and _stem(self._possession(name)) == _stem(noun)

    def _possession(self, name: str) -> str:
        """What is said to be of a name: `songs` of Queen; empty where nothing is."""
        match = re.search(rf"\b([a-z]+) of [\"'\u2018\u201c]?{re.escape(name)}", self.text)
        return match[1] if match else ""

    def name_of(self, noun: str) -> str | None:
        """What it calls a thing of a kind: by the name beside that word, or by the only one that there is, besides that
        of a new thing.

        None where that may go on: `Made by Hand` is one name, and `Dusk by Ana Bell` is two.
        """
        names = [name for name in self.names if name.text != self.new_name] or self.names
        meant = [name for name in names if name in self.beside(noun)] or list(self.owners(noun)) or names
        texts = {self._joined_name(name.text) for name in meant}
        return texts.pop() if len(texts) == 1 else None

    def _joined_name(self, name: str) -> str | None:
        """A name with the one that a small word joins to it, as in `Ferry at Dusk`; None where it may be two."""
        for first, second in itertools.permutations([first.text for first in self.names], 2):
            if name not in (first, second):
                continue
            joined = re.search(rf"{re.escape(first)}\s+(at|by|for|in|on|to|with)\s+{re.escape(second)}", self.text)
            if joined is not None:
                return joined[0] if joined[1] in ("at", "on") else None
        return name

    @cached_property
    def new_name(self) -> str | None:
        """What a new thing is to be called: `name it Dusk`, `a list called "Dusk"`."""
        texts = [name.text for name in self.names if _CALLED.search(self.text[: self.text.find(name.text)])]
        return texts[0] if len(texts) == 1 else None

    def code_of(self, noun: str) -> str | None:
        """The code, with a letter and a digit, by which it calls a thing of a kind: W2 for `room W2`."""
        match = re.search(rf"\b{re.escape(noun)}\s+((?=\S*\d)(?=\S*[A-Z])[A-Z\d][A-Z\d-]+)\b", self.text)
        return match[1] if match else None

    @cached_property
    def joined_names(self) -> tuple[str, ...]:
        """Names that stand side by side, as in `Ana or Ben`, where it has no others; else none."""
        texts = sorted((name.text for name in self.names), key=self.text.find)
        places = [(self.text.find(text), self.text.find(text) + len(text)) for text in texts]
        between = [self.text[end:start] for (_, end), (start, _) in itertools.pairwise(places)]
        return tuple(texts) if between and all(_JOINED.fullmatch(gap.lstrip("\"'\u201d")) for gap in between) else ()

    def superlative(self, noun: str) -> tuple[str, frozenset[str]] | None:
        """Which of a kind of thing it means: `max` or `min`, and by what, in words of a field's name.

        The latest film by its date, the heaviest parcel by its weight; None where it means no such one.
        """
        for match in _FIRST.finditer(self.text):
            if is_mentioned(noun, match[2].split()):
                return _BY[" ".join(words(match[1]))]
        return None

    @cached_property
    def superlatives(self) -> tuple[tuple[str, frozenset[str]], ...]:
        """By what it compares things, `max` or `min` of what: the words beside `most` and `less`, and what `cheaper`
        and `sweetest` mean."""
        return tuple(by for by, unit in self._all_superlatives if not unit)

    @cached_property
    def day_superlatives(self) -> tuple[tuple[tuple[str, frozenset[str]], str], ...]:
        """By what it compares days, hours or the like, and which: `Which day will be the hottest?`"""
        return tuple((by, unit) for by, unit in self._all_superlatives if unit)

    @cached_property
    def _all_superlatives(self) -> list[tuple[tuple[str, frozenset[str]], str]]:
        comparisons = [
            (place, by) for phrase, by in _THAN.items() for place in [self.text.lower().find(phrase)] if place >= 0
        ]
        comparisons += [
            (match.start(), ("min" if match[1] else "max", frozenset(words(match[3]))))
            for match in _MOST.finditer(self.text)
        ]
        comparisons += [
            (match.start(), ("max", frozenset({f"{match[1]}ness".lower(), f"{match[1]}iness".lower()})))
            for match in _ER.finditer(self.text)
            if match[0].lower() not in _THAN
        ]
        with_units = []
        for place, by in sorted(comparisons, key=lambda comparison: comparison[0]):
            unit = _WHICH_DAY.search(re.split(r"[.?!;]|\band\b", self.text[:place])[-1])
            with_units.append((by, unit[1].lower() if unit is not None else ""))
        return with_units

    @cached_property
    def limits(self) -> tuple[tuple[str, str | None, str | None], ...]:
        """Of what it says how little or how much there may be: what, the least and the most."""
        limits = [match.groups() for pattern in _LIMITS for match in pattern.finditer(self.text)]
        return tuple((amount.lower(), least or None, most or None) for least, most, amount in limits)

    def count_of(self, noun: str) -> int:
        """How many of a kind of thing it speaks of together, as `three places` does; 0 where it does not say."""
        for number, counted in _COUNTED.findall(self.text):
            if is_mentioned(noun, counted.split()):
                return int(number) if number.isdigit() else _COUNTS.index(number.lower()) + 1
        return 0

    def how_many(self, noun: str) -> bool:
        """Whether it asks for the number of things of a kind."""
        return any(is_mentioned(noun, counted) for counted in _HOW_MANY.findall(self.text))

    def qualifiers(self, noun: str) -> tuple[str, ...]:
        """What things it speaks of one by one, as `a pasta recipe and a rice recipe` does: pasta and rice."""
        phrases = [(qualifiers.split(), kind) for qualifiers, kind in _ONE.findall(self.text)]
        texts = [
            " ".join(word for word in qualifiers if not _is_any(word))
            for qualifiers, kind in phrases
            if _stem(kind) == _stem(noun)
        ]
        return tuple(dict.fromkeys(text for text in texts if text))

    @cached_property
    def coordinates(self) -> tuple[str, str] | None:
        """Latitude and longitude, where it gives them: south and west are below zero."""
        match = _COORDINATES.search(self.text)
        if match is None:
            pair = _PAIR.search(self.text)
            return (pair[1], pair[2]) if pair else None
        north, parallel_side, east, meridian_side = match.groups()
        return ("-" if parallel_side.upper() == "S" else "") + north, (
            "-" if meridian_side.upper() == "W" else ""
        ) + east

    @property
    def dated(self) -> bool:
        """Whether it speaks of a day, though it may not give the date: `on this day last year`."""
        return self.day is not None or _DATED.search(self.text) is not None

    @property
    def personal(self) -> bool:
        """Whether somebody speaks of himself in it, other than by `tell me`."""
        return _PERSONAL.search(self.text) is not None

    @property
    def creates(self) -> bool:
        """Whether its words say that something new is to be made."""
        return not _MAKES.isdisjoint(self.stems)

    @cached_property
    def now(self) -> bool:
        """Whether it speaks of what is going on at this moment."""
        return _NOW.search(self.text) is not None

    @cached_property
    def day(self) -> str | None:
        """The only day of which it gives the full date, as YYYY-MM-DD."""
        days = {_iso(year, month, day) for month, day, year in _AMERICAN.findall(self.text)}
        days |= {_iso(year, month, day) for day, month, year in _EUROPEAN.findall(self.text)}
        days |= set(_ISO.findall(self.text))
        return days.pop() if len(days) == 1 else None


def _is_any(word: str) -> bool:
    return word.lower() in _ANY | _WHICH or word.endswith("est")


def _iso(year: str, month: str, day: str) -> str:
    place = next(number for number, name in enumerate(_MONTHS, 1) if name.startswith(month[:3].lower()))
    return f"{year}-{place:02}-{int(day):02}"


def is_mentioned(noun: str, spoken: Iterable[str]) -> bool:
    """Whether a kind of thing is meant by one of some words, which may be its last part: an artwork by works."""
    whole = _stem(noun)
    return any(whole == word or (len(word) >= _PART and whole.endswith(word)) for word in map(_stem, spoken))


def _stem(word: str) -> str:
    return stem(singular(word.lower()))
