"""The identifiers in an answer: of which thing each one is, and of what that thing is a part."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from protocols.graph import Want, attribute_of, noun_of_identifier
from protocols.words import WRAPPERS, is_identifier, noun_of

__all__ = ["OWN_NAME", "identified", "is_value", "noun_of_path", "own_name", "wanted"]

_PARAMETER = re.compile(r"\{[^{}]*\}")

_ITEMS = 8
"""Things of a list that are looked at."""

OWN_NAME = re.compile(r"\bprobe \d+\b")
"""What objects are called that a probe makes: see `own_name`."""


def own_name(number: int) -> str:
    """What to call an object that a probe makes; the number is another one each time."""
    return f"probe {number}"


def is_value(value: object) -> bool:
    """Whether a value may identify something."""
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def noun_of_path(path: str) -> str:
    """What the fixed parts of a path are about at last: film for `/films/{id}`."""
    return noun_of(_PARAMETER.sub("", path).rstrip("/"))


def wanted(key: str, noun: str) -> Want:
    """What a key is the identifier of; a bare `id` is that of the thing it stands in."""
    return Want(noun_of_identifier(key) or noun, attribute_of(key) or "")


def identified(
    body: object, noun: str, about: Mapping[Want, object], most: int | None = _ITEMS
) -> Iterator[Mapping[Want, object]]:
    """For each thing in a body its identifiers, together with those of what it is in.

    Args:
        noun: What the body is about, where it does not say so itself.
        about: Identifiers that the request gave.
        most: Things of each list that are looked at; None for all.
    """
    if isinstance(body, list):
        for item in body[:most]:
            yield from identified(item, noun, about, most)
    elif isinstance(body, Mapping):
        own = {wanted(str(key), noun): part for key, part in body.items() if is_identifier(str(key)) and is_value(part)}
        told = {**about, **own}
        if own:
            yield told
        for key, part in body.items():
            said = noun_of(str(key))
            yield from identified(part, noun if not said or said in WRAPPERS else said, told, most)
