"""The only door to the network: every call that a program makes goes through here, is checked, sent and recorded.

The broker knows the protocol, so it knows which hosts, methods and paths exist; nothing else is sent. It holds the
credentials; they are put on a request last and taken out of everything that comes back. It keeps the rules for
sending twice: a write that may have reached the service is never sent again, but with the idempotency key that the
operation documents. With a journal this holds for all runs of a solve, and what was answered once is replayed.
"""

# ruff: noqa: SIM905 - word lists read better than quoted ones

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.cookies import SimpleCookie
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import parse_qsl, quote, unquote_plus, urlencode, urljoin, urlsplit

from protocols.calls.auth import Credential, holds_secret, redact, redact_stream
from protocols.calls.binding import bind
from protocols.calls.serialization import BoundCall, payload
from protocols.errors import LimitReached, ToolError
from protocols.model import Protocol, Tool
from sandbox.body_store import BEGINNING, KEPT, beginning, keep
from sandbox.egress.call_policy import CallPolicy
from sandbox.egress.egress_rules import (
    URL_LIMIT,
    CallTarget,
    EgressRules,
    Origin,
    UnreachableError,
    check_length,
    climbs,
)
from sandbox.egress.replies import (
    BrokerReply,
    charset,
    header,
    reading,
    reads_as_bytes,
    recoded,
    retry_after,
    service_message,
)
from sandbox.egress.writes import Writes
from sandbox.journal.call_fingerprint import SAFE
from sandbox.records import CallRecord, Limits
from sandbox.truncation import cut, cut_arguments, nested, one_line, size_of

if TYPE_CHECKING:
    import requests

    from sandbox.egress.transport import Transport, TransportReply
    from sandbox.journal.journal import Entry, JournalAttempt

__all__ = ["Broker", "LimitExceeded", "PendingCall", "PlannedRequest"]

MAX_ATTEMPTS = 4
"""Requests that one call of a tool may send, counting the first."""
_BUSY = (429, 503)
"""What a service answers that may be asked again later."""

BACKOFF = 0.5
"""Seconds before the second attempt when the service names no time; doubled each time."""

_FORM = "application/x-www-form-urlencoded"
_PLAIN_COOKIE = re.compile(r"[^\x00-\x20\x7f\",;\\]*")
_QUOTED_COOKIE = re.compile(r'"[^\x00-\x1f\x7f";\\]*"')

HEADERS_LIMIT = 64 * 1024
"""Characters of the headers of one request, cookies included."""

WARNINGS_LIMIT = 50
ARGUMENTS_LIMIT = 1000
NAME_LIMIT = 500
"""Named arguments of a call, and characters of a name: more is nobody's mistake."""

MAX_REDIRECTS = 5
TOO_MANY = "it redirects too many times"
PATIENCE = 0.05
"""Seconds that a cancelled call has to come to its end."""

KEPT_IN_ALL = 2 * 1024 * 1024
"""Bytes of arguments and replies that the records of one run keep, parsed (up to 24 times that in memory); what comes
after lies in files."""

_READS = frozenset({"GET", "HEAD"})
_NOT_THE_PROGRAMS = frozenset(
    "host content-length transfer-encoding connection keep-alive upgrade te trailer proxy-authorization "
    "proxy-authenticate proxy-connection accept-encoding content-encoding".split()
)
"""Headers that belong to the connection, or say how a body is packed, into which the broker looks."""

_INSTEAD_OF_CHECKED = re.compile(
    r"(x-)?((http|original|forwarded|rewrite|override)-)*(method|verb)(-override)?|-method"
    r"|(x-)?([a-z]+-)*(original|rewrite|rewritten|override|forwarded)-(url|uri|request-uri|path|prefix|host|server)"
    r"|x-(http-)?host(-override)?|(x-)?(http-)?(url|uri|path)-override|forwarded|destination"
)
"""Headers by which some services take another method, path or host than the one that was checked."""

_METHOD = re.compile(r"\s*[_.\[]method(\0.*)?", re.IGNORECASE | re.DOTALL)
"""A field by which some services take another method, as they read its name."""

_METHOD_IN_JSON = re.compile(
    b'"' + b"".join(rb"(?:%c|\\u00%02x)" % (char, char) for char in b"_method") + rb'"\s*:', re.IGNORECASE
)
_METHOD_IN_PARTS = re.compile(rb"(?<!file)name\s*=\s*[\"']?\s*[_.\[]method\b", re.IGNORECASE)

_NO_COOKIE_NAME = re.compile(r"[^\x21-\x7e]|[=;,\"\\]")
"""What the name of a cookie does not have in it."""

