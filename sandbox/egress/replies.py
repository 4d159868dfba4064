"""Reads replies: the form of a body, problems of a reply that came, and the time to ask again."""

from __future__ import annotations

import codecs
import email.message
import email.utils
import json
import math
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

from protocols.errors import ToolError
from protocols.functions.values import CLASS, plain
from protocols.media_types import MediaKind, documented_kind, essence, media_kind
from protocols.model import READS, Response, Tool, telling_headers
from protocols.schema_fields import json_types
from sandbox.body_forms import described_bytes, read_body, text_encoding, xml_encoding
from sandbox.body_store import LargeBody, store_body
from sandbox.egress.stages import Hop
from sandbox.records import CallRecord
from sandbox.truncation import nested

__all__ = ["BrokerReply", "ParsedBody", "charset_of", "header", "headers_of_result", "parse_body", "retry_after"]
__all__ += ["OpenedReply", "encodings_of", "open_envelope", "shows_secrets", "transcode", "without_length"]

LONGEST_PAUSE = 86_400.0
"""Seconds; a service that asks for more is taken to ask for these."""


_essence = lru_cache(maxsize=1000)(essence)
_kind = lru_cache(maxsize=1000)(media_kind)
"""Of a media type; the same few come again with each call."""


@dataclass(frozen=True, slots=True)
class BrokerReply:
    """The outcome of one call, without a secret.

    `failure` is the class of `requests.exceptions` for a call without a reply, `problem` what is wrong with the call
    in the words of a ToolError; both are None when all is well. `raised` describes the exception of a function: its
    message, the name of its class and those of the builtin ones it is. `url` is the one that the program addressed, or
    was redirected to; `hops` are the redirects that were followed. `form` are the forms that the body may have (see
    sandbox.body_forms), `result_headers` the headers that the result of a function has, None for none. `set_cookies`
    has the URLs of the API that set cookies, with their `Set-Cookie` lines.
    """

    record: CallRecord
    url: str = ""
    reason: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    sent: Mapping[str, str] = field(default_factory=dict)
    body: bytes | LargeBody = b""
    encoding: str | None = None
    form: str = "none"
    result_headers: Mapping[str, str] | None = None
    hops: tuple[Hop, ...] = ()
    set_cookies: tuple[tuple[str, tuple[str, ...]], ...] = ()
    failure: str | None = None
    problem: str | None = None
    raised: tuple[str, ...] = ()

    def value(self) -> object:
        """The result of a tool: parsed JSON, text, bytes, None for an empty body. Raises: ToolError."""
        if self.problem is not None:
            raise ToolError(self.problem, tool=self.record.tool, status=self.record.status)
        body = self.body.read() if isinstance(self.body, LargeBody) else self.body
        value, problem, _ = read_body(self.form, body, charset_of(self.headers))
        if problem is not None:
            raise ToolError(f"{self.record.tool}: {problem}", tool=self.record.tool, status=self.record.status)
        return plain(value) if CLASS.encode() in body and "json" in self.form else value


def header(headers: Mapping[str, str], name: str) -> str | None:
    return next((value for key, value in headers.items() if key.lower() == name), None)


class ParsedBody(NamedTuple):
    """The forms that a body may have, its value in a record, what is wrong with it although the status is good, and
    what was lost or guessed when it was read."""

    form: str
    value: object
    problem: str | None = None
    note: str | None = None


