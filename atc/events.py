"""What happens while a question is solved, in order: the one stream that the terminal UI, logs and traces read.

Nothing in the loop calls a reader by name; it only hands events to the functions it was given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from atc.faults import Attribution, Fault
    from atc.models import Usage
    from atc.solution import Solution
    from sandbox.records import CallRecord, Run

__all__ = [
    "CallMade",
    "Event",
    "EventSink",
    "FaultFound",
    "ModelWaiting",
    "OutputPrinted",
    "ProgramWritten",
    "RunEnded",
    "SolveEnded",
    "SolveStarted",
]


@dataclass(frozen=True, slots=True)
class SolveStarted:
    """A question came in; `tools` are the names of the tools shown to the model, best first."""

    query: str
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelWaiting:
    """The model was asked for the program of this attempt (from 1), or for the next step in it."""

    attempt: int


@dataclass(frozen=True, slots=True)
class ProgramWritten:
    """The model answered with a program, or with a line of one in the modes that make one call at a time."""

    attempt: int
    program: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class CallMade:
    """A call of the running program was answered, or failed."""

    attempt: int
    call: CallRecord


@dataclass(frozen=True, slots=True)
class OutputPrinted:
    """The running program printed; `stream` is stdout or stderr."""

    attempt: int
    stream: str
    text: str


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The program ended, well or badly."""

    attempt: int
    run: Run


@dataclass(frozen=True, slots=True)
class FaultFound:
    """The attempt is not an answer; the attribution names the tool to blame, if one is."""

    attempt: int
    fault: Fault
    attribution: Attribution


@dataclass(frozen=True, slots=True)
class SolveEnded:
    """The last event of a solve."""

    solution: Solution


Event: TypeAlias = (
    SolveStarted | ModelWaiting | ProgramWritten | CallMade | OutputPrinted | RunEnded | FaultFound | SolveEnded
)
EventSink: TypeAlias = Callable[[Event], None]
