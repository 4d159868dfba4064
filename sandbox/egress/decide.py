"""Decides about each call: it is sent, replayed from the journal, confirmed by a read, refused or simulated.

The journal knows a call by its fingerprint: that of the tool and the request as sent, in whatever style the program
wrote it. All that the program or its document decides counts: two calls that differ in a tenant's cookie or in a
language are two. Credentials do not count, nor what is added on the way.
"""

from __future__ import annotations

import hashlib
import json
import threading
import uuid
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote

from sandbox.body_store import MEMORY_LIMIT
from sandbox.egress import Writes
from sandbox.egress.answer import to_saved
from sandbox.egress.bind import idempotency_header
from sandbox.egress.egress_rules import CallTarget
from sandbox.egress.record import CallContext
from sandbox.egress.stages import FORM, Bound, BrokerReply, Decided, PlannedRequest, QueryPairs, header
from sandbox.journal.journal import Entry, JournalAttempt, State
from sandbox.records import CallRecord, cut_arguments, nested, size_of

if TYPE_CHECKING:
    from sandbox.egress.write_plan import WriteLedger

__all__ = ["CallPolicy", "ledger_of"]

_READABLE = frozenset({"", "application/json", "application/x-www-form-urlencoded"})
"""Media types of bodies that are shown by their values."""


_DENIED = "a write, which --writes deny refuses"
_NOBODY = "a write, and nobody is there to confirm it; --writes allow allows it"
_NOT_CONFIRMED = "a write that was not confirmed"


def ledger_of(writes: Writes) -> WriteLedger | None:
    """The ledger, where that is the policy."""
    return None if isinstance(writes, str) or callable(writes) else writes


