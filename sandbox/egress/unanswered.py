"""Answers calls that no service answered whole: of functions, and those that failed on their way."""

from __future__ import annotations

import json

from protocols.functions import plain
from protocols.quoting import one_line
from sandbox.body_store import MEMORY_LIMIT, LargeBody, beginning, store_body
from sandbox.egress.egress_rules import UnreachableError
from sandbox.egress.record import CallContext
from sandbox.egress.stages import (
    Bound,
    BrokerReply,
    FunctionResult,
    LimitExceeded,
    NoAnswerError,
    Sent,
    TooLargeError,
)
from sandbox.records import cut, nested

__all__ = ["failed_reply", "function_reply"]


def failed_reply(sent: Sent, error: Exception, context: CallContext) -> BrokerReply:
    """Record a call without a whole reply. Raises: LimitExceeded."""
    call, target, planned = sent.bound.call, sent.bound.target, sent.bound.planned
    recorder, clean = context.recorder, context.redactor.text
    function = target.tool.function if target.tool is not None else None
    what = f"{planned.method} {planned.path}"
    if isinstance(error, LimitExceeded):
        recorder.finish(call, str(error))
        raise error
    if isinstance(error, TooLargeError):
        reply = f"the result of {function.name}()" if function else f"the reply to {what}"
        text = f"{reply} is larger than the {recorder.allowance.limits.response} bytes allowed"
        start = beginning(context.redactor.content(error.beginning))
        recorder.finish(call, text, status=error.status, response=start)
        raise LimitExceeded("response", text)
    if isinstance(error, NoAnswerError):
        kind, message = error.kind, one_line(clean(str(error)))
        why = f"{function.name}(): no answer" if function else f"{target.called}: no reply from {what}"
        problem = clean(f"{why} — {message}")
    else:
        kind = error.kind if isinstance(error, UnreachableError) else type(error).__name__
        message = cut(clean(str(error)))
        problem = cut(clean(f"{target.called}: {what} can't be sent — {message}"))
    record = recorder.finish(call, message)
    headers = {} if function else context.redactor.sent_headers(planned.headers)
    return BrokerReply(record, sent.bound.url, sent=headers, failure=kind, problem=problem)


def function_reply(bound: Bound, result: FunctionResult, context: CallContext) -> BrokerReply:
    """Record the result of a function."""
    call, recorder = bound.call, context.recorder
    if result.problem is not None:
        problem = context.redactor.text(result.problem)
        record = recorder.finish(call, problem, status=result.status)
        raised = tuple(map(context.redactor.text, result.raised))
        return BrokerReply(record, bound.url, reason="Error", problem=problem, raised=raised)
    data = result.data
    body = store_body([data], MEMORY_LIMIT if recorder.allowance.reserve(len(data)) else 0)
    parsed: object = body
    if not isinstance(body, LargeBody):
        value = json.loads(data)
        parsed = data.decode() if nested(value) else plain(value)
    record = recorder.finish(call, status=200, response=parsed)
    return BrokerReply(
        record,
        bound.url,
        reason="OK",
        headers={"Content-Type": "application/json"},
        body=body,
        encoding="utf-8",
        form="json",
    )
