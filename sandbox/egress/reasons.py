"""The reason that a service gives for an error, out of whatever form its reply has.

Frameworks agree on no form, but on words: a message has a name like `message`, the field that it is about stands beside
it or above it, and the rest is for machines. So the body is walked, and no framework is known by name. What says which
field is wrong comes first, what sums it up later, the name of a kind of error last.
"""

# ruff: noqa: SIM905 - word lists read better than quoted ones

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from html.parser import HTMLParser
from http import HTTPStatus
from itertools import islice
from typing import NamedTuple

from protocols.quoting import one_line, shorten
from sandbox.body_store import LargeBody
from sandbox.records import nested

__all__ = ["challenge_message", "service_message"]

_LENGTH = 600
"""Characters of a reason: six wrong fields of a form fit, and a prompt bears it."""

_MOST_TEXTS = 200
_PAGE = 20_000
"""Texts of a body, and characters of a web page, that are looked at."""

_MESSAGES = (
    "message errormessage errordescription detail details msg defaultmessage description statusmessage faultstring "
    "reason error errors title type"
).split()
"""Names of messages, the most telling first; all names are in lower case, without `-` and `_`."""

_KINDS = frozenset({"reason", "error", "errors", "title", "type"})
"""Messages that are often the name of a kind of error."""

_CONTAINERS = frozenset(
    "causes constraintviolations detail details error errors failures fault fielderrors fieldviolations formerrors "
    "fullmessages innererror invalidparams issues message messages msg nonfielderrors problems validationerrors "
    "violations".split()
)
"""Names of what holds messages and is no field itself."""

_WHOLE = frozenset({"all", "base", "formerrors", "fullmessages", "nonfielderrors"})
"""Names beside those of fields, of what is about none of them."""

_PLACES = (
    "loc field param parameter pointer instancepath propertypath property propertyname path header target source "
    "name location"
).split()
"""Names of the field that a message beside them is about, the most telling first."""

_PHRASES = frozenset(status.phrase.lower() for status in HTTPStatus)
_CHALLENGE = re.compile(
    r"""(?<![\w-])(error|error_description)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))""", re.IGNORECASE
)


class _Text(NamedTuple):
    """A text of a body: the field that it is about, itself, and whether it may be the name of a kind of error."""

    place: str
    text: str
    names_kind: bool = False


def service_message(body: object) -> str:
    """The reason in the body of an error, in one line: `start: must be before end; …`. Empty if it has none."""
    if isinstance(body, LargeBody):
        return shorten(_plain(body.beginning), _LENGTH)
    if isinstance(body, str):
        data = _data(body)  # of a service that names another type
        return service_message(data) if data is not None else shorten(_plain(body), _LENGTH)
    if not isinstance(body, dict | list) or not body or nested(body):
        return ""
    texts = sorted(islice(_texts(body, "", False), _MOST_TEXTS), key=lambda text: not text.place)
    return _joined(texts) or one_line(json.dumps(body, ensure_ascii=False), _LENGTH)


def challenge_message(challenge: str) -> str:
    """The reason in a `WWW-Authenticate` header: `invalid_token: the token expired`. Empty if it has none."""
    named = {name.lower(): quoted or word for name, quoted, word in _CHALLENGE.findall(challenge)}
    texts = [re.sub(r"\\(.)", r"\1", named[name]) for name in ("error", "error_description") if named.get(name)]
    return one_line(": ".join(texts), _LENGTH)


def _joined(texts: Sequence[_Text]) -> str:
    """The texts after one another, without those that say again what stands before them, or only that it failed."""
    parts: dict[str, str] = {}
    has_field = any(text.place for text in texts)
    for place, text, names_kind in texts:
        plain = text.strip(" .").lower()
        if not plain or (names_kind and not place and (has_field or (parts and plain in _PHRASES))):
            continue
        if place or not any(plain in earlier for earlier in parts.values()):
            parts[f"{place}: {text}" if place else text] = plain
    *first, last = parts or [""]
    return shorten("; ".join([*(part.rstrip(".") for part in first), last]), _LENGTH)


