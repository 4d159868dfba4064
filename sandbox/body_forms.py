"""Reads the body of a reply as one of the forms that it may have, in the order in which they are tried.

Forms are names in a text: "json text" is JSON, and else a text. They are json, lines (or a sequence) of it, rows (lines
that are all whole), xml and text, bytes, plain (a text where the bytes are one), string (a text that JSON stands for),
and two that are a problem: refuse (it is no JSON) and page (it is a web page instead).

The parent decides on the forms, by the document and the media type; it reads small bodies for the record of a call.
The child reads all of them for the program. This module is loaded in the child too, so it imports little.
"""

from __future__ import annotations

import codecs
import contextlib
import functools
import hashlib
import json
import re
from typing import NamedTuple

__all__ = ["BodyReading", "described_bytes", "read_body", "text_encoding", "xml_encoding"]

_JSON_SPACE = re.compile(r"[ \t\r\n\x1e]*")
_XML_ENCODING = re.compile(rb"""<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32"}
_MARKS |= {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_LATIN = frozenset({"iso8859-1", "iso8859-15", "cp1252"})
"""Encodings that servers name by default, whatever they write: JSON is in UTF-8 unless it cannot be."""


_NO_TEXT = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})
"""Encodings of Python that no service writes a text in; some take quadratic time."""


class BodyReading(NamedTuple):
    """The value of a body, what is wrong with it, and what was lost or guessed when it was read."""

    value: object
    problem: str | None = None
    note: str | None = None


def read_body(forms: str, body: bytes, charset: str | None) -> BodyReading:
    """Read a body as the first form that it has; `charset` is the one that its media type names."""
    if not body:
        return BodyReading(_EMPTY[forms]() if forms in _EMPTY else None)
    text, note, fault = "", None, "the reply is not JSON"
    for form in forms.split():
        if form == "bytes":
            return BodyReading(body)
        if form == "plain":
            try:
                return BodyReading(body.decode(charset or "utf-8"))
            except (LookupError, ValueError):
                return BodyReading(body)
        text, note = _decoded(body, charset, form)
        if form in ("json", "string") and not text.strip():
            return BodyReading(None)
        if form in _LOADERS:
            try:
                value, lost = _LOADERS[form](text)
                return BodyReading(value, None, lost or note)
            except RecursionError:
                fault = "the reply is JSON that is nested too deeply to be read"
            except json.JSONDecodeError:
                pass
            except ValueError:
                fault = "the reply is JSON with an integer of too many digits to be read" if form == "json" else fault
            continue
        if form == "page":
            if text.lstrip()[:1] == "<":
                return BodyReading(text, "the reply is a web page instead of JSON", note)
            continue
        if form == "refuse":
            return BodyReading(text, fault, note)
        return BodyReading(text, None, note)
    return BodyReading(text, None, note)


def _json(text: str) -> tuple[object, str | None]:
    return json.loads(text), None


def _string(text: str) -> tuple[object, str | None]:
    """A text that is written as JSON; an object, a list or null as well. Raises: ValueError: Any other value."""
    value = json.loads(text)
    if value is not None and not isinstance(value, (str, dict, list)):
        raise ValueError("the text itself")
    return value, None


def _lines(text: str, whole: bool = False) -> tuple[object, str | None]:
    """JSON values after one another, with a line feed or a record separator between them.

    One that breaks off at the end is dropped, with a note, unless all have to be `whole`.
    Raises: ValueError: There is something else before the end, or instead.
    """
    values: list[object] = []
    decoder, place = json.JSONDecoder(), _after_space(text, 0)
    while place < len(text):
        try:
            value, end = decoder.raw_decode(text, place)
            following = _after_space(text, end)
            if following < len(text) and not _separated(text[end:following]):
                raise json.JSONDecodeError("the line goes on", text, end)
        except ValueError:
            if whole or not values or _separated(text[place:].rstrip()):
                raise
            return values, _broken(len(values), text[place:])
        if end == len(text) and "\x1e" in text and isinstance(value, (int, float)) and not isinstance(value, bool):
            return values, _broken(len(values), text[place:])  # RFC 7464, 2.4: its last digits may be missing
        values.append(value)
        place = following
    return values, None


def _rows(text: str) -> tuple[object, str | None]:
    return _lines(text, whole=True)


_LOADERS = {"json": _json, "string": _string, "lines": _lines, "rows": _rows}
_EMPTY: dict[str, type] = {"lines": list, "text": str, "bytes": bytes}
"""What an empty body is, if this is the only form that it may have."""


def _separated(text: str) -> bool:
    return "\n" in text or "\x1e" in text


def _after_space(text: str, place: int) -> int:
    match = _JSON_SPACE.match(text, place)
    return match.end() if match else place


def _broken(count: int, rest: str) -> str:
    return (
        f"the last line of the reply is not whole JSON and was left out: {_short(rest, 60)} ({count} items are there)"
    )


def _decoded(body: bytes, charset: str | None, form: str) -> tuple[str, str | None]:
    """A body as text, and a note where its encoding was guessed or does not fit."""
    for mark, encoding in _MARKS.items():
        if body.startswith(mark):
            return _with_encoding(body, encoding)
    charset = charset or (xml_encoding(body) if form == "xml" else None)
    known = _known(charset)
    if form not in ("xml", "text", "page"):
        if (detected := json.detect_encoding(body)) != "utf-8":
            return _with_encoding(body, detected)
        if known is None or known in _LATIN:
            with contextlib.suppress(UnicodeDecodeError):
                return body.decode(), None
    if known is not None:
        return _with_encoding(body, known)
    try:
        return body.decode(), _unknown(charset, "UTF-8") if charset else None
    except UnicodeDecodeError:
        return body.decode("latin-1"), _unknown(charset, "ISO-8859-1")


@functools.lru_cache(maxsize=256)
def text_encoding(encoding: str | None) -> str | None:
    """An encoding that a service names; None instead of one that texts are not written in."""
    try:
        return None if encoding is None or codecs.lookup(encoding).name in _NO_TEXT else encoding
    except (LookupError, ValueError):
        return encoding


def _known(charset: str | None) -> str | None:
    """The name of an encoding as Python has it; None for none, and for one that it does not know."""
    try:
        name = codecs.lookup(charset).name if text_encoding(charset) is not None and charset else None
    except (LookupError, ValueError):
        return None
    return "utf-8" if name == "ascii" else name


def _with_encoding(body: bytes, encoding: str) -> tuple[str, str | None]:
    try:
        return body.decode(encoding), None
    except (UnicodeError, LookupError):
        try:
            return body.decode(encoding, "replace"), f"some bytes of the reply are no {encoding} and became U+FFFD"
        except (UnicodeError, LookupError):  # it encodes no text
            return body.decode("latin-1"), _unknown(encoding, "ISO-8859-1")


def _unknown(charset: str | None, guess: str) -> str:
    said = f"the reply names the charset {charset[:40]!r}, which fits no text here" if charset else ""
    return f"{said or 'the reply is no UTF-8 and names no charset'}; it was read as {guess}"


def xml_encoding(body: bytes) -> str | None:
    """The encoding in the declaration of an XML document."""
    match = _XML_ENCODING.match(body[:300].lstrip())
    return match[1].decode() if match else None


def described_bytes(value: object) -> object:
    """A value with bytes in it as a record keeps it: by their number and digest."""
    if isinstance(value, (bytes, bytearray)):
        return f"<{len(value)} bytes, sha256 {hashlib.sha256(value).hexdigest()}>"
    if isinstance(value, dict):
        return {key: described_bytes(item) for key, item in value.items()}
    return [described_bytes(item) for item in value] if isinstance(value, list) else value


def _short(text: str, length: int = 200) -> str:
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1] + "…"
