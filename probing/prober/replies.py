"""What a reply says: whether it is an answer at all, what things in it are called, what an error says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from protocols.text.words import PAGING, words
from sandbox.body_store import LargeBody

__all__ = ["disguised", "is_hollow", "names_in", "said"]

_ERRORS = frozenset({"error", "errors", "fault", "status_message", "error_message", "exception"})
_SAID = frozenset({"code", "message", "status", "status_code", "success", "detail", "details", "title", "type"})
_LONGEST = 200


def disguised(body: object) -> str | None:
    """Why a body that came with a 2xx is no answer; None when it is one."""
    if isinstance(body, LargeBody):
        return "the body is too large to be kept"
    if isinstance(body, str):
        return "a web page, not data" if body.lstrip()[:1] == "<" else None
    if not isinstance(body, Mapping):
        return None
    keys = {str(key).lower() for key in body}
    told = keys & _ERRORS
    if told and keys <= _ERRORS | _SAID and any(body[key] for key in body if str(key).lower() in told):
        return f"an error: {json.dumps(body, default=str)[:_LONGEST]}"
    return None


def is_hollow(body: object) -> bool:
    """Whether a body has lists and none of them holds anything: nothing was found."""
    if isinstance(body, list):
        return not body
    if not isinstance(body, Mapping):
        return False
    if not body or (len(body) == 1 and None in body.values()):
        return True
    if not any(isinstance(part, list | Mapping) for part in body.values()):
        return False
    body = {key: part for key, part in body.items() if not PAGING.issuperset(words(str(key))) or _holds(part)}
    lists = [part for part in body.values() if isinstance(part, list)]
    inner = [part for part in body.values() if isinstance(part, Mapping)]
    if not lists and not inner:
        return not body
    told = [part for part in body.values() if isinstance(part, str | int | float) and part != ""]
    return not any(lists) and not told and all(_is_count(part, lists) or is_hollow(part) for part in inner)


def _is_count(part: Mapping[str, object], lists: list[list[object]]) -> bool:
    """Whether an object beside a list only says which part of it this is: `{"skip": 0, "all_records_count": 0}`."""
    return bool(lists) and all(
        PAGING.intersection(words(str(key))) and (value is None or isinstance(value, str | int | float))
        for key, value in part.items()
    )


def _holds(part: object) -> bool:
    return isinstance(part, list | Mapping)


def names_in(body: object, most: int = 40) -> Iterator[str]:
    """What things in a body are called."""
    left, given = [body], 0
    while left and given < most:
        value = left.pop(0)
        if isinstance(value, Mapping):
            for key, part in value.items():
                if isinstance(part, str) and words(str(key))[-1:] in (("name",), ("title",)) and 2 < len(part) < 60:
                    yield part
                    given += 1
                elif isinstance(part, Mapping | list):
                    left.append(part)
        elif isinstance(value, list):
            left.extend(value[:5])


def said(body: object, error: str | None) -> str:
    """What an error says, in a few words."""
    if isinstance(body, Mapping):
        keys = [key for key in body if str(key).lower() in {"message", "status_message", "detail", "error"}]
        told = body[keys[0]] if keys else None
        if isinstance(told, Mapping):
            told = told.get("message")
        if isinstance(told, str):
            return told[:_LONGEST]
    return (error or str(body))[:_LONGEST]
