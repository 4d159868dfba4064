"""The events of one solve, for readers that come late, or again after their connection broke.

An event that is kept has an id, which a reader that comes again names as the last one it has. The ids are those of one
process: after a restart the solve is told from its beginning, and its `SolveStarted` says so.
"""

from __future__ import annotations

import asyncio
import uuid
from typing import NamedTuple, TypeAlias

__all__ = ["MOST_KEPT", "EventHistory", "EventQueue", "ToldEvent"]

MOST_KEPT = 16 * 1024 * 1024
"""Characters of events that are kept of one solve. Later ones are told, and not kept; the Solution has all calls."""


class ToldEvent(NamedTuple):
    """An event by its name, with its data as JSON; without an id it is not kept."""

    name: str
    data: str
    id: str | None = None


EventQueue: TypeAlias = "asyncio.Queue[ToldEvent | None]"
"""The events for one reader; None ends them."""


class EventHistory:
    """What was told of a solve, and who reads it; for the thread of one event loop."""

    def __init__(self) -> None:
        self.restart()
        self._readers: list[EventQueue] = []

    def restart(self) -> None:
        """Begin anew: another process has the solve."""
        self._run = uuid.uuid4().hex[:12]
        self._events: list[ToldEvent] = []
        self._size = 0

    def add(self, name: str, data: str) -> None:
        """Tell an event. The model's progress is not kept: each report holds what the one before it said."""
        event = ToldEvent(name, data)
        if name != "ModelProgress" and self._size + len(data) <= MOST_KEPT:
            event = event._replace(id=f"{self._run}-{len(self._events)}")
            self._events.append(event)
            self._size += len(data)
        for reader in self._readers:
            reader.put_nowait(event)

    def read(self, last: str | None = None) -> EventQueue:
        """The events after the one with the id `last`, and those to come; all of them for an id of another run."""
        reader: EventQueue = asyncio.Queue()
        ids = [event.id for event in self._events]
        for event in self._events[ids.index(last) + 1 if last in ids else 0 :]:
            reader.put_nowait(event)
        self._readers.append(reader)
        return reader

    def forget(self, reader: EventQueue | None) -> None:
        """Nobody reads this queue any longer."""
        self._readers = [other for other in self._readers if other is not reader]

    def end(self) -> None:
        """Nothing more is to come."""
        for reader in self._readers:
            reader.put_nowait(None)
