"""The calls of a try as attempts of a solution, for modes that make one call at a time.

The path has the calls that the model sees. At the end it is the final attempt, and each stretch that was backtracked
is an attempt before it. So each call is in just one attempt, and the final one has the calls behind the answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from atc.fault import Attribution, Fault
from atc.solution import Attempt
from sandbox.records import CallRecord, ProgramError, Resources, Run

__all__ = ["NO_ATTRIBUTION", "TryPath"]

NO_ATTRIBUTION = Attribution(None, None, None, "none")
"""The baselines blame no tool."""


class _PathStep(NamedTuple):
    action: str
    call: CallRecord


class _AbandonedPath(NamedTuple):
    """A path before backtracking, the position that it went back to, and the reason."""

    steps: tuple[_PathStep, ...]
    start: int
    why: str


class TryPath:
    """The calls of a try; it grows and can be backtracked."""

    def __init__(self) -> None:
        self._steps: list[_PathStep] = []
        self.abandoned: list[_AbandonedPath] = []

    def __len__(self) -> int:
        return len(self._steps)

    def add(self, action: str, call: CallRecord) -> None:
        """Add a call; the action is a line of Python."""
        self._steps.append(_PathStep(action, call))

    def backtrack(self, length: int, why: str) -> None:
        """Leave the calls after the first `length`."""
        if len(self) > length:
            self.abandoned.append(_AbandonedPath(tuple(self._steps), length, why))
            del self._steps[length:]

    def attempts(self, answer: str | None, fault: Fault | None, warnings: Iterable[str]) -> list[Attempt]:
        """All calls, by attempt.

        Without an answer and with an empty path, the longest abandoned path is the final attempt.
        """
        path = tuple(self._steps)
        if not path and answer is None:
            path = max((abandoned.steps for abandoned in self.abandoned), key=len, default=())
        final = {step.call.index for step in path}
        attempts = []
        for abandoned in self.abandoned:
            steps = [step for step in abandoned.steps[abandoned.start :] if step.call.index not in final]
            if steps:
                why = Fault("answer", "Abandoned", abandoned.why)
                attempts.append(
                    Attempt(_program(abandoned.steps), "answer", _run(steps, None, why), why, NO_ATTRIBUTION)
                )
        run = _run(path, answer, fault, tuple(warnings))
        last = Attempt(_program(path), fault.stage if fault else "done", run, fault, NO_ATTRIBUTION if fault else None)
        return [*attempts, last]


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
