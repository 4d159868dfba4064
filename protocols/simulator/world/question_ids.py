"""The identifiers in a question: `team 7001`, `batch_68c1f0aa52`, `INV-0231`.

A question that tells an identifier presupposes its entity, as a name does. The reader knows English and no API.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from protocols.text.words import singular

__all__ = ["QuestionIdentifier", "read_identifiers"]

_MAX_IDENTIFIERS = 16
_TOKEN = re.compile(r"(?<![\w@./:#$€£-])[A-Za-z0-9](?:[\w:-]*\w)?(?![\w@%€£-]|[./]\w|\s?%)")
_NO_IDENTIFIER = re.compile(
    r"\d+(?:st|nd|rd|th|am|pm|x|%)|\d{4}-\d\d(?:-\d\d)?(?:T.*)?|\d\d?:\d\d(?::\d\d)?", re.IGNORECASE
)
_SPELLED_CODE = re.compile(r"[A-Z]{2,}(?:[-_][A-Z0-9]+)+")
_SNAKE_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
_CONTINUES = re.compile(r"[\s,]*(?:and|or|&)?\s*")
_WORDS_BEFORE = 5


@dataclass(frozen=True, slots=True)
class QuestionIdentifier:
    """An identifier in a question; `beside` are the words that may name its type in the singular, nearest first."""

    text: str
    beside: tuple[str, ...] = ()

    @property
    def prefix(self) -> str:
        """The letters before its first separator: `inv` of `INV-0231`; empty without a separator or in a name."""
        if not re.search(r"\d", self.text) and self.text.islower():
            return ""
        match = re.match(r"([A-Za-z]{3,})[_-]", self.text)
        return match[1].lower() if match else ""

    @property
    def is_code(self) -> bool:
        """True for capitals and a separator: `INV-0231`, `OAK-SHELF`."""
        return bool(_SPELLED_CODE.fullmatch(self.text))


def read_identifiers(question: str) -> tuple[QuestionIdentifier, ...]:
    """The identifiers in a question, in its order.

    A token is an identifier if it mixes letters and digits, is a code in capitals, is a number, or joins words with
    underscores.
    """
    identifiers: dict[str, QuestionIdentifier] = {}
    end = -1
    beside: tuple[str, ...] = ()
    for token in _TOKEN.finditer(question):
        text = token[0]
        spelled = _SPELLED_CODE.fullmatch(text) or _SNAKE_NAME.fullmatch(text)
        if not (re.search(r"\d", text) or spelled) or _NO_IDENTIFIER.fullmatch(text):
            continue
        if end < 0 or not _CONTINUES.fullmatch(question[end : token.start()]):
            beside = _words_beside(question[: token.start()], question[token.end() :])
        nearest = beside[:2] if text.isdecimal() else beside[:1] if _SNAKE_NAME.fullmatch(text) else beside
        identifiers.setdefault(text, QuestionIdentifier(text, nearest))
        end = token.end()
    return tuple(identifiers.values())[:_MAX_IDENTIFIERS]


def _words_beside(before: str, after: str) -> tuple[str, ...]:
    led = re.findall(r"[A-Za-z]+", re.split(r"[.;:!?,]\s", before)[-1])[-_WORDS_BEFORE:]
    trailed = re.match(r"\s+([a-z]+)", after)
    nearest = [singular(word.lower()) for word in reversed(led)]
    return (*nearest[:1], *([singular(trailed[1])] if trailed else []), *nearest[1:])
