"""Sends the calls of one run within its limits, and keeps their records.

Everything that leaves is counted and signed here; everything that comes back is freed of secrets here.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urljoin

from protocols.calls.credentials import Credential
from protocols.calls.envelope import closed_request
from protocols.calls.redaction import holds_secret, redact, redact_stream
from protocols.model import Protocol
from sandbox.body_forms import text_encoding
from sandbox.body_store import MEMORY_LIMIT, beginning, store_body
from sandbox.egress.egress_rules import CallTarget, EgressRules, UnreachableError, display_url
from sandbox.egress.function_calls import call_function
from sandbox.egress.limit_texts import longer_call_option
from sandbox.egress.pending_call import LimitExceeded, PendingCall, PlannedRequest, join_url
from sandbox.egress.proxies import proxy_credentials
from sandbox.egress.reasons import challenge_message, service_message
from sandbox.egress.redirects import MAX_REDIRECTS, REDIRECTS, TOO_MANY, Hop, NextRequest, next_request
from sandbox.egress.replies import (
    BrokerReply,
    charset_of,
    encodings_of,
    header,
    headers_of_result,
    open_envelope,
    parse_body,
    retry_after,
    shows_secrets,
    transcode,
    without_length,
)
from sandbox.egress.signing import Signer
from sandbox.egress.writes import WriteApproval
from sandbox.records import CallRecord, Limits
from sandbox.truncation import cut, cut_arguments, nested, one_line, size_of

if TYPE_CHECKING:
    from sandbox.egress.network import Network
    from sandbox.egress.transport import PreparedRequest, Transport, TransportReply

__all__ = ["CallExecutor"]

MAX_ATTEMPTS = 4
"""Requests that one call of a tool may send, counting the first."""

BACKOFF = 0.5
"""Seconds before the second attempt when the service names no time; doubled each time."""

WARNINGS_LIMIT = 50
CANCEL_TIMEOUT = 0.05
"""Seconds that a cancelled call has to come to its end."""

RECORDS_LIMIT = 2 * 1024 * 1024
"""Bytes of arguments and replies that the records of one run keep, parsed (up to 24 times that in memory); what comes
after lies in files."""

_BUSY = (429, 503)
"""Statuses of a service that may be asked again later."""

_READS = frozenset({"GET", "HEAD"})


class CallExecutor:
    """Performs calls that were decided on; it knows limits, credentials and redirects, but no policy.

    All methods may be used from several threads.

    Args:
        deadline: `time.monotonic()` at which the run ends; the time that `approval` waits for somebody is added.
        on_call: Told of each call when it is over.
        on_begin: Told of each call when it begins: its index, the tool if it was named, and the line of the program.
        network: The certificates of the user.
    """

    def __init__(
        self,
        protocol: Protocol | None,
        rules: EgressRules,
        credentials: Sequence[Credential],
        limits: Limits,
        approval: WriteApproval,
        deadline: float | None,
        on_call: Callable[[CallRecord], None] | None = None,
        on_begin: Callable[[int, str | None, int | None], None] | None = None,
        network: Network | None = None,
    ) -> None:
        self.rules = rules
        self._network = network
        self.signer = Signer(credentials, protocol, self.warn)
        self.limits = limits
        self.deadline = deadline
        self.on_call_error: BaseException | None = None
        """The exception that `on_call` or `on_begin` raised."""
        self._approval = approval
        self._on_call = on_call
        self._on_begin = on_begin
        self._credentials = (*self.signer.credentials, *proxy_credentials())
        self._lock = threading.RLock()
        self._call_ended = threading.Condition(self._lock)
        self._pending: dict[int, PendingCall] = {}
        self._cancelled = threading.Event()
        self._started = self._repeated = 0
        self._records: dict[int, CallRecord] = {}
        self._warnings: list[str] = []
        self._transport: Transport | None = None
        self._kept_bytes = 0
        self._moved_bytes = 0

    @property
    def records(self) -> tuple[CallRecord, ...]:
        with self._lock:
            return tuple(self._records[index] for index in sorted(self._records))

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(self._warnings)

    def warn(self, text: str) -> None:
        if text not in self._warnings and len(self._warnings) < WARNINGS_LIMIT:
            self._warnings.append(text)

    def cancel(self) -> None:
        """End every call that is under way; when this returns, each has its record."""
        self._cancelled.set()
        if self._transport is not None:
            self._transport.cancel()
        with self._call_ended:
            self._call_ended.wait_for(lambda: not self._pending, CANCEL_TIMEOUT)
            unfinished = list(self._pending.values())
        if unfinished:  # their threads hang where nothing can be cancelled, as in the resolution of a host's name
            from sandbox.egress.transport import OVER

            for call in unfinished:
                self.finish(call, OVER)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    # A call, from its number to its record

    def begin(
        self, style: Literal["function", "requests"], line: int | None, tool: str | None, task: Sequence[str]
    ) -> PendingCall:
        """Give a call its number. Raises: LimitExceeded: It is one too many."""
        with self._lock:
            call = PendingCall(self._started, style, line, tool, tuple(task))
            self._started += 1
            self._pending[call.index] = call
            exceeded = call.index + self._repeated >= self.limits.calls
        if exceeded:
            text = f"the limit of {self.limits.calls} calls is reached"
            self.finish(call, text)
            raise LimitExceeded("calls", text)
        if self._on_begin is not None:
            with self._callers_errors():
                self._on_begin(call.index, tool, line)
        return call

    def warn_of_doubt(self, call: PendingCall, done: str) -> None:
        """Say that a call which the document speaks against was `done` all the same, where the program insists."""
        if call.insists:
            self.warn(f"{done} although the document speaks against it: {call.insists}")

    def perform(self, call: PendingCall, on_send: Callable[[], None] = lambda: None) -> BrokerReply:
        """Sign, send, perhaps again, redact and record; `on_send` is called before it leaves. Raises: LimitExceeded."""
        tool = call.target.tool
        if tool is not None and tool.function is not None:
            return call_function(self, call, tool.function, on_send)
        from sandbox.egress.transport import NoAnswerError, RequestError, TooLargeError

        target, planned = call.target, call.planned
        visible_url = self.redact(call.url)
        call.url = join_url(target.base + planned.path, planned.query)
        outgoing = self._outgoing(call)
        what = f"{planned.method} {planned.path}"
        sent = {name: self.redact(value) for name, value in planned.headers.items()}
        try:
            if (size := len(outgoing.body or b"")) > self.limits.request:
                text = f"the body of {what} is larger than the {self.limits.request} bytes allowed"
                raise LimitExceeded("request", text)
            self.count_traffic(size)
            self.warn_of_doubt(call, "sent")
            request, response = self._send_signed(call, outgoing, on_send)
            response, stopped, hops = self._follow_redirects(call, outgoing, request, response)
        except NoAnswerError as error:
            call.may_have_left = call.may_have_left or error.may_have_left
            message = one_line(self.redact(str(error)))
            record = self.finish(call, message)
            problem = self.redact(f"{target.called}: no reply from {what} — {message}")
            return BrokerReply(record, visible_url, sent=sent, failure=error.kind, problem=problem)
        except (RequestError, UnreachableError, ValueError) as error:  # a header, an address, a length
            kind = error.kind if isinstance(error, UnreachableError) else type(error).__name__
            message = cut(self.redact(str(error)))
            record = self.finish(call, message)
            problem = self.redact(f"{target.called}: {what} can't be sent — {message}")
            return BrokerReply(record, visible_url, sent=sent, failure=kind, problem=cut(problem))
        except TooLargeError as error:
            text = f"the reply to {what} is larger than the {self.limits.response} bytes allowed"
            start = beginning(b"".join(redact_stream([error.beginning], self._credentials)))
            self.finish(call, text, status=error.status, response=start)
            raise LimitExceeded("response", text) from None
        except LimitExceeded as error:
            self.finish(call, str(error))
            raise
        return replace(
            self._reply(call, response, stopped),
            url=hops[-1].url if hops else visible_url,
            sent=sent,
            history=tuple((hop.status, hop.url) for hop in hops),
            set_on_the_way=tuple(hop.cookies for hop in hops),
            set_cookies=call.set_cookies,
            failure="TooManyRedirects" if stopped == TOO_MANY and call.style == "requests" else None,
        )

    def _send_signed(
        self, call: PendingCall, outgoing: PlannedRequest, on_send: Callable[[], None]
    ) -> tuple[PreparedRequest, TransportReply]:
        """Sign and send; once more after a 401, which says that nothing was done, where there is another token."""
        request = self.signer.sign(call.target, outgoing)
        on_send()
        response = self._send_until_ready(call, request)
        if response.status == 401 and self.signer.renew(call.target.tool, request, response.headers):
            response.body.close()
            request = self.signer.sign(call.target, outgoing)
            response = self._send_until_ready(call, request)
        self._keep_cookies(call, call.target, request, response)
        return request, response

    def _outgoing(self, call: PendingCall) -> PlannedRequest:
        """The request that leaves: the planned one, or its arguments in the envelope of the tool."""
        tool, planned = call.target.tool, call.planned
        if tool is None or tool.envelope is None:
            return planned
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        body = closed_request(tool, call.arguments, self.signer.credentials_for(tool))
        return PlannedRequest(tool.envelope.method, tool.envelope.path, (), headers, {}, body, planned.timeout)

    def finish(self, call: PendingCall, error: str | None = None, **outcome: Any) -> CallRecord:
        """Give a call its record, with further fields of it; the one it has if it is over already."""
        record = replace(
            call.unsent(cut(self.redact(call.url)), self._recorded_arguments(call.arguments)),
            tool=call.tool and cut(call.tool, 200),
            method=cut(call.method, 50),
            ms=round((time.monotonic() - call.started) * 1000, 3),
            attempts=call.attempts,
            error=error and cut(error),
            uncertain=call.uncertain,
            **outcome,
        )
        with self._call_ended:
            if self._pending.pop(record.index, None) is None:
                return self._records[record.index]
            self._records[record.index] = record
            self._call_ended.notify_all()
        if self._on_call is not None:
            with self._callers_errors():
                self._on_call(record)
        return record

    @contextlib.contextmanager
    def _callers_errors(self) -> Iterator[None]:
        """Keep the exception that the block raises, which is the caller's own."""
        try:
            yield
        except BaseException as error:
            self.on_call_error = error
            raise

    def give_up(self, error: BaseException) -> None:
        """Record the call of this thread as failed with an error that nobody foresaw."""
        with self._lock:
            calls = [call for call in self._pending.values() if call.thread == threading.get_ident()]
        for call in calls:
            call.arguments = {}
            with contextlib.suppress(Exception):  # from `on_call`: `on_call_error` has it
                self.finish(call, self.redact(f"{type(error).__name__}: {error}"))

    # Limits

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    def remaining(self) -> float | None:
        """Seconds until the run ends; None where it has no end."""
        return None if self.deadline is None else self.deadline + self._approval.waited - time.monotonic()

    def reserve(self, size: int) -> bool:
        """Take room for so many bytes in the records; False if there is none."""
        with self._lock:
            fits = size <= MEMORY_LIMIT and self._kept_bytes + size <= RECORDS_LIMIT
            self._kept_bytes += size if fits else 0
        return fits

    def _recorded_arguments(self, arguments: dict[str, object]) -> dict[str, object]:
        if not arguments or (not nested(arguments) and self.reserve(size_of(arguments))):
            return arguments
        return cut_arguments(arguments)

    def count_traffic(self, size: int) -> None:
        with self._lock:
            self._moved_bytes += size
            if self._moved_bytes > self.limits.traffic:
                text = f"the calls moved more than the {self.limits.traffic} bytes allowed in all"
                raise LimitExceeded("traffic", text)

    # Sending

    def send(self, request: PreparedRequest, planned: PlannedRequest) -> TransportReply:
        """Send once, within the time that is left. Raises: NoAnswerError, TooLargeError, LimitExceeded."""
        from sandbox.egress.dns import HostResolver
        from sandbox.egress.transport import OVER, NoAnswerError, Transport

        with self._lock:
            if self._transport is None:
                self._transport = Transport(HostResolver(self.rules.trusted), self._network)
        if self._cancelled.is_set():
            raise NoAnswerError("ConnectionError", OVER)
        seconds = min(self.limits.call_seconds, planned.timeout or self.limits.call_seconds)
        left = self.remaining()
        remaining = seconds if left is None else left
        try:
            response = self._transport.send(
                request,
                seconds=max(0.0, min(seconds, remaining)),
                limit=self.limits.response,
                own=self.rules.is_own(str(request.url)),
            )
            try:
                self.count_traffic(response.heading + response.body.size)
            except LimitExceeded:
                response.body.close()
                raise
            return response
        except NoAnswerError as error:
            if remaining < seconds and error.kind == "ReadTimeout":
                text = f"no reply from {planned.method} {planned.path} before the end of the run"
                raise LimitExceeded("wall", text) from None
            if error.kind == "ReadTimeout" and seconds == self.limits.call_seconds:
                text = f"{error}; {longer_call_option(self.limits)} allows more"
                raise NoAnswerError(error.kind, text, error.may_have_left) from None
            raise

    def _send_until_ready(self, call: PendingCall, request: PreparedRequest) -> TransportReply:
        """Send, and the call of a tool again as long as the service is busy and there is time."""
        while True:
            call.attempts += 1
            response = self.send(request, call.planned)
            delay = self._retry_delay(call, response) if call.style == "function" else None
            if delay is None or self._cancelled.wait(delay):
                return response
            response.body.close()

    def _retry_delay(self, call: PendingCall, response: TransportReply) -> float | None:
        """Seconds to wait before this call is sent again; None: it is not.

        After a 429 the service has done nothing, so any method may go again; after a 503 only a read may.
        """
        repeatable = response.status in _BUSY and (response.status != 503 or call.reads or call.method in _READS)
        if not repeatable or call.attempts >= MAX_ATTEMPTS:
            return None
        delay = retry_after(response.headers)
        if delay is None:
            delay = BACKOFF * 2 ** (call.attempts - 1)
        if self.deadline is not None and time.monotonic() + delay >= self.deadline + self._approval.waited:
            return None
        with self._lock:
            if self._started + self._repeated >= self.limits.calls:
                return None
            self._repeated += 1
        return delay

    def _follow_redirects(
        self, call: PendingCall, outgoing: PlannedRequest, request: PreparedRequest, response: TransportReply
    ) -> tuple[TransportReply, str | None, tuple[Hop, ...]]:
        """Follow redirects, each with one request.

        Returns: The last response, why a redirect was not followed, and those that were.
        """
        hops: list[Hop] = []
        current = NextRequest(call.target, outgoing, True)
        while True:
            location = header(response.headers, "location")
            if response.status not in REDIRECTS or location is None:
                return response, None, tuple(hops)
            if len(hops) == MAX_REDIRECTS:
                return response, TOO_MANY, tuple(hops)
            url = _joined(str(request.url), _in_utf_8(location))
            free = self._approval.writes == "allow"
            following = next_request(self.rules, current, response.status, url, self.warn, free=free)
            if isinstance(following, str):
                return response, cut(self.redact(following)), tuple(hops)
            target, planned, signed = following
            if not signed and self.redact(url) != url:
                where = self.redact(display_url(url))
                return (
                    response,
                    f"it redirects to {where} with a credential in it, which is not sent there",
                    tuple(hops),
                )
            call.may_have_left = call.may_have_left or planned.method != current.planned.method
            if signed and call.style == "requests":
                planned = replace(planned, cookies={**planned.cookies, **response.cookies})
            current = NextRequest(target, planned, signed)
            request = self.signer.sign(*current)
            next_url = join_url(target.server + target.path, planned.query if signed else ())
            hops.append(Hop(response.status, self.redact(next_url), self.redact_response(response).cookies))
            response.body.close()
            self.count_traffic(len(planned.body or b""))
            response = self.send(request, planned)
            self._keep_cookies(call, target, request, response)

    def _keep_cookies(
        self, call: PendingCall, target: CallTarget, request: PreparedRequest, response: TransportReply
    ) -> None:
        """Keep the cookies that a reply of an API sets; those set for `requests`, once a function has got some."""
        if target.tool is None or not response.set_cookies:
            return
        url, namespace = display_url(str(request.url)), target.tool.namespace
        if call.style == "function" or self.signer.cookies.has(namespace):
            self.signer.cookies.keep(namespace, url, response.set_cookies)
            call.set_cookies += ((self.redact(url), tuple(map(self.redact, response.set_cookies))),)

    # Receiving

    def _reply(self, call: PendingCall, response: TransportReply, stopped: str | None) -> BrokerReply:
        room = MEMORY_LIMIT if self.reserve(response.body.size) else 0
        response = self.redact_response(response)
        body = store_body(self.redact_body(response), room)
        response.body.close()
        tool, status, headers = call.target.tool, response.status, response.headers
        form, parsed, problem, note = parse_body(tool, call.planned.method, status, headers, body)
        if note is not None and call.style == "function":
            self.warn(self.redact(f"{call.target.called}: {note}"))
        opened = open_envelope(tool, status, body, room)
        if opened is not None:
            status, body, problem, form = opened.status, opened.body, opened.problem, "json"
            parsed, headers = opened.parsed, {**without_length(headers), "Content-Type": "application/json"}
        elif response.status >= 300:
            challenge = header(headers, "www-authenticate") if status in (401, 403) else None
            reason = stopped or service_message(parsed) or challenge_message(challenge or "")
            quoted = one_line(reason).replace('"', "'") if reason else ""
            problem = one_line(f"{response.status} {response.reason}".strip())
            problem += f" — {reason}" if stopped else f' — the service said "{quoted}"' if quoted else ""
            problem += "; this is the outcome of the read that the write was redirected to" * call.may_have_left
        if status == 401 and problem is not None and (lack := self.signer.missing_prefix(call.target.tool)):
            problem += f"; {lack}"
        if problem is not None:
            problem = self.redact(f"{call.target.called}: {problem} ({call.planned.method} {call.planned.path})")
        wait = retry_after(response.headers) if response.status in _BUSY else None
        record = self.finish(call, problem, status=status, response=parsed, retry_after=wait)
        return BrokerReply(
            record,
            reason=response.reason,
            headers=headers,
            cookies=response.cookies,
            body=body,
            encoding=response.encoding,
            form=form,
            result_headers=headers_of_result(tool, status, headers, not body),
            problem=problem,
        )

    def redact(self, text: str) -> str:
        """A text without a secret."""
        return redact(text, self._credentials) if self._credentials else text

    def redact_response(self, response: TransportReply) -> TransportReply:
        """A response without a secret in its texts; its body is not touched."""
        encoding = charset_of(response.headers) or text_encoding(response.encoding)
        return replace(
            response,
            reason=self.redact(response.reason),
            headers={self.redact(name): self.redact(value) for name, value in response.headers.items()},
            cookies={self.redact(name): self.redact(value) for name, value in response.cookies.items()},
            encoding=encoding and self.redact(encoding),
        )

    def redact_body(self, response: TransportReply) -> Iterator[bytes]:
        """The body without a secret. An encoding that hides one is read as UTF-8 first and encoded again after."""
        parts: Callable[[], Iterator[bytes]] = response.body.parts
        for encoding in encodings_of(response.headers, response.encoding, parts()) if self._credentials else ():
            if not shows_secrets(encoding) and holds_secret(transcode(parts(), encoding, "utf-8"), self._credentials):
                parts = partial(self._redacted_in, encoding, parts)
        return redact_stream(parts(), self._credentials)

    def _redacted_in(self, encoding: str, parts: Callable[[], Iterator[bytes]]) -> Iterator[bytes]:
        return transcode(redact_stream(transcode(parts(), encoding, "utf-8"), self._credentials), "utf-8", encoding)


def _in_utf_8(location: str) -> str:
    """A Location whose bytes are UTF-8, which headers are not read as."""
    try:
        return location.encode("latin-1").decode()
    except UnicodeError:
        return location


def _joined(base: str, location: str) -> str:
    """The URL of a redirect; the location itself where it is no address."""
    try:
        return urljoin(base, location)
    except ValueError:
        return location
