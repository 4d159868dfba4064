"""Calls that only the document speaks against: each is refused once, and sent when the program insists."""

from __future__ import annotations

import threading
from collections.abc import Sequence

__all__ = ["Doubts"]


class Doubts:
    """What the programs of one sandbox were told of such calls; may be used from several threads.

    Within a run the very same call has to be made again: a loop that goes on with other arguments does not insist. A
    later run insists by the same mistake, and also where it was told of it before it ran.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._earlier: set[tuple[str, str]] = set()
        self._now: set[tuple[str, str, str]] = set()
        self._tools: set[str] = set()

    def begin_run(self, *, again: bool = False) -> None:
        """What was told until now was told to an earlier run; one that runs `again` makes the same calls as before."""
        with self._lock:
            if not again:
                self._earlier |= {(tool, problem) for tool, problem, _ in self._now}
            self._now.clear()

    def tell(self, tool: str) -> None:
        """A program was told before its run that the document speaks against a call of this tool."""
        with self._lock:
            self._tools.add(tool)

    def insists(self, tool: str, problems: Sequence[str], arguments: str) -> bool:
        """True if a program makes a call although it was told of the problems; they count as told from now on."""
        with self._lock:
            insists = tool in self._tools or all(
                (tool, problem) in self._earlier or (tool, problem, arguments) in self._now for problem in problems
            )
            self._now |= {(tool, problem, arguments) for problem in problems}
            return insists