def parse_body(
    tool: Tool | None, method: str, status: int, headers: Mapping[str, str], body: bytes | LargeBody
) -> ParsedBody:
    """Read a body for the record of a call. A large one is not looked into: its value is the body itself."""
    documented = tool.response(status) if tool is not None else None
    if documented is None and tool is not None and status < 300:
        documented = tool.success
    if not body:
        form = _empty(documented, method, status, _essence(header(headers, "content-type") or ""))
        return ParsedBody(form, described_bytes(read_body(form, b"", None).value))
    form = _forms(documented, header(headers, "content-type") or "", method in READS or status >= 300)
    if isinstance(body, LargeBody):
        is_page = "page" in form and body.beginning.lstrip()[:1] == "<"
        problem = f"the reply is a web page instead of JSON: {_short(body.beginning)}" if is_page else None
        return ParsedBody(form, body, problem)
    value, problem, note = read_body(form, body, charset_of(headers))
    if problem is not None:
        problem = f"{problem}: {_short(str(value))}"
    value = described_bytes(value) if isinstance(value, bytes) else value
    return ParsedBody(form, body.decode("utf-8", "replace") if nested(value) else value, problem, note)


def _empty(documented: Response | None, method: str, status: int, label: str) -> str:
    """The form of an empty body: documented lines, texts and bytes may have none, where the status speaks of a body."""
    expected = _expected(documented, label)
    may_be_empty = expected in ("lines", "text", "bytes") and status not in (204, 205) and status < 300
    return expected if may_be_empty and method != "HEAD" else "none"


def _forms(documented: Response | None, content_type: str, strict: bool) -> str:
    """The forms in which to read a body: first as the document has it, then as its label says.

    strict: Documented JSON must be JSON. What a write was answered is a value in any case.
    """
    label, kind = _essence(content_type), _kind(content_type)
    expected = _expected(documented, label)
    types = json_types((documented.schema if documented is not None else None) or {})
    refuse = "refuse" if strict else "text"
    if kind == "lines" and expected in ("json", "lines", ""):
        return f"json lines {refuse}" if expected == "json" and types == ("object",) else f"lines {refuse}"
    if expected == "json" and "string" in types:
        page = " page" if strict and label in _PAGES else ""
        return f"string{page} text" if types == ("string",) else f"json{page} text"
    rows = " rows" if not types or "array" in types else ""
    if kind == "json" and expected == "lines":
        return f"json lines {refuse}"
    if kind == "json" and expected in ("json", ""):
        return f"json{rows} {refuse}"
    if expected == "lines":
        return f"lines json {'page' if strict and label in _PAGES else _BY_LABEL.get(kind, 'plain')}"
    if expected == "json":
        page = " page" if strict and label in _PAGES else ""
        return f"json{rows}{page} {'refuse' if page and types == ('object',) else _BY_LABEL.get(kind, 'plain')}"
    if kind == "json" and expected in ("text", "xml"):
        return "string text" if expected == "text" else "json xml"
    return _BY_LABEL.get(expected or kind, "plain") if label or expected else "json plain"


def _expected(documented: Response | None, label: str) -> MediaKind:
    """The kind of body that the document has for a label: for one of several media types, or for whatever comes."""
    if documented is None or documented.media_type is None:
        return ""
    listed = [_essence(media_type) for media_type in documented.media_types]
    preferred = _essence(documented.media_type)
    if "*" in preferred or ("*/*" in listed and preferred not in listed):  # the schema is that of a range
        kind = documented_kind("", documented.schema)
        by_label = _kind(label)
        if kind == "text" and by_label in ("xml", "bytes"):
            return by_label
        return kind or by_label or documented.kind
    is_listed = any(fnmatchcase(label, media_type) for media_type in listed)
    if label and is_listed and label not in (preferred, "text/plain") and _kind(label):
        return _kind(label)
    return documented.kind


_PAGES = ("text/html", "application/xhtml+xml")
_BY_LABEL = {"xml": "xml", "text": "text", "bytes": "bytes"}


def charset_of(headers: Mapping[str, str]) -> str | None:
    """The charset that the Content-Type names."""
    message = email.message.Message()
    message["Content-Type"] = " ".join((header(headers, "content-type") or "").split())
    charset = message.get_param("charset")
    return text_encoding(charset.strip() or None) if isinstance(charset, str) else None


