"""Calls functions for a program: one after another, and within the limits of the run.

They are those of this process, or the tools of a server that this process is connected with.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from protocols.functions.host_function import (
    ArgumentError,
    FunctionCallError,
    HostFunction,
    NoReplyError,
    RemoteCallError,
    ResultError,
)
from sandbox.egress.record import Allowance, CallContext
from sandbox.egress.stages import Bound, FunctionResult, LimitExceeded, NoAnswerError, Sent, TooLargeError

__all__ = ["call_function"]

_OVER = "the run is over"


def call_function(bound: Bound, function: HostFunction, context: CallContext, on_send: Callable[[], None]) -> Sent:
    """Call a function with the planned arguments; `on_send` is called before.

    The status of its result is 200; 400 where the function raised an exception, and 500 where its result is no JSON.
    That of a server's tool is 200, or what its error stands for; there is none where the server does not answer.
    """
    allowance = context.recorder.allowance
    content = bound.planned.body or b"{}"
    most = allowance.limits.request
    if len(content) > most:
        text = f"the arguments of {function.name}() are larger than the {most} bytes allowed"
        return Sent(bound, LimitExceeded("request", text))
    remaining = allowance.remaining()
    if not function.turn.acquire(timeout=-1 if remaining is None else max(0.0, remaining)):
        text = f"{function.name}() had to wait for another call until the end of the run"
        return Sent(bound, LimitExceeded("wall", text))
    try:
        if allowance.cancelled:
            return Sent(bound, NoAnswerError("ConnectionError", _OVER))
        on_send()
        context.recorder.attempted(bound.call)
        value = function.call(json.loads(content), _time_left(allowance))
    except NoReplyError as error:
        return Sent(bound, _no_answer(function, allowance, error), error.may_have_left)
    except RemoteCallError as error:
        return Sent(bound, FunctionResult(error.status, problem=f"{function.name}(): {error}"), True)
    except FunctionCallError as error:
        raised = (str(error), error.type, *error.bases)
        return Sent(bound, FunctionResult(400, problem=f"{error.type}: {error}", raised=raised), True)
    except (ArgumentError, ResultError) as error:
        status = 400 if isinstance(error, ArgumentError) else 500
        return Sent(bound, FunctionResult(status, problem=f"{function.name}(): {error}"), True)
    finally:
        function.turn.release()
    data = context.redactor.text(json.dumps(value)).encode()
    try:
        allowance.count_traffic(len(content) + len(data))
    except LimitExceeded as error:
        return Sent(bound, error, True)
    large = len(data) > allowance.limits.response
    return Sent(bound, TooLargeError(200, data[:1000]) if large else FunctionResult(200, data), True)


def _time_left(allowance: Allowance) -> Callable[[], float]:
    """Tells how long a call that begins now may still take; nothing once the run is over."""
    end = time.monotonic() + allowance.call_seconds

    def remaining() -> float:
        if allowance.cancelled:
            return 0.0
        left, of_run = end - time.monotonic(), allowance.remaining()
        return left if of_run is None else min(left, of_run)

    return remaining


def _no_answer(function: HostFunction, allowance: Allowance, error: NoReplyError) -> Exception:
    """Why a call has no answer: the run has ended while it was waited for, or the server is at fault."""
    left = allowance.remaining()
    if error.timeout and not allowance.cancelled and left is not None and left <= 0:
        return LimitExceeded("wall", f"{function.name}() did not answer before the end of the run")
    text = _OVER if allowance.cancelled else str(error)
    return NoAnswerError(error.kind, text, error.may_have_left)
