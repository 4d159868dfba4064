"""The fixed words that an API answers with, and which of them a question speaks of.

"Who directed it?" is answered by a field called `job` whose value is "Director". Nothing but the document's own
examples and enumerations connects the two, and a small model sees the connection only when it is pointed out.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import cast

from protocols.model import Protocol
from protocols.shapes import fields
from protocols.words import singular, words

__all__ = ["asks", "mentioned", "stem", "vocabulary"]

_MOST = 200
"""Different values from which on a field is taken to hold free text."""
_ASKS = frozenset(
    words("are did do does give has have how is list name show tell was were what when where which who whose why")
)
"""How a query begins that wants to be told something."""
_WONDERS = frozenset(words("curious find hear know learn see tell wonder wondering"))
"""What somebody says of himself who wants to be told something."""
_TELLS = frozenset(
    words(
        "advise check compare count describe explain figure find give help know list look name print recommend say see"
        " show suggest sum tell"
    )
)
"""What one asks of somebody who is to say something, and to change nothing."""
_QUOTED = re.compile(r"\"[^\"]*\"|\u201c[^\u201d]*\u201d")
_END = re.compile(r"(?<=[.?!])(?<![A-Z]\.)(?<![A-Z][a-z]\.)(?<!Mrs\.)\s+(?=[A-Z])")
"""Between two sentences, and not after `St.` or an initial."""
_POLITE = re.compile(
    r"(?:(?:can|could|will|would) you(?: be so kind and| please| kindly| just)*|please) ([a-z]+)\b", re.IGNORECASE
)
_ALSO = re.compile(
    r"\b(?:and|then|so),? (?:also |then |please )*([a-z]+)"
    r" (?:all|an?|each|every|him|her|his|it|its|my|one|the|them|these|this|those)\b",
    re.IGNORECASE,
)
_AFTER_ALL = re.compile(r", (?:can|could|will|would) you\s*\?$", re.IGNORECASE)
_SAYS = frozenset(words("he i it my our she that the there these they this those we"))
"""How a sentence begins that only says how things are."""
_ADVERB = 4
_ENDINGS = ("ing", "ion", "ed", "or", "er", "e")


def stem(word: str) -> str:
    """What director, directing and directed have in common, or day and daily; rough, and the same for question and
    document."""
    word = singular(word)
    if word.endswith("ly") and len(word) > _ADVERB:
        word = f"{word[:-3]}y" if word.endswith("ily") else word[:-2]
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def vocabulary(protocol: Protocol) -> dict[str, frozenset[str]]:
    """For each field that draws on a fixed set of words, those words: from its enumeration and the examples.

    A field whose values hardly ever repeat (a name, a title) has none.
    """
    seen: dict[str, list[str]] = defaultdict(list)
    fixed: dict[str, set[str]] = defaultdict(set)
    for tool in protocol.tools:
        for response in tool.responses:
            for example in response.examples:
                _collect(example, "", seen)
        if (success := tool.success) is not None and success.schema is not None:
            for field in fields(success.schema, protocol, 3):
                allowed = cast("list[object]", field.schema.get("enum") or [])
                fixed[field.name].update(value for value in allowed if isinstance(value, str))
    for name, texts in seen.items():
        counts = Counter(texts)
        if len(texts) >= 4 and len(counts) <= min(_MOST, 0.7 * len(texts)):
            fixed[name].update(counts)
    return {name: frozenset(value for value in values if _is_word(value)) for name, values in fixed.items() if values}


def asks(query: str) -> bool:
    """Whether a query wants to be told something, rather than to have something done."""
    sentences = [found.strip() for found in _END.split(_QUOTED.sub('""', query))]
    kinds = [_wants(sentence) for sentence in sentences if words(sentence)]
    return "told" in kinds and "done" not in kinds


def _wants(sentence: str) -> str | None:
    """Whether a sentence wants something "told" or "done"; None where it says how things are."""
    said = [word for word in words(sentence) if word not in ("please", "then")]
    first = said[0] if said else ""
    asked = _POLITE.match(sentence)
    if asked is not None:
        first = asked[1].lower()
        return "told" if first in _TELLS | _ASKS and not _goes_on(sentence) else "done"
    if _AFTER_ALL.search(sentence):
        return "told" if first in _TELLS else "done"
    if sentence.endswith("?"):
        return "told"
    if first in _TELLS | _ASKS or (first == "i" and not _WONDERS.isdisjoint(said)):
        return "done" if _goes_on(sentence) else "told"
    return None if first in _SAYS and _POLITE.search(sentence) is None else "done"


def _goes_on(sentence: str) -> bool:
    """Whether more is wanted, in the same sentence, than to be told something: `… and put it on my list`."""
    return any(also[1].lower() not in _TELLS | _ASKS for also in _ALSO.finditer(sentence))


def mentioned(query: str, known: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """Fields of which a question names a value, and that value: {"job": "Director"} for "Who directed it?"."""
    asked = {stem(word) for word in words(query)}
    found: dict[str, str] = {}
    for name, values in known.items():
        # One word is meant more likely than several, and the shortest is the plainest.
        for value in sorted(values, key=lambda value: (len(words(value)), len(value), value)):
            parts = [stem(word) for word in words(value)]
            if parts and asked.issuperset(parts) and stem(words(name)[-1]) not in parts:
                found[name] = value
                break
    return found


def _collect(value: object, name: str, seen: dict[str, list[str]]) -> None:
    if isinstance(value, Mapping):
        for key, part in value.items():
            _collect(part, str(key), seen)
    elif isinstance(value, list):
        for part in value:
            _collect(part, name, seen)
    elif isinstance(value, str) and name:
        seen[name].append(value)


def _is_word(value: str) -> bool:
    return 3 <= len(value) <= 24 and value.replace(" ", "").isalpha() and len(value.split()) <= 2
