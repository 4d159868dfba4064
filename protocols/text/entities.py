"""The named entities of a text, and the words that presuppose a collection with items.

A question about "my playlist 'Rainy Days'" makes no sense in a world without one. The reader knows English and no API.
Here a `query` is only a text in which names are looked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from protocols.text.words import TEXTS, singular

__all__ = ["NO_ENTITIES", "NamedEntities", "NamedEntity", "read_entities"]

_MAX_NAMES = 16
_STRAIGHT = {0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"', 0xAB: '"', 0xBB: '"', 0x2013: "-", 0xA0: " "}
"""Typographic quotes, dashes and spaces, and the plain characters for them."""
_QUOTED = re.compile(r"\"([^\"\n]{1,120})\"|(?<!\w)'(?=\S)([^'\n]{1,120}?(?:'\w[^'\n]*?)*)'(?!\w)")
_TOKEN = re.compile(r"(?<!\w')\w(?:[\w.&-]*\w)?(?:'(?!s\b)\w+)*|&")
_ENDS = re.compile(r"(?<!\b[A-Z])(?<!\b[A-Z][a-z])[.!?:;\n][\"')]*\s+$")
_POSSESSIVE = re.compile(r"'s?(?=\W|$)")
_INNER_WORDS, _ARTICLES = TEXTS["inner words"], TEXTS["articles"]
_CALENDAR = TEXTS["calendar"]
_NEVER_ALONE = _CALENDAR | TEXTS["never alone"]
_DAY_NUMBER = re.compile(r"\d+(?:st|nd|rd|th)?")
_SHORTENED = re.compile(r"n't$|'(?:d|ll|re|ve)$", re.IGNORECASE)
"""Endings of contractions: `we're`, `don't`."""
_SENTENCE_STARTERS = _NEVER_ALONE | TEXTS["sentence starters"]
_PREFIX_PHRASE = re.compile(r"\b(?:start|begin|prefix)\w*(?:\s+(?:with|by|in))?\s*[\"']?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """A name in a text.

    `beside` are the plain words next to it in the singular, often its entity type. `maker`: it owns or makes something
    (`by N`, `N's`). `work`: something is in it (`in N`). `prefix`: it is only the start of a name.
    """

    text: str
    beside: frozenset[str] = frozenset()
    maker: bool = False
    work: bool = False
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class NamedEntities:
    """The `names` in a text, all of its `words` in lower case, and the `text` itself."""

    names: tuple[NamedEntity, ...] = ()
    words: frozenset[str] = frozenset()
    text: str = ""

    @property
    def presupposes_items(self) -> bool:
        """True if plain words presuppose that collections have items."""
        return bool(self.words & TEXTS["presupposing"])


NO_ENTITIES = NamedEntities()


def read_entities(query: str) -> NamedEntities:
    """The named entities of a text. `query` is only searched for words."""
    plain = query.translate(_STRAIGHT)
    names: dict[str, NamedEntity] = {}
    unquoted = _QUOTED.sub(lambda quotation: "\0" * len(quotation[0]), plain)  # no run of words reaches across
    for start, end in (*_quoted_spans(plain), *_capitalized_spans(list(_TOKEN.finditer(unquoted)))):
        names.setdefault(query[start:end].casefold(), _named_entity(query[start:end], plain[:start], plain[end:]))
    return NamedEntities(tuple(names.values())[:_MAX_NAMES], frozenset(re.findall(r"[a-z]+", query.lower())), query)


def _named_entity(text: str, before: str, after: str) -> NamedEntity:
    if before[-1:] in {'"', "'"}:
        before, after = before[:-1], after.lstrip(" ,.!?;:")[1:]
    led = re.findall(r"[\w']+", re.split(r"[\".,;:!?]", before)[-1])[-2:]
    trailed = re.findall(r"\w+", re.split(r"[.,;:!?]", _POSSESSIVE.sub("", after, count=1))[0])[:2]
    beside = {singular(word) for word in (*led, *trailed) if word.islower() and word not in _SENTENCE_STARTERS}
    last = led[-1].lower() if led else ""
    return NamedEntity(
        text,
        frozenset(beside),
        maker=bool(_POSSESSIVE.match(after)) or last in TEXTS["before a maker"],
        work=last in TEXTS["before a work"],
        prefix=bool(_PREFIX_PHRASE.search(before)),
    )


def _quoted_spans(query: str) -> Iterator[tuple[int, int]]:
    for quotation in _QUOTED.finditer(query):
        start, end = quotation.span(1) if quotation[1] is not None else quotation.span(2)
        text = query[start:end].rstrip(" ,.!?;:")
        if re.search(r"\w", text):
            yield start + len(text) - len(text.lstrip()), start + len(text)


def _capitalized_spans(tokens: Sequence[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """Spans of capitalized words, with the small words and numbers inside them."""
    position = 0
    while position < len(tokens):
        if not _starts_name(tokens, position):
            position += 1
            continue
        end = _end_of_name(tokens, position)
        word = tokens[position][0]
        if end > position + 1 or (word.casefold() not in _NEVER_ALONE and len(word) > 1):
            start = position - 1 if _has_leading_number(tokens, position) else position
            texts = [token[0].casefold() for token in tokens[start:end]]
            if not all(text in _CALENDAR or _DAY_NUMBER.fullmatch(text) for text in texts):  # no `14 July 2021`
                yield tokens[start].start(), tokens[end - 1].end()
            # `Jay Chou's Mojito` is two names and `Fisherman's Wharf` is one: all three are taken for names.
            # So are the whole and the parts of `Avatar: The Way of Water`.
            joined = end < len(tokens) and re.match(r"'s\s|: $", _gap(tokens, end))
            if joined and (_starts_name(tokens, end) or (joined[0] == ": " and tokens[end][0][0].isupper())):
                yield tokens[start].start(), tokens[_end_of_name(tokens, end) - 1].end()
        position = end


def _gap(tokens: Sequence[re.Match[str]], position: int) -> str:
    """The text before a token, from the one before it."""
    return tokens[position].string[tokens[position - 1].end() : tokens[position].start()]


def _end_of_name(tokens: Sequence[re.Match[str]], start: int) -> int:
    """The index after the last token of a name."""
    end = start + 1
    while end < len(tokens):
        gap = _gap(tokens, end)
        shortened = gap == ". " and len(tokens[end - 1][0]) <= 2  # `Dr. Strange`, `J. Cole`
        if gap.strip(" -") and (not shortened or tokens[end][0].casefold() in _SENTENCE_STARTERS):
            break
        ahead = end
        while ahead < len(tokens) and (tokens[ahead][0] in _INNER_WORDS or tokens[ahead][0] == "&") and ahead - end < 3:
            ahead += 1
        if ahead >= len(tokens) or not (tokens[ahead][0][0].isupper() or tokens[ahead][0].isdecimal()):
            break
        if tokens[ahead][0].casefold() in TEXTS["first person"]:
            break
        if tokens[end].string[tokens[end].end() : tokens[ahead].start()].strip(" &" + "".join(_INNER_WORDS)):
            break
        end = ahead + 1
    return end


def _starts_name(tokens: Sequence[re.Match[str]], position: int) -> bool:
    """True if a token starts a name: capitalized, and not only because it starts a sentence."""
    token = tokens[position]
    if not token[0][0].isupper():
        return False
    before = token.string[: token.start()]
    if not before.strip(" \"'(") or _ENDS.search(before):
        word = token[0].casefold()
        if word in _ARTICLES or _SHORTENED.search(word):
            return position + 1 < len(tokens) and tokens[position + 1][0][0].isupper()
        following = tokens[position + 1][0].casefold() if position + 1 < len(tokens) else ""
        return word not in _SENTENCE_STARTERS and following not in TEXTS["determiners"]
    return True


def _has_leading_number(tokens: Sequence[re.Match[str]], position: int) -> bool:
    """True if the number right before a name belongs to it: `2 Broke Girls`."""
    number = tokens[position - 1][0] if position else ""
    return number.isdecimal() and len(number) <= 3 and _gap(tokens, position) == " "
