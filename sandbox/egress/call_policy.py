"""Decides about each call: it is sent, replayed from the journal, confirmed by a read, refused or simulated."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from protocols.errors import LimitReached
from protocols.model import Protocol, Tool
from sandbox.body_store import MEMORY_LIMIT, store_body
from sandbox.egress.egress_rules import CallTarget, EgressRules
from sandbox.egress.executor import CallExecutor
from sandbox.egress.pending_call import PendingCall, PlannedRequest
from sandbox.egress.replies import BrokerReply, header, parse_body
from sandbox.egress.writes import WriteApproval
from sandbox.journal.call_fingerprint import SAFE, call_key, idempotency_header
from sandbox.journal.journal import Entry, JournalAttempt, State
from sandbox.journal.reconciliation import read_operation, write_outcome
from sandbox.records import CallRecord
from sandbox.truncation import cut_arguments, nested, size_of

__all__ = ["CallPolicy"]

_USUAL = frozenset({"accept", "accept-encoding", "connection", "content-length", "user-agent"})
"""Headers that say nothing of what a call does."""

_READABLE = frozenset({"", "application/json", "application/x-www-form-urlencoded"})
"""Media types of bodies that are shown by their values."""

_UNSET = "00000000-0000-4000-8000-000000000000"
"""Stands for an idempotency key until the call has its row in the journal."""


class CallPolicy:
    """The policy for the calls of one run, by its journal and by what becomes of writes."""

    def __init__(
        self,
        executor: CallExecutor,
        protocol: Protocol | None,
        journal: JournalAttempt | None,
        approval: WriteApproval,
    ) -> None:
        self._executor = executor
        self._protocol = protocol
        self._journal = journal
        self._approval = approval
        self._simulation: CallExecutor | None = None
        self._closing = contextlib.ExitStack()
        self._lock = threading.Lock()

    def until(self, deadline: float) -> None:
        """As `Broker.until`."""
        if self._simulation is not None:
            self._simulation.deadline = deadline

    def cancel(self) -> None:
        """End the simulated calls that are under way."""
        if self._simulation is not None:
            self._simulation.cancel()

    def close(self) -> None:
        """End the simulated API."""
        self._closing.close()

    def default_arguments(self, tool: Tool) -> dict[str, object]:
        """The argument that the journal fills in, so that a program need not."""
        key = idempotency_header(tool) if self._journal is not None else None
        return {key.argument: _UNSET} if key is not None and key.required else {}

    def make(
        self,
        call: PendingCall,
        target: CallTarget,
        planned: PlannedRequest,
        *,
        retry: bool,
        display_url: str | None = None,
    ) -> BrokerReply:
        """Replay a call, refuse it, simulate it or perform it. Raises: LimitExceeded."""
        write = planned.method not in SAFE
        if write and self._approval.writes == "simulate":
            return self._simulate(call, target, planned, retry)
        if self._journal is not None:
            return self._make_with_journal(self._journal, call, target, planned, retry, display_url)
        if write and (why := self._refusal(self._unsent_record(call), planned)) is not None:
            return self._not_made(call, target, why, refused=True)
        return self._executor.perform(call, target, planned, retry=retry, display_url=display_url)

    def _make_with_journal(
        self,
        journal: JournalAttempt,
        call: PendingCall,
        target: CallTarget,
        planned: PlannedRequest,
        retry: bool,
        display_url: str | None,
    ) -> BrokerReply:
        """Make a call unless the journal has its reply. Raises: LimitExceeded."""
        write = planned.method not in SAFE
        unsent = self._unsent_record(call)
        entry, lookup = journal.begin(self._key(target, planned), call.task, unsent)
        if lookup == "replay":
            return self._replay(journal, entry, call, target)
        if lookup == "open" and entry.token is None:
            call.entry = entry
            reconciled = self._reconcile(journal, call, target, planned)
            if reconciled is not None:
                return reconciled
            entry = journal.plan_again(entry, unsent)
        if write and (why := self._refusal(unsent, planned)) is not None:
            if entry.state == "planned":
                journal.drop(entry)
            return self._not_made(call, target, why, refused=True)
        call.entry = entry
        again = entry.token is not None
        planned = self._with_idempotency_key(journal, call, target, planned)
        try:
            reply = self._executor.perform(
                call,
                target,
                planned,
                retry=retry,
                display_url=display_url,
                on_send=lambda: journal.sent(entry, call.token),  # on disk before it leaves
            )
        except BaseException:
            journal.finish(entry, "unknown" if write and entry.state == "sent" else "failed")
            raise
        state = _state(write, reply, call.may_have_left)
        if again and reply.record.status == 409:
            state = "unknown"  # the service is still busy with the first one
        if state == "unknown":
            self._executor.warn(f"{target.called}: it is not known whether this write was done ({reply.record.error})")
        journal.finish(entry, state, _reply_to_json(reply), reply.body)
        return reply

    def _key(self, target: CallTarget, planned: PlannedRequest) -> str:
        hidden: set[tuple[str, str]] = set()
        for credential in self._executor.signer.credentials_for(target.tool):
            headers, query, cookies = dict[str, str](), list[tuple[str, str]](), dict[str, str]()
            credential.apply(headers, query, cookies)
            hidden |= {("header", name.lower()) for name in headers} | {("query", name.lower()) for name, _ in query}
        return call_key(
            planned.method,
            target.tool,
            target.base,
            planned.path,
            planned.query,
            planned.headers,
            planned.body,
            redirects=planned.redirects,
            hidden=hidden,
        )

    def _with_idempotency_key(
        self, journal: JournalAttempt, call: PendingCall, target: CallTarget, planned: PlannedRequest
    ) -> PlannedRequest:
        """The request with an idempotency key, where the operation documents one.

        It is the key of the first time, else the program's own, else one that follows from the journal.
        """
        parameter = idempotency_header(target.tool)
        if parameter is None or call.entry is None or planned.method in SAFE:
            return planned
        own = next((value for name, value in planned.headers.items() if name.lower() == parameter.name.lower()), _UNSET)
        call.token = call.entry.token or (own if own != _UNSET else journal.token(call.entry))
        call.arguments = {**call.arguments, parameter.argument: call.token}
        other_headers = {
            name: value for name, value in planned.headers.items() if name.lower() != parameter.name.lower()
        }
        return replace(planned, headers={**other_headers, parameter.name: call.token})

    def _unsent_record(self, call: PendingCall) -> CallRecord:
        """The record of a call before it is made."""
        raw_arguments = call.arguments
        if nested(raw_arguments) or size_of(raw_arguments) > MEMORY_LIMIT:
            raw_arguments = cut_arguments(raw_arguments)
        arguments = self._redacted(raw_arguments)
        return CallRecord(
            call.index,
            call.tool,
            call.method,
            self._executor.redact(call.url),
            arguments,
            call.line,
            None,
            0.0,
            0,
            call.style,
        )

    def _refusal(self, unsent: CallRecord, planned: PlannedRequest) -> str | None:
        """The reason against sending a write; None if it may be sent."""
        return self._approval.refusal(self._confirmation_record(unsent, planned))

    def _confirmation_record(self, unsent: CallRecord, planned: PlannedRequest) -> CallRecord:
        """A call as somebody is asked to confirm it, with the headers and cookies beside its arguments."""
        if unsent.style != "requests":
            return unsent
        kind = header(planned.headers, "content-type") or ""
        hidden = _USUAL | ({"content-type"} if kind.partition(";")[0].strip().lower() in _READABLE else set())
        beside = {f"header {name}": text for name, text in planned.headers.items() if name.lower() not in hidden}
        beside |= {f"cookie {name}": text for name, text in planned.cookies.items()}
        return replace(unsent, arguments={**unsent.arguments, **self._redacted(cut_arguments(beside))})

    def _redacted(self, value: Any) -> Any:
        """Data without a secret in it."""
        if isinstance(value, str):
            return self._executor.redact(value)
        if isinstance(value, dict):
            return {self._executor.redact(str(name)): self._redacted(item) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._redacted(item) for item in value]
        return value

    def _replay(self, journal: JournalAttempt, entry: Entry, call: PendingCall, target: CallTarget) -> BrokerReply:
        """Answer a call with the reply of an earlier one."""
        saved, size = journal.reply(entry)
        body = store_body(journal.body(entry), MEMORY_LIMIT if self._executor.reserve(size) else 0)
        _, parsed, _ = parse_body(target.tool, saved["headers"], body, saved["encoding"])
        record = self._executor.finish(call, status=saved["status"], body=parsed, error=saved["error"], replayed=True)
        fields = {name: saved[name] for name in _SAVED}
        fields["set_on_the_way"] = tuple(saved.get("set_on_the_way", ()))
        return BrokerReply(record, body=body, history=tuple((s, u) for s, u in saved["history"]), **fields)

    def _reconcile(
        self, journal: JournalAttempt, call: PendingCall, target: CallTarget, planned: PlannedRequest
    ) -> BrokerReply | None:
        """Find out by a read whether a write was done whose outcome is open.

        Returns: The reply of a write that was done, None for one that was not, else a reply that says it is unknown.
        Raises: LimitExceeded.
        """
        from sandbox.egress.transport import NoAnswerError, TooLargeError

        assert call.entry is not None
        tool = read_operation(self._protocol, target.tool)
        if tool is not None:
            read_target = target._replace(tool=tool)
            read = replace(planned, method="GET", query=(), headers={"Accept": "application/json"}, body=None)
            with contextlib.suppress(NoAnswerError, TooLargeError), self._record_limit(call):
                call.attempts += 1
                response = self._executor.send(self._executor.signer.sign(read_target, read), read)
                response = self._executor.redact_response(response)
                body = store_body(self._executor.redact_body(response))
                response.body.close()
                form, parsed, _ = parse_body(tool, response.headers, body, response.encoding)
                outcome = write_outcome(planned.method, planned.body, response.status, parsed)
                if outcome == "not done":
                    return None
                if outcome == "done":
                    if planned.method == "DELETE":
                        reply = self._confirmed(call, 204, None)
                    else:
                        headers = {"Content-Type": header(response.headers, "content-type") or ""}
                        reply = self._confirmed(call, 200, parsed)
                        reply = replace(reply, headers=headers, body=body, encoding=response.encoding, form=form)
                    journal.finish(call.entry, "confirmed", _reply_to_json(reply), reply.body)
                    return reply
        why = "a call like this was sent before and its outcome is unknown; it was not sent again"
        self._executor.warn(f"{target.called}: {why}")
        return self._not_made(call, target, why)

    def _confirmed(self, call: PendingCall, status: int, parsed: object) -> BrokerReply:
        """The reply of a write that a read showed to have been done."""
        record = self._executor.finish(call, status=status, body=parsed, replayed=True)
        return BrokerReply(record, self._executor.redact(call.url), reason="OK")

    @contextlib.contextmanager
    def _record_limit(self, call: PendingCall) -> Iterator[None]:
        """Record a call that a limit ends before the run ends."""
        try:
            yield
        except LimitReached as error:
            self._executor.finish(call, error=str(error))
            raise

    def _not_made(self, call: PendingCall, target: CallTarget, why: str, *, refused: bool = False) -> BrokerReply:
        """The reply of a call that is not made."""
        problem = self._executor.redact(f"{target.called}: {why}")
        record = self._executor.finish(call, error=problem, refused=refused)
        return BrokerReply(record, record.url, failure="ConnectionError", problem=problem)

    def _simulate(self, call: PendingCall, target: CallTarget, planned: PlannedRequest, retry: bool) -> BrokerReply:
        """Have a simulated API answer a write; nothing leaves this machine. Raises: LimitExceeded."""
        if target.tool is None or self._protocol is None:
            why = "a write that no protocol describes, so that it cannot be simulated (--writes simulate)"
            return self._not_made(call, target, why, refused=True)
        simulation = self._start_simulation(self._protocol)
        visible_url = call.url
        inner = simulation.begin(call.style, call.line, call.tool, ())
        inner.method, inner.arguments = call.method, call.arguments
        simulated_target = target._replace(base=simulation.rules.base_of(target.tool))
        with self._record_limit(call):
            reply = simulation.perform(inner, simulated_target, planned, retry=retry)
        call.url, call.attempts = visible_url, 0
        record = self._executor.finish(
            call,
            status=reply.record.status,
            body=reply.record.response,
            error=reply.record.error,
            simulated=True,
        )
        return replace(reply, record=record, url=record.url)

    def _start_simulation(self, protocol: Protocol) -> CallExecutor:
        """The executor that sends to a simulated API, both made for the first simulated write."""
        with self._lock:
            if self._simulation is None:
                from protocols.simulator import Simulator

                simulator = self._closing.enter_context(Simulator(protocol, now=datetime.now(UTC), open=True))
                self._simulation = CallExecutor(
                    protocol,
                    EgressRules(protocol, simulator.url),
                    simulator.credentials,
                    self._executor.limits,
                    WriteApproval("allow"),
                    self._executor.deadline,
                )
                self._closing.callback(self._simulation.close)
            return self._simulation


def _state(write: bool, reply: BrokerReply, may_have_left: bool) -> State:
    """The state in the journal of a call that was sent."""
    status = reply.record.status
    if status is None:
        return "unknown" if write and may_have_left else "failed"
    if 200 <= status < 300:
        return "confirmed"
    # A service that names a client's mistake, or sends the client elsewhere with the same request, has done nothing.
    return "failed" if not write or 400 <= status < 500 or status in (307, 308) else "unknown"


_SAVED = ("url", "reason", "headers", "cookies", "sent", "encoding", "form", "failure", "problem")


def _reply_to_json(reply: BrokerReply) -> dict[str, object]:
    """A reply without its body and record, as JSON."""
    own = {name: getattr(reply, name) for name in _SAVED}
    cookies = [dict(hop) for hop in reply.set_on_the_way]
    own |= {"history": reply.history, "set_on_the_way": cookies}
    return {**own, "status": reply.record.status, "error": reply.record.error}
