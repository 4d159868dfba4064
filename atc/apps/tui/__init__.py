"""The terminal view of a solve. It reads the stream of events and nothing else."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from atc.events import EventSink

__all__ = ["HeldBack", "SolveView", "open_view"]

_Value = TypeVar("_Value")


class HeldBack(Generic[_Value]):
    """Hands values to a function one at a time and in their order, within `pause` only at its end.

    A program goes on in its other threads while one of its writes is asked about. Printed below the question, its text
    would look like a part of it. It may be called, and paused once at a time, from any thread.
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


@dataclass(frozen=True, slots=True)
class SolveView:
    """A view of a solve.

    `sink` takes the events. `answer` says whether the view prints the answer on stdout. `pause` leaves the terminal to
    a question while its block runs, and shows what came meanwhile at its end.
    """

    sink: EventSink
    answer: bool
    pause: Callable[[], AbstractContextManager[None]] = nullcontext


@contextmanager
def open_view(*, quiet: bool = False, verbose: bool = False, stdout: bool = True) -> Iterator[SolveView]:
    """Show events until the block ends.

    Live on stdout where that is a terminal and free (`stdout`). Otherwise stdout is left to the answer, and stderr
    shows progress: live on a terminal, as plain lines elsewhere. `quiet` shows nothing.
    """
    if quiet:
        yield SolveView(lambda event: None, answer=False)
        return
    from rich.console import Console

    out, err = Console(), Console(stderr=True)
    console = out if stdout and out.is_terminal and sys.stdout.isatty() else err
    if console.is_dumb_terminal or not console.is_terminal:
        from atc.apps.tui.lines import LineView

        lines = HeldBack(LineView(lambda line: print(line, file=sys.stderr, flush=True), verbose=verbose))
        yield SolveView(lines, answer=False, pause=lines.pause)
        return
    from atc.apps.tui.live import LiveView

    with LiveView(console, verbose=verbose) as view:
        held_back = HeldBack(view)

        @contextmanager
        def pause() -> Iterator[None]:
            with held_back.pause(), view.pause():
                yield

        yield SolveView(held_back, answer=console is out, pause=pause)
