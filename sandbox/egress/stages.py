"""The four stages of a call, each a frozen record: `Bound -> Decided -> Sent -> CallRecord`, and the reply to it.

A step takes one stage and gives the next. What a record will say of a call that is under way is a `CallRecord`, too:
the draft that the recorder holds (see sandbox.egress.record).
"""

from __future__ import annotations

import email.message
import email.utils
import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from protocols.errors import LimitReached, ToolError
from protocols.functions import CLASS, plain
from protocols.model import READS, Parameter
from sandbox.body_forms import read_body, text_encoding
from sandbox.body_store import LargeBody
from sandbox.egress.egress_rules import CallTarget
from sandbox.records import CallRecord

if TYPE_CHECKING:
    from sandbox.journal.journal import Entry

__all__ = [
    "BUSY",
    "FORM",
    "OVER",
    "REDIRECTS",
    "TOO_MANY",
    "Begun",
    "Bound",
    "BrokerReply",
    "Decided",
    "FunctionResult",
]
__all__ += ["Hop", "LimitExceeded", "NoAnswerError", "PlannedRequest", "QueryPairs", "Sent", "Style", "TooLargeError"]
__all__ += ["TransportReply", "charset_of", "header", "join_url"]

FORM = "application/x-www-form-urlencoded"
BUSY = (429, 503)
"""Statuses of a service that may be asked again later."""

OVER = "the run ended before a reply came"
REDIRECTS = frozenset({300, 301, 302, 303, 307, 308})
TOO_MANY = "it redirects too many times"
"""Why the last redirect of a call was not followed."""

_PART = 64 * 1024
"""Bytes of a body that are read at once."""

_LONGEST_PAUSE = 86_400.0
"""Seconds; a service that asks for more is taken to ask for these."""

Style = Literal["function", "requests"]


class LimitExceeded(LimitReached):
    """A limit that ends the run; `limit` names it: calls, request, response, traffic or wall."""

    def __init__(self, limit: str, message: str) -> None:
        super().__init__(message)
        self.limit = limit


@dataclass(frozen=True, slots=True)
class TransportReply:
    """The response of a server. `heading` is the size of its headers in bytes; `encoding` as `requests` derives it.

    `body` is in memory as long as it is small, then in a file without a name; `size` are its bytes. `set_cookies` are
    its `Set-Cookie` headers.
    """

    status: int
    reason: str
    headers: dict[str, str]
    cookies: dict[str, str]
    body: IO[bytes]
    size: int
    encoding: str | None
    heading: int
    set_cookies: tuple[str, ...] = ()

    def parts(self) -> Iterator[bytes]:
        """The body from its beginning, in parts."""
        self.body.seek(0)
        yield from iter(lambda: self.body.read(_PART), b"")

    @property
    def pause(self) -> float | None:
        """The seconds that the service asks to wait; None if it names none."""
        text = header(self.headers, "retry-after")
        if text is None:
            return None
        try:
            seconds = float(text)
        except ValueError:
            try:
                seconds = email.utils.parsedate_to_datetime(text).timestamp() - time.time()
            except (ValueError, OverflowError):
                return None
        return min(max(0.0, seconds), _LONGEST_PAUSE) if not math.isnan(seconds) else None


def header(headers: Mapping[str, str], name: str) -> str | None:
    """The value of a header; its name in lower case."""
    return next((value for key, value in headers.items() if key.lower() == name), None)


def charset_of(headers: Mapping[str, str]) -> str | None:
    """The charset that the Content-Type names."""
    message = email.message.Message()
    message["Content-Type"] = " ".join((header(headers, "content-type") or "").split())
    charset = message.get_param("charset")
    return text_encoding(charset.strip() or None) if isinstance(charset, str) else None


class Hop(NamedTuple):
    """A redirect that was followed: its status, its next URL, and the cookies that it set."""

    status: int
    url: str
    cookies: Mapping[str, str]


