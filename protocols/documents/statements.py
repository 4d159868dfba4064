"""What sentences of a document state: that an operation only reads, and what stands before an API key.

A policy of consent rests on the first, so the structure of the operation has to agree with the sentence. The patterns
of sentences were written from documents that had been read; no set of unread documents has judged them.
"""

# ruff: noqa: SIM905 - word lists read better than quoted ones

from __future__ import annotations

import re
from collections.abc import Mapping

from protocols.documents.source import mapping_or_empty
from protocols.model import Schema, Tool
from protocols.text.words import words

__all__ = ["says_it_only_reads", "stated_prefix"]

_SUBJECT = r"(?:this|the) (?:api |http |rest )?(?:endpoint|operation|api|call|route|method|resource|request|action)"

_CHANGES_NOTHING = re.compile(
    rf"(?:(?:it|{_SUBJECT}) )?(?:changes nothing|modifies nothing|writes nothing|(?:is )?read[- ]only|only reads"
    r"|(?:does not|doesn't|never) (?:change|modify|alter|write|update) (?:anything|any data|data)"
    r"|(?:has|without) no side effects?)"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n\s*\n|\n(?=\s*[-*#])|<br\s*/?>|</?p>")

_WORD = r"([A-Z][A-Za-z-]{1,24})"
_QUOTE = "[\"'`*]+"
_PREFIX = re.compile(
    rf"Authorization{_QUOTE[:-1]}*:\s*{_QUOTE[:-1]}*{_WORD}\s+[<{{\[$`'\"\w]"  # Authorization: Token <key>
    rf"|{_QUOTE}{_WORD}:? ?{_QUOTE}\s+(?:prefix|before|in front|followed|as (?:a |the )?prefix)"  # "Token " prefix
    rf"|(?:prefix(?:ed)?|preceded|begins?|starts?)(?: it| the \w+)?(?: with| by| is| of|:)?"  # prefixed with the word
    rf"(?: the)?(?: \w+)? {_QUOTE}{_WORD} ?{_QUOTE}"  # "Bearer"
    rf"|(?:^|{_QUOTE}){_WORD} [<{{\[]"  # `Token <key>`
    rf"|{_QUOTE}{_WORD} [^\s\"'`*]{{6,}}{_QUOTE}",  # "Token 9944b09199c62bcf"
)
"""How descriptions say it."""

_READ_VERBS = frozenset(
    {"search", "find", "lookup", "filter", "count", "get", "list", "query", "read", "retrieve", "fetch"}
)
_CHANGES = frozenset(
    """
    accept activate add apply approve archive assign async attach bulk cancel change clear clone close complete confirm
    copy create deactivate delete destroy disable do drop edit enable enqueue execute export generate import index
    insert invite job lock login mark merge modify move notify open or order patch pay persist post publish purge put
    queue record refresh register reindex remove rename replace report request reset restore resume revoke run save
    saved schedule script send set share sign sql start stop store submit subscribe suspend sync trigger unlock update
    upload upsert use webhook write callback cypher graphql mutation statement track
    """.split()
)
"""Words of operations that may change something; one of them anywhere in the names is enough."""


_JOINTS = frozenset({"and", "or", "then", "also", ",", ";", ".", "&", "/", "+", ":"})
"""What stands before a verb in an enumeration."""


def _plain(text: str) -> str:
    """A sentence in lower case, without marks around it and line breaks in it."""
    return re.sub(r"\s+", " ", re.sub(r"[*_`\"]", "", text)).strip(" .!:-#()[]").lower()


def stated_prefix(description: str) -> str:
    """What a description wants before an API key, as in `Token `; else empty."""
    match = _PREFIX.search(description)
    return f"{next(filter(None, match.groups()))} " if match is not None else ""


def says_it_only_reads(tool: Tool) -> bool:
    """True if the document states of a POST on a path that searches that it only reads, and nothing speaks against it.

    All of these have to agree: a sentence of its description states that it changes nothing; its operation id names a
    reading; no word of a change is in path, id, summary or arguments; it takes JSON alone, and
    no file; and all its good responses are a 200 that holds a list or a count.
    """
    if tool.body is None or not tool.body.media_type.partition(";")[0].endswith("json"):
        return False
    if not any(_CHANGES_NOTHING.fullmatch(_plain(sentence)) for sentence in _SENTENCE.split(tool.description)):
        return False
    identifier = words(tool.operation_id)
    if _READ_VERBS.isdisjoint({*identifier[:1], *identifier[-1:]}):
        return False
    named = {*words(tool.path), *identifier, *words(tool.summary)}
    named |= {word for argument in tool.arguments for word in words(argument.name)}
    if not _CHANGES.isdisjoint(named) or _tells_change(tool.summary):
        return False
    sends_file = any("binary" in (a.schema.get("format"), a.schema.get("contentEncoding")) for a in tool.arguments)
    return not sends_file and _answers_with_results(tool)


def _tells_change(summary: str) -> bool:
    """True if a summary has a change in another form of the word: `Finds and deletes …`, `… are removed`.

    A word in `-s` counts at the beginning and in an enumeration; elsewhere it is a noun, as in `Search orders`.
    """
    text = re.findall(r"\w+|[,;.&/+:]", summary.lower())
    for before, word in zip([".", *text], text, strict=False):
        verb = re.sub(r"i?e?s$", "", word) if before in _JOINTS else ""
        stems = {verb, re.sub(r"(i?ed|ing)$", "", word)} - {word, ""}
        stems |= {stem[:-1] for stem in stems if stem[-2:-1] == stem[-1]}  # dropping, logged
        if not _CHANGES.isdisjoint({form for stem in stems for form in (stem, f"{stem}e", f"{stem}y")}):
            return True
    return False


def _answers_with_results(tool: Tool) -> bool:
    """True if all documented good responses are a 200 with a list or a count in it."""
    good = [response for response in tool.responses if response.status.startswith(("1", "2", "3"))]
    if [response.status for response in good] != ["200"] or good[0].schema is None:
        return False
    return _holds_results(good[0].schema)


def _holds_results(schema: Schema, depth: int = 0) -> bool:
    if schema.get("type") == "array" or "items" in schema:
        return True
    properties = mapping_or_empty(schema.get("properties"))
    if not {"count", "total"}.isdisjoint(properties):
        return True
    parts = [*properties.values()] if depth < 1 else []
    parts += [part for key in ("allOf", "anyOf") for part in schema.get(key) or ()]  # type: ignore[attr-defined]
    return any(isinstance(part, Mapping) and _holds_results(part, depth + 1) for part in parts)
