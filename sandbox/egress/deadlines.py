"""Deadlines of requests, all watched by one thread."""

from __future__ import annotations

import heapq
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["deadline"]


class _Watchdog:
    """A thread that sleeps until the next moment at which something is late."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: list[tuple[float, int, list[Callable[[], None]]]] = []
        self._number = itertools.count()
        self._running = False

    def add(self, seconds: float, on_expiry: list[Callable[[], None]]) -> None:
        with self._changed:
            entry = (time.monotonic() + seconds, next(self._number), on_expiry)
            heapq.heappush(self._due, entry)
            if not self._running:
                threading.Thread(target=self._run, name="deadlines", daemon=True).start()
                self._running = True
            elif self._due[0] is entry:
                self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while self._due and not self._due[0][2]:
                    heapq.heappop(self._due)
                remaining = self._due[0][0] - time.monotonic() if self._due else None
                if remaining is None or remaining > 0:
                    self._changed.wait(remaining)
                    continue
                on_expiry = heapq.heappop(self._due)[2]
            for call in on_expiry:
                call()


_watch = _Watchdog()


def _restart_after_fork() -> None:
    global _watch
    _watch = _Watchdog()


os.register_at_fork(after_in_child=_restart_after_fork)


@contextmanager
def deadline(seconds: float, on_expiry: Callable[[], None]) -> Iterator[None]:
    """Call `late` from another thread if the block is not left within some seconds; it must not block."""
    calls = [on_expiry]
    _watch.add(seconds, calls)
    try:
        yield
    finally:
        calls.clear()
