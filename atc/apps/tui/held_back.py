"""Hold back what would be printed while a question stands on the terminal.

A program goes on in its other threads while one of its writes is asked about. Printed below the question, its text
would look like a part of it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

__all__ = ["HeldBack"]

_Value = TypeVar("_Value")


class HeldBack(Generic[_Value]):
    """Hands values to a function one at a time and in their order, within `pause` only at its end.

    It may be called, and paused once at a time, from any thread.
    """

    def __init__(self, pass_on: Callable[[_Value], object]) -> None:
        self._pass_on = pass_on
        self._waiting: list[_Value] | None = None
        self._lock = threading.RLock()

    def __call__(self, value: _Value) -> None:
        with self._lock:
            if self._waiting is None:
                self._pass_on(value)
            else:
                self._waiting.append(value)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Keep all values until the block ends."""
        with self._lock:
            self._waiting = []
        try:
            yield
        finally:
            with self._lock:
                waiting, self._waiting = self._waiting, None
                for value in waiting or ():
                    self._pass_on(value)
