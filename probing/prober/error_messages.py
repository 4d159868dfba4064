"""Find the arguments that an error reports as missing, in the structure of its body and in its text.

Services report a missing argument in many ways: `{"path": ["This field is required."]}`, a `loc` of a validator, a JSON
pointer, or a sentence such as `Missing field in JSON data: path`. Searching for the tool's own argument names covers
them without knowing any framework's format.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from protocols.model import Parameter, Tool

__all__ = ["missing_arguments"]

_MISSING = re.compile(
    r"\b(?:required|missing|mandatory|must (?:be (?:given|provided|set|present|specified)|have|include|contain)"
    r"|(?:can ?not|can't|may not|must not|should not) be (?:empty|blank|null)|not (?:given|provided|specified|supplied)"
    r"|should (?:be (?:given|provided|set|present|specified)|have|include|contain)"
    r"|(?:please|must|have to|need to|to) (?:provide|specify|supply|pass|give|set|choose)"
    r"|(?:provide|specify) (?:a|an|at|either|one)"
    r"|need(?:s|ed)?|expected|invalid_type|blank)\b",
    re.IGNORECASE,
)
"""Words of an error about a missing argument."""
_MAX_DEPTH = 8


def missing_arguments(tool: Tool, body: object, text: str = "") -> list[str]:
    """The arguments of a tool that an error reports as missing, in signature order.

    Args:
        body: The body of the reply.
        text: The error as text, if there is no body.
    """
    reply = _parsed(body)
    names = {argument.name.lower(): argument for argument in tool.arguments}
    missing: set[str] = set()
    for keys, sentence in (*_sentences(reply, ()), ((), text)):
        if _MISSING.search(sentence) is None:
            continue
        missing |= {argument.argument for argument in tool.arguments if _mentions(sentence, argument)}
        missing |= {names[key.lower()].argument for key in keys if key.lower() in names}
    return [argument.argument for argument in tool.arguments if argument.argument in missing]


def _parsed(body: object) -> object:
    """Parse a text body that holds JSON."""
    if isinstance(body, str) and body.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            return body
    return body


def _sentences(value: object, keys: tuple[str, ...], depth: int = 0) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each text in a body, with the keys above it and the short texts beside it: a `loc`, a `field`, a pointer."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, str):
        yield keys, value
    elif isinstance(value, Mapping):
        beside = tuple(name for part in value.values() for name in _names(part))
        for key, part in value.items():
            yield from _sentences(part, (*keys, str(key), *beside), depth + 1)
    elif isinstance(value, list):
        for part in value:
            yield from _sentences(part, keys, depth + 1)


def _names(value: object) -> Iterator[str]:
    """Candidate argument names in a value beside a message: one word, a list of words, the end of a pointer."""
    if isinstance(value, str) and value and " " not in value:
        yield re.split(r"[/.]", value.rstrip("/"))[-1]
    elif isinstance(value, list) and value and all(isinstance(part, str | int) for part in value):
        yield str(value[-1])
    elif isinstance(value, Mapping):
        for part in value.values():
            if isinstance(part, str):
                yield from _names(part)


def _mentions(text: str, parameter: Parameter) -> bool:
    """True if a text contains the name of an argument as a word."""
    name = re.escape(parameter.name.lower())
    return re.search(rf"(?<![\w-]){name}(?![\w-])", text.lower()) is not None
