"""The words of a question, read by rules: no model, no API.

Owners, ordinals, counts, superlatives, dates, and the parts of a long question.
"""

from __future__ import annotations

import calendar
import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from atc.assist.language import intent
from atc.assist.language.word_lists import QUESTIONS, comparison_phrases
from atc.diagnosis.provenance import question_says
from atc.query import Query
from protocols.text.entities import NamedEntity, read_entities
from protocols.text.words import fold, singular, stem, words

__all__ = ["Question", "is_mentioned"]

_ORDINALS, _COUNTS = QUESTIONS["ordinals"], QUESTIONS["counts"]
_ORDINAL_PHRASE = re.compile(
    rf"\b({'|'.join(_ORDINALS)}|\d+(?:st|nd|rd|th)?)\s+([a-z]+)|\b([a-z]+)\s+(\d+)\b", re.IGNORECASE
)
_COUNT_PHRASE = re.compile(rf"\b({'|'.join(_COUNTS)}|\d+)\s+((?:[a-z]+\s+){{0,2}}[a-z]+)", re.IGNORECASE)
_HOW_MANY = re.compile(r"\b(?:how many|number of)\s+(?:(?:different|other)\s+)?([a-z]+)(?:\s+([a-z]+))?", re.IGNORECASE)
_WHICH = re.compile(r"\b(?:which|what) (?:of the )?([a-z]+)")
_OWN_PHRASE = re.compile(r"\b(?:my|our)\s+((?:[a-z]+\s+){0,2}[a-z]+)", re.IGNORECASE)
_PERSONAL = re.compile(r"\b(?:i|mine|my|our|ours|we)\b", re.IGNORECASE)
_ONGOING = re.compile(
    r"\bcurrent(?:ly)?\b|\b(?:right|just|playing|on|showing|running) now\b|\bat (?:the|this) moment\b"
    r"|(?<!start )(?<!stop )(?<!keep )(?<!begin )(?<!resume )(?<!continue )\bplaying\b|\b(?:listening to|hearing)\b",
    re.IGNORECASE,
)
"""An ongoing event: `the song that is playing`, `what I'm listening to`."""
_LIST_SEPARATOR = re.compile(r"\s*(?:,|,?\s*\b(?:and|or)\b|&)\s*[\"'\u201c]?\s*")
_SUPERLATIVES = comparison_phrases("superlatives")
"""Superlatives: `max` or `min`, and words in the name of the field to compare."""
_AMOUNT_COMPARISON = re.compile(
    r"(?<!\bat )(?<!\bno )\b(?:(fewer|fewest|less|least|lower|lowest)|(more|most|higher|highest|greater|greatest))\s+"
    r"(?!than\b)((?:[a-z]+\s+){0,3}[a-z]+)",
    re.IGNORECASE,
)
"""A comparison of amounts: `the least equipment`, `fewer pieces of equipment`."""
_ADJECTIVE_DEGREE = re.compile(r"\b([a-z]{4,}?)i?(?:er|est)\b", re.IGNORECASE)
_NUMBER = r"(\d+(?:\.\d+)?)"
_UNIT = r"(?:\s*(?:g|grams?|mg|milligrams?|kcal|percent|%|kg|km|minutes?)\b)?(?:\s+of)?"
_LOWER_LIMIT = r"(?:at least|no less than|not less than|more than|over|above|a minimum of)"
_UPPER_LIMIT = (
    r"(?:at most|no more than|not more than|no higher than|less than|fewer than|under|below|up to|a maximum of)"
)
_LIMITS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:between|from)\s+{_NUMBER}\s+(?:and|to)\s+{_NUMBER}{_UNIT}\s+([a-z]+)",
        rf"\b{_LOWER_LIMIT}\s+{_NUMBER}(){_UNIT}\s+([a-z]+)",
        rf"\b{_UPPER_LIMIT}\s+(){_NUMBER}{_UNIT}\s+([a-z]+)",
    )
)
"""The least and the most of an amount, and its noun: `at least 20 grams of protein`."""
_SUPERLATIVE_PATTERN = "|".join(sorted(_SUPERLATIVES, key=len, reverse=True)).replace(" ", r"[\s-]+")
_SUPERLATIVE_FORM = re.compile(
    rf"\b(?:{_SUPERLATIVE_PATTERN}|(?:most|least|fewest|best|worst)(?!\s+of\b)|{intent.EST})\b", re.IGNORECASE
)
"""A superlative by its form, with or without a field that it is known to compare."""
_OWNED_PHRASE = re.compile(
    r"\w['\u2019]s?((?:\s+[a-z]+){1,3})|\b([a-z]+(?:\s+[a-z]+)?)\s+by\s+(?:[A-Z\"\u201c]|the\b)"
    rf"|\b(?:{_SUPERLATIVE_PATTERN})\s+([a-z]+)\s+of\s+[A-Z\"\u201c]"
    r"|\b([a-z]+)\s+(?:that|which|who|whom)\s+(?:[a-z]+\s+){0,2}[A-Z\"\u201c]"
)
_SUPERLATIVE_PHRASE = re.compile(rf"\b({_SUPERLATIVE_PATTERN})\s+((?:[a-z]+\s+){{0,2}}[a-z]+)", re.IGNORECASE)
_QUALIFIED_NOUN = re.compile(r"\b(?:an?|the|one)\s+((?:[\w-]+\s+){1,3}?)([a-z]+)\b", re.IGNORECASE)
_NAMING = re.compile(
    r"\b(?:call|called|name|named|rename|title|titled)(?:\s+(?:it|them|to))?\s+[\"'\u2018\u201c]?$"
    r"|\b(?:rename|change)\b[^.?!]*\bto\s+[\"'\u2018\u201c]?$",
    re.I,
)
_PART_END = re.compile(
    r"[.?!;](?:\s+|$)|,\s+(?:and|also|then|which|what|how)\s+|\s+(?:and also|and then|and tell|also)\s+"
    r"|\s+and\s+(?=(?:how|what|when|where|which|who)\b)"
)
_UNSPECIFIC = frozenset((*QUESTIONS["indefinite"], *QUESTIONS["selectors"], *_ORDINALS, *_COUNTS))
"""Words that do not tell one entity from another, or pick one without describing it."""
_COORDINATES = re.compile(
    r"(\d{1,2}(?:\.\d+)?)\s*(?:°|degrees?)?\s*([NS])\w*[\s,;]+(?:and\s+)?(\d{1,3}(?:\.\d+)?)\s*(?:°|degrees?)?\s*([EW])",
    re.I,
)
_COORDINATE_PAIR = re.compile(r"(?<![\d.])(-?\d{1,2}\.\d+)\s*[,;]\s*(-?\d{1,3}\.\d+)(?![\d.])")
_MONTHS = tuple(name.lower() for name in calendar.month_name[1:])
_MONTH = rf"({'|'.join(f'{month[:3]}(?:{month[3:]})?' for month in _MONTHS)})"
_DATED = re.compile(
    rf"\b(?:on|in|of|since|until|before|after)\s+{_MONTH}\b|\b(?:yesterday|last (?:year|month|week)|on this day)\b"
    r"|\b\d{4}-\d\d-\d\d\b",
    re.IGNORECASE,
)
_MONTH_FIRST_DATE = re.compile(rf"\b{_MONTH}\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})\b", re.IGNORECASE)
_DAY_FIRST_DATE = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}\.?,?\s+(\d{{4}})\b", re.IGNORECASE)
_ISO_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_AFTER_VERB = f"the|an?|all|any|each|every|me|my|some|these|this|those|{'|'.join(_COUNTS)}"
"""Words that follow a verb, and no name."""
_MIN_PART_WORDS = 3
"""Fewest words in a part of a question."""
_MIN_POSSESSION_LETTERS = 3
"""Fewest letters in the word for a possession."""
_MIN_COMPOUND_LETTERS = 4
"""Fewest letters in a word that may be the last part of a compound."""