class CallPolicy:
    """The policy for the calls of one run, by its journal and by what becomes of writes.

    Args:
        before_call: Given each call before it is sent; returns the reason against it, or None.
    """

    def __init__(
        self,
        context: CallContext,
        journal: JournalAttempt | None,
        writes: Writes,
        before_call: Callable[[CallRecord], str | None] | None,
    ) -> None:
        self._recorder = context.recorder
        self._redactor = context.redactor
        self._signer = context.signer
        self._journal = journal
        self._writes = writes
        self._before_call = before_call
        self._turn = threading.Lock()
        ledger = ledger_of(writes)
        self._planned = ledger.open_run() if ledger is not None else None
        self._withheld = threading.Event()

    def decide(self, bound: Bound) -> Decided:
        """What becomes of a call whose request is known."""
        write = bound.writes
        self._recorder.note_bound(bound, uncertain=self._withheld.is_set() and not write)
        if write and self._writes == "simulate":
            return self._simulated(Decided(bound, "simulate"))
        if write and self._planned is not None:
            if self._journal is None:
                return Decided(bound, "refuse", "a write, which can be planned only with a journal", by_policy=True)
            from sandbox.egress.write_plan import write_request

            self._planned.begin(bound.call.index, write_request(bound, self._redactor.value))
        if self._journal is not None:
            return self._with_journal(self._journal, bound)
        bound, token = self._with_key(bound, None, _new_key)
        if (why := self._objection(bound)) is not None:
            return Decided(bound, "refuse", why, by_policy=write)
        return Decided(bound, "send", token=token)

    def _with_journal(self, journal: JournalAttempt, bound: Bound) -> Decided:
        entry, lookup = journal.begin(self._key(bound), bound.call.task, self._unsent(bound))
        if lookup == "replay":
            return Decided(bound, "replay", entry=entry)
        if lookup == "open" and entry.token is None:
            return Decided(bound, "find out", entry=entry)
        return self._new(journal, bound, entry)

    def again(self, decided: Decided) -> Decided:
        """What becomes of a call of which it was found out that an earlier one like it was not done."""
        assert self._journal is not None and decided.entry is not None  # only a journal has earlier calls
        entry = self._journal.plan_again(decided.entry, self._unsent(decided.bound))
        return self._new(self._journal, decided.bound, entry)

    def _new(self, journal: JournalAttempt, bound: Bound, entry: Entry) -> Decided:
        """What becomes of a call that has to be made."""
        write = bound.writes
        withheld = write and self._planned is not None and self._planned.phase == "plan"
        why = None if withheld else self._objection(bound)
        if (withheld or why is not None) and entry.state == "planned":
            journal.drop(entry)
        if withheld:
            return self._simulated(Decided(bound, "simulate"))
        if why is not None:
            return Decided(bound, "refuse", why, by_policy=write)
        bound, token = self._with_key(bound, entry.token, lambda: journal.token(entry))
        return Decided(bound, "send", entry=entry, token=token, again=entry.token is not None)

    def _with_key(self, bound: Bound, earlier: str | None, fresh: Callable[[], str]) -> tuple[Bound, str | None]:
        """The call with an idempotency key, where its operation documents one, and the key.

        It is the key of the first time, else the program's own, else a fresh one.
        """
        if bound.key is None:
            return bound, None
        headers, name = bound.planned.headers, bound.key.name
        token = earlier or header(headers, name.lower()) or fresh()
        arguments = {**bound.arguments, bound.key.argument: token}
        others = {other: value for other, value in headers.items() if other.lower() != name.lower()}
        self._recorder.note(bound.call, arguments=arguments)
        planned = replace(bound.planned, headers={**others, name: token})
        return replace(bound, arguments=arguments, planned=planned), token

    def _simulated(self, decided: Decided) -> Decided:
        """The decision to simulate a write, if that can be done."""
        tool = decided.bound.target.tool
        option = f"(--writes {'simulate' if self._planned is None else 'plan'})"
        if tool is None:
            why = f"a write that no protocol describes, so that it cannot be simulated {option}"
            return Decided(decided.bound, "refuse", why, by_policy=True)
        if tool.function is not None:
            kind = "tool of an MCP server" if tool.function.remote else "function of this process"
            why = f"a {kind}, whose writes cannot be simulated {option}"
            return Decided(decided.bound, "refuse", why, by_policy=True)
        self._withheld.set()
        return decided

    # Around the sending

    def leaves(self, decided: Decided) -> Callable[[], None]:
        """What is to be called right before a request leaves: the call is on disk by then."""
        journal, entry = self._journal, decided.entry
        if journal is None or entry is None:
            return lambda: None
        return lambda: journal.sent(entry, decided.token)

    def failed(self, decided: Decided) -> None:
        """Note that a call which was to be sent has ended with an error."""
        if self._journal is not None and decided.entry is not None:
            unknown = decided.bound.writes and decided.entry.state == "sent"
            self._journal.finish(decided.entry, "unknown" if unknown else "failed")

    def settle(self, decided: Decided, reply: BrokerReply, may_have_left: bool) -> None:
        """Note how a call was answered that was sent."""
        if self._journal is None or decided.entry is None:
            return
        state = _state(decided.bound.writes, reply, may_have_left)
        if decided.again and reply.record.status == 409:
            state = "unknown"  # the service is still busy with the first one
        if state == "unknown":
            called = decided.bound.target.called
            self._recorder.warn(f"{called}: it is not known whether this write was done ({reply.record.error})")
        self._journal.finish(decided.entry, state, to_saved(reply), reply.body)

    def confirmed(self, entry: Entry, reply: BrokerReply) -> None:
        """Note that an earlier write was done, with what is its reply from now on."""
        if self._journal is not None:
            self._journal.finish(entry, "confirmed", to_saved(reply), reply.body)

    def answered(self, bound: Bound, record: CallRecord) -> None:
        """Note for the plan of writes how a write was answered."""
        if self._planned is not None and bound.writes and self._journal is not None:
            self._planned.answered(bound.call.index, record)

    # The reasons against a call

    def _objection(self, bound: Bound) -> str | None:
        """The reason against sending a call: that of the hook, and for a write that of its policy."""
        reason = self._before_call(self._unsent(bound)) if self._before_call is not None else None
        if reason is not None:
            return reason or "refused before it was sent"
        return self._refusal(bound) if bound.writes else None

    def _refusal(self, bound: Bound) -> str | None:
        """The reason of the writes policy against sending a write; None if it may be sent.

        Who is asked to confirm what `requests` sends sees all of it, headers and cookies included.
        """
        if self._planned is not None:
            return self._planned.refusal(bound.call.index)
        if self._writes == "allow":
            return None
        if self._writes == "deny":
            function = bound.target.tool.function if bound.target.tool is not None else None
            hint = "; --trust-hints takes the server's word that it reads"
            return _DENIED + hint if function is not None and function.reads else _DENIED
        if not callable(self._writes):
            return _NOBODY
        unsent = self._unsent(bound)
        if unsent.style == "requests":
            from sandbox.egress.write_plan import write_request

            request = write_request(bound, self._redactor.value)
            kind = {} if request.media_type in _READABLE else {"header Content-Type": request.media_type}
            unsent = replace(unsent, arguments=_bounded({**request.fields, **kind}))
        with self._turn, self._recorder.allowance.paused():
            answer = self._writes(unsent)
        return answer if isinstance(answer, str) else None if answer is True else _NOT_CONFIRMED

    def _unsent(self, bound: Bound) -> CallRecord:
        """The record of a call before it is made."""
        arguments = self._redactor.value(_bounded(bound.arguments))
        return replace(self._recorder.note(bound.call), arguments=arguments, attempts=0, uncertain=False)

    def _key(self, bound: Bound) -> str:
        places = (credential.place for credential in self._signer.credentials_for(bound.target.tool))
        hidden = {(location, name.lower()) for location, name in places}
        return _fingerprint(bound.target, bound.planned, hidden)


