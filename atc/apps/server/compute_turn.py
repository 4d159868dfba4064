"""The right to compute: in a solver process one solve has it at a time, and the others wait in line.

Python runs one thread at a time anyway. Where threads share it, all solves of a burst are over late, and come back
together as the next burst; in turns those that came first are over first. Who waits for the model or for its program
gives its turn back.
"""

from __future__ import annotations

import threading
from types import TracebackType

from atc.events import Event, FaultFound, ModelWaiting, ProgramWritten, RunEnded, RunStarted

__all__ = ["ComputeTurn"]

_line = threading.Semaphore()


class ComputeTurn:
    """The turn of one solve, for its thread: `with` has it at first, and takes it back at the end."""

    def __init__(self) -> None:
        self.held = False

    def __enter__(self) -> ComputeTurn:
        self.take()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.give()

    def take(self) -> None:
        """Wait for the turn, unless the solve has it."""
        if not self.held:
            _line.acquire()
            self.held = True

    def give(self) -> None:
        """Let another solve have it."""
        if self.held:
            self.held = False
            _line.release()

    def follow(self, event: Event) -> None:
        """Give the turn back while the solve waits, and take it again."""
        match event:
            case ModelWaiting() | RunStarted():
                self.give()
            case ProgramWritten() | RunEnded() | FaultFound():
                self.take()
            case _:
                pass
