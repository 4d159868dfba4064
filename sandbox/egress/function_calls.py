"""Calls the functions of this process for a program: one after another, recorded, and within the limits of the run."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from protocols.functions.host_function import ArgumentError, FunctionCallError, HostFunction, ResultError
from protocols.functions.values import plain
from sandbox.body_store import MEMORY_LIMIT, LargeBody, store_body
from sandbox.egress.pending_call import LimitExceeded, PendingCall
from sandbox.egress.replies import BrokerReply
from sandbox.truncation import nested

if TYPE_CHECKING:
    from sandbox.egress.executor import CallExecutor

__all__ = ["call_function"]

JSON = {"Content-Type": "application/json"}


def call_function(
    executor: CallExecutor, call: PendingCall, function: HostFunction, on_send: Callable[[], None]
) -> BrokerReply:
    """Call a function with the planned arguments; `on_send` is called before. Raises: LimitExceeded.

    The status in the record is 200; 400 where the function raised an exception, and 500 where its result is no JSON.
    """
    content = call.planned.body or b"{}"
    if len(content) > executor.limits.request:
        raise _limit(executor, call, "request", f"the arguments of {function.name}() are larger than")
    remaining = executor.remaining()
    if not function.turn.acquire(timeout=-1 if remaining is None else max(0.0, remaining)):
        raise _limit(executor, call, "wall", f"{function.name}() had to wait for another call until the end of the run")
    try:
        if executor.cancelled:
            record = executor.finish(call, "the run is over")
            return BrokerReply(record, call.url, failure="ConnectionError", problem=record.error)
        on_send()
        call.attempts, call.may_have_left = 1, True
        value = function.call(json.loads(content))
    except FunctionCallError as error:
        return _failed(executor, call, 400, f"{error.type}: {error}", (str(error), error.type, *error.bases))
    except (ArgumentError, ResultError) as error:
        return _failed(executor, call, 400 if isinstance(error, ArgumentError) else 500, f"{function.name}(): {error}")
    finally:
        function.turn.release()
    data = executor.redact(json.dumps(value)).encode()
    executor.count_traffic(len(content) + len(data))
    if len(data) > executor.limits.response:
        raise _limit(executor, call, "response", f"the result of {function.name}() is larger than", status=200)
    body = store_body([data], MEMORY_LIMIT if executor.reserve(len(data)) else 0)
    parsed = body if isinstance(body, LargeBody) else data.decode() if nested(value) else plain(json.loads(data))
    record = executor.finish(call, status=200, response=parsed)
    return BrokerReply(record, call.url, reason="OK", headers=JSON, body=body, encoding="utf-8", form="json")


def _failed(
    executor: CallExecutor, call: PendingCall, status: int, problem: str, raised: tuple[str, ...] = ()
) -> BrokerReply:
    problem = executor.redact(problem)
    record = executor.finish(call, problem, status=status)
    texts = tuple(map(executor.redact, raised))
    return BrokerReply(record, call.url, reason="Error", problem=problem, raised=texts)


def _limit(
    executor: CallExecutor, call: PendingCall, limit: str, text: str, status: int | None = None
) -> LimitExceeded:
    """End a call by a limit; a size is added to the text."""
    sizes = {"request": executor.limits.request, "response": executor.limits.response}
    text = f"{text} the {sizes[limit]} bytes allowed" if limit in sizes else text
    executor.finish(call, text, status=status)
    return LimitExceeded(limit, text)
