"""The intent of a question, by its words alone: to be told something, or to have something done.

Writes are shown to the model only where something is to be done, since a small model copies what it is shown.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

from atc.assist.language.word_lists import QUESTIONS
from protocols.text.words import words

__all__ = [
    "EST",
    "YES_OR_NO",
    "Aspect",
    "asks_the_same",
    "aspects",
    "changes_only",
    "is_information_request",
    "requested_actions",
    "sentences",
]

Aspect = Literal["amount", "date", "identifier", "name", "one of", "total"]

EST = (
    r"(?!(?:inter|for|gu|r|re|har|que|contr?|prot|sugg|mod|hon|dig|inv|pri|w|e|t|n|ch|f|b|requ|arr|cr|j|l|p|v|z)est\b)"
    r"(?-i:[a-z]+est)"
)
"""A superlative that ends in -est, but no other word that does; and no name, as Budapest."""
_ASPECTS: dict[Aspect, str] = {
    "amount": r"\bhow (many|much)\b|\bnumber of\b",
    "date": r"^\W*when\b|\b(on|in) (which|what) (day(?! of the week)|date|year)\b",
    "identifier": r"\b(ids?|codes?|numbers?|identifiers?|uris?|urls?|links?|keys?|slugs?)\b",
    "name": r"\bwho(se)?\b|\bcalled\b|\bnames?\b",
    "one of": r"(?:^|[.?!,;:]\s*(?:and\s+|also\s+)?)(?:who|which one|which of)\b",
    "total": r"\b(altogether|combined|in (all|sum|total)|together)\b",
}
"""What a question asks for, by its words: a number, a part or the whole of a list, one of several…"""
YES_OR_NO = frozenset(QUESTIONS["yes or no"])
_INTERROGATIVES = frozenset(QUESTIONS["interrogatives"])
_INFORMATION_VERBS = frozenset(QUESTIONS["information"])
_QUOTED = re.compile(r"\"[^\"]*\"|\u201c[^\u201d]*\u201d")
_SENTENCE_GAP = re.compile(r"(?<=[.?!])(?<![A-Z]\.)(?<![A-Z][a-z]\.)(?<!Mrs\.)\s+(?=[A-Z])")
"""The gap between two sentences; not after `St.` or an initial."""
_POLITE_REQUEST = re.compile(
    r"(?:(?:can|could|will|would) you(?: be so kind and| please| kindly| just)*|please) ([a-z]+)\b", re.IGNORECASE
)
"""A polite request and its verb."""
_SECOND_VERB = re.compile(
    r"\b(?:and|then|so),? (?:also |then |please )*([a-z]+)"
    r" (?:all|an?|each|every|him|her|his|it|its|my|one|the|them|these|this|those)\b",
    re.IGNORECASE,
)
"""A second verb that has an object."""
_NEW_ENTITY = re.compile(r"\b(?:set(?: up)?|move|change|assign|raise) an?\b|\bnew\b|\banother\b", re.IGNORECASE)
_TAG_QUESTION = re.compile(r", (?:can|could|will|would) you\s*\?$", re.IGNORECASE)
_SAME_AGAIN = re.compile(
    r"\W*(?:(?:yes|ok|okay|please|and|now|then)\W+)*(?:do (?:it|so|that|this|the same)|go ahead|repeat (?:it|that|this)"
    r"|again|once more|the same again)\b(?:[ ,]+\w+){0,4}[.! ]*",
    re.IGNORECASE,
)
_STATEMENT_STARTS = frozenset(QUESTIONS["statements"])


def is_information_request(query: str) -> bool:
    """True if a query wants to be told something, and nothing done."""
    kinds = [_sentence_intent(sentence) for sentence in _unquoted(query)]
    return "told" in kinds and "done" not in kinds


def asks_the_same(query: str) -> bool:
    """True if a query in a chat asks for what the one before it asked for: `Do it again.`"""
    return _SAME_AGAIN.fullmatch(query) is not None


def aspects(query: str) -> frozenset[Aspect]:
    """What a question asks for."""
    return frozenset(aspect for aspect, pattern in _ASPECTS.items() if re.search(pattern, query, re.IGNORECASE))


def requested_actions(query: str) -> tuple[str, ...]:
    """The verbs of the requested actions, in lower case: `play` and `add` of "Play it, and add it to …"."""
    verbs = []
    for sentence in _unquoted(query):
        if _sentence_intent(sentence) == "done":
            polite = _POLITE_REQUEST.search(sentence)
            verbs += [polite[1].lower() if polite else _content_words(sentence)[0]]
            verbs += [also[1].lower() for also in _SECOND_VERB.finditer(sentence)]
    other_words = _INFORMATION_VERBS | _INTERROGATIVES | _STATEMENT_STARTS
    return tuple(verb for verb in dict.fromkeys(verbs) if verb not in other_words)


def changes_only(query: str, verbs: Collection[str]) -> bool:
    """True if a query with these verbs only changes or removes existing entities."""
    return bool(verbs) and set(verbs) <= set(QUESTIONS["changes"]) and _NEW_ENTITY.search(query) is None


def sentences(text: str) -> list[str]:
    """The sentences of a text that have words."""
    return [sentence.strip() for sentence in _SENTENCE_GAP.split(text) if words(sentence)]


def _unquoted(query: str) -> list[str]:
    return sentences(_QUOTED.sub('""', query))


def _content_words(sentence: str) -> list[str]:
    return [word for word in words(sentence) if word not in ("please", "then")]


def _sentence_intent(sentence: str) -> str | None:
    """ "told" or "done", by what a sentence asks for; None for a mere statement."""
    sentence_words = _content_words(sentence)
    first = sentence_words[0] if sentence_words else ""
    polite = _POLITE_REQUEST.match(sentence)
    if polite is not None:
        first = polite[1].lower()
        return "told" if first in _INFORMATION_VERBS | _INTERROGATIVES and not _has_second_action(sentence) else "done"
    if _TAG_QUESTION.search(sentence):
        return "told" if first in _INFORMATION_VERBS else "done"
    if sentence.endswith("?"):
        return "told"
    if first in _INFORMATION_VERBS | _INTERROGATIVES or (
        first == "i" and not set(QUESTIONS["curiosity"]).isdisjoint(sentence_words)
    ):
        return "done" if _has_second_action(sentence) else "told"
    return None if first in _STATEMENT_STARTS and _POLITE_REQUEST.search(sentence) is None else "done"


def _has_second_action(sentence: str) -> bool:
    """True if a sentence asks for more than information: `… and put it on my list`."""
    return any(also[1].lower() not in _INFORMATION_VERBS | _INTERROGATIVES for also in _SECOND_VERB.finditer(sentence))
