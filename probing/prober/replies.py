"""Read a response: is it an error, empty, a web page or an envelope, which names it holds, and its error message."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from protocols.text.words import PAGING, WRAPPERS, singular, words
from sandbox.body_store import LargeBody
from sandbox.egress.reasons import service_message

__all__ = ["error_in_success", "error_message", "is_empty", "is_envelope", "is_envelope_key", "names_in", "page_title"]

_ERROR_KEYS = frozenset({"error", "errors", "fault", "status_message", "error_message", "exception"})
_STATUS_KEYS = frozenset({"code", "message", "status", "status_code", "success", "detail", "details", "title", "type"})
_MAX_CHARS = 200
_WEB_PAGE = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|title|body|h1|center|div|p|script)\b",
    re.IGNORECASE | re.DOTALL,
)
_TITLE = re.compile(r"<(title|h1)\b[^>]*>(.*?)</\1", re.IGNORECASE | re.DOTALL)
_PAGES = frozenset({"count", "limit", "next", "offset", "page", "pages", "prev", "previous", "total"})
_ENVELOPE_WORDS = PAGING | WRAPPERS | {"error", "included", "jsonapi", "pagination", "warning"}


def error_in_success(body: object) -> str | None:
    """The error in a 2xx body; None if the body is a proper answer."""
    if isinstance(body, LargeBody):
        return "the body is too large to be kept"
    if isinstance(body, str):
        return "a web page, not data" if page_title(body) is not None else None
    if not isinstance(body, Mapping):
        return None
    keys = {str(key).lower() for key in body}
    errors = [part for key, part in body.items() if str(key).lower() in _ERROR_KEYS]
    if any(errors) and keys <= _ERROR_KEYS | _STATUS_KEYS:
        return f"an error: {json.dumps(body, default=str)[:_MAX_CHARS]}"
    return None


def page_title(body: object) -> str | None:
    """The title of a web page, "" where it has none; None for all that is no web page."""
    if not isinstance(body, str) or not _WEB_PAGE.match(body):
        return None
    title = _TITLE.search(body[:20_000])
    return " ".join(re.sub(r"<[^>]*>", " ", title[2]).split())[:_MAX_CHARS] if title else ""


def is_envelope_key(key: str) -> bool:
    """True for a key that says something of a reply, and nothing of what it holds: `next`, `total_count`, `data`."""
    parts = words(key)
    return bool(parts) and all(part in _ENVELOPE_WORDS or singular(part) in _ENVELOPE_WORDS for part in parts)


def is_envelope(body: object) -> bool:
    """True for an object around a list or another object, with nothing but paging and status beside it."""
    if not isinstance(body, Mapping):
        return False
    beside = [str(key) for key, part in body.items() if not _is_container(part)]
    around = [str(key) for key, part in body.items() if _is_container(part)]
    wrapped = any(is_envelope_key(key) for key in around)
    paged = any(not _PAGES.isdisjoint(words(key)) for key in beside)
    return bool(around) and all(map(is_envelope_key, beside)) and (wrapped or paged)


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
    """The message of an error, shortened; of a web page its title."""
    if (title := page_title(body)) is not None:
        return f"a web page: {title}" if title else "a web page"
    return (service_message(body) or error or str(body))[:_MAX_CHARS]
