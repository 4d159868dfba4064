"""The API as a mode calls it that makes one call at a time: through one broker, each call on a path."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from atc.diagnosis.api_health import api_trouble
from atc.modes.actions import Action
from atc.modes.observations import cut, shown
from atc.modes.path import Path
from atc.modes.rules import Ended
from protocols.errors import ToolError
from protocols.model import Protocol
from sandbox import Broker, CallRecord, Journal, Limits, Sandbox
from sandbox.egress.broker import Exceeded
from sandbox.journal.journal import Attempt as View
from sandbox.journal.journal import Mark

__all__ = ["Api", "Observation", "Place", "look_at"]


class Observation(NamedTuple):
    """What came of a call, as the model reads it."""

    text: str
    good: bool


class Place(NamedTuple):
    """A point on the path to go back to."""

    length: int
    mark: Mark | None


class Api:
    """Makes calls, from the first one to `close`. `path` are those behind the model, `seconds` what they took."""

    def __init__(self, protocol: Protocol, sandbox: Sandbox, limits: Limits, journal: Journal | None) -> None:
        self.path = Path()
        self.seconds = 0.0
        self._protocol = protocol
        self._sandbox = sandbox
        self._limits = limits
        self._journal = journal
        self._broker: Broker | None = None
        self._view: View | None = None

    def call(self, action: Action) -> Observation:
        """Make a call, which is then on the path. Raises: Ended: No other call would get any further."""
        started = time.perf_counter()
        broker = self._door()
        broker.until(time.monotonic() + self._limits.wall)
        before, exceeded = len(broker.calls), None
        try:
            reply = broker.fetch(action.name, action.positional, action.arguments, len(self.path) + 1)
            observation = Observation(shown(reply.value()), True)
        except ToolError as error:
            observation = Observation(cut(f"Error: {error}"), False)
        except Exceeded as error:
            exceeded = error.limit
            observation = Observation(f"Error: {error}", False)
        except BaseException:
            broker.cancel()  # so that the call has its record
            raise
        finally:
            self.seconds += time.perf_counter() - started
            for call in broker.calls[before:]:
                self.path.add(str(action), call)
        if exceeded in ("calls", "traffic"):  # those are of all calls, the others of one
            raise Ended("limit", "LimitReached", observation.text)
        look_at(self._protocol, broker.calls, stopped=exceeded == "wall")
        return observation

    def place(self) -> Place:
        """Where the path ends now."""
        self._door()
        return Place(len(self.path), self._view.mark() if self._view is not None else None)

    def back(self, place: Place, why: str) -> None:
        """Leave what was called since a place. It is done, so equal calls from here on are answered from it."""
        self.path.back(place.length, why)
        if self._view is not None and place.mark is not None:
            self._view.back(place.mark)

    def close(self) -> Sequence[str]:
        """Give back connections; gives what the user should know."""
        if self._broker is None:
            return ()
        self._broker.cancel()
        self._broker.close()
        return self._broker.warnings

    def _door(self) -> Broker:
        if self._broker is None:
            self._view = self._journal.attempt() if self._journal is not None else None
            self._broker = self._sandbox.open_broker(self._view)
        return self._broker


def look_at(protocol: Protocol, calls: Sequence[CallRecord], *, stopped: bool) -> None:
    """Raises: Ended: Nothing would get any further: a write was refused, or the API cannot be had."""
    if refused := next((call for call in calls if call.refused), None):
        raise Ended("refused", "ToolError", refused.error or "")
    if trouble := api_trouble(protocol, calls, stopped=stopped):
        raise Ended("api_error", "APIError", trouble)
