"""Functions of the user's own, before a call leaves and after it was answered.

They get copies: neither sees a credential, and nothing that they change reaches the call, the program or the record.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import TypeAlias

from protocols.errors import UsageError
from sandbox.body_store import LargeBody
from sandbox.records import CallRecord

__all__ = ["AfterCall", "BeforeCall", "guarded_after", "guarded_before"]

BeforeCall: TypeAlias = Callable[[CallRecord], str | None]
"""Gives the reason against a call, or None to let it pass."""

AfterCall: TypeAlias = Callable[[CallRecord], object]
"""Is told of a call; its result counts for nothing."""


def guarded_before(hook: BeforeCall) -> BeforeCall:
    """The hook, whose failure ends the solve with a UsageError that names it."""

    def before_call(call: CallRecord) -> str | None:
        try:
            reason = hook(_copy(call))
        except Exception as error:
            raise _failed("before_call", hook, error) from error
        if reason is not None and not isinstance(reason, str):
            kind = type(reason).__name__
            raise UsageError(f"the hook before_call ({_name(hook)}) must return None or a reason, not {kind}")
        return reason

    return before_call


def guarded_after(hook: AfterCall) -> Callable[[CallRecord], None]:
    """The hook, whose failure ends the solve with a UsageError that names it."""

    def after_call(call: CallRecord) -> None:
        try:
            hook(_copy(call))
        except Exception as error:
            raise _failed("after_call", hook, error) from error

    return after_call


def _copy(call: CallRecord) -> CallRecord:
    response = call.response if isinstance(call.response, LargeBody) else deepcopy(call.response)
    return replace(call, arguments=deepcopy(call.arguments), response=response)


def _failed(kind: str, hook: Callable[[CallRecord], object], error: Exception) -> UsageError:
    return UsageError(f"the hook {kind} ({_name(hook)}) raised {type(error).__name__}: {error}")


def _name(hook: Callable[[CallRecord], object]) -> str:
    return getattr(hook, "__qualname__", type(hook).__qualname__)