_DEFAULT_HEADERS = {"User-Agent": "python-requests/2", "Accept-Encoding": "gzip, deflate", "Accept": "*/*"}


class LimitExceeded(LimitReached):
    """A limit that ends the run; `limit` names it: calls, request, response, traffic or wall."""

    def __init__(self, limit: str, message: str) -> None:
        super().__init__(message)
        self.limit = limit


class Broker:
    """Calls the tools of one protocol, on behalf of one run. All methods may be used from several threads.

    Args:
        base_url: Where the API lives in place of the documented servers; no slash at the end is needed.
        allow: Origins that requests may address besides, under any path. The credentials are for the API alone; they
            go to the allowed origins where there is no protocol.
        tools: Names of the tools that may be called by name; all if None. Requests may address any operation.
        on_call: Told of each call when it is over.
        deadline: `time.monotonic()` at which the run ends: no request goes on beyond it, and no retry waits for it.
            The time that somebody takes to confirm writes is added to it.
        journal: Where calls are matched with those of earlier runs, and written down.
        writes: What becomes of writes (see sandbox.egress.writes).
    Raises: UsageError: The document names no server that has a host, and there is no `base_url`; or that one holds a
        secret.
    """

    def __init__(
        self,
        protocol: Protocol | None,
        *,
        base_url: str | None = None,
        allow: Sequence[Origin] = (),
        credentials: Sequence[Credential] = (),
        limits: Limits | None = None,
        tools: Collection[str] | None = None,
        on_call: Callable[[CallRecord], None] | None = None,
        deadline: float | None = None,
        journal: JournalAttempt | None = None,
        writes: Writes = "allow",
    ) -> None:
        self._protocol = protocol
        self._policy = CallPolicy(self, protocol, journal, writes)
        self.approval = self._policy.approval
        self._reach = EgressRules(protocol, base_url, allow)
        self._credentials = tuple(credentials)
        self._limits = limits or Limits()
        self._on_call = on_call
        self._deadline = deadline
        everything = protocol.tools if protocol else ()
        self._tools = {tool.name: tool for tool in everything if tools is None or tool.name in tools}
        self._signing = any(tool.security for tool in everything)
        self._lock = threading.RLock()
        self._settled = threading.Condition(self._lock)
        self._open: dict[int, PendingCall] = {}
        self._over = threading.Event()
        self._started = self._repeated = 0
        self._calls: dict[int, CallRecord] = {}
        self._warnings: list[str] = []
        self._transport: Transport | None = None
        self._kept = 0
        self._moved = 0
        self.broken: BaseException | None = None
        """What `on_call` raised."""

    @property
    def calls(self) -> tuple[CallRecord, ...]:
        """All calls that are over, in the order in which they were begun."""
        with self._lock:
            return tuple(self._calls[index] for index in sorted(self._calls))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know although nothing failed; each once."""
        return tuple(self._warnings)

    def until(self, deadline: float) -> None:
        """Move the end, for who makes one call at a time and thinks in between."""
        self._deadline = deadline
        self._policy.until(deadline)

    def cancel(self) -> None:
        """End every call that is under way; when this returns, each has its record."""
        self._over.set()
        self._policy.cancel()
        if self._transport is not None:
            self._transport.cancel()
        with self._settled:
            self._settled.wait_for(lambda: not self._open, PATIENCE)
            unfinished = list(self._open.values())
        if unfinished:  # their threads hang where nothing can be cancelled, as in the resolution of a host's name
            from sandbox.egress.transport import OVER

            for call in unfinished:
                self._finish(call, error=OVER)

    def close(self) -> None:
        """Give back connections."""
        if self._transport is not None:
            self._transport.close()
        self._policy.close()

    # Calls

    def call(
        self,
        tool: str,
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
        line: int | None = None,
    ) -> object:
        """Call a tool by name and give its result: parsed JSON, text, or None for an empty body.

        Raises:
            ToolError: Wrong arguments, no such tool, a 4xx or 5xx, or no reply.
            Exceeded: A limit on calls or on the size of a reply.
        """
        return self.fetch(tool, args, kwargs, line).value()

    def fetch(
        self,
        tool: str,
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
        line: int | None = None,
        task: Sequence[str] = (),
    ) -> BrokerReply:
        """Like `call`, with all that is known of the reply; a ToolError is its `problem`. Raises: Exceeded."""
        call = self._begin("function", line, tool, task)
        operation = self._tools.get(tool)
        try:
            if operation is None:
                raise ToolError(f"there is no tool {tool}", tool=tool)
            call.method, call.url = operation.method, f"{self._reach.base_of(operation)}{operation.path}"
            if any(len(name) > NAME_LIMIT for name in kwargs or ()) or len(kwargs or ()) > ARGUMENTS_LIMIT:
                text = f"takes no more than {ARGUMENTS_LIMIT} arguments, with names of at most {NAME_LIMIT} characters"
                raise ToolError(f"{tool}() {text}", tool=tool)
            arguments = {**self._policy.given(operation), **(kwargs or {})}
            bound = bind(operation, args, arguments, self._protocol.definitions if self._protocol else {})
            if len(bound.path) > URL_LIMIT:
                raise ToolError(f"{tool}(): its path would have more than {URL_LIMIT} characters", tool=tool)
            if climbs(bound.path) and not climbs(operation.path):
                raise ToolError(f"{tool}(): a path argument must not have '.' or '..' between slashes", tool=tool)
            planned = self._unmoved(operation, _plan(bound))
            if _overrides(operation, planned):
                raise ToolError(f"{tool}() must not give a _method, which may change the method", tool=tool)
        except (ToolError, ValueError, TypeError, RecursionError) as error:  # the last three: values no schema foresees
            call.arguments = {**{f"args[{i}]": value for i, value in enumerate(args)}, **(kwargs or {})}
            problem = self._redacted(str(error))
            record = self._finish(call, error=problem)
            return BrokerReply(record, call.url, problem=problem, failure="InvalidURL")
        call.arguments = bound.arguments
        target = CallTarget(operation, self._reach.base_of(operation), self._reach.base_of(operation), bound.path, {})
        call.url = _url(target.base + planned.path, planned.query)
        return self._policy.make(call, target, planned, retry=True)

    def request(
        self,
        method: str,
        url: str,
        *,
        params: Sequence[Sequence[str]] = (),
        headers: Mapping[str, str] | None = None,
        cookies: Mapping[str, str] | None = None,
        data: bytes | Sequence[Sequence[str]] | None = None,
        json_body: bytes | None = None,
        auth: tuple[str, str] | None = None,
        timeout: float | None = None,
        redirects: bool = True,
        line: int | None = None,
        task: Sequence[str] = (),
    ) -> BrokerReply:
        """Send what a program sends with `requests`; it sees the status as it is, and nothing is sent twice.

        Args:
            url: With a documented server (or the base URL in force) in front.
            data: Raw bytes, or pairs for a form. json_body: A JSON text. timeout: Seconds, as the program asks.
        Raises: Exceeded.
        """
        import requests

        call = self._begin("requests", line, None, task)
        method = method.upper()
        call.method, call.url = method, url
        own_headers = _defaults(headers or {}, {"Content-Type": "application/json"} if json_body is not None else {})
        kind = next((value for name, value in own_headers.items() if _plain_name(name) == "content-type"), "")
        data = self._without_method(data, kind)
        try:
            _check_request(method, url, params, {**own_headers, **(cookies or {})})
            prepared = requests.Request(
                method,
                url,
                params=[(name, value) for name, value in params],
                headers=own_headers,
                cookies=dict(cookies or {}),
                data=json_body if json_body is not None else _content(data),
                auth=auth,
            ).prepare()
            check_length(str(prepared.url))
            target = self._reach.locate(method, str(prepared.url))
            body = prepared.body.encode() if isinstance(prepared.body, str) else prepared.body
            passed_headers = {name: str(value) for name, value in prepared.headers.items() if self._passes(name)}
            own_cookies = next((value for name, value in own_headers.items() if _plain_name(name) == "cookie"), None)
            planned = PlannedRequest(
                method=method,
                path=target.path,
                query=self._passing(target.tool, urlsplit(str(prepared.url)).query),
                headers=passed_headers,
                cookies=dict(cookies or {}) if own_cookies is None else _cookies(own_cookies),
                body=body,
                timeout=timeout,
                redirects=redirects,
            )
            if _overrides(target.tool, planned):
                raise UnreachableError("InvalidURL", "the body must not give a _method, which may change the method")
        except (requests.RequestException, UnreachableError, UnicodeError, ValueError) as error:
            kind = error.kind if isinstance(error, UnreachableError) else type(error).__name__
            message = one_line(self._redacted(str(error)))
            record = self._finish(call, error=message)
            return BrokerReply(record, record.url, failure=kind, problem=cut(message))
        call.tool, call.arguments = target.tool.name if target.tool else None, _arguments(target, planned)
        call.url = str(prepared.url)
        return self._policy.make(call, target, planned, retry=False, display_url=call.url)

    def _passes(self, header: str) -> bool:
        """Whether a header of the program is sent on as it is."""
        name = _plain_name(header)
        shortened = cut(header.strip(), 100)
        instead = _INSTEAD_OF_CHECKED.fullmatch(name) is not None
        if instead:
            self._warn(f"the program's own header {shortened} was not sent: it may change the method or path")
        elif re.fullmatch("[a-z0-9-]+", name) is None:
            self._warn(
                f"the program's own header {shortened!r} was not sent: a name has letters, digits, - and _ alone"
            )
            return False
        return name not in _NOT_THE_PROGRAMS and not instead and name != "cookie"

    def _unmoved(self, tool: Tool, planned: PlannedRequest) -> PlannedRequest:
        """A call of a tool without headers that are the connection's, although the document has them; a read also
        without those that make a write of it."""
        dropped = [
            name
            for name in planned.headers
            if _plain_name(name) in _NOT_THE_PROGRAMS
            or (tool.method in SAFE and _INSTEAD_OF_CHECKED.fullmatch(_plain_name(name)) is not None)
        ]
        for name in dropped:
            self._warn(f"the header {cut(name, 100)} of {tool.name} was not sent: it may change the request")
        return replace(planned, headers={name: text for name, text in planned.headers.items() if name not in dropped})

    def _without_method(
        self, data: bytes | Sequence[Sequence[str]] | None, kind: str
    ) -> bytes | Sequence[Sequence[str]] | None:
        """A form without the field by which some services take another method than the one that was checked."""
        if isinstance(data, bytes):
            text = data.decode("latin-1") if _FORM in kind.lower() else ""
            pairs, overridden = parse_qsl(text, keep_blank_values=True), _names_method(text)
        else:
            pairs = [(str(pair[0]), str(pair[1])) for pair in data or () if len(pair) == 2]
            overridden = any(_METHOD.fullmatch(name) for name, _ in pairs)
        if not overridden:
            return data
        self._warn("the program's own form field _method was not sent: it may change the method")
        allowed = [(name, value) for name, value in pairs if not _METHOD.fullmatch(name)]
        return urlencode(allowed, encoding="latin-1").encode() if isinstance(data, bytes) else allowed

    def _passing(self, tool: Tool | None, query: str) -> Query:
        """The query of a program, without what may change the method that was checked."""
        pairs = parse_qsl(query, keep_blank_values=True)
        if _documents_method(tool) or not _names_method(query):
            return Query(pairs, query)
        self._warn("the program's own query parameter _method was not sent: it may change the method")
        return Query([(name, value) for name, value in pairs if not _METHOD.fullmatch(name)])

    # One call, step by step

    def _begin(
        self, style: Literal["function", "requests"], line: int | None, tool: str | None, task: Sequence[str]
    ) -> PendingCall:
        """Give a call its number. Raises: Exceeded: It is one too many."""
        with self._lock:
            call = PendingCall(self._started, style, line, tool, tuple(task))
            self._started += 1
            self._open[call.index] = call
            over = call.index + self._repeated >= self._limits.calls
        if over:
            text = f"the limit of {self._limits.calls} calls is reached"
            self._finish(call, error=text)
            raise LimitExceeded("calls", text)
        return call

    def _perform(
        self,
        call: PendingCall,
        target: CallTarget,
        planned: PlannedRequest,
        *,
        retry: bool,
        display_url: str | None = None,
    ) -> BrokerReply:
        """Sign, send, perhaps again, clean and record. Raises: Exceeded."""
        import requests

        from sandbox.egress.transport import NoAnswerError, TooLargeError

        call.url = _url(target.base + planned.path, planned.query)
        visible = self._redacted(display_url or call.url)
        sent = {name: self._redacted(value) for name, value in planned.headers.items()}
        try:
            self._moves(planned)
            request = self._signed(target, planned)
            self._policy.leaves(call)
            while True:
                call.attempts += 1
                response = self._send(request, planned)
                delay = self._delay(planned.method, response, call.attempts) if retry else None
                if delay is None or self._over.wait(delay):
                    break
                response.body.close()
            response, stopped, history = self._redirected(target, planned, request, response)
        except NoAnswerError as error:
            call.may_have_left = error.may_have_left
            message = one_line(self._redacted(str(error)))
            record = self._finish(call, error=message)
            problem = self._redacted(f"{target.called}: no reply from {planned.method} {planned.path} — {message}")
            return BrokerReply(record, visible, sent=sent, failure=error.kind, problem=problem)
        except (requests.RequestException, UnreachableError, ValueError) as error:  # a header, an address, a length
            kind = error.kind if isinstance(error, UnreachableError) else type(error).__name__
            message = cut(self._redacted(str(error)))
            record = self._finish(call, error=message)
            problem = self._redacted(f"{target.called}: {planned.method} {planned.path} can't be sent — {message}")
            return BrokerReply(record, visible, sent=sent, failure=kind, problem=cut(problem))
        except TooLargeError as error:
            text = (
                f"the reply to {planned.method} {planned.path} is larger than the {self._limits.response} bytes allowed"
            )
            start = beginning(b"".join(redact_stream([error.beginning], self._credentials)))
            self._finish(call, status=error.status, body=start, error=text)
            raise LimitExceeded("response", text) from None
        except LimitExceeded as error:
            self._finish(call, error=str(error))
            raise
        reply = self._received(call, target, planned, response, stopped)
        return replace(
            reply,
            url=history[-1].url if history else visible,
            sent=sent,
            history=tuple((hop.status, hop.url) for hop in history),
            set_on_the_way=tuple(hop.cookies for hop in history),
            failure="TooManyRedirects" if stopped == TOO_MANY and not retry else None,
        )

    def _moves(self, planned: PlannedRequest) -> None:
        """Count what a request moves. Raises: Exceeded."""
        size = len(planned.body or b"")
        if size > self._limits.request:
            text = (
                f"the body of {planned.method} {planned.path} is larger than the {self._limits.request} bytes allowed"
            )
            raise LimitExceeded("request", text)
        self._count(size)

    def _count(self, size: int) -> None:
        """Count bytes sent or received. Raises: Exceeded."""
        with self._lock:
            self._moved += size
            if self._moved > self._limits.traffic:
                raise LimitExceeded(
                    "traffic", f"the calls moved more than the {self._limits.traffic} bytes allowed in all"
                )

    def _received(
        self,
        call: PendingCall,
        target: CallTarget,
        planned: PlannedRequest,
        response: TransportReply,
        stopped: str | None,
    ) -> BrokerReply:
        """A reply as the program and the record get it. `stopped` says why a redirect was not followed."""
        room = KEPT if self._room(response.body.size) else 0
        response = self._cleaned(response)
        body = keep(self._clean_parts(response), room)
        response.body.close()
        form, parsed, problem = reading(target.tool, response.headers, body, response.encoding)
        if response.status >= 300:
            reason = stopped or service_message(parsed)
            quoted = one_line(reason).replace('"', "'") if reason else ""
            problem = one_line(f"{response.status} {response.reason}".strip())
            problem += f" — {reason}" if stopped else f' — the service said "{quoted}"' if quoted else ""
        if problem is not None:
            problem = self._redacted(f"{target.called}: {problem} ({planned.method} {planned.path})")
        wait = retry_after(response.headers) if response.status in _BUSY else None
        record = self._finish(call, status=response.status, body=parsed, error=problem, wait=wait)
        return BrokerReply(
            record,
            reason=response.reason,
            headers=response.headers,
            cookies=response.cookies,
            body=body,
            encoding=response.encoding,
            form=form,
            problem=problem,
        )

    def _cleaned(self, response: TransportReply) -> TransportReply:
        """A reply whose texts hold no secret; its body is another matter."""
        encoding = charset(response.encoding)
        return replace(
            response,
            reason=self._redacted(response.reason),
            headers={self._redacted(name): self._redacted(value) for name, value in response.headers.items()},
            cookies={self._redacted(name): self._redacted(value) for name, value in response.cookies.items()},
            encoding=encoding and self._redacted(encoding),
        )

    def _clean_parts(self, response: TransportReply) -> Iterator[bytes]:
        """The body without a secret; where its encoding hides one, as it would be in UTF-8 and then encoded again."""
        encoding = response.encoding
        if not self._credentials or encoding is None or reads_as_bytes(encoding):
            return redact_stream(response.body.parts(), self._credentials)
        if not holds_secret(recoded(response.body.parts(), encoding, "utf-8"), self._credentials):
            return redact_stream(response.body.parts(), self._credentials)
        clean = redact_stream(recoded(response.body.parts(), encoding, "utf-8"), self._credentials)
        return recoded(clean, "utf-8", encoding)

    def _room(self, size: int) -> bool:
        """Whether the records have room for so many bytes more, which is then taken."""
        with self._lock:
            fits = size <= KEPT and self._kept + size <= KEPT_IN_ALL
            self._kept += size if fits else 0
        return fits

    def _finish(
        self,
        call: PendingCall,
        *,
        status: int | None = None,
        body: object = None,
        error: str | None = None,
        replayed: bool = False,
        refused: bool = False,
        simulated: bool = False,
        wait: float | None = None,
    ) -> CallRecord:
        record = CallRecord(
            index=call.index,
            tool=call.tool and cut(call.tool, 200),
            method=cut(call.method, 50),
            url=cut(self._redacted(call.url)),
            arguments=self._shown(call.arguments),
            line=call.line,
            status=status,
            ms=round((time.monotonic() - call.at) * 1000, 3),
            attempts=call.attempts,
            style=call.style,
            response=body,
            error=error and cut(error),
            replayed=replayed,
            refused=refused,
            simulated=simulated,
            retry_after=wait,
        )
        with self._settled:
            if self._open.pop(record.index, None) is None:
                return self._calls[record.index]
            self._calls[record.index] = record
            self._settled.notify_all()
        if self._on_call is not None:
            try:
                self._on_call(record)
            except BaseException as error:
                self.broken = error
                raise
        return record

    def give_up(self, error: BaseException) -> None:
        """End the call of this thread that came to an end nobody foresaw, so that it has its record."""
        with self._lock:
            calls = [call for call in self._open.values() if call.thread == threading.get_ident()]
        for call in calls:
            call.arguments = {}
            with contextlib.suppress(Exception):  # of whoever is told of calls: `broken` has it
                self._finish(call, error=cut(self._redacted(f"{type(error).__name__}: {error}")))

    def _shown(self, arguments: dict[str, object]) -> dict[str, object]:
        """Arguments as the record keeps them: such as are large are cut."""
        if not arguments or (not nested(arguments) and self._room(size_of(arguments))):
            return arguments
        return cut_arguments(arguments)

    def _send(self, request: requests.PreparedRequest, planned: PlannedRequest) -> TransportReply:
        from sandbox.egress.dns import HostResolver
        from sandbox.egress.transport import OVER, NoAnswerError, Transport

        with self._lock:
            if self._transport is None:
                self._transport = Transport(HostResolver(self._reach.trusted))
        if self._over.is_set():
            raise NoAnswerError("ConnectionError", OVER)
        seconds = min(self._limits.request_timeout, planned.timeout or self._limits.request_timeout)
        remaining = self._deadline + self.approval.waited - time.monotonic() if self._deadline is not None else seconds
        try:
            response = self._transport.send(
                request, seconds=max(0.0, min(seconds, remaining)), limit=self._limits.response
            )
            try:
                self._count(response.heading + response.body.size)
            except LimitExceeded:
                response.body.close()
                raise
            return response
        except NoAnswerError as error:
            if remaining < seconds and error.kind == "ReadTimeout":
                raise LimitExceeded(
                    "wall", f"no reply from {planned.method} {planned.path} before the end of the run"
                ) from None
            raise

    def _delay(self, method: str, response: TransportReply, attempts: int) -> float | None:
        """Seconds to wait before this call is sent again; None: it is not.

        After a 429 the service has done nothing, so any method may go again; after a 503 only a read may.
        """
        if (
            response.status not in _BUSY
            or (response.status == 503 and method not in _READS)
            or attempts >= MAX_ATTEMPTS
        ):
            return None
        delay = retry_after(response.headers)
        if delay is None:
            delay = BACKOFF * 2 ** (attempts - 1)
        if self._deadline is not None and time.monotonic() + delay >= self._deadline + self.approval.waited:
            return None
        with self._lock:
            if self._started + self._repeated >= self._limits.calls:
                return None
            self._repeated += 1
        return delay

    def _redirected(
        self, target: CallTarget, planned: PlannedRequest, request: requests.PreparedRequest, response: TransportReply
    ) -> tuple[TransportReply, str | None, tuple[Hop, ...]]:
        """Follow redirects of a read that stay within the same API.

        Gives the last answer, why a redirect was not followed, and those that were.
        """
        hops: list[Hop] = []
        while True:
            location = header(response.headers, "location")
            if not 300 <= response.status < 400 or location is None:
                return response, None, tuple(hops)
            if planned.method not in _READS or not planned.redirects:
                return response, "redirects of this call are not followed", tuple(hops)
            if len(hops) == MAX_REDIRECTS:
                return response, TOO_MANY, tuple(hops)
            url = _joined(str(request.url), location)
            next_target = self._reach.redirected(target, planned.method, url)
            if next_target is None:
                return response, f"it redirects to {url}, which is no operation of this API", tuple(hops)
            query = self._passing(next_target.tool, urlsplit(url).query)
            cookies = {**planned.cookies, **response.cookies}
            target, planned = (
                next_target,
                replace(planned, path=next_target.path, query=query, cookies=cookies, body=None),
            )
            request = self._signed(target, planned)
            next_url = self._redacted(_url(target.server + target.path, query))
            hops.append(Hop(response.status, next_url, self._cleaned(response).cookies))
            response.body.close()
            response = self._send(request, planned)

    # Credentials

    def _signed(self, target: CallTarget, planned: PlannedRequest) -> requests.PreparedRequest:
        """The request as it goes out, credentials included; they win over what the program set itself."""
        import requests

        headers = {name: value for name, value in planned.headers.items() if name.lower() != "accept-encoding"}
        query, cookies = list(planned.query), dict(planned.cookies)
        for name in [name for name in cookies if not name or _NO_COOKIE_NAME.search(name)]:
            self._warn(f"the program's own cookie {cut(name, 100)!r} was not sent: that is no name")
            del cookies[name]
        for credential in self._chosen(target.tool):
            own: tuple[dict[str, str], list[tuple[str, str]], dict[str, str]] = ({}, [], {})
            credential.apply(*own)
            names = {_plain_name(name) for name in own[0]}
            for name in [name for name in headers if _plain_name(name) in names]:
                self._overruled(f"header {name}", headers[name] not in own[0].values())
                del headers[name]
            for name, value in query:
                if name in dict(own[1]):
                    self._overruled(f"query parameter {name}", value != dict(own[1])[name])
            for name in cookies.keys() & own[2].keys():
                self._overruled(f"cookie {name}", True)
            credential.apply(headers, query, cookies)
        prepared = requests.PreparedRequest()
        prepared.prepare_method(planned.method)
        prepared.prepare_url(
            _url(target.base + planned.path, planned.query if query == list(planned.query) else query), None
        )
        prepared.prepare_headers(_defaults(headers, _DEFAULT_HEADERS))
        if cookies:
            prepared.headers["Cookie"] = "; ".join(f"{name}={_cookie(value)}" for name, value in cookies.items())
        prepared.prepare_body(planned.body, None)
        check_length(str(prepared.url))
        if sum(len(name) + len(value) for name, value in prepared.headers.items()) > HEADERS_LIMIT:
            raise UnreachableError("InvalidHeader", f"its headers have more than {HEADERS_LIMIT} characters")
        return prepared

    def _chosen(self, tool: Tool | None) -> list[Credential]:
        """The credentials for a tool: those for no scheme in particular, and those of the first way to sign in that
        is wholly configured, to sign in not at all being the last; where none is, whatever the tool may take."""
        if tool is None:
            return list(self._credentials) if self._protocol is None else []
        named = {credential.scheme: credential for credential in self._credentials if credential.scheme}
        alternatives = [alternative for alternative in tool.security if named.keys() >= set(alternative)]
        schemes = (
            set(max(alternatives, key=bool))
            if alternatives
            else {scheme for alternative in tool.security for scheme in alternative}
        )
        if not self._signing:
            schemes = set(named)
        return [c for c in self._credentials if c.scheme is None or c.scheme in schemes]

    def _overruled(self, part: str, differs: bool) -> None:
        if differs:
            self._warn(f"the program's own {part} was replaced by the configured credential")

    def _warn(self, text: str) -> None:
        if text not in self._warnings and len(self._warnings) < WARNINGS_LIMIT:
            self._warnings.append(text)

    def _redacted(self, text: str) -> str:
        return redact(text, self._credentials) if self._credentials else text


@dataclass(slots=True)
class PendingCall:
    """A call that has its number but not yet its record."""

    index: int
    style: Literal["function", "requests"]
    line: int | None
    tool: str | None
    task: tuple[str, ...] = ()
    method: str = ""
    url: str = ""
    arguments: dict[str, object] = field(default_factory=dict)
    attempts: int = 0
    at: float = field(default_factory=time.monotonic)
    entry: Entry | None = None
    token: str | None = None
    may_have_left: bool = False
    """Whether a request without a reply may have reached the service."""
    thread: int = field(default_factory=threading.get_ident)


class Hop(NamedTuple):
    """A redirect that was followed: its status, where it led, and the cookies that it set."""

    status: int
    url: str
    cookies: Mapping[str, str]


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


def _defaults(headers: Mapping[str, str], defaults: Mapping[str, str]) -> dict[str, str]:
    """The headers, after those defaults whose names (whatever their case) are not among them."""
    own_names = {name.lower() for name in headers}
    return {**{name: value for name, value in defaults.items() if name.lower() not in own_names}, **headers}


def _check_request(method: str, url: str, params: Sequence[Sequence[str]], headers: Mapping[str, str]) -> None:
    """Refuse what is too large to be looked at, before anybody does. Raises: UnreachableError."""
    if re.fullmatch(r"[A-Z]{1,20}", method) is None:
        raise UnreachableError("InvalidURL", f"there is no method {cut(method, 50)}")
    check_length(url, sum(len(name) + len(value) for name, value in params))
    if sum(len(name) + len(value) for name, value in headers.items()) > HEADERS_LIMIT:
        raise UnreachableError("InvalidHeader", f"the headers have more than {HEADERS_LIMIT} characters")


def _plan(bound: BoundCall) -> PlannedRequest:
    content = payload(bound)
    headers = {"Accept": "application/json, */*;q=0.5", **bound.headers}
    if content is not None:
        headers["Content-Type"] = content[1]
    body = content[0] if content is not None else None
    return PlannedRequest(bound.tool.method, bound.path, bound.query, headers, bound.cookies, body)


def _arguments(target: CallTarget, planned: PlannedRequest) -> dict[str, object]:
    """What a request gave, by argument name as far as the tool knows it; of a large body, how it begins.

    A name that stands in two places is shown for both: `id` and `body id`.
    """
    names: dict[tuple[str, str], str] = {}
    if target.tool is not None:
        names = {(p.location, p.name): p.argument for p in target.tool.arguments}
    arguments: dict[str, object] = dict(target.arguments)

    def add(where: str, values: Mapping[str, object]) -> None:
        for name, value in values.items():
            argument = names.get((where, name), name)
            arguments[f"{where} {name}" if argument in arguments else argument] = value

    add("query", _grouped(planned.query))
    kind = next((value for name, value in planned.headers.items() if name.lower() == "content-type"), "")
    body: object = _begun(planned.body or b"")
    if planned.body and len(planned.body) <= KEPT:
        if _FORM in kind.lower():
            body = _grouped(parse_qsl(planned.body.decode("utf-8", "replace"), keep_blank_values=True))
        else:
            with contextlib.suppress(ValueError, RecursionError):
                body = json.loads(planned.body, object_pairs_hook=_once)
    if isinstance(body, dict):
        add("body", body)
    elif planned.body and body is not None:
        add("body", {"body": body})
    return arguments


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, object]:
    """Pairs by name; of a name that comes more than once, all values."""
    values: dict[str, Any] = {}
    for name, value in pairs:
        values[name] = [*_listed(values[name]), value] if name in values else value
    return values


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object. Raises: ValueError: A name is in it twice, and who knows which one counts."""
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name is given twice")
    return dict(pairs)


