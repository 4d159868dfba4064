"""Engines that were interrupted while they computed, and cannot be stopped before they look up from it.

A program that goes on has them stopped in the background. A command that ends should not wait for them: it asks
`left` and leaves the process without its usual end (`os._exit`), after everything else was closed and written.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["end", "left"]

_ending: set[threading.Thread] = set()


def end(stop: Callable[[], object], settle: Callable[[], object]) -> None:
    """Call `settle`, which waits until an engine has stopped computing, and then `stop`, in a thread of their own."""

    def work() -> None:
        settle()
        stop()
        _ending.discard(thread)

    thread = threading.Thread(target=work, daemon=True)
    _ending.add(thread)
    thread.start()


def left() -> bool:
    """Whether an engine still computes for nobody."""
    return bool(_ending)
