"""A solve in a thread of its own, and its events in the thread or the event loop of a reader.

The queue between them is bounded. A slow reader makes the solve wait; only reports of the model's progress are dropped.

Another thread ends a solve as ctrl-C ends one in the main thread. An exception cannot be raised in a thread that waits
for a socket. So whoever waits registers what ends the waiting, and a model is asked in a thread of its own, whose
answer nobody waits for any longer.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from atc.events import Event, EventSink, ModelProgress

if TYPE_CHECKING:
    from atc.solution import Solution

__all__ = ["BackgroundSolve", "Interruption", "StartedSolve", "astream", "awaited", "stream"]

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


QUEUED_EVENTS = 1000
"""Events that wait for a reader before the solve does."""

StartedSolve: TypeAlias = "Callable[[EventSink, Interruption], Solution]"
"""A solve that tells its events, and that can be interrupted."""


class BackgroundSolve:
    """A solve that has begun.

    Args:
        start: The solve. reads: Whether its events are read; else they are dropped.
        on_change: Called from the solve's thread when there is a new event, and at the end.
    """

    def __init__(self, start: StartedSolve, *, reads: bool, on_change: Callable[[], None] = lambda: None) -> None:
        self.interruption = Interruption()
        self._start = start
        self._on_change = on_change
        self._events: deque[Event] = deque()
        self._changed = threading.Condition()
        self._reads = reads
        self._ended = False
        self._solution: Solution | None = None
        self._error: BaseException | None = None
        context = contextvars.copy_context()  # whose trace the solve is a part of
        threading.Thread(target=context.run, args=(self._run,), name="solve", daemon=True).start()

    @property
    def ended(self) -> bool:
        """True when the solve is over, and no event is left."""
        with self._changed:
            return self._ended and not self._events

    def _run(self) -> None:
        try:
            self._solution = self._start(self._put, self.interruption)
        except BaseException as error:  # raised again by `result`
            self._error = error
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        self._on_change()

    def _put(self, event: Event) -> None:
        """Queue an event; waits while the queue is full."""
        with self._changed:
            if isinstance(event, ModelProgress) and len(self._events) >= QUEUED_EVENTS:
                return
            self._changed.wait_for(lambda: len(self._events) < QUEUED_EVENTS or not self._reads)
            if not self._reads:
                return
            self._events.append(event)
            self._changed.notify_all()
        self._on_change()

    def take(self, *, wait: bool) -> list[Event]:
        """The queued events; with `wait` at least one, unless the solve is over."""
        with self._changed:
            if wait:
                self._changed.wait_for(lambda: self._events or self._ended)
            events = list(self._events)
            self._events.clear()
            self._changed.notify_all()
            return events

    def interrupt(self) -> None:
        """End the solve, and read no more of its events."""
        with self._changed:
            self._reads = False
            self._events.clear()
            self._changed.notify_all()
        self.interruption.set()

    def join(self) -> None:
        """Wait for the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended)

    def result(self) -> Solution:
        """The solution of a solve that is over. Raises: what the solve raised."""
        if self._error is not None:
            raise self._error
        assert self._solution is not None
        return self._solution


def stream(start: StartedSolve) -> Generator[Event, None, None]:
    """The events of a solve; closing the generator interrupts it. Raises: what the solve raises."""
    background = BackgroundSolve(start, reads=True)
    try:
        while not background.ended:
            yield from background.take(wait=True)
        background.result()
    finally:
        background.interrupt()
        background.join()


async def astream(start: StartedSolve) -> AsyncGenerator[Event, None]:
    """The events of a solve; closing the generator, or cancelling its task, interrupts it. Raises: as `stream`."""
    changed = asyncio.Event()
    background = BackgroundSolve(start, reads=True, on_change=_in_loop(changed))
    try:
        while not background.ended:
            changed.clear()
            for event in background.take(wait=False):
                yield event
            if not background.ended:
                await changed.wait()
        background.result()
    finally:
        await _interrupted(background, changed)


async def awaited(start: StartedSolve) -> Solution:
    """The solution of a solve; cancelling the task interrupts it. Raises: what the solve raises."""
    changed = asyncio.Event()
    background = BackgroundSolve(start, reads=False, on_change=_in_loop(changed))
    try:
        await changed.wait()
    finally:
        await _interrupted(background, changed)
    return background.result()


def _in_loop(changed: asyncio.Event) -> Callable[[], None]:
    """Set an event of the running loop from another thread."""
    loop = asyncio.get_running_loop()

    def tell() -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any longer
            loop.call_soon_threadsafe(changed.set)

    return tell


async def _interrupted(background: BackgroundSolve, changed: asyncio.Event) -> None:
    """End a solve and wait until it has closed its sandbox."""
    background.interrupt()
    while not background.ended:
        changed.clear()
        if not background.ended:
            await changed.wait()
