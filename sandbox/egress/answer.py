"""The last step of a call: what came of it becomes its record, and the reply that the program gets.

Everything that comes back is freed of secrets here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from protocols.functions.values import plain
from protocols.quoting import one_line, words_of_service
from sandbox.body_store import MEMORY_LIMIT, LargeBody, beginning, store_body
from sandbox.egress.allowance import Allowance
from sandbox.egress.egress_rules import UnreachableError
from sandbox.egress.record import CallRecorder
from sandbox.egress.redaction import Redaction
from sandbox.egress.replies import (
    BrokerReply,
    header,
    headers_of_result,
    open_envelope,
    parse_body,
    retry_after,
    without_length,
)
from sandbox.egress.send import BUSY
from sandbox.egress.signing import Signer
from sandbox.egress.stages import (
    TOO_MANY,
    FunctionResult,
    LimitExceeded,
    NoAnswerError,
    Sent,
    TooLargeError,
    TransportReply,
)
from sandbox.truncation import cut, nested

__all__ = ["Answerer"]

_JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class Answerer:
    """Records the calls of one run that were made."""

    allowance: Allowance
    recorder: CallRecorder
    redactor: Redaction
    signer: Signer

    def answer(self, sent: Sent, **facts: Any) -> BrokerReply:
        """Record what came of a call, with further facts. Raises: LimitExceeded: A limit ended it."""
        if facts:
            self.recorder.note(sent.bound.call, **facts)
        outcome = sent.outcome
        if isinstance(outcome, FunctionResult):
            return self._result(sent, outcome)
        if isinstance(outcome, Exception):
            return self._failure(sent, outcome)
        reply = self._reply(sent, outcome)
        too_many = sent.stopped == TOO_MANY and sent.bound.call.style == "requests"
        return replace(
            reply,
            url=sent.hops[-1].url if sent.hops else sent.bound.url,
            sent=self._sent_headers(sent),
            hops=sent.hops,
            set_cookies=sent.set_cookies,
            failure="TooManyRedirects" if too_many else None,
        )

    def _sent_headers(self, sent: Sent) -> dict[str, str]:
        headers = sent.bound.planned.headers
        return dict(zip(headers, self.redactor.texts(list(headers.values())), strict=True))

    def _failure(self, sent: Sent, error: Exception) -> BrokerReply:
        """Record a call without a whole reply. Raises: LimitExceeded."""
        call, target, planned = sent.bound.call, sent.bound.target, sent.bound.planned
        function = target.tool.function if target.tool is not None else None
        what = f"{planned.method} {planned.path}"
        if isinstance(error, LimitExceeded):
            self.recorder.finish(call, str(error))
            raise error
        if isinstance(error, TooLargeError):
            reply = f"the result of {function.name}()" if function else f"the reply to {what}"
            text = f"{reply} is larger than the {self.allowance.limits.response} bytes allowed"
            start = beginning(self.redactor.content(error.beginning))
            self.recorder.finish(call, text, status=error.status, response=start)
            raise LimitExceeded("response", text)
        if isinstance(error, NoAnswerError):
            kind, message = error.kind, one_line(self.redactor.text(str(error)))
            why = f"{function.name}(): no answer" if function else f"{target.called}: no reply from {what}"
            problem = self.redactor.text(f"{why} — {message}")
        else:
            kind = error.kind if isinstance(error, UnreachableError) else type(error).__name__
            message = cut(self.redactor.text(str(error)))
            problem = cut(self.redactor.text(f"{target.called}: {what} can't be sent — {message}"))
        record = self.recorder.finish(call, message)
        sent_headers = {} if function else self._sent_headers(sent)
        return BrokerReply(record, sent.bound.url, sent=sent_headers, failure=kind, problem=problem)

    def _result(self, sent: Sent, result: FunctionResult) -> BrokerReply:
        """Record the result of a function."""
        call, url = sent.bound.call, sent.bound.url
        if result.problem is not None:
            problem = self.redactor.text(result.problem)
            record = self.recorder.finish(call, problem, status=result.status)
            raised = tuple(map(self.redactor.text, result.raised))
            return BrokerReply(record, url, reason="Error", problem=problem, raised=raised)
        data = result.data
        body = store_body([data], MEMORY_LIMIT if self.allowance.reserve(len(data)) else 0)
        parsed = body if isinstance(body, LargeBody) else data.decode() if nested(value := json.loads(data)) else value
        parsed = parsed if isinstance(parsed, LargeBody | str) else plain(parsed)
        record = self.recorder.finish(call, status=200, response=parsed)
        return BrokerReply(record, url, reason="OK", headers=_JSON, body=body, encoding="utf-8", form="json")

    def _reply(self, sent: Sent, response: TransportReply) -> BrokerReply:
        """Record the reply of a service."""
        bound = sent.bound
        tool, planned = bound.target.tool, bound.planned
        room = MEMORY_LIMIT if self.allowance.reserve(response.size) else 0
        response, body = self.cleaned(response, room)
        status, headers = response.status, response.headers
        form, parsed, problem, note = parse_body(tool, planned.method, status, headers, body)
        if note is not None and bound.call.style == "function":
            self.recorder.warn(self.redactor.text(f"{bound.target.called}: {note}"))
        opened = open_envelope(tool, status, body, room)
        if opened is not None:
            status, body, problem, form = opened.status, opened.body, opened.problem, "json"
            parsed, headers = opened.parsed, {**without_length(headers), **_JSON}
        elif response.status >= 300:
            problem = _problem(sent, response, parsed)
        if status == 401 and problem is not None and (lack := self.signer.missing_prefix(tool)):
            problem += f"; {lack}"
        if problem is not None:
            problem = self.redactor.text(f"{bound.target.called}: {problem} ({planned.method} {planned.path})")
        wait = retry_after(response.headers) if response.status in BUSY else None
        record = self.recorder.finish(bound.call, problem, status=status, response=parsed, retry_after=wait)
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

    def cleaned(self, response: TransportReply, room: int) -> tuple[TransportReply, bytes | LargeBody]:
        """A response and its body without a secret; up to so many bytes of it stay in memory."""
        heading = self.redactor.heading(response)
        parts = self.redactor.body(response)
        content = b"".join(parts) if response.size <= room else None
        body = store_body(parts, room) if content is None else content
        response.body.close()
        return heading, body


def _problem(sent: Sent, response: TransportReply, parsed: object) -> str:
    """What is wrong with a reply whose status is no success, with the reason that the service gives."""
    from sandbox.egress.reasons import challenge_message, service_message

    challenge = header(response.headers, "www-authenticate") if response.status in (401, 403) else None
    reason = sent.stopped or service_message(parsed) or challenge_message(challenge or "")
    problem = one_line(f"{response.status} {response.reason}".strip())
    problem += f" — {reason}" if sent.stopped else f" — {words}" if (words := words_of_service(reason)) else ""
    after = "; this is the outcome of the read that the write was redirected to"
    return problem + after * sent.may_have_left
