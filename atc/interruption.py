"""End a solve from another thread, as ctrl-C ends one in the main thread.

An exception cannot be raised in a thread that waits for a socket. So whoever waits registers what ends the waiting, and
a model is asked in a thread of its own, whose answer nobody waits for any longer.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

__all__ = ["Interruption"]

Result = TypeVar("Result")


class Interruption:
    """Set once, from any thread; the solve then ends with the status "interrupted"."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._is_set = False
        self._ends: list[Callable[[], None]] = []

    def set(self) -> None:
        """End the solve."""
        with self._changed:
            self._is_set = True
            ends = list(self._ends)
            self._changed.notify_all()
        for end in ends:
            end()

    def check(self) -> None:
        """Raises: KeyboardInterrupt: The solve is to end."""
        if self._is_set:
            raise KeyboardInterrupt

    def add(self, end: Callable[[], None]) -> None:
        """Have a function called that ends what the solve waits for; at once where it is to end already."""
        with self._changed:
            self._ends.append(end)
            is_set = self._is_set
        if is_set:
            end()

    def call(self, function: Callable[[], Result]) -> Result:
        """Call a function in a daemon thread, and wait for its result or for the end.

        Raises: KeyboardInterrupt: The solve is to end; the result is dropped when it comes. As `function`.
        """
        results: list[Result] = []
        errors: list[BaseException] = []

        def run() -> None:
            try:
                results.append(function())
            except BaseException as error:  # raised again in the thread that waits
                errors.append(error)
            with self._changed:
                self._changed.notify_all()

        self.check()
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(run,), name="model", daemon=True).start()
        with self._changed:
            self._changed.wait_for(lambda: self._is_set or results or errors)
            self.check()
        if errors:
            raise errors[0]
        return results[0]
