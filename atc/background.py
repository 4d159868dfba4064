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
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import Future, wait
from contextlib import suppress
from queue import Full, Queue
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
        result: Future[Result] = Future()

        def run() -> None:
            try:
                result.set_result(function())
            except BaseException as error:  # raised again in the thread that waits
                result.set_exception(error)
            with self._changed:
                self._changed.notify_all()

        self.check()
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(run,), name="model", daemon=True).start()
        with self._changed:
            self._changed.wait_for(lambda: self._is_set or result.done())
            self.check()
        return result.result()


QUEUED_EVENTS = 1000
"""Events that wait for a reader before the solve does."""

StartedSolve: TypeAlias = "Callable[[EventSink, Interruption], Solution]"
"""A solve that tells its events, and that can be interrupted."""


class BackgroundSolve:
    """A solve that has begun: `events` are those to read, None behind the last one; `result` is its solution or error.

    Args:
        start: The solve. reads: Whether its events are read; else they are dropped.
        on_change: Called from the solve's thread when there is a new event, and at the end.
    """

    def __init__(self, start: StartedSolve, *, reads: bool, on_change: Callable[[], None] = lambda: None) -> None:
        self.events: Queue[Event | None] = Queue(QUEUED_EVENTS)
        self.result: Future[Solution] = Future()
        self._interruption = Interruption()
        self._on_change = on_change
        self._reads = reads
        context = contextvars.copy_context()  # whose trace the solve is a part of
        threading.Thread(target=context.run, args=(self._run, start), name="solve", daemon=True).start()

    def _run(self, start: StartedSolve) -> None:
        try:
            self.result.set_result(start(self._put, self._interruption))
        except BaseException as error:  # raised again by `result`
            self.result.set_exception(error)
        self._put(None)
        self._on_change()

    def _put(self, event: Event | None) -> None:
        """Queue an event; waits while the queue is full, and drops a report of progress."""
        if self._reads:
            with suppress(Full):
                self.events.put(event, block=not isinstance(event, ModelProgress))
            self._on_change()

    def interrupt(self) -> None:
        """End the solve, and read no more of its events."""
        self._reads = False
        while not self.events.empty():  # whoever waits for the reader goes on
            self.events.get_nowait()
        self._interruption.set()


def stream(start: StartedSolve) -> Generator[Event, None, None]:
    """The events of a solve; closing the generator interrupts it. Raises: what the solve raises."""
    background = BackgroundSolve(start, reads=True)
    try:
        while (event := background.events.get()) is not None:
            yield event
        background.result.result()
    finally:
        background.interrupt()
        wait([background.result])


async def astream(start: StartedSolve) -> AsyncGenerator[Event, None]:
    """The events of a solve; closing the generator, or cancelling its task, interrupts it. Raises: as `stream`."""
    changed = asyncio.Event()
    background = BackgroundSolve(start, reads=True, on_change=_in_loop(changed))
    try:
        while True:
            changed.clear()
            while not background.events.empty():
                if (event := background.events.get_nowait()) is None:
                    background.result.result()
                    return
                yield event
            await changed.wait()
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
    return background.result.result()


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
    while not background.result.done():
        changed.clear()
        if not background.result.done():
            await changed.wait()
