"""The words of an API in a question: synonyms of them, and its enum values.

A user's song is the API's track. "Who directed it?" is answered by a field `job` whose value is "Director": only the
examples and enums of the document connect the two, and a small model has to be told of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from atc.assist.language.word_lists import SYNONYMS
from protocols.model import Protocol
from protocols.text.word_lists import NAMES, TEXTS
from protocols.text.words import singular, stem, words

__all__ = ["MIN_WORD_LETTERS", "SMALL_WORDS", "api_synonyms", "mentioned_values", "tool_stems", "with_api_words"]

SMALL_WORDS = TEXTS["articles"] | TEXTS["small words"] | NAMES["identifiers"]
"""Words that say nothing of what a tool is about."""
MIN_WORD_LETTERS = 4

_QUOTED = re.compile(r"(\"[^\"]*\"|\u201c[^\u201d]*\u201d|(?<!\w)['\u2018][^'\u2019]*['\u2019](?!\w))")
_LOWERCASE_WORD = re.compile(r"\b[a-z]+\b")


def api_synonyms(protocol: Protocol) -> dict[str, str]:
    """The API's word for each synonym that the API does not use itself, if there is exactly one."""
    api_words = {singular(word) for tool in protocol.tools for word in words(f"{tool.path} {tool.summary}")}
    synonyms = {}
    for alike in SYNONYMS:
        used = alike & api_words
        if len(used) == 1:
            [api_word] = used
            synonyms.update(dict.fromkeys(alike - used, api_word))
    return synonyms


def with_api_words(synonyms: Mapping[str, str], query: str) -> str:
    """A question with the API's words for their synonyms (see `api_synonyms`), except in quotes and capitals."""
    parts = _QUOTED.split(query)
    return "".join(
        part if place % 2 else _LOWERCASE_WORD.sub(lambda match: _api_word(match[0], synonyms), part)
        for place, part in enumerate(parts)
    )


def mentioned_values(spoken_stems: Iterable[str], field_values: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """The fields with a value among the stems of a question: {"job": "Director"} for "Who directed it?"."""
    query_stems = frozenset(spoken_stems)
    mentions: dict[str, str] = {}
    for name, values in field_values.items():
        # One word is meant more likely than several, and the shortest is the plainest.
        for value in sorted(values, key=lambda value: (len(words(value)), len(value), value)):
            parts = [stem(word) for word in words(value)]
            if parts and query_stems.issuperset(parts) and stem(words(name)[-1]) not in parts:
                mentions[name] = value
                break
    return mentions


def tool_stems(name: str | None) -> frozenset[str]:
    """The stems of the words in the name of a tool that say what it is about; its HTTP method does not."""
    about = (word for word in words(name or "")[1:] if word not in SMALL_WORDS and len(word) >= MIN_WORD_LETTERS)
    return frozenset(map(stem, about))


def _api_word(word: str, synonyms: Mapping[str, str]) -> str:
    noun = singular(word)
    if noun not in synonyms:
        return word
    return synonyms[noun] if noun == word else _plural(synonyms[noun])


def _plural(word: str) -> str:
    if word.endswith("y"):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"
