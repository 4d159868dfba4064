"""The API for modes that make one call at a time: one broker, and the path of calls that the model sees.

At the end the path is the final attempt of the solution, and each stretch that was backtracked is an attempt before it.
So each call is in just one attempt, and the final one has the calls behind the answer.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from atc.evidence.api_health import api_health_problem
from atc.fault import Fault
from atc.session import NO_ATTRIBUTION, TryEnded
from atc.solution import Attempt
from benchmarks.methods.actions import Action
from benchmarks.methods.observations import render_value, truncate
from protocols.errors import ToolError
from protocols.model import Protocol
from sandbox import Broker, CallRecord, Journal, Limits, Sandbox
from sandbox.body_forms import described_bytes
from sandbox.egress.stages import LimitExceeded
from sandbox.journal.journal import JournalAttempt as View
from sandbox.journal.journal import Mark
from sandbox.records import ProgramError, Resources, Run

__all__ = ["ApiSession", "Observation", "TryPosition", "check_health"]

_TIMEOUT = 5
_STATUS_CODES = {401: 7, 403: 7, 402: 8, 429: 9, 504: 5}
"""Published status codes by HTTP status."""


def _status_code(error: ToolError) -> int:
    """The published status code of a failed call."""
    if error.status is None:
        return 12
    return _STATUS_CODES.get(error.status, 6 if error.status >= 500 else 11)


class _PathStep(NamedTuple):
    action: str
    call: CallRecord


class _AbandonedPath(NamedTuple):
    """A path before backtracking, the position that it went back to, and the reason."""

    steps: tuple[_PathStep, ...]
    start: int
    why: str


def _program(steps: Iterable[_PathStep]) -> str:
    """The actions as a program, a line for each call."""
    return "\n".join(step.action for step in steps)


def _run(steps: Iterable[_PathStep], answer: str | None, fault: Fault | None, warnings: tuple[str, ...] = ()) -> Run:
    calls = tuple(step.call for step in steps)
    resources = Resources(round(sum(call.ms for call in calls) / 1000, 3), 0.0, 0.0, 0)
    stdout = f"{answer}\n" if answer is not None else ""
    if fault is None:
        return Run("ok", stdout, "", None, calls, resources, warnings=warnings)
    error = ProgramError(fault.type, fault.message)
    return Run("error", stdout, "", error, calls, resources, exit_status=1, warnings=warnings)


class Observation(NamedTuple):
    """The result of a call, as the model reads it."""

    text: str
    good: bool
    code: int = 0
    """The published status code, as `atc.search_tree.SearchStep` lists them."""
    call: int | None = None
    """`CallRecord.index`; None where nothing was recorded."""
    shortened: bool = False
    """True if the reply has more than the text."""


class TryPosition(NamedTuple):
    """A position on the path to go back to."""

    length: int
    mark: Mark | None


class ApiSession:
    """Makes calls until `close`. The calls are a path, which grows and can be backtracked.

    `seconds` is the time that they took, and `replies` their values by `CallRecord.index`.
    """

    def __init__(
        self,
        protocol: Protocol,
        sandbox: Sandbox,
        limits: Limits,
        journal: Journal | None,
        render: Callable[[object], str] = render_value,
    ) -> None:
        self.replies: dict[int, object] = {}
        self.seconds = 0.0
        self.abandoned: list[_AbandonedPath] = []
        self._path: list[_PathStep] = []
        self._render = render
        self._protocol = protocol
        self._sandbox = sandbox
        self._limits = limits
        self._journal = journal
        self._broker: Broker | None = None
        self._view: View | None = None

    @property
    def latest_reply(self) -> int:
        """The number of the last call on the path that has a reply, from 1; 0 without one."""
        indices = (step.call.index for step in reversed(self._path))
        return next((index + 1 for index in indices if index in self.replies), 0)

    def call(self, action: Action) -> Observation:
        """Make a call and add it to the path. Raises: TryEnded: No other call would get any further."""
        started = time.perf_counter()
        broker = self._open_broker()
        broker.until(time.monotonic() + self._limits.wall)
        before, exceeded = len(broker.calls), None
        try:
            reply = broker.fetch(action.name, action.positional, action.arguments, len(self._path) + 1)
            value = described_bytes(reply.value())
            text = self._render(value)
            whole = json.dumps(value, ensure_ascii=False, default=str)
            observation = Observation(text, True, shortened=text != whole)
        except ToolError as error:
            observation = Observation(truncate(f"Error: {error}"), False, _status_code(error))
        except LimitExceeded as error:
            exceeded = error.limit
            observation = Observation(f"Error: {error}", False, _TIMEOUT)
        except BaseException:
            broker.cancel()  # so that the call has its record
            raise
        finally:
            self.seconds += time.perf_counter() - started
            self._path += [_PathStep(str(action), call) for call in broker.calls[before:]]
        if exceeded in ("calls", "traffic"):  # those are of all calls, the others of one
            raise TryEnded("limit", "LimitReached", observation.text)
        check_health(self._protocol, broker.calls, stopped=exceeded == "wall")
        if len(broker.calls) == before:
            return observation
        index = broker.calls[before].index
        if observation.good:
            self.replies[index] = value
        return observation._replace(call=index)

    def position(self) -> TryPosition:
        """The current end of the path."""
        self._open_broker()
        return TryPosition(len(self._path), self._view.mark() if self._view is not None else None)

    def backtrack(self, position: TryPosition, why: str) -> None:
        """Leave the calls after a position. They stay done: equal calls from here on are answered from the journal."""
        if len(self._path) > position.length:
            self.abandoned.append(_AbandonedPath(tuple(self._path), position.length, why))
            del self._path[position.length :]
        if self._view is not None and position.mark is not None:
            self._view.backtrack(position.mark)

    def close(self) -> Sequence[str]:
        """Close the connections; returns warnings for the user."""
        if self._broker is None:
            return ()
        self._broker.cancel()
        self._broker.close()
        return self._broker.warnings

    def attempts(self, answer: str | None, fault: Fault | None, warnings: Iterable[str]) -> list[Attempt]:
        """All calls, by attempt.

        Without an answer and with an empty path, the longest abandoned path is the final attempt.
        """
        path = tuple(self._path)
        if not path and answer is None:
            path = max((abandoned.steps for abandoned in self.abandoned), key=len, default=())
        final = {step.call.index for step in path}
        attempts = []
        for abandoned in self.abandoned:
            steps = [step for step in abandoned.steps[abandoned.start :] if step.call.index not in final]
            if steps:
                why = Fault("answer", "Abandoned", abandoned.why)
                run = _run(steps, None, why)
                attempts.append(Attempt(_program(abandoned.steps), "answer", run, why, NO_ATTRIBUTION))
        run = _run(path, answer, fault, tuple(warnings))
        last = Attempt(_program(path), fault.stage if fault else "done", run, fault, NO_ATTRIBUTION if fault else None)
        return [*attempts, last]

    def _open_broker(self) -> Broker:
        if self._broker is None:
            self._view = self._journal.attempt() if self._journal is not None else None
            self._broker = self._sandbox.open_broker(self._view)
        return self._broker


def check_health(protocol: Protocol, calls: Sequence[CallRecord], *, stopped: bool) -> None:
    """Raises: TryEnded: Nothing would get any further: a write was refused, or the API is unavailable."""
    if refused := next((call for call in calls if call.refused), None):
        raise TryEnded("refused", "ToolError", refused.error or "")
    if trouble := api_health_problem(protocol, calls, stopped=stopped):
        raise TryEnded("api_error", "APIError", trouble)
