"""Answers a call: reads what came of it, records it, and makes it the reply that a program gets.

A reply may also come out of the journal, which keeps it without its body and record.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from requests.utils import parse_header_links

from protocols.functions import plain
from protocols.media_types import MediaKind, documented_kind, essence, media_kind
from protocols.model import READS, Envelope, Response, Tool, telling_headers
from protocols.quoting import one_line, shorten, words_of_service
from protocols.schema_fields import json_types
from sandbox.body_forms import BodyReading, described_bytes, read_body
from sandbox.body_store import MEMORY_LIMIT, LargeBody, store_body
from sandbox.egress.record import CallContext
from sandbox.egress.stages import (
    BUSY,
    TOO_MANY,
    Bound,
    BrokerReply,
    FunctionResult,
    Hop,
    Sent,
    TransportReply,
    charset_of,
    header,
)
from sandbox.journal.journal import Entry, JournalAttempt
from sandbox.records import nested

__all__ = ["answer", "cleaned", "parse_body", "replayed", "to_saved"]

_JSON = {"Content-Type": "application/json"}
_BY_LABEL = ("xml", "text", "bytes")
"""Kinds of bodies that are their own form."""

_essence = lru_cache(maxsize=1000)(essence)
_kind = lru_cache(maxsize=1000)(media_kind)
"""Of a media type; the same few come again with each call."""


# Recording


def answer(sent: Sent, context: CallContext, **facts: Any) -> BrokerReply:
    """Record what came of a call, with further facts. Raises: LimitExceeded: A limit ended it."""
    if facts:
        context.recorder.note(sent.bound.call, **facts)
    outcome = sent.outcome
    if isinstance(outcome, FunctionResult):
        from sandbox.egress.unanswered import function_reply

        return function_reply(sent.bound, outcome, context)
    if isinstance(outcome, Exception):
        from sandbox.egress.unanswered import failed_reply

        return failed_reply(sent, outcome, context)
    return _service_reply(sent, outcome, context)


def _service_reply(sent: Sent, response: TransportReply, context: CallContext) -> BrokerReply:
    """Record the reply of a service."""
    bound, recorder = sent.bound, context.recorder
    tool, planned = bound.target.tool, bound.planned
    room = MEMORY_LIMIT if recorder.allowance.reserve(response.size) else 0
    response, body = cleaned(response, room, context)
    status, headers = response.status, response.headers
    form, (parsed, problem, note) = parse_body(tool, planned.method, status, headers, body)
    if note is not None and bound.call.style == "function":
        recorder.warn(context.redactor.text(f"{bound.target.called}: {note}"))
    if tool is not None and tool.envelope is not None and status < 300:
        status, body, parsed, problem = _opened(tool.envelope, status, body, room)
        form = "json"
        described = ("content-length", "content-type", "content-encoding")
        headers = {**{name: value for name, value in headers.items() if name.lower() not in described}, **_JSON}
    elif status >= 300:
        problem = _problem(sent, response, parsed)
    if status == 401 and problem is not None and (lack := context.signer.missing_prefix(tool)):
        problem += f"; {lack}"
    if problem is not None:
        problem = context.redactor.text(f"{bound.target.called}: {problem} ({planned.method} {planned.path})")
    wait = response.pause if response.status in BUSY else None
    too_many = sent.stopped == TOO_MANY and bound.call.style == "requests"
    return BrokerReply(
        recorder.finish(bound.call, problem, status=status, response=parsed, retry_after=wait, more=_has_next(headers)),
        url=sent.hops[-1].url if sent.hops else bound.url,
        reason=response.reason,
        headers=headers,
        cookies=response.cookies,
        sent=context.redactor.sent_headers(sent.bound.planned.headers),
        body=body,
        encoding=response.encoding,
        form=form,
        result_headers=headers_of_result(tool, status, headers, not body),
        hops=sent.hops,
        set_cookies=sent.set_cookies,
        failure="TooManyRedirects" if too_many else None,
        problem=problem,
    )


def cleaned(response: TransportReply, room: int, context: CallContext) -> tuple[TransportReply, bytes | LargeBody]:
    """A response and its body without a secret; up to so many bytes of it stay in memory."""
    parts = context.redactor.body(response)
    body = b"".join(parts) if response.size <= room else store_body(parts, room)
    response.body.close()
    return context.redactor.heading(response), body


def _has_next(headers: Mapping[str, str]) -> bool:
    """True if a `Link` header leads to a next page, and does not say that it is empty (`results="false"`)."""
    links = parse_header_links((header(headers, "link") or "").lower())
    return any("next" in link.get("rel", "").split() and link.get("results") != "false" for link in links)


def _problem(sent: Sent, response: TransportReply, parsed: object) -> str:
    """What is wrong with a reply whose status is no success, with the reason that the service gives."""
    from sandbox.egress.reasons import challenge_message, service_message

    challenge = header(response.headers, "www-authenticate") if response.status in (401, 403) else None
    reason = sent.stopped or service_message(parsed) or challenge_message(challenge or "")
    problem = one_line(f"{response.status} {response.reason}".strip())
    problem += f" — {reason}" if sent.stopped else f" — {words}" if (words := words_of_service(reason)) else ""
    after = "; this is the outcome of the read that the write was redirected to"
    return problem + after * sent.may_have_left


# The journal

_SAVED = ("url", "reason", "headers", "cookies", "sent", "encoding", "form", "failure", "problem")


def to_saved(reply: BrokerReply) -> dict[str, object]:
    """A reply without its body and record, as JSON."""
    own = {name: getattr(reply, name) for name in _SAVED}
    own |= {"hops": reply.hops, "raised": reply.raised, "set_cookies": reply.set_cookies}
    return {**own, "status": reply.record.status, "error": reply.record.error}


def replayed(bound: Bound, journal: JournalAttempt, entry: Entry, context: CallContext) -> BrokerReply:
    """The reply in the journal as that of a call, which gets its record."""
    recorder = context.recorder
    saved, size = journal.reply(entry)
    recorder.warn_of_doubt(bound, "sent")
    body = store_body(journal.body(entry), MEMORY_LIMIT if recorder.allowance.reserve(size) else 0)
    tool, status = bound.target.tool, saved["status"] or 0
    _, (parsed, _, _) = parse_body(tool, bound.planned.method, status, saved["headers"], body)
    if tool is not None and tool.function is not None:
        parsed = plain(parsed)
    set_cookies = tuple((url, tuple(lines)) for url, lines in saved.get("set_cookies", ()) if tool is not None)
    for url, lines in set_cookies:  # a login counts for the calls that are still to be made
        context.signer.cookies.keep(tool.namespace if tool else "", url, lines)
    more = _has_next(saved["headers"])
    return BrokerReply(
        recorder.finish(bound.call, saved["error"], status=saved["status"], response=parsed, replayed=True, more=more),
        **{name: saved[name] for name in _SAVED},
        body=body,
        hops=tuple(Hop(*hop) for hop in saved["hops"]),
        raised=tuple(saved.get("raised", ())),
        result_headers=headers_of_result(tool, status, saved["headers"], not body),
        set_cookies=set_cookies,
    )


# Bodies


def parse_body(
    tool: Tool | None, method: str, status: int, headers: Mapping[str, str], body: bytes | LargeBody
) -> tuple[str, BodyReading]:
    """Read a body for the record of a call: the forms that it may have, and its value there.

    A large one is not looked into: its value is the body itself. The problem is one although the status is good.
    """
    documented = tool.response(status) if tool is not None else None
    if documented is None and tool is not None and status < 300:
        documented = tool.success
    content_type = header(headers, "content-type") or ""
    if not body:
        form = _empty(documented, method, status, _essence(content_type))
        return form, BodyReading(described_bytes(read_body(form, b"", None).value))
    form = _forms(documented, content_type, method in READS or status >= 300)
    if isinstance(body, LargeBody):
        is_page = "page" in form and body.beginning.lstrip()[:1] == "<"
        problem = f"the reply is a web page instead of JSON: {_short(body.beginning)}" if is_page else None
        return form, BodyReading(body, problem)
    value, problem, note = read_body(form, body, charset_of(headers))
    if problem is not None:
        problem = f"{problem}: {_short(str(value))}"
    value = described_bytes(value) if isinstance(value, bytes) else value
    return form, BodyReading(body.decode("utf-8", "replace") if nested(value) else value, problem, note)


def _empty(documented: Response | None, method: str, status: int, label: str) -> str:
    """The form of an empty body: documented lines, texts and bytes may have none, where the status speaks of a body."""
    expected = _expected(documented, label)
    may_be_empty = expected in ("lines", "text", "bytes") and status not in (204, 205) and status < 300
    return expected if may_be_empty and method != "HEAD" else "none"


def _forms(documented: Response | None, content_type: str, strict: bool) -> str:
    """The forms in which to read a body: first as the document has it, then as its label says.

    strict: Documented JSON must be JSON. What a write was answered is a value in any case.
    """
    label, kind = _essence(content_type), _kind(content_type)
    expected = _expected(documented, label)
    types = json_types((documented.schema if documented is not None else None) or {})
    refuse = "refuse" if strict else "text"
    page = " page" if strict and label in ("text/html", "application/xhtml+xml") else ""
    by_label = kind if kind in _BY_LABEL else "plain"
    rows = " rows" if not types or "array" in types else ""
    if kind == "lines" and expected in ("json", "lines", ""):
        return f"json lines {refuse}" if expected == "json" and types == ("object",) else f"lines {refuse}"
    if expected == "json" and "string" in types:
        return f"string{page} text" if types == ("string",) else f"json{page} text"
    if kind == "json" and expected in ("json", "lines", ""):
        return f"json{' lines' if expected == 'lines' else rows} {refuse}"
    if expected == "lines":
        return f"lines json{page or f' {by_label}'}"
    if expected == "json":
        return f"json{rows}{page} {'refuse' if page and types == ('object',) else by_label}"
    if kind == "json" and expected in ("text", "xml"):
        return "string text" if expected == "text" else "json xml"
    if expected:
        return expected if expected in _BY_LABEL else "plain"
    return by_label if label else "json plain"


def _expected(documented: Response | None, label: str) -> MediaKind:
    """The kind of body that the document has for a label: for one of several media types, or for whatever comes."""
    if documented is None or documented.media_type is None:
        return ""
    listed = [_essence(media_type) for media_type in documented.media_types]
    preferred = _essence(documented.media_type)
    if "*" in preferred or ("*/*" in listed and preferred not in listed):  # the schema is that of a range
        kind = documented_kind("", documented.schema)
        by_label = _kind(label)
        if kind == "text" and by_label in ("xml", "bytes"):
            return by_label
        return kind or by_label or documented.kind
    is_listed = any(fnmatchcase(label, media_type) for media_type in listed)
    if label and is_listed and label not in (preferred, "text/plain") and _kind(label):
        return _kind(label)
    return documented.kind


def headers_of_result(tool: Tool | None, status: int, headers: Mapping[str, str], empty: bool) -> dict[str, str] | None:
    """The headers that the result of a call has: where the document has some, or a Location came; else None.

    An empty body has them only if they say more than how the call went.
    """
    has_headers = tool is not None and any(response.headers for response in tool.responses)
    documented = tool.response(status) if tool is not None and has_headers else None
    names: Collection[str] = documented.headers if documented is not None else ()
    located = 200 <= status < 400 and header(headers, "location") is not None
    if not located and not (telling_headers(documented) if empty and documented is not None else names):
        return None
    lowered = {name.lower() for name in names}
    return {name: value for name, value in headers.items() if name.lower() != "set-cookie" or "set-cookie" in lowered}


def _opened(
    envelope: Envelope, status: int, body: bytes | LargeBody, room: int
) -> tuple[int, bytes | LargeBody, object, str | None]:
    """The content of an envelope, as the API itself would have replied with JSON: status, body, value and problem.

    The status of an error is that of its fault (see protocols.calls.envelope). `room`: bytes of a body that may stay
    in memory.
    """
    from protocols.calls.envelope import NO_ENVELOPE, fault_of, opened_reply

    content = body.read() if isinstance(body, LargeBody) else body
    try:
        error, value = opened_reply(envelope, content)
    except ValueError as problem:
        return NO_ENVELOPE.status, body, _short(content[:1000].decode("utf-8", "replace")), str(problem)
    if error:
        fault = fault_of(error)
        quoted = _short(error).replace('"', "'")
        data = json.dumps({envelope.error_field: error}, ensure_ascii=False).encode()
        return fault.status, data, json.loads(data), f'{fault.name} — the service said "{quoted}"'
    stored = store_body([json.dumps(value, ensure_ascii=False).encode()], room)
    return status, stored, stored if isinstance(stored, LargeBody) else value, None


def _short(text: str) -> str:
    return shorten(" ".join(text.split()), 200)
