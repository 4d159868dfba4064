"""Calls functions for a program: one after another, recorded, and within the limits of the run.

They are those of this process, or the tools of a server that this process is connected with.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any, Protocol

from protocols.functions.host_function import ArgumentError, FunctionCallError, HostFunction, ResultError
from protocols.functions.remote_function import NoReplyError, RemoteCallError
from protocols.functions.values import plain
from sandbox.body_store import MEMORY_LIMIT, LargeBody, store_body
from sandbox.egress.pending_call import LimitExceeded, PendingCall
from sandbox.egress.replies import BrokerReply
from sandbox.records import CallRecord, Limits
from sandbox.truncation import nested, one_line

__all__ = ["call_function"]

JSON = {"Content-Type": "application/json"}


class CallLedger(Protocol):
    """The limits of a run and the records of its calls, as sandbox.egress.executor keeps them."""

    limits: Limits

    @property
    def cancelled(self) -> bool: ...
    def remaining(self) -> float | None: ...
    def reserve(self, size: int) -> bool: ...
    def count_traffic(self, size: int) -> None: ...
    def redact(self, text: str) -> str: ...
    def finish(self, call: PendingCall, error: str | None = None, **outcome: Any) -> CallRecord: ...


def call_function(
    ledger: CallLedger, call: PendingCall, function: HostFunction, on_send: Callable[[], None]
) -> BrokerReply:
    """Call a function with the planned arguments; `on_send` is called before. Raises: LimitExceeded.

    The status in the record is 200; 400 where the function raised an exception, and 500 where its result is no JSON.
    That of a server's tool is 200, or what its error stands for; there is none where the server does not answer.
    """
    content = call.planned.body or b"{}"
    if len(content) > ledger.limits.request:
        raise _limit(ledger, call, "request", f"the arguments of {function.name}() are larger than")
    remaining = ledger.remaining()
    if not function.turn.acquire(timeout=-1 if remaining is None else max(0.0, remaining)):
        raise _limit(ledger, call, "wall", f"{function.name}() had to wait for another call until the end of the run")
    try:
        if ledger.cancelled:
            record = ledger.finish(call, "the run is over")
            return BrokerReply(record, call.url, failure="ConnectionError", problem=record.error)
        on_send()
        call.attempts, call.may_have_left = 1, True
        value = function.call(json.loads(content), _time_left(ledger))
    except NoReplyError as error:
        return _unanswered(ledger, call, function, error)
    except RemoteCallError as error:
        return _failed(ledger, call, error.status, f"{function.name}(): {error}")
    except FunctionCallError as error:
        return _failed(ledger, call, 400, f"{error.type}: {error}", (str(error), error.type, *error.bases))
    except (ArgumentError, ResultError) as error:
        return _failed(ledger, call, 400 if isinstance(error, ArgumentError) else 500, f"{function.name}(): {error}")
    finally:
        function.turn.release()
    data = ledger.redact(json.dumps(value)).encode()
    ledger.count_traffic(len(content) + len(data))
    if len(data) > ledger.limits.response:
        raise _limit(ledger, call, "response", f"the result of {function.name}() is larger than", status=200)
    body = store_body([data], MEMORY_LIMIT if ledger.reserve(len(data)) else 0)
    parsed = body if isinstance(body, LargeBody) else data.decode() if nested(value) else plain(json.loads(data))
    record = ledger.finish(call, status=200, response=parsed)
    return BrokerReply(record, call.url, reason="OK", headers=JSON, body=body, encoding="utf-8", form="json")


def _time_left(ledger: CallLedger) -> Callable[[], float]:
    """Tells how long a call that begins now may still take; nothing once the run is over."""
    end = time.monotonic() + ledger.limits.call_seconds

    def remaining() -> float:
        if ledger.cancelled:
            return 0.0
        left, of_run = end - time.monotonic(), ledger.remaining()
        return left if of_run is None else min(left, of_run)

    return remaining


def _unanswered(ledger: CallLedger, call: PendingCall, function: HostFunction, error: NoReplyError) -> BrokerReply:
    """The reply of a call without an answer. Raises: LimitExceeded: The run is over while it was waited for."""
    call.may_have_left = error.may_have_left
    left = ledger.remaining()
    if error.timeout and not ledger.cancelled and left is not None and left <= 0:
        raise _limit(ledger, call, "wall", f"{function.name}() did not answer before the end of the run")
    message = one_line(ledger.redact("the run is over" if ledger.cancelled else str(error)))
    record = ledger.finish(call, message)
    problem = ledger.redact(f"{function.name}(): no answer — {message}")
    return BrokerReply(record, call.url, failure=error.kind, problem=problem)


def _failed(
    ledger: CallLedger, call: PendingCall, status: int, problem: str, raised: tuple[str, ...] = ()
) -> BrokerReply:
    problem = ledger.redact(problem)
    record = ledger.finish(call, problem, status=status)
    texts = tuple(map(ledger.redact, raised))
    return BrokerReply(record, call.url, reason="Error", problem=problem, raised=texts)


def _limit(ledger: CallLedger, call: PendingCall, limit: str, text: str, status: int | None = None) -> LimitExceeded:
    """End a call by a limit; a size is added to the text."""
    sizes = {"request": ledger.limits.request, "response": ledger.limits.response}
    text = f"{text} the {sizes[limit]} bytes allowed" if limit in sizes else text
    ledger.finish(call, text, status=status)
    return LimitExceeded(limit, text)