def _begun(body: bytes) -> str:
    """A raw body, or how it begins and how large it is."""
    text = beginning(body)
    return text if len(body) <= BEGINNING else f"{text}… ({len(body)} bytes)"


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _content(data: bytes | Sequence[Sequence[str]] | None) -> Any:
    """Bytes as they are, pairs as `requests` wants them for a form."""
    return data if data is None or isinstance(data, bytes) else [(name, value) for name, value in data]


def _url(base: str, query: Sequence[tuple[str, str]]) -> str:
    written = query.written if isinstance(query, Query) else None
    if written is None:
        written = urlencode(query, quote_via=quote)
    return f"{base}?{written}" if written else base


def _joined(base: str, target: str) -> str:
    """Where a redirect leads; the target itself where it is no address."""
    try:
        return urljoin(base, target)
    except ValueError:
        return target


def _names_method(form: str) -> bool:
    """Whether a query or form gives a method, to services that part it at `&` or at `;`."""
    return any(_METHOD.fullmatch(unquote_plus(part.partition("=")[0])) for part in re.split("[&;]", form))


def _documents_method(tool: Tool | None) -> bool:
    """Whether a write has a parameter for the method."""
    return tool is not None and tool.method not in SAFE and any(p.name == "_method" for p in tool.arguments)


