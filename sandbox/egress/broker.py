"""The only door to the network: every call that a program makes goes through here, is checked, sent and recorded.

The broker knows the protocol, so it knows which hosts, methods and paths exist; nothing else is sent. It holds the
credentials; they are put on a request last and taken out of everything that comes back. It keeps the rules for
sending twice: a write that may have reached the service is never sent again, but with the idempotency key that the
operation documents. With a journal this holds for all runs of a solve, and what was answered once is replayed.

It only joins the four steps: a call is bound, decided about, sent and recorded (see sandbox.egress.stages).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from protocols.calls.credentials import Credential
from protocols.model import Protocol
from sandbox.egress import Writes
from sandbox.egress.answer import answer, replayed
from sandbox.egress.bind import Binder, Doubts, Unbound
from sandbox.egress.decide import CallPolicy, ledger_of
from sandbox.egress.egress_rules import BaseURL, EgressRules, Origin
from sandbox.egress.network import Network, names_proxy
from sandbox.egress.record import Allowance, CallContext, CallRecorder, Redaction
from sandbox.egress.send import Sender
from sandbox.egress.signing import Signer
from sandbox.egress.stages import Begun, Bound, BrokerReply, Decided
from sandbox.records import CallRecord, Limits, cut

if TYPE_CHECKING:
    from sandbox.egress.simulated_writes import SimulatedWrites
    from sandbox.journal.journal import JournalAttempt

__all__ = ["Broker"]


class Broker:
    """Calls the tools of one protocol, on behalf of one run. All methods may be used from several threads.

    Args: As those of sandbox.Sandbox, and:
        deadline: `time.monotonic()` at which the run ends: no request goes on beyond it, and no retry waits for it.
            The time that somebody takes to confirm writes is added to it.
        journal: Where calls are matched with those of earlier runs, and written down.
        doubts: What earlier runs were told (see sandbox.egress.bind).
    Raises: UsageError: The document names no server that has a host, and there is no `base_url`; or that one holds a
        secret.
    """

    def __init__(
        self,
        protocol: Protocol | None,
        *,
        base_url: BaseURL = None,
        allow: Sequence[Origin] = (),
        credentials: Sequence[Credential] = (),
        limits: Limits | None = None,
        tools: Collection[str] | None = None,
        before_call: Callable[[CallRecord], str | None] | None = None,
        on_call: Callable[[CallRecord], object] | None = None,
        on_begin: Callable[[int, str | None, int | None], None] | None = None,
        deadline: float | None = None,
        journal: JournalAttempt | None = None,
        writes: Writes = "allow",
        doubts: Doubts | None = None,
        network: Network | None = None,
    ) -> None:
        self.protocol = protocol
        self._writes = writes
        self._journal = journal
        redactor = Redaction((*credentials, *_proxy_credentials()))
        self._recorder = CallRecorder(Allowance(limits or Limits(), deadline), redactor, on_call, on_begin)
        signer = Signer(credentials, protocol, self._recorder.warn)
        self._context = CallContext(EgressRules(protocol, base_url, allow), signer, redactor, self._recorder)
        self._binder = Binder(self._context, protocol, tools, doubts or Doubts())
        self._policy = CallPolicy(self._context, journal, writes, before_call)
        self._sender = Sender(self._context, writes == "allow", network)
        self._simulated: SimulatedWrites | None = None
        self._lock = threading.Lock()

    @property
    def calls(self) -> tuple[CallRecord, ...]:
        """The calls that are over, in the order in which they began."""
        return self._recorder.records

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know of the calls."""
        return self._recorder.warnings

    @property
    def on_call_error(self) -> BaseException | None:
        """The exception that a hook raised."""
        return self._recorder.on_call_error

    @property
    def asks(self) -> bool:
        """True if somebody is asked about writes, which takes time."""
        return callable(self._writes)

    @property
    def waited(self) -> float:
        """Seconds that the run has waited for answers so far; they are not the program's."""
        return self._recorder.allowance.waited

    def until(self, deadline: float) -> None:
        """Move the end, for a caller that makes one call at a time and thinks in between."""
        self._recorder.allowance.deadline = deadline

    def cancel(self) -> None:
        """End every call that is under way; when this returns, each has its record."""
        if self._simulated is not None:
            self._simulated.cancel()
        self._recorder.allowance.cancel()
        self._sender.cancel()
        self._recorder.cancel()

    def close(self) -> None:
        """Close the connections."""
        self._sender.close()
        if self._simulated is not None:
            self._simulated.close()

    def give_up(self, error: BaseException) -> None:
        """Record the call of this thread as failed with an error that nobody foresaw."""
        self._recorder.give_up(error)

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
            LimitExceeded: A limit on calls or on the size of a reply.
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
        """Like `call`, with the whole reply; a ToolError is its `problem`. Raises: LimitExceeded."""
        call = self._recorder.begin("function", line, tool, task)
        return self._completed(call, self._binder.function(call, tool, args, kwargs or {}))

    def request(
        self,
        method: str,
        url: str,
        *,
        line: int | None = None,
        task: Sequence[str] = (),
        **options: Any,
    ) -> BrokerReply:
        """Send what a program sends with `requests`; it sees the status as it is, and nothing is sent twice.

        Args:
            url: With a documented server (or the base URL in force) in front.
            options: The fields of sandbox.egress.request_style.RequestOptions.
        Raises: LimitExceeded.
        """
        from sandbox.egress.request_style import RequestOptions, bind_request

        call = self._recorder.begin("requests", line, None, task)
        return self._completed(call, bind_request(self._context, call, method, url, RequestOptions(**options)))

    def _completed(self, call: Begun, bound: Bound | Unbound) -> BrokerReply:
        """The reply of a call, which has its record then. Raises: LimitExceeded."""
        if isinstance(bound, Unbound):
            self._recorder.note(call, method=bound.method, url=bound.url, arguments=bound.arguments)
            record = self._recorder.finish(call, bound.problem)
            problem = bound.problem if call.style == "function" else cut(bound.problem)
            return BrokerReply(record, record.url, failure=bound.failure, problem=problem)
        reply = self._carried_out(self._policy.decide(bound))
        self._policy.answered(bound, reply.record)
        return reply

    def _carried_out(self, decided: Decided) -> BrokerReply:
        """Do what was decided about a call. Raises: LimitExceeded."""
        bound, journal, entry = decided.bound, self._journal, decided.entry
        if decided.action == "send":
            return self._sent(decided)
        if decided.action == "simulate":
            return self._simulated_answer(bound)
        if decided.action == "replay" and journal is not None and entry is not None:
            return replayed(bound, journal, entry, self._context)
        if decided.action == "find out" and entry is not None:
            from sandbox.egress.reconciliation import UNKNOWN, outcome_of_write

            outcome = outcome_of_write(bound, self.protocol, self._sender)
            if outcome == "not done":
                return self._carried_out(self._policy.again(decided))
            if isinstance(outcome, BrokerReply):
                self._policy.confirmed(entry, outcome)
                return outcome
            self._recorder.warn(f"{bound.target.called}: {UNKNOWN}")
            decided = Decided(bound, "refuse", UNKNOWN)
        problem = self._context.redactor.text(f"{bound.target.called}: {decided.why}")
        record = self._recorder.finish(bound.call, problem, refused=decided.by_policy)
        return BrokerReply(record, record.url, failure="ConnectionError", problem=problem)

    def _sent(self, decided: Decided) -> BrokerReply:
        try:
            sent = self._sender.send(decided.bound, self._policy.leaves(decided))
            reply = answer(sent, self._context)
        except BaseException:
            self._policy.failed(decided)
            raise
        self._policy.settle(decided, reply, sent.may_have_left)
        return reply

    def _simulated_answer(self, bound: Bound) -> BrokerReply:
        """The answer of the simulated API, which is made for the first simulated write."""
        from sandbox.egress.simulated_writes import SimulatedWrites

        assert bound.target.tool is not None and self.protocol is not None  # else it was refused
        with self._lock:
            if self._simulated is None:
                ledger = ledger_of(self._writes)
                self._simulated = SimulatedWrites(self.protocol, self._recorder, ledger.demands if ledger else ())
        return self._simulated.answer(bound, bound.target.tool)


def _proxy_credentials() -> tuple[Credential, ...]:
    """What signs in at the proxies of the environment, for redaction."""
    if not names_proxy():
        return ()
    from sandbox.egress.proxies import proxy_credentials

    return proxy_credentials()
