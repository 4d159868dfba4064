"""Sends what was decided to be sent: signs it, sends it, perhaps again, and has followed where it is redirected to.

Everything that leaves for a program is counted here, and signed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from sandbox.egress.egress_rules import CallTarget, UnreachableError, display_url
from sandbox.egress.record import CallContext
from sandbox.egress.stages import (
    OVER,
    REDIRECTS,
    Bound,
    LimitExceeded,
    NoAnswerError,
    PlannedRequest,
    Sent,
    TooLargeError,
    TransportReply,
    join_url,
)

if TYPE_CHECKING:
    from sandbox.egress.network import Network
    from sandbox.egress.transport import PreparedRequest, Transport

__all__ = ["Sender"]

MAX_ATTEMPTS = 4
"""Requests that one call of a tool may send, counting the first."""

BACKOFF = 0.5
"""Seconds before the second attempt when the service names no time; doubled each time."""

_READS = frozenset({"GET", "HEAD"})


class Sender:
    """Sends the calls of one run; it knows limits, credentials and redirects, but no policy.

    All methods may be used from several threads.

    Args:
        free: Nobody has to agree to writes (see sandbox.egress.redirects).
        network: The certificates of the user.
    """

    def __init__(self, context: CallContext, free: bool = True, network: Network | None = None) -> None:
        self.context = context
        self._rules = context.rules
        self._signer = context.signer
        self._redactor = context.redactor
        self._recorder = context.recorder
        self._allowance = context.recorder.allowance
        self._free = free
        self._network = network
        self._lock = threading.Lock()
        self._transport: Transport | None = None

    def cancel(self) -> None:
        """End every request that is under way."""
        if self._transport is not None:
            self._transport.cancel()

    def close(self) -> None:
        """Close the connections."""
        if self._transport is not None:
            self._transport.close()

    def send(self, bound: Bound, on_send: Callable[[], None]) -> Sent:
        """Send a call until it has its reply, or the error in its place; `on_send` is called before it leaves.

        Raises: APIError, UsageError: There is no access token; and what `on_send` raises.
        """
        tool, planned = bound.target.tool, bound.planned
        if tool is not None and tool.function is not None:
            from sandbox.egress.function_calls import call_function

            return call_function(bound, tool.function, self.context, on_send)
        from sandbox.egress.transport import RequestError

        if bound.call.style == "requests":  # it may have named another server than the one in force
            url = join_url(bound.target.base + planned.path, planned.query)
            self._recorder.note(bound.call, url=self._redactor.text(url))
        outgoing = self._outgoing(bound)
        try:
            if (size := len(outgoing.body or b"")) > self._allowance.limits.request:
                what = f"the body of {planned.method} {planned.path}"
                text = f"{what} is larger than the {self._allowance.limits.request} bytes allowed"
                raise LimitExceeded("request", text)
            self._allowance.count_traffic(size)
            self._recorder.warn_of_doubt(bound, "sent")
            request, response = self._send_signed(bound, outgoing, on_send)
        except (NoAnswerError, TooLargeError, LimitExceeded, RequestError, UnreachableError, ValueError) as error:
            # The last three: a header, an address, a length.
            return Sent(bound, error, isinstance(error, NoAnswerError) and error.may_have_left)
        cookies = self._kept_cookies(bound, bound.target, request, response)
        if response.status not in REDIRECTS:
            return Sent(bound, response, set_cookies=cookies)
        from sandbox.egress.redirects import NextRequest, RedirectFollower

        follower = RedirectFollower(self.context, self._free, self.send_once, self._kept_cookies)
        return follower.sent(bound, response, cookies, NextRequest(bound.target, outgoing, True), request)

    def _send_signed(
        self, bound: Bound, outgoing: PlannedRequest, on_send: Callable[[], None]
    ) -> tuple[PreparedRequest, TransportReply]:
        """Sign and send; once more after a 401, which says that nothing was done, where there is another token."""
        request = self._signer.sign(bound.target, outgoing)
        on_send()
        response = self._send_until_ready(bound, request)
        if response.status == 401 and self._signer.renew(bound.target.tool, request, response.headers):
            response.body.close()
            request = self._signer.sign(bound.target, outgoing)
            response = self._send_until_ready(bound, request)
        return request, response

    def _outgoing(self, bound: Bound) -> PlannedRequest:
        """The request that leaves: the planned one, or its arguments in the envelope of the tool."""
        tool, planned = bound.target.tool, bound.planned
        if tool is None or tool.envelope is None:
            return planned
        from protocols.calls.envelope import closed_request

        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        body = closed_request(tool, bound.arguments, self._signer.credentials_for(tool))
        return PlannedRequest(tool.envelope.method, tool.envelope.path, (), headers, {}, body, planned.timeout)

    def send_once(self, request: PreparedRequest, planned: PlannedRequest) -> TransportReply:
        """Send once, within the time that is left. Raises: NoAnswerError, TooLargeError, LimitExceeded."""
        from sandbox.egress.network import HostResolver
        from sandbox.egress.transport import Transport

        with self._lock:
            if self._transport is None:
                self._transport = Transport(HostResolver(self._rules.trusted), self._network)
        if self._allowance.cancelled:
            raise NoAnswerError("ConnectionError", OVER)
        longest = self._allowance.call_seconds
        seconds = min(longest, planned.timeout or longest)
        left = self._allowance.remaining()
        remaining = seconds if left is None else left
        try:
            response = self._transport.send(
                request,
                seconds=max(0.0, min(seconds, remaining)),
                limit=self._allowance.limits.response,
                own=self._rules.is_own(str(request.url)),
            )
        except NoAnswerError as error:
            if remaining < seconds and error.kind == "ReadTimeout":
                text = f"no reply from {planned.method} {planned.path} before the end of the run"
                raise LimitExceeded("wall", text) from None
            if error.kind == "ReadTimeout" and seconds == longest:
                from sandbox.failures import longer_call_option

                text = f"{error}; {longer_call_option(self._allowance.limits)} allows more"
                raise NoAnswerError(error.kind, text, error.may_have_left) from None
            raise
        try:
            self._allowance.count_traffic(response.heading + response.size)
        except LimitExceeded:
            response.body.close()
            raise
        return response

    def _send_until_ready(self, bound: Bound, request: PreparedRequest) -> TransportReply:
        """Send, and the call of a tool again as long as the service is busy and there is time.

        After a 429 the service has done nothing, so any method may go again; after a 503 only a read may.
        """
        while True:
            attempts = self._recorder.attempted(bound.call)
            response = self.send_once(request, bound.planned)
            repeatable = response.status == 429 or (
                response.status == 503 and (bound.reads or bound.planned.method in _READS)
            )
            if bound.call.style != "function" or not repeatable or attempts >= MAX_ATTEMPTS:
                return response
            delay = response.pause
            if not self._allowance.wait_to_repeat(BACKOFF * 2 ** (attempts - 1) if delay is None else delay):
                return response
            response.body.close()

    def _kept_cookies(
        self, bound: Bound, target: CallTarget, request: PreparedRequest, response: TransportReply
    ) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Keep the cookies that a reply of an API sets; those set for `requests`, once a function has got some.

        Returns: The URL that set them with its `Set-Cookie` headers; nothing where none were kept.
        """
        if target.tool is None or not response.set_cookies:
            return ()
        url, namespace = display_url(str(request.url)), target.tool.namespace
        if bound.call.style != "function" and not self._signer.cookies.has(namespace):
            return ()
        self._signer.cookies.keep(namespace, url, response.set_cookies)
        return ((self._redactor.text(url), tuple(self._redactor.texts(response.set_cookies))),)