def _overrides(tool: Tool | None, planned: PlannedRequest) -> bool:
    """Whether a request gives a method in its query or body that some services take for its own."""
    if _documents_method(tool):
        return False
    body = planned.body or b""
    kind = next((value for name, value in planned.headers.items() if _plain_name(name) == "content-type"), "").lower()
    if _FORM in kind and _names_method(body.decode("latin-1")):
        return True
    inside = _METHOD_IN_PARTS if kind.lstrip().startswith("multipart/") else _METHOD_IN_JSON
    return inside.search(body) is not None or any(_METHOD.fullmatch(name) for name, _ in planned.query)


def _plain_name(header: str) -> str:
    """The name of a header as the most lenient service reads it."""
    return header.strip().lower().replace("_", "-")


def _cookie(value: str) -> str:
    """A cookie's value, quoted where it would be read as another cookie or cut."""
    if len(value) > 1 and value[0] == value[-1] == '"' and _QUOTED_COOKIE.fullmatch(value):
        return value
    return value if _PLAIN_COOKIE.fullmatch(value) else str(SimpleCookie().value_encode(value)[1])


def _cookies(header: str) -> dict[str, str]:
    """The cookies of a Cookie header."""
    pairs = (part.strip().partition("=") for part in header.split(";"))
    return {name: value for name, _, value in pairs if name}
