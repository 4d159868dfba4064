"""A call under way: its number, its request, its fingerprint for the journal, and the limit that may end it.

A fingerprint is that of the tool and the request as sent, in whatever style the program wrote it. Only parts that the
service acts on count. Credentials do not, nor headers that differ between equal requests.
"""

# ruff: noqa: SIM905 - word lists read better than quoted ones

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import threading
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qsl, quote, unquote, urlencode

from protocols.calls.serialization import BoundCall
from protocols.errors import LimitReached
from protocols.media_types import media_kind
from protocols.model import READS, Parameter, Tool
from sandbox.body_store import BEGINNING, MEMORY_LIMIT, beginning
from sandbox.egress.egress_rules import CallTarget
from sandbox.records import CallRecord

if TYPE_CHECKING:
    pass

__all__ = ["FORM", "LimitExceeded", "PendingCall", "PlannedRequest", "Query"]
__all__ += ["body_value", "call_key", "grouped", "idempotency_header", "join_url", "plan", "request_arguments"]

_MEDIA_RANGE = re.compile(r"[\w.+*-]+/[\w.+*-]+(;[\w.-]+=[\w.\"-]+)*", re.ASCII)

FORM = "application/x-www-form-urlencoded"


class LimitExceeded(LimitReached):
    """A limit that ends the run; `limit` names it: calls, request, response, traffic or wall."""

    def __init__(self, limit: str, message: str) -> None:
        super().__init__(message)
        self.limit = limit


@dataclass(slots=True, eq=False)
class PendingCall:
    """A call that has its number but not yet its record; `target` and `planned` are there once it is bound."""

    index: int
    style: Literal["function", "requests"]
    line: int | None
    tool: str | None
    task: tuple[str, ...] = ()
    method: str = ""
    url: str = ""
    arguments: dict[str, object] = field(default_factory=dict)
    attempts: int = 0
    started: float = field(default_factory=time.monotonic)
    may_have_left: bool = False
    """True if a request without a reply may have reached the service, or a redirect says that it was done."""
    set_cookies: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The URLs of its API that set cookies, with their `Set-Cookie` headers, without a secret."""
    uncertain: bool = False
    """True for a read after a write that was withheld."""
    reads: bool = False
    """True if the method may write, and the operation is declared to read."""
    insists: str = ""
    """What the document says against the call, where the program insists on it."""
    thread: int = field(default_factory=threading.get_ident)
    target: CallTarget = field(init=False)
    planned: PlannedRequest = field(init=False)

    @property
    def writes(self) -> bool:
        """True if the request may change something."""
        return self.planned.writes and not self.reads

    def unsent(self, url: str, arguments: dict[str, object]) -> CallRecord:
        """The record of the call before it is made."""
        return CallRecord(
            *(self.index, self.tool, self.method, url, arguments, self.line, None, 0.0, 0, self.style), reads=self.reads
        )


class Query(list[tuple[str, str]]):
    """A query as pairs, and as it was written."""

    def __init__(self, pairs: Iterable[tuple[str, str]], written: str | None = None) -> None:
        super().__init__(pairs)
        self.written = written


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


def plan(bound: BoundCall) -> PlannedRequest:
    """The request of a call whose arguments are bound."""
    content = bound.content
    headers = {"Accept": _accept(bound.tool), **bound.headers}
    if content is not None:
        headers["Content-Type"] = content[1]
    body = content[0] if content is not None else None
    query = Query(bound.query, bound.written_query)
    return PlannedRequest(bound.tool.method, bound.path, query, headers, bound.cookies, body)


def _accept(tool: Tool) -> str:
    """The media types that the document has for a success, JSON before others, and last any other."""
    types = tool.success.media_types if tool.success is not None else ()
    written = [";".join(part for part in "".join(text.split()).split(";") if part[:8] != "charset=") for text in types]
    ranges = [text for text in dict.fromkeys(written) if _MEDIA_RANGE.fullmatch(text) and text != "*/*"]
    ranges.sort(key=lambda text: media_kind(text) != "json")
    if not ranges:
        return "application/json, */*;q=0.5"
    first = media_kind(ranges[0])
    return ", ".join([*(text if media_kind(text) == first else f"{text};q=0.8" for text in ranges), "*/*;q=0.1"])


def join_url(base: str, query: Sequence[tuple[str, str]]) -> str:
    """A URL with its query, as the program wrote it where that is known."""
    written = query.written if isinstance(query, Query) else None
    if written is None:
        written = urlencode(query, quote_via=quote)
    return f"{base}?{written}" if written else base


def request_arguments(call: PendingCall) -> dict[str, object]:
    """The values in a request, by argument name as far as the tool knows it; of a large body, its beginning.

    A name in two places stands for both: `id` and `body id`.
    """
    names: dict[tuple[str, str], str] = {}
    if call.target.tool is not None:
        names = {(p.location, p.name): p.argument for p in call.target.tool.arguments}
    arguments: dict[str, object] = dict(call.target.arguments)

    def add(location: str, values: Mapping[str, object]) -> None:
        for name, value in values.items():
            argument = names.get((location, name), name)
            arguments[f"{location} {name}" if argument in arguments else argument] = value

    add("query", grouped(call.planned.query))
    body = body_value(call.planned)
    if isinstance(body, dict):
        add("body", body)
    elif call.planned.body and body is not None:
        add("body", {"body": body})
    return arguments


def body_value(planned: PlannedRequest) -> object:
    """The body of a request: a form or JSON by value, anything else and all that is large by its beginning."""
    content = planned.body or b""
    if content and len(content) <= MEMORY_LIMIT:
        media_type = next((text for name, text in planned.headers.items() if name.lower() == "content-type"), "")
        if media_type.partition(";")[0].strip().lower() == FORM:
            return grouped(parse_qsl(content.decode("utf-8", "replace"), keep_blank_values=True))
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(content, object_pairs_hook=_unique_names)
    text = beginning(content)
    return text if len(content) <= BEGINNING else f"{text}… ({len(content)} bytes)"


def grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, object]:
    """Pairs by name; a repeated name has all its values."""
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name not in values:
            values[name] = value
        elif isinstance(values[name], list):
            values[name] = [*values[name], value]
        else:
            values[name] = [values[name], value]
    return values


def _unique_names(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object. Raises: ValueError: A name is in it twice, and services differ on which one counts."""
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name is given twice")
    return dict(pairs)


