"""Decides about each call: it is sent, replayed from the journal, confirmed by a read, refused or simulated."""

from __future__ import annotations

import contextlib
import json
import re
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal

from protocols.errors import LimitReached
from protocols.functions.values import plain
from protocols.model import Protocol, Tool
from sandbox.body_store import MEMORY_LIMIT, store_body
from sandbox.egress.egress_rules import EgressRules
from sandbox.egress.executor import CallExecutor
from sandbox.egress.pending_call import PendingCall, PlannedRequest, call_key, idempotency_header
from sandbox.egress.replies import BrokerReply, header, headers_of_result, parse_body
from sandbox.egress.write_plan import PlannedRun, WriteLedger, write_request
from sandbox.egress.writes import WriteApproval
from sandbox.journal.journal import Entry, JournalAttempt, State
from sandbox.records import CallRecord
from sandbox.truncation import cut_arguments, nested, size_of

__all__ = ["CallPolicy", "prepare_simulation"]

_USUAL = frozenset({"accept", "accept-encoding", "connection", "content-length", "user-agent"})
"""Headers that say nothing of what a call does."""

_READABLE = frozenset({"", "application/json", "application/x-www-form-urlencoded"})
"""Media types of bodies that are shown by their values."""


class CallPolicy:
    """The policy for the calls of one run, by its journal and by what becomes of writes."""

    def __init__(
        self,
        executor: CallExecutor,
        protocol: Protocol | None,
        journal: JournalAttempt | None,
        approval: WriteApproval,
        before_call: Callable[[CallRecord], str | None] | None = None,
    ) -> None:
        self._executor = executor
        self._protocol = protocol
        self._journal = journal
        self._approval = approval
        self._before_call = before_call
        self._planned = approval.writes.open_run() if isinstance(approval.writes, WriteLedger) else None
        self._withheld = False
        self._simulation: CallExecutor | None = None
        self._closing = contextlib.ExitStack()
        self._lock = threading.Lock()

    def until(self, deadline: float) -> None:
        if self._simulation is not None:
            self._simulation.deadline = deadline

    def cancel(self) -> None:
        if self._simulation is not None:
            self._simulation.cancel()

    def close(self) -> None:
        self._closing.close()

    def make(self, call: PendingCall) -> BrokerReply:
        """Replay a call, refuse it, simulate it or perform it. Raises: LimitExceeded."""
        write = call.writes
        call.uncertain = self._withheld and not write
        if write and self._approval.writes == "simulate":
            return self._simulate(call)
        if write and self._planned is not None:
            return self._make_planned(self._planned, call)
        if self._journal is not None:
            return self._make_with_journal(self._journal, call)
        _add_idempotency_key(call, None, _new_key)
        if (why := self._objection(call, None)) is not None:
            return self._not_made(call, why, refused=write)
        return self._executor.perform(call)

    def _make_planned(self, planned_run: PlannedRun, call: PendingCall) -> BrokerReply:
        """Make a write under a ledger. Raises: LimitExceeded."""
        if self._journal is None:
            return self._not_made(call, "a write, which can be planned only with a journal", refused=True)
        planned_run.begin(call.index, write_request(call, self._redacted))
        reply = self._make_with_journal(self._journal, call)
        planned_run.answered(call.index, reply.record)
        return reply

    def _make_with_journal(self, journal: JournalAttempt, call: PendingCall) -> BrokerReply:
        write = call.writes
        unsent = self._unsent_record(call)
        entry, lookup = journal.begin(self._key(call), call.task, unsent)
        if lookup == "replay":
            return self._replay(journal, entry, call)
        if lookup == "open" and entry.token is None:
            if (reconciled := self._reconcile(journal, entry, call)) is not None:
                return reconciled
            entry = journal.plan_again(entry, unsent)
        if write and self._planned is not None and self._planned.phase == "plan":
            if entry.state == "planned":
                journal.drop(entry)
            return self._simulate(call)
        if (why := self._objection(call, unsent)) is not None:
            if entry.state == "planned":
                journal.drop(entry)
            return self._not_made(call, why, refused=write)
        again = entry.token is not None
        token = _add_idempotency_key(call, entry.token, lambda: journal.token(entry))
        try:
            reply = self._executor.perform(call, lambda: journal.sent(entry, token))  # on disk before it leaves
        except BaseException:
            journal.finish(entry, "unknown" if write and entry.state == "sent" else "failed")
            raise
        state = _state(write, reply, call.may_have_left)
        if again and reply.record.status == 409:
            state = "unknown"  # the service is still busy with the first one
        if state == "unknown":
            text = f"{call.target.called}: it is not known whether this write was done ({reply.record.error})"
            self._executor.warn(text)
        journal.finish(entry, state, _reply_to_json(reply), reply.body)
        return reply

    def _key(self, call: PendingCall) -> str:
        places = (credential.place for credential in self._executor.signer.credentials_for(call.target.tool))
        hidden = {(location, name.lower()) for location, name in places}
        return call_key(call.target, call.planned, hidden)

    def _unsent_record(self, call: PendingCall) -> CallRecord:
        arguments = call.arguments
        if nested(arguments) or size_of(arguments) > MEMORY_LIMIT:
            arguments = cut_arguments(arguments)
        return call.unsent(self._executor.redact(call.url), self._redacted(arguments))

    def _objection(self, call: PendingCall, unsent: CallRecord | None) -> str | None:
        """The reason against sending a call: that of the hook, and for a write that of its policy."""
        write = call.writes
        if self._before_call is None and not write:
            return None
        unsent = unsent or self._unsent_record(call)
        reason = self._before_call(unsent) if self._before_call is not None else None
        if reason is not None:
            return reason or "refused before it was sent"
        return self._refusal(unsent, call.planned) if write else None

    def _refusal(self, unsent: CallRecord, planned: PlannedRequest) -> str | None:
        """The reason against sending a write; None if it may be sent.

        Who is asked to confirm it sees its headers and cookies beside its arguments.
        """
        if self._planned is not None:
            return self._planned.refusal(unsent.index)
        if unsent.style == "requests":
            kind = header(planned.headers, "content-type") or ""
            hidden = _USUAL | ({"content-type"} if kind.partition(";")[0].strip().lower() in _READABLE else set())
            beside = {f"header {name}": text for name, text in planned.headers.items() if name.lower() not in hidden}
            beside |= {f"cookie {name}": text for name, text in planned.cookies.items()}
            unsent = replace(unsent, arguments={**unsent.arguments, **self._redacted(cut_arguments(beside))})
        return self._approval.refusal(unsent)

    def _redacted(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._executor.redact(value)
        if isinstance(value, dict):
            return {self._executor.redact(str(name)): self._redacted(item) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._redacted(item) for item in value]
        return value

    def _replay(self, journal: JournalAttempt, entry: Entry, call: PendingCall) -> BrokerReply:
        saved, size = journal.reply(entry)
        self._executor.warn_of_doubt(call, "sent")
        body = store_body(journal.body(entry), MEMORY_LIMIT if self._executor.reserve(size) else 0)
        tool, method = call.target.tool, call.planned.method
        parsed = parse_body(tool, method, saved["status"] or 0, saved["headers"], body).value
        if tool is not None and tool.function is not None:
            parsed = plain(parsed)
        set_cookies = tuple((url, tuple(lines)) for url, lines in saved.get("set_cookies", ()) if tool is not None)
        for url, lines in set_cookies:  # a login counts for the calls that are still to be made
            self._executor.signer.cookies.keep(tool.namespace if tool else "", url, lines)
        record = self._executor.finish(call, saved["error"], status=saved["status"], response=parsed, replayed=True)
        fields = {name: saved[name] for name in _SAVED}
        fields["raised"] = tuple(saved.get("raised", ()))
        fields["result_headers"] = headers_of_result(tool, saved["status"] or 0, saved["headers"], not body)
        fields["set_cookies"] = set_cookies
        fields["set_on_the_way"] = tuple(saved.get("set_on_the_way", ()))
        return BrokerReply(record, body=body, history=tuple((s, u) for s, u in saved["history"]), **fields)

    def _reconcile(self, journal: JournalAttempt, entry: Entry, call: PendingCall) -> BrokerReply | None:
        """Find out by a read whether a write was done whose outcome is open.

        Returns: The reply of a write that was done, None for one that was not, else a reply that says it is unknown.
        Raises: LimitExceeded.
        """
        from sandbox.egress.transport import NoAnswerError, TooLargeError

        planned = call.planned
        tool = _read_operation(self._protocol, call.target.tool)
        if tool is not None:
            read_target = call.target._replace(tool=tool)
            read = replace(planned, method="GET", query=(), headers={"Accept": "application/json"}, body=None)
            with contextlib.suppress(NoAnswerError, TooLargeError), self._record_limit(call):
                call.attempts += 1
                response = self._executor.send(self._executor.signer.sign(read_target, read), read)
                response = self._executor.redact_response(response)
                body = store_body(self._executor.redact_body(response))
                response.body.close()
                form, parsed, *_ = parse_body(tool, "GET", response.status, response.headers, body)
                outcome = _write_outcome(planned.method, planned.body, response.status, parsed)
                if outcome == "not done":
                    return None
                if outcome == "done":
                    status, found = (204, None) if planned.method == "DELETE" else (200, parsed)
                    record = self._executor.finish(call, status=status, response=found, replayed=True)
                    reply = BrokerReply(record, self._executor.redact(call.url), reason="OK")
                    if planned.method != "DELETE":
                        headers = {"Content-Type": header(response.headers, "content-type") or ""}
                        reply = replace(reply, headers=headers, body=body, encoding=response.encoding, form=form)
                    journal.finish(entry, "confirmed", _reply_to_json(reply), reply.body)
                    return reply
        why = "a call like this was sent before and its outcome is unknown; it was not sent again"
        self._executor.warn(f"{call.target.called}: {why}")
        return self._not_made(call, why)

    @contextlib.contextmanager
    def _record_limit(self, call: PendingCall) -> Iterator[None]:
        """Record a call that a limit ends before the run ends."""
        try:
            yield
        except LimitReached as error:
            self._executor.finish(call, error=str(error))
            raise

    def _not_made(self, call: PendingCall, why: str, *, refused: bool = False) -> BrokerReply:
        problem = self._executor.redact(f"{call.target.called}: {why}")
        record = self._executor.finish(call, problem, refused=refused)
        return BrokerReply(record, record.url, failure="ConnectionError", problem=problem)

    def _simulate(self, call: PendingCall) -> BrokerReply:
        """Have a simulated API answer a write; nothing leaves this machine. Raises: LimitExceeded."""
        policy = "simulate" if self._planned is None else "plan"
        if call.target.tool is not None and call.target.tool.function is not None:
            kind = "tool of an MCP server" if call.target.tool.function.remote else "function of this process"
            why = f"a {kind}, whose writes cannot be simulated (--writes {policy})"
            return self._not_made(call, why, refused=True)
        if call.target.tool is None or self._protocol is None:
            why = f"a write that no protocol describes, so that it cannot be simulated (--writes {policy})"
            return self._not_made(call, why, refused=True)
        self._withheld = True
        self._executor.warn_of_doubt(call, "simulated")
        simulation = self._start_simulation(self._protocol)
        inner = simulation.begin(call.style, call.line, call.tool, ())
        inner.method, inner.arguments, inner.planned = call.method, call.arguments, call.planned
        if call.insists:
            from protocols.simulator.http.messages import LENIENT

            headers = {**call.planned.headers, LENIENT[0]: LENIENT[1]}
            inner.planned = replace(call.planned, headers=headers)
        tool = replace(call.target.tool, envelope=None)
        inner.target = call.target._replace(tool=tool, base=simulation.rules.base_of(tool))
        with self._record_limit(call):
            reply = simulation.perform(inner)
        call.attempts = 0
        answer = reply.record
        record = self._executor.finish(
            call, answer.error, status=answer.status, response=answer.response, simulated=True
        )
        return replace(reply, record=record, url=record.url)

    def _start_simulation(self, protocol: Protocol) -> CallExecutor:
        """The executor that sends to a simulated API, both made for the first simulated write."""
        with self._lock:
            if self._simulation is None:
                from protocols.simulator import Simulator

                sent = _over_http(protocol)
                simulator = self._closing.enter_context(Simulator(sent, now=datetime.now(UTC), open=True))
                self._simulation = CallExecutor(
                    protocol,
                    EgressRules(protocol, simulator.base_urls),
                    simulator.credentials,
                    self._executor.limits,
                    WriteApproval("allow"),
                    self._executor.deadline,
                )
                self._closing.callback(self._simulation.close)
            return self._simulation


def _new_key() -> str:
    """An idempotency key that no other call has."""
    return str(uuid.uuid4())


def _add_idempotency_key(call: PendingCall, earlier: str | None, fresh: Callable[[], str]) -> str | None:
    """Give a call an idempotency key, where its operation documents one.

    It is the key of the first time, else the program's own, else a fresh one.
    """
    parameter, headers = idempotency_header(call.target.tool), call.planned.headers
    if parameter is None:
        return None
    token = earlier or header(headers, parameter.name.lower()) or fresh()
    call.arguments = {**call.arguments, parameter.argument: token}
    others = {name: value for name, value in headers.items() if name.lower() != parameter.name.lower()}
    call.planned = replace(call.planned, headers={**others, parameter.name: token})
    return token


def prepare_simulation(protocol: Protocol) -> None:
    """Analyse a protocol whose writes are simulated, before the time of a program counts."""
    from protocols.simulator import Simulator

    sent = _over_http(protocol)
    if any(tool.writes for tool in sent.tools):
        Simulator(sent).prepare()


def _over_http(protocol: Protocol) -> Protocol:
    return protocol.only(tool.name for tool in protocol.tools if tool.function is None)


def _state(write: bool, reply: BrokerReply, may_have_left: bool) -> State:
    """The state in the journal of a call that was sent."""
    status = reply.record.status
    if status is None:
        return "unknown" if write and may_have_left else "failed"
    if 200 <= status < 300:
        return "confirmed"
    # A service that names a client's mistake, or sends the client elsewhere with the same request, has done nothing;
    # unless it had sent the client on to read the outcome.
    was_read = any(earlier not in (307, 308) for earlier, _ in reply.history)
    undone = 400 <= status < 500 or status in (307, 308)
    return "failed" if not write or (undone and not was_read) else "unknown"


_SAVED = ("url", "reason", "headers", "cookies", "sent", "encoding", "form", "failure", "problem")


def _reply_to_json(reply: BrokerReply) -> dict[str, object]:
    """A reply without its body and record, as JSON."""
    own = {name: getattr(reply, name) for name in _SAVED}
    cookies = [dict(hop) for hop in reply.set_on_the_way]
    own |= {"history": reply.history, "raised": reply.raised}
    own |= {"set_on_the_way": cookies, "set_cookies": reply.set_cookies}
    return {**own, "status": reply.record.status, "error": reply.record.error}


# Whether a write was done whose reply never came: the item that a PUT, PATCH or DELETE writes shows it.

_VARIABLE = re.compile(r"\{[^{}]*\}")


def _read_operation(protocol: Protocol | None, tool: Tool | None) -> Tool | None:
    """The operation that reads the item which a PUT, PATCH or DELETE writes, with no argument but the item's path."""
    if protocol is None or tool is None or tool.envelope or tool.method not in ("PUT", "PATCH", "DELETE"):
        return None
    if not tool.path.endswith("}"):
        return None
    path = _VARIABLE.sub("{}", tool.path)
    for candidate in protocol.apis[tool.namespace].tools:
        if candidate.method == "GET" and _VARIABLE.sub("{}", candidate.path) == path:
            needs = [p for p in candidate.parameters if p.required and p.location != "path"]
            return None if needs else candidate
    return None


def _write_outcome(
    method: str, sent: bytes | None, status: int, item: object
) -> Literal["done", "not done", "unknown"]:
    """Tell from a read of the same path, its status and parsed body, whether a write with a body was done.

    Where the read leaves a doubt, nothing is concluded.
    """
    if status in (404, 410):
        return "done" if method == "DELETE" else "not done"
    if not 200 <= status < 300:
        return "unknown"
    if method == "DELETE":
        return "not done"
    try:
        expected = json.loads(sent or b"")
    except (ValueError, RecursionError):
        return "unknown"
    if not isinstance(expected, dict) or not any(True for _ in _scalars(expected)):
        return "unknown"
    held = next((candidate for candidate in _objects(item) if expected.keys() <= candidate.keys()), None)
    if held is None:
        return "unknown"
    return "done" if dict(_scalars(expected)).items() <= dict(_scalars(held)).items() else "not done"


def _objects(value: object) -> Iterator[Mapping[str, object]]:
    if isinstance(value, Mapping):
        yield value
        yield from (item for item in value.values() if isinstance(item, Mapping))


def _scalars(value: object, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every scalar with its place, as text: services answer 3 for "3", and 3.0 for 3."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _scalars(item, (*place, str(name)))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _scalars(item, (*place, str(number)))
    else:
        whole = isinstance(value, float) and value.is_integer()
        yield place, str(int(value)) if whole else str(value)  # type: ignore[call-overload]
