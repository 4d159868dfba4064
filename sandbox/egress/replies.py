"""Reads replies: the form of a body, problems of a reply that came, and the time to ask again."""

from __future__ import annotations

import codecs
import email.utils
import json
import math
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from protocols.calls.envelope import NO_ENVELOPE, fault_of, opened_reply
from protocols.errors import ToolError
from protocols.functions.values import CLASS, plain
from protocols.model import Tool
from sandbox.body_store import LargeBody, store_body
from sandbox.records import CallRecord
from sandbox.truncation import nested

__all__ = ["BrokerReply", "Form", "decode_body", "header", "parse_body", "retry_after"]
__all__ += ["OpenedReply", "open_envelope", "shows_secrets", "text_encoding", "transcode", "without_length"]

LONGEST_PAUSE = 86_400.0
"""Seconds; a service that asks for more is taken to ask for these."""

Form = Literal["json", "text", "none"]


@dataclass(frozen=True, slots=True)
class BrokerReply:
    """The outcome of one call, without a secret.

    `failure` is the class of `requests.exceptions` for a call without a reply, `problem` what is wrong with the call
    in the words of a ToolError; both are None when all is well. `raised` describes the exception of a function: its
    message, the name of its class and those of the builtin ones it is. `url` is the one that the program addressed, or
    was redirected to; `history` has the status and next URL of each redirect, `set_on_the_way` its cookies.
    `set_cookies` has the URLs of the API that set cookies, with their `Set-Cookie` headers.
    """

    record: CallRecord
    url: str = ""
    reason: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    sent: Mapping[str, str] = field(default_factory=dict)
    body: bytes | LargeBody = b""
    encoding: str | None = None
    form: Form = "none"
    history: tuple[tuple[int, str], ...] = ()
    set_on_the_way: tuple[Mapping[str, str], ...] = ()
    set_cookies: tuple[tuple[str, tuple[str, ...]], ...] = ()
    failure: str | None = None
    problem: str | None = None
    raised: tuple[str, ...] = ()

    def value(self) -> object:
        """The result of a tool: parsed JSON, text, None for an empty body. Raises: ToolError."""
        if self.problem is not None:
            raise ToolError(self.problem, tool=self.record.tool, status=self.record.status)
        body = self.body.read() if isinstance(self.body, LargeBody) else self.body
        if self.form == "json":
            value = json.loads(body)
            return plain(value) if CLASS.encode() in body else value
        return decode_body(body, self.encoding) if body else None


def header(headers: Mapping[str, str], name: str) -> str | None:
    return next((value for key, value in headers.items() if key.lower() == name), None)


def parse_body(
    tool: Tool | None, headers: Mapping[str, str], body: bytes | LargeBody, encoding: str | None
) -> tuple[Form, object, str | None]:
    """The form and value of a body, and what is wrong with it although the status is good.

    A large body is not parsed here: its value is the body itself, its form what its media type promises.
    """
    if not body:
        return "none", None, None
    kind = (header(headers, "content-type") or "").partition(";")[0].strip().lower()
    documented = tool.success.media_type if tool and tool.success else None
    text = decode_body(body, encoding) if isinstance(body, bytes) else body.beginning
    if "json" in kind or not kind:
        if isinstance(body, LargeBody):
            return ("json" if kind or text.lstrip()[:1] in ("{", "[") else "text"), body, None
        try:
            value = json.loads(body)
            return "json", text if nested(value) else value, None
        except (ValueError, RecursionError):
            problem = f"the reply is not JSON: {_short(text)}" if kind else None
            return "text", text, problem
    whole = text if isinstance(body, bytes) else body
    if kind == "text/html" and documented is not None and "json" in documented:
        return "text", whole, f"the reply is a web page instead of JSON: {_short(text)}"
    return "text", whole, None


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


def decode_body(body: bytes, encoding: str | None) -> str:
    """A body as text, also where the service names an encoding that there isn't."""
    try:
        return body.decode(encoding or "utf-8", "replace")
    except (LookupError, ValueError):
        return body.decode("utf-8", "replace")


_NO_TEXT = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})
"""Encodings of Python that no service writes a text in; some take quadratic time."""

_AS_BYTES = ("ascii", "iso8859", "utf-8", "utf-16", "utf-32", "cp125")
"""Encodings in which a secret looks as it does in UTF-8, -16, -32 or Latin 1 (if it has but ASCII, in the others)."""


def text_encoding(encoding: str | None) -> str | None:
    """An encoding that a service names; None instead of one that texts are not written in."""
    try:
        return None if encoding is None or codecs.lookup(encoding).name in _NO_TEXT else encoding
    except (LookupError, ValueError):
        return encoding


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
