"""What a mode may use: the model, the sandbox and the record of a solve, each use of them counted and told.

A mode is a function of the query, the offer and one SolveSession. It returns the answer, or None where the output of
the last run is it; without an answer it raises TryEnded. What has happened so far is one frozen record, the session's
`state`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from atc.events import (
    CallBegan,
    CallMade,
    Event,
    EventSink,
    FaultFound,
    NodeChanged,
    OutputPrinted,
    ProgramWritten,
    RunEnded,
    RunStarted,
)
from atc.fault import Attribution, Fault
from atc.help import Help
from atc.models import Completion, Usage
from atc.options import SearchSettings
from atc.solution import Attempt, Status
from protocols.model import Protocol
from sandbox import CallRecord, Journal, Limits, Run, Sandbox

if TYPE_CHECKING:
    from atc.answer_type import AnswerType
    from atc.hooks import AfterCall
    from atc.search_tree import SearchNode
    from atc.write_gate import WriteGate

__all__ = ["NO_ATTRIBUTION", "SessionSettings", "SolveSession", "SolveState", "TryEnded"]

NO_ATTRIBUTION = Attribution(None, None, None, "none")
"""No tool is to blame."""


class TryEnded(Exception):  # noqa: N818 - reads better where it is raised
    """A try ended without an answer; `status` is the solution's, `kind` is the fault's type."""

    def __init__(self, status: Status, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


@dataclass(frozen=True, slots=True)
class SolveState:
    """How far a solve is.

    Args:
        attempts: Those of all tries, oldest first.
        tree: Every message of the modes that make one call at a time.
        trial: The number of the try, from 1. first: The place of its first attempt.
        branches: Paths of calls that this try left, and that are no attempts yet.
        run_seconds: Wall-clock time of programs and calls.
    """

    attempts: tuple[Attempt, ...] = ()
    tree: tuple[SearchNode, ...] = ()
    trial: int = 1
    first: int = 0
    branches: int = 0
    run_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """What a mode is held to.

    Args:
        max_reflections: Revisions of a program, in the modes that revise.
        limits: Of the sandbox.
        search: How the modes search that make one call at a time.
        answer_type: The type that the answer has to have.
        signed: Calls carry credentials.
        calls_functions: The model takes functions.
    """

    max_reflections: int
    limits: Limits
    search: SearchSettings = field(default_factory=SearchSettings)
    answer_type: AnswerType | None = None
    signed: bool = False
    calls_functions: bool = False

    def misfit(self, answer: str) -> Fault | None:
        """The fault of an answer that does not fit the type asked for."""
        problem = self.answer_type.problem(answer.strip()) if self.answer_type is not None else None
        return Fault("answer", "WrongType", problem) if problem else None


class SolveSession:
    """One question being solved.

    Args:
        complete: Asks the model; takes messages, and by name `stop`, `max_tokens`, `functions` and `layout`.
        observe: Told of each run, to learn from its replies.
        gate: Holds the writes of programs to a plan that is approved first.
        before_run: Told of each program before it runs.
    """

    def __init__(
        self,
        settings: SessionSettings,
        complete: Callable[..., Completion],
        observe: Callable[[Run], None],
        emit: EventSink,
        help: Help,
        journal: Journal | None = None,
        gate: WriteGate | None = None,
        after_call: AfterCall | None = None,
        before_run: Callable[[str], None] = lambda program: None,
    ) -> None:
        self._before_run = before_run
        self.settings = settings
        self._complete = complete
        self._answer = Completion("")
        self.help = help
        self.journal = journal
        self.gate = gate
        self.state = SolveState()
        self._observe = observe
        self._emit = emit
        self._after_call = after_call
        self._sandbox: Sandbox | None = None

    @contextmanager
    def running(self, protocol: Protocol, **options: Any) -> Iterator[Sandbox]:
        """Open the sandbox, whose calls and output are told; the options are the Sandbox's."""
        listeners: Mapping[str, Any] = {
            "on_call": self._called,
            "on_begin": lambda index, tool, line: self.emit(CallBegan(self.number, index, tool, line)),
            "on_output": lambda stream, text: self.emit(OutputPrinted(self.number, stream, text)),
        }
        with Sandbox(protocol, journal=self.journal, **listeners, **options) as self._sandbox:
            yield self._sandbox

    @property
    def sandbox(self) -> Sandbox:
        """Where programs run, and where calls leave."""
        assert self._sandbox is not None, "a session is used while its sandbox is open"
        return self._sandbox

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """The attempts of this try, oldest first."""
        return self.state.attempts[self.state.first :]

    @property
    def number(self) -> int:
        """The number of the attempt that is under way, from 1."""
        return len(self.state.attempts) + 1 + self.state.branches

    # Steps

    def emit(self, event: Event) -> None:
        """Hand an event to the reader."""
        self._emit(event)

    def try_again(self) -> None:
        """Begin the next try."""
        self.state = replace(self.state, trial=self.state.trial + 1, first=len(self.state.attempts), branches=0)

    def record(self, *attempts: Attempt) -> None:
        """Add attempts."""
        self.state = replace(self.state, attempts=(*self.state.attempts, *attempts), branches=0)

    def retell(self, attempts: Sequence[Attempt]) -> None:
        """Put others in place of the attempts of this try."""
        self.state = replace(self.state, attempts=(*self.state.attempts[: self.state.first], *attempts))

    def fail(self, attempt: Attempt) -> None:
        """Add an attempt that failed, and say so."""
        self.record(attempt)
        if attempt.fault is not None:
            fault, attribution = attempt.fault, attempt.attribution or NO_ATTRIBUTION
            self.emit(FaultFound(len(self.state.attempts), fault, attribution))

    def turn_back(self) -> None:
        """A path of calls was left."""
        self.state = replace(self.state, branches=self.state.branches + 1)

    def grow(self, node: SearchNode) -> None:
        """Add a node to the tree, or put it in the place of the one with its id."""
        tree = self.state.tree
        self.state = replace(self.state, tree=(*tree[: node.id - 1], node, *tree[node.id :]))
        self.emit(NodeChanged(node))

    def complete(self, *messages: Any, **options: Any) -> Completion:
        """Ask the model. Raises: LimitReached, ModelError."""
        self._answer = self._complete(*messages, **options)
        return self._answer

    def wrote(self, text: str, usage: Usage, diff: tuple[str, ...] = (), call_id: str = "") -> None:
        """A program or a call was written; `diff` is what was put right without the model."""
        answer = self._answer
        self.emit(ProgramWritten(self.number, text, usage, diff, answer.model, answer.server, call_id))

    def took(self, seconds: float) -> None:
        """Programs or calls took some time."""
        self.state = replace(self.state, run_seconds=self.state.run_seconds + seconds)

    def execute(self, program: str) -> Run:
        """Run a program in the sandbox, and learn from its replies."""
        self.emit(RunStarted(self.number))
        started = time.perf_counter()
        self._before_run(program)
        run = self.sandbox.run(program)
        self.took(time.perf_counter() - started)
        self._observe(run)
        self.emit(RunEnded(self.number, run))
        return run

    def _called(self, call: CallRecord) -> None:
        """A call was made."""
        if self._after_call is not None:
            self._after_call(call)
        self.emit(CallMade(self.number, call))
