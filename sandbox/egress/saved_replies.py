"""Replies as the journal keeps them, and as a later run gets them again."""

from __future__ import annotations

from protocols.functions.values import plain
from sandbox.body_store import MEMORY_LIMIT, store_body
from sandbox.egress.allowance import Allowance
from sandbox.egress.record import CallRecorder
from sandbox.egress.replies import BrokerReply, headers_of_result, parse_body
from sandbox.egress.signing import Signer
from sandbox.egress.stages import Bound, Hop
from sandbox.journal.journal import Entry, JournalAttempt

__all__ = ["replayed", "to_saved"]

_SAVED = ("url", "reason", "headers", "cookies", "sent", "encoding", "form", "failure", "problem")


def to_saved(reply: BrokerReply) -> dict[str, object]:
    """A reply without its body and record, as JSON."""
    own = {name: getattr(reply, name) for name in _SAVED}
    own |= {"hops": reply.hops, "raised": reply.raised, "set_cookies": reply.set_cookies}
    return {**own, "status": reply.record.status, "error": reply.record.error}


def replayed(
    bound: Bound, journal: JournalAttempt, entry: Entry, allowance: Allowance, recorder: CallRecorder, signer: Signer
) -> BrokerReply:
    """The reply in the journal as that of a call, which gets its record."""
    saved, size = journal.reply(entry)
    recorder.warn_of_doubt(bound, "sent")
    body = store_body(journal.body(entry), MEMORY_LIMIT if allowance.reserve(size) else 0)
    tool, status = bound.target.tool, saved["status"] or 0
    parsed = parse_body(tool, bound.planned.method, status, saved["headers"], body).value
    if tool is not None and tool.function is not None:
        parsed = plain(parsed)
    set_cookies = tuple((url, tuple(lines)) for url, lines in saved.get("set_cookies", ()) if tool is not None)
    for url, lines in set_cookies:  # a login counts for the calls that are still to be made
        signer.cookies.keep(tool.namespace if tool else "", url, lines)
    record = recorder.finish(bound.call, saved["error"], status=saved["status"], response=parsed, replayed=True)
    return BrokerReply(
        record,
        **{name: saved[name] for name in _SAVED},
        body=body,
        hops=tuple(Hop(*hop) for hop in saved["hops"]),
        raised=tuple(saved.get("raised", ())),
        result_headers=headers_of_result(tool, status, saved["headers"], not body),
        set_cookies=set_cookies,
    )