_VOLATILE = frozenset(
    "accept accept-charset accept-encoding accept-language authorization cache-control content-encoding content-length "
    "content-type cookie date idempotency-key if-modified-since if-none-match pragma referer request-id traceparent "
    "tracestate user-agent x-correlation-id x-idempotency-key x-request-id x-requested-with x-trace-id".split()
)


_ANY_BYTES = "surrogateescape"
"""Bytes that are no UTF-8 stay apart in a fingerprint."""


def call_key(target: CallTarget, planned: PlannedRequest, hidden: Collection[tuple[str, str]] = ()) -> str:
    """The fingerprint of a call (sha256, in hex), equal for equal calls only.

    Where the path begins counts only for a call without a tool; of the query, only the order of equal names.

    Args:
        hidden: Places of credentials: ("header" or "query", name in lower case).
    """
    headers = planned.headers.items()
    kind = next((value for name, value in headers if name.lower() == "content-type"), "")
    skipped = {name for place, name in hidden if place == "header"} | _VOLATILE
    if (key := idempotency_header(target.tool)) is not None:
        skipped |= {key.name.lower()}
    pairs = planned.query
    if isinstance(pairs, Query) and pairs.written is not None:
        pairs = parse_qsl(pairs.written, keep_blank_values=True, errors=_ANY_BYTES)
    query = [[name, value] for name, value in pairs if ("query", name.lower()) not in hidden]
    content = [
        planned.method,
        target.tool.name if target.tool is not None else target.base,
        [unquote(part, errors=_ANY_BYTES) for part in planned.path.split("/")],
        sorted(query, key=lambda pair: pair[0]),
        sorted([name.lower(), value] for name, value in headers if name.lower() not in skipped),
        _content(planned.body, kind.partition(";")[0].strip().lower()),
        planned.redirects or planned.writes,
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _content(body: bytes | None, kind: str) -> list[object]:
    """A body in a form of its own: JSON and forms by what they say, all others (and large ones) by their bytes."""
    if not body:
        return []
    if len(body) <= MEMORY_LIMIT:
        if kind == FORM:
            pairs = parse_qsl(body.decode("utf-8", _ANY_BYTES), keep_blank_values=True, errors=_ANY_BYTES)
            return ["form", sorted(pairs, key=lambda pair: pair[0])]
        try:
            return ["json", json.loads(body)]
        except (ValueError, RecursionError):
            pass
    return ["bytes", hashlib.sha256(body).hexdigest()]


def idempotency_header(tool: Tool | None) -> Parameter | None:
    """The header in which the operation takes an idempotency key, if it documents one."""
    return next((parameter for parameter in tool.parameters if parameter.is_idempotency_key), None) if tool else None
