"""The running task of a thread pool: the place of a call in the program, whatever thread gets to it first.

A task is named by what it runs and how many tasks of that name the submitting task had submitted before, so that
equal calls made side by side can be told apart in the same way each time. A task in a task has a path of such names;
the program itself has the empty path.
"""

from __future__ import annotations

from _thread import _local
from types import BuiltinFunctionType, FunctionType, MethodType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["current", "name_of", "numbered"]

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