def encodings_of(headers: Mapping[str, str], encoding: str | None, parts: Iterable[bytes]) -> tuple[str, ...]:
    """Every encoding in which a program may get a body: the one named, that of `requests`, the one declared in XML."""
    start = next(iter(parts), b"")
    declared = xml_encoding(start) if b"<?xml" in start[:300] else None
    names = (charset_of(headers), text_encoding(encoding), text_encoding(declared))
    return tuple(dict.fromkeys(name for name in names if name is not None))


def headers_of_result(tool: Tool | None, status: int, headers: Mapping[str, str], empty: bool) -> dict[str, str] | None:
    """The headers that the result of a call has: where the document has some, or a Location came; else None.

    An empty body has them only if they say more than how the call went.
    """
    has_headers = tool is not None and tool.function is None and any(response.headers for response in tool.responses)
    documented = tool.response(status) if tool is not None and has_headers else None
    names = documented.headers if documented is not None else {}
    telling = telling_headers(documented) if documented is not None else {}
    located = status in range(200, 400) and header(headers, "location") is not None
    if not located and not (telling if empty else names):
        return None
    lowered = {name.lower() for name in names}
    return {name: value for name, value in headers.items() if name.lower() != "set-cookie" or "set-cookie" in lowered}


@dataclass(frozen=True, slots=True)
class OpenedReply:
    """The content of an envelope: as the API itself would have replied, with a JSON body."""

    status: int
    body: bytes | LargeBody
    parsed: object
    problem: str | None


def open_envelope(tool: Tool | None, status: int, body: bytes | LargeBody, room: int) -> OpenedReply | None:
    """Take a reply out of its envelope; None for a tool without one, and for a failure of the server itself.

    The status of an error is that of its fault (see protocols.calls.envelope). `room`: bytes of a body that may stay
    in memory.
    """
    if tool is None or tool.envelope is None or status >= 300:
        return None
    from protocols.calls.envelope import NO_ENVELOPE, fault_of, opened_reply

    content = body.read() if isinstance(body, LargeBody) else body
    try:
        error, value = opened_reply(tool.envelope, content)
    except ValueError as problem:
        return OpenedReply(NO_ENVELOPE.status, body, _short(content[:1000].decode("utf-8", "replace")), str(problem))
    if error:
        fault = fault_of(error)
        quoted = _short(error).replace('"', "'")
        data = json.dumps({tool.envelope.error_field: error}, ensure_ascii=False).encode()
        return OpenedReply(fault.status, data, json.loads(data), f'{fault.name} — the service said "{quoted}"')
    stored = store_body([json.dumps(value, ensure_ascii=False).encode()], room)
    return OpenedReply(status, stored, stored if isinstance(stored, LargeBody) else value, None)


def without_length(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers without those that describe the bytes of a body."""
    described = ("content-length", "content-type", "content-encoding")
    return {name: value for name, value in headers.items() if name.lower() not in described}


_AS_BYTES = ("ascii", "iso8859", "utf-8", "utf-16", "utf-32", "cp125")
"""Encodings in which a secret looks as it does in UTF-8, -16, -32 or Latin 1 (if it has but ASCII, in the others)."""


def shows_secrets(encoding: str) -> bool:
    """True if a secret can be found in the encoded text itself; also for an unknown encoding."""
    try:
        b"".decode(encoding)
        return codecs.lookup(encoding).name.startswith(_AS_BYTES)
    except (LookupError, ValueError):
        return True


def transcode(parts: Iterable[bytes], source: str, target: str) -> Iterator[bytes]:
    """The same text in another encoding; what can't be read or written there is replaced."""
    decoder = codecs.getincrementaldecoder(source)("replace")
    encoder = codecs.getincrementalencoder(target)("replace")
    for part in parts:
        yield encoder.encode(decoder.decode(part))
    yield encoder.encode(decoder.decode(b"", True), True)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a service asks to wait; None if it names none."""
    text = header(headers, "retry-after")
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(text).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return min(max(0.0, seconds), LONGEST_PAUSE) if not math.isnan(seconds) else None


def _short(text: str, length: int = 200) -> str:
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1] + "…"
