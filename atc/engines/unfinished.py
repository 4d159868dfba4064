"""Stop interrupted engines in the background.

An engine that was interrupted while it computed cannot be stopped before it notices. A command that ends should not
wait for that: it asks `any_running` and leaves the process without its usual end (`os._exit`), after everything else
was closed and written.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["any_running", "stop_in_background"]

_stopping: set[threading.Thread] = set()


def stop_in_background(stop: Callable[[], object], settle: Callable[[], object]) -> None:
    """Call `settle`, which waits until an engine is idle, and then `stop`, in a thread of their own."""

    def work() -> None:
        settle()
        stop()
        _stopping.discard(thread)

    thread = threading.Thread(target=work, daemon=True)
    _stopping.add(thread)
    thread.start()


def any_running() -> bool:
    """True if an interrupted engine still computes."""
    return bool(_stopping)
