"""The place of a call in a program: the task of a thread pool that makes it, and the object that answers it.

Loaded in the child only.

A task is named by what it runs and how many tasks of that name the submitting task had submitted before, so that
equal calls made side by side can be told apart in the same way each time. A task in a task has a path of such names;
the program itself has the empty path.

A program can make an object of the class of a reply, or with the same attributes; only one that was noted here counts.
"""

from __future__ import annotations

import weakref
from _thread import _local
from types import BuiltinFunctionType, FunctionType, MethodType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["bind_to_call", "call_index", "current", "name_of", "numbered"]

_LONGEST = 60


class _TaskState(_local):
    """The task that this thread runs, or ran last: callbacks of a task belong to it."""

    def __init__(self) -> None:
        self.path: tuple[str, ...] = ()
        self.submitted: dict[str, int] = {}


_state = _TaskState()


def current() -> tuple[str, ...]:
    return _state.path


def numbered(function: Callable[..., object]) -> Callable[..., object]:
    """The function as a task of the one that submits it now."""
    name = name_of(function)
    number = _state.submitted.get(name, 0)
    _state.submitted[name] = number + 1
    path = (*_state.path, f"{name}#{number}")

    def task(*args: object, **options: object) -> object:
        _state.path, _state.submitted = path, {}
        return function(*args, **options)

    return task


def name_of(function: object) -> str:
    """The name of a function, without asking an object of the program for it."""
    if isinstance(function, MethodType):
        function = function.__func__
    if type(function) in (FunctionType, BuiltinFunctionType):
        return str.__str__(function.__name__)[:_LONGEST]  # type: ignore[attr-defined]
    return str.__str__(type(function).__name__)[:_LONGEST]


_noted: dict[int, tuple[weakref.ref[object], int]] = {}
"""By identity: an own `__eq__` or `__hash__` of the program is never asked."""


def bind_to_call(value: object, call: object) -> None:
    """Remember that an object is the answer to the call of that index."""
    if type(call) is int:
        place = id(value)
        _noted[place] = weakref.ref(value, lambda _: _noted.pop(place, None) and None), call


def call_index(value: object) -> int | None:
    """The index of the call that an object answers; None for what the program made itself."""
    held, call = _noted.get(id(value), (None, None))
    return call if held is not None and held() is value else None