def _bounded(arguments: dict[str, object]) -> dict[str, object]:
    """Arguments for a record: as they are, but for large or deep ones."""
    return cut_arguments(arguments) if nested(arguments) or size_of(arguments) > MEMORY_LIMIT else arguments


def _new_key() -> str:
    """An idempotency key that no other call has."""
    return str(uuid.uuid4())


def _state(write: bool, reply: BrokerReply, may_have_left: bool) -> State:
    """The state in the journal of a call that was sent."""
    status = reply.record.status
    if status is None:
        return "unknown" if write and may_have_left else "failed"
    if 200 <= status < 300:
        return "confirmed"
    # A service that names a client's mistake, or sends the client elsewhere with the same request, has done nothing;
    # unless it had sent the client on to read the outcome.
    was_read = any(hop.status not in (307, 308) for hop in reply.hops)
    undone = 400 <= status < 500 or status in (307, 308)
    return "failed" if not write or (undone and not was_read) else "unknown"


# Fingerprints

_OURS = frozenset({"content-length", "content-type", "cookie"})
"""Headers that follow from the body and the cookies, which count themselves."""


_ANY_BYTES = "surrogateescape"
"""Bytes that are no UTF-8 stay apart in a fingerprint."""


def _fingerprint(target: CallTarget, planned: PlannedRequest, hidden: Collection[tuple[str, str]]) -> str:
    """A digest of a call (sha256, in hex), equal for equal calls only.

    Where the path begins counts only for a call without a tool; of the query, only the order of equal names.

    Args:
        hidden: Places of credentials: ("header", "query" or "cookie", name in lower case).
    """
    headers = {name.lower(): value for name, value in planned.headers.items()}
    kind, parameters = _kind(headers.get("content-type", ""))
    skipped = {name for place, name in hidden if place == "header"} | _OURS
    if any(wide in headers.get("accept", "") for wide in ("json", "*/*")):  # what is asked for where nobody says
        skipped |= {"accept"}
    if (key := idempotency_header(target.tool)) is not None:
        skipped |= {key.name.lower()}
    pairs = planned.query
    if isinstance(pairs, QueryPairs) and pairs.written is not None:
        pairs = parse_qsl(pairs.written, keep_blank_values=True, errors=_ANY_BYTES)
    query = [[name, value] for name, value in pairs if ("query", name.lower()) not in hidden]
    content = [
        planned.method,
        target.tool.name if target.tool is not None else target.base,
        [unquote(part, errors=_ANY_BYTES) for part in planned.path.split("/")],
        sorted(query, key=lambda pair: pair[0]),
        sorted([name, value] for name, value in headers.items() if name not in skipped),
        sorted([name, value] for name, value in planned.cookies.items() if ("cookie", name.lower()) not in hidden),
        _content(planned.body, kind),
        planned.redirects or planned.writes,
        *([parameters] if parameters else []),  # another charset or boundary makes another body of the same bytes
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _kind(content_type: str) -> tuple[str, str]:
    """A media type, and its parameters."""
    if not content_type:
        return "", ""
    from sandbox.egress.request_values import media_type

    kind, _, parameters = media_type(content_type).partition("; ")
    return kind, parameters


def _content(body: bytes | None, kind: str) -> list[object]:
    """A body in a form of its own: JSON and forms by what they say, all others (and large ones) by their bytes."""
    if not body:
        return []
    if len(body) <= MEMORY_LIMIT:
        if kind == FORM:
            pairs = parse_qsl(body.decode("utf-8", _ANY_BYTES), keep_blank_values=True, errors=_ANY_BYTES)
            return ["form", sorted(pairs, key=lambda pair: pair[0])]
        from sandbox.egress.request_values import json_value

        try:
            return ["json", json_value(body)]
        except (ValueError, RecursionError):
            pass
    return ["bytes", kind, hashlib.sha256(body).hexdigest()]
