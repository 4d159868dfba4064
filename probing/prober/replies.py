"""Read a response: is it an error or empty, which names it holds, and its error message."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from protocols.text.words import PAGING, words
from sandbox.body_store import LargeBody

__all__ = ["error_in_success", "error_message", "is_empty", "names_in"]

_ERROR_KEYS = frozenset({"error", "errors", "fault", "status_message", "error_message", "exception"})
_STATUS_KEYS = frozenset({"code", "message", "status", "status_code", "success", "detail", "details", "title", "type"})
_MAX_CHARS = 200


def error_in_success(body: object) -> str | None:
    """The error in a 2xx body; None if the body is a proper answer."""
    if isinstance(body, LargeBody):
        return "the body is too large to be kept"
    if isinstance(body, str):
        return "a web page, not data" if body.lstrip()[:1] == "<" else None
    if not isinstance(body, Mapping):
        return None
    keys = {str(key).lower() for key in body}
    errors = [part for key, part in body.items() if str(key).lower() in _ERROR_KEYS]
    if any(errors) and keys <= _ERROR_KEYS | _STATUS_KEYS:
        return f"an error: {json.dumps(body, default=str)[:_MAX_CHARS]}"
    return None


def is_empty(body: object) -> bool:
    """True if a body has lists and all of them are empty."""
    if isinstance(body, list):
        return not body
    if not isinstance(body, Mapping):
        return False
    if not body or (len(body) == 1 and None in body.values()):
        return True
    if not any(isinstance(part, list | Mapping) for part in body.values()):
        return False
    body = {key: part for key, part in body.items() if not PAGING.issuperset(words(str(key))) or _is_container(part)}
    lists = [part for part in body.values() if isinstance(part, list)]
    inner = [part for part in body.values() if isinstance(part, Mapping)]
    if not lists and not inner:
        return not body
    scalars = [part for part in body.values() if isinstance(part, str | int | float) and part != ""]
    return not any(lists) and not scalars and all(_is_count(part, lists) or is_empty(part) for part in inner)


def _is_count(part: Mapping[str, object], lists: list[list[object]]) -> bool:
    """True if an object beside a list holds only its paging: `{"skip": 0, "all_records_count": 0}`."""
    return bool(lists) and all(
        PAGING.intersection(words(str(key))) and (value is None or isinstance(value, str | int | float))
        for key, value in part.items()
    )


def _is_container(part: object) -> bool:
    return isinstance(part, list | Mapping)


def names_in(body: object, most: int = 40) -> Iterator[str]:
    """The names of entities in a body."""
    pending, count = [body], 0
    while pending and count < most:
        value = pending.pop(0)
        if isinstance(value, Mapping):
            for key, part in value.items():
                if isinstance(part, str) and words(str(key))[-1:] in (("name",), ("title",)) and 2 < len(part) < 60:
                    yield part
                    count += 1
                elif isinstance(part, Mapping | list):
                    pending.append(part)
        elif isinstance(value, list):
            pending.extend(value[:5])


def error_message(body: object, error: str | None) -> str:
    """The message of an error, shortened."""
    if isinstance(body, Mapping):
        keys = [key for key in body if str(key).lower() in {"message", "status_message", "detail", "error"}]
        message = body[keys[0]] if keys else None
        if isinstance(message, Mapping):
            message = message.get("message")
        if isinstance(message, str):
            return message[:_MAX_CHARS]
    return (error or str(body))[:_MAX_CHARS]
