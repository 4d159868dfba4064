"""The events of a solve, in order: the one stream that the terminal UI, logs and traces read.

The loop calls no reader by name; it only hands events to the functions that it was given. Every event has the id of
its solve (`solve`), so that one reader can follow several at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from atc.fault import Attribution, Fault
    from atc.models.base import Progress, Usage
    from atc.search_tree import SearchNode
    from atc.solution import Solution
    from sandbox.egress.write_plan import WritePlan
    from sandbox.records import CallRecord, Run

__all__ = [
    "CallBegan",
    "CallMade",
    "Event",
    "EventSink",
    "FaultFound",
    "ModelProgress",
    "ModelWaiting",
    "NodeChanged",
    "OutputPrinted",
    "PlanProposed",
    "ProgramWritten",
    "RunEnded",
    "RunStarted",
    "SolveEnded",
    "SolveStarted",
]


@dataclass(frozen=True, slots=True)
class _SolveEvent:
    """Base class of the events, with the id of their solve."""

    solve: str = field(default="", kw_only=True)


@dataclass(frozen=True, slots=True)
class SolveStarted(_SolveEvent):
    """A question came in.

    `tools` are the names of the tools shown to the model, best first; `model` is its name.
    """

    query: str
    tools: tuple[str, ...]
    model: str = ""


@dataclass(frozen=True, slots=True)
class ModelWaiting(_SolveEvent):
    """A completion was requested for the program of this attempt (from 1), or for the next step in it."""

    attempt: int


@dataclass(frozen=True, slots=True)
class ModelProgress(_SolveEvent):
    """The model has read or written more, where it reports that. These events are frequent: keep no history of them."""

    attempt: int
    progress: Progress


@dataclass(frozen=True, slots=True)
class ProgramWritten(_SolveEvent):
    """The model answered with a program, or with a line of one in the modes that make one call at a time.

    `diff` has the changed lines where the program was put right without the model (see `atc.solution.Attempt`).
    `model` and `server` are those of `atc.models.Completion`; `call_id` is the id that the model gave to a call.
    """

    attempt: int
    program: str
    usage: Usage
    diff: tuple[str, ...] = ()
    model: str = ""
    server: str = ""
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class RunStarted(_SolveEvent):
    """The program of this attempt passed the check, and is about to run."""

    attempt: int


@dataclass(frozen=True, slots=True)
class CallBegan(_SolveEvent):
    """A call of the running program is about to be made; the `CallMade` of the same `index` tells how it went.

    `tool` is None for a request that names a URL, and `line` where the line is not known.
    """

    attempt: int
    index: int
    tool: str | None
    line: int | None


@dataclass(frozen=True, slots=True)
class CallMade(_SolveEvent):
    """A call of the running program was answered, or failed."""

    attempt: int
    call: CallRecord


@dataclass(frozen=True, slots=True)
class OutputPrinted(_SolveEvent):
    """The running program printed; `stream` is stdout or stderr."""

    attempt: int
    stream: str
    text: str


@dataclass(frozen=True, slots=True)
class NodeChanged(_SolveEvent):
    """A node was added to the tree of a search, or one of this `id` ended in some way."""

    node: SearchNode


@dataclass(frozen=True, slots=True)
class RunEnded(_SolveEvent):
    """The program ended, well or badly."""

    attempt: int
    run: Run


@dataclass(frozen=True, slots=True)
class PlanProposed(_SolveEvent):
    """The program would answer, and has writes that nobody approved yet (`plan.asked`); none of them was sent.

    `asks`: somebody is asked now. The program runs again after a yes.
    """

    attempt: int
    plan: WritePlan
    asks: bool


@dataclass(frozen=True, slots=True)
class FaultFound(_SolveEvent):
    """The attempt is not an answer; the attribution names the tool to blame, if one is."""

    attempt: int
    fault: Fault
    attribution: Attribution


@dataclass(frozen=True, slots=True)
class SolveEnded(_SolveEvent):
    """The last event of a solve."""

    solution: Solution


Event: TypeAlias = (
    SolveStarted
    | ModelWaiting
    | NodeChanged
    | ModelProgress
    | ProgramWritten
    | RunStarted
    | CallBegan
    | CallMade
    | OutputPrinted
    | RunEnded
    | PlanProposed
    | FaultFound
    | SolveEnded
)
EventSink: TypeAlias = Callable[[Event], None]
