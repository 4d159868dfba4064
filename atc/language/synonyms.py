"""Synonyms of the words of an API: a user's song is the API's track.

The words are everyday English, and of no particular API; its paths and summaries tell which of them it uses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from atc.language.word_lists import SYNONYMS
from protocols.model import Protocol
from protocols.text.words import singular, words

__all__ = ["api_synonyms", "with_api_words"]

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


def _api_word(word: str, synonyms: Mapping[str, str]) -> str:
    noun = singular(word)
    if noun not in synonyms:
        return word
    return synonyms[noun] if noun == word else _plural(synonyms[noun])


def _plural(word: str) -> str:
    if word.endswith("y"):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"