class NoAnswerError(Exception):
    """No whole reply came; `kind` is the class of `requests.exceptions` that says why.

    `may_have_left`: part of the request may have reached the service.
    """

    def __init__(self, kind: str, message: str, may_have_left: bool = False) -> None:
        super().__init__(message)
        self.kind = kind
        self.may_have_left = may_have_left


class TooLargeError(Exception):
    """The reply is larger than allowed; `beginning` is how it begins, `status` its status."""

    def __init__(self, status: int, beginning: bytes) -> None:
        super().__init__("the reply is too large")
        self.status = status
        self.beginning = beginning


class QueryPairs(list[tuple[str, str]]):
    """A query as pairs, and as it was written."""

    def __init__(self, pairs: Iterable[tuple[str, str]], written: str | None = None) -> None:
        super().__init__(pairs)
        self.written = written

    @classmethod
    def of(cls, url: str) -> QueryPairs:
        """The query of a URL."""
        query = urlsplit(url).query
        return cls(parse_qsl(query, keep_blank_values=True), query)


def join_url(base: str, query: Sequence[tuple[str, str]]) -> str:
    """A URL with its query, as the program wrote it where that is known."""
    written = query.written if isinstance(query, QueryPairs) else None
    if written is None:
        written = urlencode(query, quote_via=quote)
    return f"{base}?{written}" if written else base


@dataclass(frozen=True, slots=True)
class PlannedRequest:
    """A request before credentials. `path` is relative to the base URL and percent-encoded."""

    method: str
    path: str
    query: Sequence[tuple[str, str]]
    headers: Mapping[str, str]
    cookies: Mapping[str, str]
    body: bytes | None
    timeout: float | None = None
    redirects: bool = True

    @property
    def writes(self) -> bool:
        """True if the method is one that may change something."""
        return self.method not in READS


@dataclass(frozen=True, slots=True)
class Begun:
    """A call that has its number; `started` goes by the monotonic clock, `task` is the path of tasks that makes it."""

    index: int
    style: Style
    line: int | None
    task: tuple[str, ...]
    started: float
    thread: int


@dataclass(frozen=True, slots=True)
class Bound:
    """A call whose request is known and may be sent as far as the egress rules go.

    `url` is what the program addressed, without a secret; `arguments` are by name. `reads`: the method may write, and
    the operation is declared to read. `insists` is what the document says against the call, where the program insists
    on it. `key` is the header of the operation's idempotency key.
    """

    call: Begun
    target: CallTarget
    planned: PlannedRequest
    url: str
    arguments: dict[str, object]
    reads: bool
    insists: str = ""
    key: Parameter | None = None

    @property
    def writes(self) -> bool:
        """True if the request may change something."""
        return self.planned.writes and not self.reads


@dataclass(frozen=True, slots=True)
class Decided:
    """What becomes of a call.

    It is sent, replayed, simulated, refused (`why`; `by_policy` if the writes policy did), or first found out about by
    a read. `entry` is its row in the journal, `token` the idempotency key it is sent with, `again` if that key was sent
    before.
    """

    bound: Bound
    action: Literal["send", "replay", "simulate", "refuse", "find out"]
    why: str = ""
    by_policy: bool = False
    entry: Entry | None = None
    token: str | None = None
    again: bool = False


@dataclass(frozen=True, slots=True)
class FunctionResult:
    """What a function gave: JSON, or the status and text of a problem. `raised` describes its exception."""

    status: int
    data: bytes = b""
    problem: str | None = None
    raised: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sent:
    """What came of a call that was made: a reply of a service, the result of a function, or the error in their place.

    `may_have_left`: a request without a reply may have reached the service, or a redirect says that it was done.
    `stopped` says why a redirect was not followed, `hops` are those that were. `set_cookies` are the URLs of the API
    that set cookies, with their `Set-Cookie` headers, without a secret.
    """

    bound: Bound
    outcome: TransportReply | FunctionResult | Exception
    may_have_left: bool = False
    stopped: str | None = None
    hops: tuple[Hop, ...] = ()
    set_cookies: tuple[tuple[str, tuple[str, ...]], ...] = ()


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