def _texts(value: object, place: str, inside: bool, in_list: bool = False) -> Iterator[_Text]:
    """The texts in a part of a body; `inside` is True below a name that promises messages."""
    if isinstance(value, str):
        data = _data(value)
        if data is not None:
            yield from _texts(data, place, inside)
        elif inside or " " in value.strip():  # elsewhere a single word may be anything
            yield _Text(place, _plain(value))
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, place, inside, in_list=True)
    elif isinstance(value, dict):
        words = {name: str(name).lower().replace("-", "").replace("_", "") for name in value}
        messages = [name for name, word in words.items() if isinstance(value[name], str) and _is_message(name, word)]
        if in_list and not messages:
            messages = [name for name, word in words.items() if isinstance(value[name], str) and word == "code"]
        holders = [name for name, word in words.items() if word in _CONTAINERS and isinstance(value[name], dict | list)]
        by_field = inside and all(_is_texts(item) for item in value.values())
        if by_field or not (messages or any(words[name] not in _WHOLE for name in holders)):
            yield from _of_fields(value, words, place, inside)
            return
        own = _own_place(value, words, in_list) if inside else ""
        where = _within(place, own) if own else place
        for name in holders:
            yield from _texts(value[name], where, True)
        messages.sort(key=lambda name: _MESSAGES.index(words[name]) if words[name] in _MESSAGES else 0)
        for name in messages[: 1 if where or in_list else 2]:  # of a list of errors, only what each says best
            data = _data(str(value[name]))
            names_kind = words[name] in _KINDS
            text = _Text(where, _plain(str(value[name])), names_kind)
            yield from [text] if data is None else _texts(data, where, True)


def _of_fields(value: Mapping[str, object], words: Mapping[str, str], place: str, inside: bool) -> Iterator[_Text]:
    """The texts of an object whose names are those of fields."""
    for name, item in value.items():
        where = place if words[name] in _WHOLE or name == "_errors" else _within(place, str(name))
        if isinstance(item, list) and any(isinstance(part, dict) for part in item):
            for number, part in enumerate(item):
                yield from _texts(part, f"{where}[{number}]", inside or not place)
        elif isinstance(item, dict | list) or inside or place:  # a text at the top of a body may be anything
            yield from _texts(item, where, inside or not place)


def _is_message(name: str, word: str) -> bool:
    return "message" in word or (word in _MESSAGES and (word != "type" or name == "__type"))


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def _own_place(value: Mapping[str, object], words: Mapping[str, str], in_list: bool) -> str:
    """The field that an object says it is about; `name` and a path like that of a request count in lists alone."""
    names = {word: name for name, word in reversed(list(words.items()))}
    for word in _PLACES:
        item = value.get(names.get(word, ""))
        if isinstance(item, dict):
            if text := _own_place(item, {name: str(name).lower() for name in item}, in_list):
                return text
        elif isinstance(item, list) and item and all(isinstance(step, str | int) for step in item):
            return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in item).lstrip(".")
        elif isinstance(item, str) and item and " " not in item and (in_list or (word != "name" and item[0] != "/")):
            return item
    return ""


def _within(place: str, name: str) -> str:
    return f"{place}{'' if name[:1] in '[/' else '.'}{name}" if place else name


def _data(text: str) -> dict[str, object] | list[object] | None:
    """The JSON object or list that a message holds, as some libraries write a list of theirs; else None."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict | list) and data and not nested(data) else None


class _PageText(HTMLParser):
    """The words of a web page or an XML document."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._hidden = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._hidden = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden = False

    def handle_data(self, data: str) -> None:
        self.words += [] if self._hidden else [data]


def _plain(text: str) -> str:
    """A text in one line, without tags."""
    if text.lstrip()[:1] == "<":
        page = _PageText()
        page.feed(text[:_PAGE])
        text = " ".join(page.words) or text
    return one_line(text[:_PAGE])
