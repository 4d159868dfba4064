"""A finding: something that speaks against an answer, with its place in the program or in a response."""

from __future__ import annotations

from dataclasses import dataclass

from atc.fault import Fault
from protocols.json_path import Step
from sandbox.records import CallRecord, Run

__all__ = ["Finding", "failed", "is_doubt", "made_writes", "name_of"]

_NO_ANSWER = frozenset({"Abandoned", "NoOutput", "WrongType"})
"""Faults of the stage `answer` that are no findings: nothing was answered, or not in the type that was asked for."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A reason to doubt an answer; `kind` is its name in one word, such as FirstPage.

    `message` is told to the user, and to a model that revises. `line` is a line of the program, `call` the index of a
    call, and `path` a place in its response, where the finding is about one.
    """

    kind: str
    message: str
    line: int | None = None
    call: int | None = None
    path: tuple[Step, ...] = ()

    @classmethod
    def of_call(cls, kind: str, message: str, call: CallRecord, path: tuple[Step, ...] = ()) -> Finding:
        """A finding about a call, or about a place in its response."""
        return cls(kind, message, call.line, call.index, path)

    def fault(self) -> Fault:
        """The finding as the fault of an attempt."""
        return Fault("answer", self.kind, self.message, self.line)

    def warning(self) -> str:
        """The finding as a warning for the reader of the answer."""
        return f"the answer is doubtful ({self.kind}): {self.message}"


def is_doubt(fault: Fault) -> bool:
    """True if the fault of an attempt is a finding: it has an answer, and something speaks against it."""
    return fault.stage == "answer" and fault.type not in _NO_ANSWER


def failed(call: CallRecord) -> bool:
    """True if a call has no good response."""
    return call.status is None or call.status >= 300


def made_writes(run: Run) -> bool:
    """True if the service accepted a write: the task is then done, whatever is printed."""
    return any(call.writes and not failed(call) for call in run.calls)


def name_of(call: CallRecord) -> str:
    """The name of a call's tool, else its address."""
    return call.tool or call.url
