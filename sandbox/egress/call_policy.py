"""What becomes of a call besides being sent: it is replayed from the journal, settled by a read, refused or rehearsed.

The broker knows how to send; here is decided whether. The two are halves of one thing, and use each other as such.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from protocols.errors import LimitReached
from protocols.model import Protocol, Tool
from sandbox.body_store import KEPT, keep
from sandbox.egress.egress_rules import CallTarget
from sandbox.egress.replies import BrokerReply, header, reading
from sandbox.egress.writes import WriteApproval, Writes
from sandbox.journal.call_fingerprint import SAFE, call_key, idempotency_header
from sandbox.journal.journal import Entry, JournalAttempt, State
from sandbox.journal.reconciliation import reader, verdict
from sandbox.records import CallRecord
from sandbox.truncation import cut_arguments, nested, size_of

if TYPE_CHECKING:
    from sandbox.egress.broker import Broker, PendingCall, PlannedRequest

__all__ = ["CallPolicy"]

_USUAL = frozenset({"accept", "accept-encoding", "connection", "content-length", "user-agent"})
"""Headers that say nothing of what a call does."""

_READABLE = frozenset({"", "application/json", "application/x-www-form-urlencoded"})
"""Media types of bodies that are shown by their values."""

_UNSET = "00000000-0000-4000-8000-000000000000"
"""Stands for an idempotency key until the call has its row in the journal."""


class CallPolicy:
    """Decides about the calls of one broker, by the journal of its run and the writes policy."""

    def __init__(
        self, broker: Broker, protocol: Protocol | None, journal: JournalAttempt | None, writes: Writes
    ) -> None:
        self.approval = WriteApproval(writes)
        self._broker = broker
        self._protocol = protocol
        self._journal = journal
        self._rehearsal: Broker | None = None
        self._closing = contextlib.ExitStack()

    def until(self, deadline: float) -> None:
        """As `Broker.until`."""
        if self._rehearsal is not None:
            self._rehearsal.until(deadline)

    def cancel(self) -> None:
        """End the simulated calls that are under way."""
        if self._rehearsal is not None:
            self._rehearsal.cancel()

    def close(self) -> None:
        """End the simulated API."""
        self._closing.close()

    def leaves(self, call: PendingCall) -> None:
        """The request of a call leaves now, and is on disk as such before it does."""
        if call.entry is not None and self._journal is not None:
            self._journal.sent(call.entry, call.token)

    def given(self, tool: Tool) -> dict[str, object]:
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
        """Replay a call, refuse it, rehearse it or perform it. Raises: Exceeded."""
        write = planned.method not in SAFE
        if write and self.approval.writes == "simulate":
            return self._rehearsed(call, target, planned, retry)
        if self._journal is not None:
            return self._journaled(self._journal, call, target, planned, retry, display_url)
        if write and (why := self.approval.refusal(self._question(self._asked(call), planned))) is not None:
            return self._stopped(call, target, why, refused=True)
        return self._broker._perform(call, target, planned, retry=retry, display_url=display_url)

    def _journaled(
        self,
        journal: JournalAttempt,
        call: PendingCall,
        target: CallTarget,
        planned: PlannedRequest,
        retry: bool,
        display_url: str | None,
    ) -> BrokerReply:
        """Make a call unless the journal has its reply. Raises: Exceeded."""
        write = planned.method not in SAFE
        unsent = self._asked(call)
        entry, lookup = journal.begin(self._key(target, planned), call.task, unsent)
        if lookup == "replay":
            return self._replayed(journal, entry, call, target)
        if lookup == "open" and entry.token is None:
            call.entry = entry
            settled = self._settled_by_read(journal, call, target, planned)
            if settled is not None:
                return settled
            entry = journal.again(entry, unsent)
        if write and (why := self.approval.refusal(self._question(unsent, planned))) is not None:
            if entry.state == "planned":
                journal.drop(entry)
            return self._stopped(call, target, why, refused=True)
        call.entry = entry
        again = entry.token is not None
        planned = self._keyed(journal, call, target, planned)
        try:
            reply = self._broker._perform(call, target, planned, retry=retry, display_url=display_url)
        except BaseException:
            journal.finish(entry, "unknown" if write and entry.state == "sent" else "failed")
            raise
        state = _state(write, reply, call.may_have_left)
        if again and reply.record.status == 409:
            state = "unknown"  # the service is still busy with the first one
        if state == "unknown":
            self._broker._warn(f"{target.called}: it is not known whether this write was done ({reply.record.error})")
        journal.finish(entry, state, _saved(reply), reply.body)
        return reply

    def _key(self, target: CallTarget, planned: PlannedRequest) -> str:
        hidden: set[tuple[str, str]] = set()
        for credential in self._broker._chosen(target.tool):
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

    def _keyed(
        self, journal: JournalAttempt, call: PendingCall, target: CallTarget, planned: PlannedRequest
    ) -> PlannedRequest:
        """The request with an idempotency key, where the operation documents one: that of the first time, else the
        program's own, else one that follows from the journal."""
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

    def _asked(self, call: PendingCall) -> CallRecord:
        """A call as it is known before it is made."""
        raw_arguments = call.arguments
        if nested(raw_arguments) or size_of(raw_arguments) > KEPT:
            raw_arguments = cut_arguments(raw_arguments)
        arguments = self._clean(raw_arguments)
        return CallRecord(
            call.index,
            call.tool,
            call.method,
            self._broker._redacted(call.url),
            arguments,
            call.line,
            None,
            0.0,
            0,
            call.style,
        )

    def _question(self, unsent: CallRecord, planned: PlannedRequest) -> CallRecord:
        """A call as somebody is asked about it: with what a program puts beside its arguments, too."""
        if unsent.style != "requests":
            return unsent
        kind = header(planned.headers, "content-type") or ""
        hidden = _USUAL | ({"content-type"} if kind.partition(";")[0].strip().lower() in _READABLE else set())
        beside = {f"header {name}": text for name, text in planned.headers.items() if name.lower() not in hidden}
        beside |= {f"cookie {name}": text for name, text in planned.cookies.items()}
        return replace(unsent, arguments={**unsent.arguments, **self._clean(cut_arguments(beside))})

    def _clean(self, value: Any) -> Any:
        """Data without a secret in it."""
        if isinstance(value, str):
            return self._broker._redacted(value)
        if isinstance(value, dict):
            return {self._broker._redacted(str(name)): self._clean(item) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._clean(item) for item in value]
        return value

    def _replayed(self, journal: JournalAttempt, entry: Entry, call: PendingCall, target: CallTarget) -> BrokerReply:
        """A call with the reply of an earlier one."""
        saved, size = journal.reply(entry)
        body = keep(journal.body(entry), KEPT if self._broker._room(size) else 0)
        _, parsed, _ = reading(target.tool, saved["headers"], body, saved["encoding"])
        record = self._broker._finish(call, status=saved["status"], body=parsed, error=saved["error"], replayed=True)
        fields = {name: saved[name] for name in _SAVED}
        fields["set_on_the_way"] = tuple(saved.get("set_on_the_way", ()))
        return BrokerReply(record, body=body, history=tuple((s, u) for s, u in saved["history"]), **fields)

    def _settled_by_read(
        self, journal: JournalAttempt, call: PendingCall, target: CallTarget, planned: PlannedRequest
    ) -> BrokerReply | None:
        """Find out about a write whose outcome is open: the reply if it was done, None if it was not, or the news that
        nobody knows. Raises: Exceeded."""
        from sandbox.egress.transport import NoAnswerError, TooLargeError

        assert call.entry is not None
        tool = reader(self._protocol, target.tool)
        if tool is not None:
            read_target = target._replace(tool=tool)
            read = replace(planned, method="GET", query=(), headers={"Accept": "application/json"}, body=None)
            with contextlib.suppress(NoAnswerError, TooLargeError), self._finishing(call):
                call.attempts += 1
                response = self._broker._send(self._broker._signed(read_target, read), read)
                response = self._broker._cleaned(response)
                body = keep(self._broker._clean_parts(response))
                response.body.close()
                form, parsed, _ = reading(tool, response.headers, body, response.encoding)
                outcome = verdict(planned.method, planned.body, response.status, parsed)
                if outcome == "not done":
                    return None
                if outcome == "done":
                    gone = planned.method == "DELETE"
                    record = self._broker._finish(
                        call, status=204 if gone else 200, body=None if gone else parsed, replayed=True
                    )
                    headers = {} if gone else {"Content-Type": header(response.headers, "content-type") or ""}
                    reply = BrokerReply(record, self._broker._redacted(call.url), headers=headers, reason="OK")
                    if not gone:
                        reply = replace(reply, body=body, encoding=response.encoding, form=form)
                    journal.finish(call.entry, "confirmed", _saved(reply), reply.body)
                    return reply
        why = "a call like this was sent before and its outcome is unknown; it was not sent again"
        self._broker._warn(f"{target.called}: {why}")
        return self._stopped(call, target, why)

    @contextlib.contextmanager
    def _finishing(self, call: PendingCall) -> Iterator[None]:
        """A call that a limit ends has its record before the run ends."""
        try:
            yield
        except LimitReached as error:
            self._broker._finish(call, error=str(error))
            raise

    def _stopped(self, call: PendingCall, target: CallTarget, why: str, *, refused: bool = False) -> BrokerReply:
        """A call that is not made."""
        problem = self._broker._redacted(f"{target.called}: {why}")
        record = self._broker._finish(call, error=problem, refused=refused)
        return BrokerReply(record, record.url, failure="ConnectionError", problem=problem)

    def _rehearsed(self, call: PendingCall, target: CallTarget, planned: PlannedRequest, retry: bool) -> BrokerReply:
        """A write that a simulated API answers; nothing leaves this machine. Raises: Exceeded."""
        if target.tool is None or self._protocol is None:
            why = "a write that no protocol describes, so that it cannot be simulated (--writes simulate)"
            return self._stopped(call, target, why, refused=True)
        with self._broker._lock:
            if self._rehearsal is None:
                from protocols.simulator import Simulator

                simulator = self._closing.enter_context(Simulator(self._protocol, now=datetime.now(UTC), open=True))
                from sandbox.egress.broker import Broker

                rehearsal = Broker(
                    self._protocol,
                    base_url=simulator.url,
                    credentials=simulator.credentials,
                    limits=self._broker._limits,
                    deadline=self._broker._deadline,
                )
                self._closing.callback(rehearsal.close)
                self._rehearsal = rehearsal
        visible_url = call.url
        base_url = self._rehearsal._reach.base_of(target.tool)
        inner = self._rehearsal._begin(call.style, call.line, call.tool, ())
        inner.method, inner.arguments = call.method, call.arguments
        with self._finishing(call):
            reply = self._rehearsal._perform(inner, target._replace(base=base_url), planned, retry=retry)
        call.url, call.attempts = visible_url, 0
        record = self._broker._finish(
            call,
            status=reply.record.status,
            body=reply.record.response,
            error=reply.record.error,
            simulated=True,
        )
        return replace(reply, record=record, url=record.url)


def _state(write: bool, reply: BrokerReply, may_have_left: bool) -> State:
    """What became of a call that was sent."""
    status = reply.record.status
    if status is None:
        return "unknown" if write and may_have_left else "failed"
    if 200 <= status < 300:
        return "confirmed"
    # A service that names a client's mistake, or sends the client elsewhere with the same request, has done nothing.
    return "failed" if not write or 400 <= status < 500 or status in (307, 308) else "unknown"


_SAVED = ("url", "reason", "headers", "cookies", "sent", "encoding", "form", "failure", "problem")


def _saved(reply: BrokerReply) -> dict[str, object]:
    """A reply without its body and record, as JSON."""
    own = {name: getattr(reply, name) for name in _SAVED}
    cookies = [dict(hop) for hop in reply.set_on_the_way]
    own |= {"history": reply.history, "set_on_the_way": cookies}
    return {**own, "status": reply.record.status, "error": reply.record.error}