@dataclass(frozen=True)
class Question:
    """A question as it was asked; made once for a solve and handed on, so that nothing else parses its text.

    In a chat `context` has the questions, calls and answers before it, whose values count as given, and `before` is the
    question that it follows.
    """

    text: str
    context: str = ""
    before: str = ""

    @cached_property
    def in_context(self) -> Question:
        """The question behind the one that it follows, where it names nothing itself: `and who wrote it?`"""
        return Question(f"{self.before} {self.text}") if self.before and not self.names else self

    @cached_property
    def meant(self) -> str:
        """Its text; that of the question before, where it asks for the same again."""
        return self.before if self.before and intent.asks_the_same(self.text) else self.text

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words in lower case."""
        return words(self.text)

    @cached_property
    def folded_words(self) -> frozenset[str]:
        """Its words without case, accents and possessives (see `protocols.text.words.fold`), and those before it."""
        return frozenset(fold(f"{self.text} {self.context}").split())

    def says(self, value: object) -> bool:
        """True if it holds the text of a value, in any case, or what came before it does."""
        return question_says(Query(self.text, self.context), value)

    @cached_property
    def is_information_request(self) -> bool:
        """True if it wants to be told something, and nothing done."""
        return intent.is_information_request(self.meant)

    @cached_property
    def requested_actions(self) -> tuple[str, ...]:
        """The verbs of the requested actions, in lower case: `play` and `add` of "Play it, and add it to …"."""
        return intent.requested_actions(self.text)

    @cached_property
    def changes_only(self) -> bool:
        """True if it only changes or removes existing entities: `set the price`, but not `set a timer`."""
        return intent.changes_only(self.text, self.requested_actions)

    @cached_property
    def asks(self) -> frozenset[intent.Aspect]:
        """What its words ask for: a count, a date, all of a list…"""
        return intent.aspects(self.text)

    @cached_property
    def yes_or_no(self) -> bool:
        """True if it asks for a yes or a no."""
        return not intent.YES_OR_NO.isdisjoint(self.words[:1])

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """Its words without their endings (see `protocols.text.words.stem`)."""
        return tuple(map(stem, self.words))

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """Its sentences and coordinated requests; the whole question if it has only one."""
        sentences = tuple(part.strip() for part in _PART_END.split(self.text) if len(words(part)) >= _MIN_PART_WORDS)
        return sentences or (self.text,)

    @cached_property
    def owned(self) -> frozenset[str]:
        """The stems of nouns with an owner.

        `Ana's latest film`, `films by Ana`, `films made by Ana`, `films that Ana made`, `the latest film of Ana`: the
        name is that of an owner, not of the film.
        """
        possessions = ["".join(groups) for groups in _OWNED_PHRASE.findall(self.text)]
        return frozenset(_stem(word) for text in possessions for word in text.split())

    def is_mine(self, noun: str) -> bool:
        """True if a noun is the user's own: `my first playlist`."""
        return any(is_mentioned(noun, possession.split()) for possession in _OWN_PHRASE.findall(self.text))

    @cached_property
    def ordinals(self) -> Mapping[str, int]:
        """The ordinals by noun stem: `the second season` has 2 for season."""
        numbers = {}
        for ordinal, noun_after, noun_before, number in _ORDINAL_PHRASE.findall(self.text):
            numeral = (ordinal or number).lower()
            digits = re.sub(r"\D", "", numeral)
            numbers[_stem(noun_after or noun_before)] = int(digits) if digits else _ORDINALS.index(numeral) + 1
        return numbers

    @cached_property
    def entities(self) -> tuple[NamedEntity, ...]:
        """All names in it, also those that are part of a longer one (see `protocols.text.entities`)."""
        return read_entities(self.text).names

    @cached_property
    def names(self) -> tuple[NamedEntity, ...]:
        """The names in it, without those that are part of a longer one."""
        names = [name for name in self.entities if not self._is_imperative(name.text)]
        return tuple(
            name for name in names if not any(name.text in longer.text for longer in names if longer is not name)
        )

    def _is_imperative(self, name: str) -> bool:
        """True if a seeming name is the verb of an imperative: `Take the first`, `Keep playing`."""
        return re.search(rf"(?:^|[.?!]\s+){re.escape(name)}\s+(?:{_AFTER_VERB}|[a-z]+ing)\b", self.text) is not None

    def beside(self, noun: str) -> tuple[NamedEntity, ...]:
        """The names that stand beside a noun and name it: not the songs `of Queen`."""
        return tuple(
            name
            for name in self.names
            if _stem(noun) in map(stem, name.beside) and not self._is_possession_of(noun, name.text)
        )

    def owners(self, noun: str) -> tuple[NamedEntity, ...]:
        """The names of owners of an unnamed type: the artist in `songs of Queen`."""
        if stem(noun) in self.stems:
            return ()
        return tuple(
            name for name in self.names if name.maker or len(self._possession(name.text)) >= _MIN_POSSESSION_LETTERS
        )

    def _is_possession_of(self, noun: str, name: str) -> bool:
        """True if a noun is owned by the bearer of a name; the city of Rome is Rome."""
        return noun not in QUESTIONS["places"] and _stem(self._possession(name)) == _stem(noun)

    def _possession(self, name: str) -> str:
        """The noun before `of` and a name: `songs` of Queen; else empty."""
        match = re.search(rf"\b([a-z]+) of [\"'\u2018\u201c]?{re.escape(name)}", self.text)
        return match[1] if match else ""

    def name_of(self, noun: str) -> str | None:
        """The name of a noun: the one beside it, else the only one that is not the name of a new entity.

        None where the name may go on: `Made by Hand` is one name, and `Dusk by Ana Bell` is two.
        """
        names = [name for name in self.names if name.text != self.new_name] or self.names
        nearest = [name for name in names if name in self.beside(noun)] or list(self.owners(noun)) or names
        texts = {self._joined_name(name.text) for name in nearest}
        return texts.pop() if len(texts) == 1 else None

    def _joined_name(self, name: str) -> str | None:
        """A name with the one that a preposition joins to it, as in `Ferry at Dusk`; None where it may be two."""
        for first, second in itertools.permutations([first.text for first in self.names], 2):
            if name not in (first, second):
                continue
            joined = re.search(rf"{re.escape(first)}\s+(at|by|for|in|on|to|with)\s+{re.escape(second)}", self.text)
            if joined is not None:
                return joined[0] if joined[1] in ("at", "on") else None
        return name

    @cached_property
    def new_name(self) -> str | None:
        """The name that a new entity is to get: `name it Dusk`, `a list called "Dusk"`."""
        texts = [name.text for name in self.names if _NAMING.search(self.text[: self.text.find(name.text)])]
        return texts[0] if len(texts) == 1 else None

    def code_of(self, noun: str) -> str | None:
        """The code, with a letter and a digit, beside a noun: W2 for `room W2`."""
        match = re.search(rf"\b{re.escape(noun)}\s+((?=\S*\d)(?=\S*[A-Z])[A-Z\d][A-Z\d-]+)\b", self.text)
        return match[1] if match else None

    @cached_property
    def joined_names(self) -> tuple[str, ...]:
        """The names in a list such as `Ana or Ben`; empty where it has others, too."""
        texts = sorted((name.text for name in self.names), key=self.text.find)
        places = [(self.text.find(text), self.text.find(text) + len(text)) for text in texts]
        between = [self.text[end:start] for (_, end), (start, _) in itertools.pairwise(places)]
        return (
            tuple(texts)
            if between and all(_LIST_SEPARATOR.fullmatch(gap.lstrip("\"'\u201d")) for gap in between)
            else ()
        )

    def superlative(self, noun: str) -> tuple[str, frozenset[str]] | None:
        """`max` or `min` for a noun, and words in the name of the field to compare; None without a superlative.

        The latest film is compared by its date, the heaviest parcel by its weight.
        """
        for match in _SUPERLATIVE_PHRASE.finditer(self.text):
            if is_mentioned(noun, match[2].split()):
                return _SUPERLATIVES[" ".join(words(match[1]))]
        return None

    @cached_property
    def superlatives(self) -> tuple[tuple[str, frozenset[str]], ...]:
        """`max` or `min` for each comparison, in their order, and words in the name of the field to compare."""
        comparisons = [
            (match.start(), ("min" if match[1] else "max", frozenset(words(match[3]))))
            for match in _AMOUNT_COMPARISON.finditer(self.text)
        ]
        comparisons += [
            (match.start(), ("max", frozenset({f"{match[1]}ness".lower(), f"{match[1]}iness".lower()})))
            for match in _ADJECTIVE_DEGREE.finditer(self.text)
        ]
        return tuple(by for _, by in sorted(comparisons, key=lambda comparison: comparison[0]))

    @cached_property
    def superlative_words(self) -> tuple[str, ...]:
        """Its superlatives: `latest`, `most expensive`, `highest`."""
        return tuple(match[0].lower() for match in _SUPERLATIVE_FORM.finditer(self.text))

    @property
    def asks_for_extreme(self) -> bool:
        """True if it asks for the extreme of several entities."""
        return bool(self.superlative_words)

    @cached_property
    def limits(self) -> tuple[tuple[str, str | None, str | None], ...]:
        """The noun, the least and the most of each limited amount."""
        limits = [match.groups() for pattern in _LIMITS for match in pattern.finditer(self.text)]
        return tuple((amount.lower(), least or None, most or None) for least, most, amount in limits)

    def count_of(self, noun: str) -> int:
        """The number of items of a noun, as in `three places`; 0 without one."""
        for number, counted in _COUNT_PHRASE.findall(self.text):
            if is_mentioned(noun, counted.split()):
                return int(number) if number.isdigit() else _COUNTS.index(number.lower()) + 1
        return 0

    def how_many(self, noun: str) -> bool:
        """True if it asks for the number of items of a noun."""
        return any(is_mentioned(noun, counted) for counted in _HOW_MANY.findall(self.text))

    def which(self, noun: str) -> bool:
        """True if it asks which items of a noun do something: `Which parcels are late?`

        Made from one question. Of 171 other ones 5 prompts change, from one item to the list; no model was run on them.
        """
        return any(word != singular(word) and is_mentioned(noun, [word]) for word in _WHICH.findall(self.text.lower()))

    def qualifiers(self, noun: str) -> tuple[str, ...]:
        """The qualifiers of a noun, as in `a pasta recipe and a rice recipe`: pasta and rice."""
        phrases = [(qualifiers.split(), kind) for qualifiers, kind in _QUALIFIED_NOUN.findall(self.text)]
        texts = [
            " ".join(word for word in qualifiers if not _is_unspecific(word))
            for qualifiers, kind in phrases
            if _stem(kind) == _stem(noun)
        ]
        return tuple(dict.fromkeys(text for text in texts if text))

    @cached_property
    def coordinates(self) -> tuple[str, str] | None:
        """Latitude and longitude; south and west are negative."""
        match = _COORDINATES.search(self.text)
        if match is None:
            pair = _COORDINATE_PAIR.search(self.text)
            return (pair[1], pair[2]) if pair else None
        north, parallel_side, east, meridian_side = match.groups()
        return ("-" if parallel_side.upper() == "S" else "") + north, (
            "-" if meridian_side.upper() == "W" else ""
        ) + east

    @property
    def dated(self) -> bool:
        """True if it speaks of a day, even without the date: `on this day last year`."""
        return self.day is not None or _DATED.search(self.text) is not None

    @property
    def personal(self) -> bool:
        """True if the user speaks of himself, other than by `tell me`."""
        return _PERSONAL.search(self.text) is not None

    @property
    def creates(self) -> bool:
        """True if its words ask for a new entity."""
        return not set(QUESTIONS["creations"]).isdisjoint(self.stems)

    @cached_property
    def now(self) -> bool:
        """True if it speaks of an ongoing event."""
        return _ONGOING.search(self.text) is not None

    @cached_property
    def day(self) -> str | None:
        """The only full date in it, as YYYY-MM-DD."""
        days = {_iso(year, month, day) for month, day, year in _MONTH_FIRST_DATE.findall(self.text)}
        days |= {_iso(year, month, day) for day, month, year in _DAY_FIRST_DATE.findall(self.text)}
        days |= set(_ISO_DATE.findall(self.text))
        return days.pop() if len(days) == 1 else None


def _is_unspecific(word: str) -> bool:
    return word.lower() in _UNSPECIFIC or word.endswith("est")


def _iso(year: str, month: str, day: str) -> str:
    month_number = next(number for number, name in enumerate(_MONTHS, 1) if name.startswith(month[:3].lower()))
    return f"{year}-{month_number:02}-{int(day):02}"


def is_mentioned(noun: str, spoken: Iterable[str]) -> bool:
    """True if one of some words means a noun, also as its last part: an artwork by works."""
    whole = _stem(noun)
    return any(
        whole == word or (len(word) >= _MIN_COMPOUND_LETTERS and whole.endswith(word)) for word in map(_stem, spoken)
    )


def _stem(word: str) -> str:
    return stem(singular(word.lower()))
