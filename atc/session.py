"""What a mode may use: the model, the sandbox and the record of a solve, each use of them counted and told.

A mode is a function of the query, the offer and one SolveSession. It returns the answer, or None where the output of
the last run is it; without an answer it raises TryEnded. What has happened so far is one frozen record, the session's
`state`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from atc.costs import Deadline, Spending
from atc.events import (
    CallBegan,
    CallMade,
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
from atc.models import Completion, Message, Model, Usage
from atc.models.base import FunctionSpec, Layout, ModelRequest, Progress, answer, request_hash, split_reasoning
from atc.options import SearchSettings
from atc.solution import Attempt, Status
from protocols.errors import LimitReached, ModelError
from protocols.model import Protocol
from protocols.quoting import visible
from sandbox import CallRecord, Journal, Limits, Run, Sandbox

if TYPE_CHECKING:
    from atc.answer_type import AnswerType
    from atc.background import Interruption
    from atc.hooks import AfterCall
    from atc.search_tree import SearchNode
    from atc.write_gate import WriteGate

__all__ = ["NO_ATTRIBUTION", "Completions", "SessionSettings", "SolveSession", "SolveState", "TryEnded"]


class Completions:
    """The requests of one question to the model: within its limits, or from the journal, and counted either way.

    `usage` is what they cost so far, and `trial` the try that they are of.

    Args:
        open_model: Gives the model; called when it is needed. Raises: ModelError.
        journal: Where answers are kept, and found when a solve goes on; None where no solve will.
        interruption: What another thread may end the solve with.
        on_progress: Told what the model has read or written.
        seed: Of sampled answers.
        most: Requests that a question may have, all tries together; 0 for no limit.
    """

    def __init__(
        self,
        open_model: Callable[[], Model],
        journal: Journal | None,
        interruption: Interruption | None,
        on_progress: Callable[[Progress], None],
        *,
        seed: int,
        most: int,
        spending: Spending,
        deadline: Deadline,
    ) -> None:
        self.usage = Usage()
        self.trial = 1
        self.spending = spending
        self._open_model = open_model
        self._journal = journal
        self._interruption = interruption
        self._on_progress = on_progress
        self._seed = seed
        self._most = most
        self._deadline = deadline
        self._requests = 0

    def complete(
        self,
        messages: Sequence[Message],
        *,
        stop: Sequence[str] = (),
        max_tokens: int,
        functions: Sequence[FunctionSpec] = (),
        layout: Layout = "chat",
    ) -> Completion:
        """Ask the model, unless the journal has its answer; it reads no control characters, whatever is quoted.

        The first try takes the likeliest answer, later ones a sample, lest it be the same.
        Raises: LimitReached: The answer would go beyond a limit of the question, or was cut by one. ModelError.
        """
        messages = [m if m.role == "assistant" else replace(m, content=visible(m.content)) for m in messages]
        journal = self._journal
        if self._most and self._requests >= self._most:
            raise LimitReached(f"no answer within {self._most} model calls; --max-model-calls allows more")
        self._requests += 1
        key = request_hash(messages, stop, max_tokens, functions, layout)
        if journal is not None:
            from atc.resume import close_request, note_cut_answer, recorded_completion

            if (recorded := recorded_completion(journal, self._requests - 1, key)) is not None:
                self.count(recorded.usage, messages, functions, recorded.text)
                return recorded
        room = self.spending.room(messages, functions, max_tokens)
        seed = self._seed + self.trial - 1
        request = ModelRequest(
            messages,
            stop,
            room,
            None if self.trial == 1 else seed,
            self._progressed,
            functions,
            layout,
            max_tokens if room < max_tokens else None,
        )
        completion = self._answered(request, key)
        self.count(completion.usage, messages, functions, completion.text)
        if (reached := self.spending.cut(completion.finish)) is not None:
            if journal is not None:
                note_cut_answer(journal, completion.usage)
                close_request(journal)
            raise reached
        if journal is not None:
            journal.answer(self._requests - 1, key, asdict(completion))
        return completion

    def count(
        self, usage: Usage, messages: Sequence[Message] = (), functions: Sequence[FunctionSpec] = (), text: str = ""
    ) -> None:
        """Count what a request to the model cost."""
        self.usage += usage
        self.spending.add(usage, messages, functions, text)

    def lose(self, usage: Usage) -> None:
        """Count requests whose answers nobody took, by their estimate."""
        self.usage += usage
        self.spending.add_lost(usage)

    def _answered(self, request: ModelRequest, key: str) -> Completion:
        """Ask the model; where another thread may end the solve, in a thread that is then left behind."""
        model, interruption, journal = self._open_model(), self._interruption, self._journal
        if interruption is not None:
            interruption.check()  # what is not sent costs nothing
        lost = self.spending.lost(request.messages, request.functions)
        if journal is not None:
            from atc.resume import close_request, note_open_request

            note_open_request(journal, self._requests - 1, key, lost)
        try:
            if interruption is None:
                return answer(model, request)
            return interruption.call(lambda: answer(model, request))
        except ModelError:
            if journal is not None:
                close_request(journal)
            raise
        except KeyboardInterrupt:
            self.lose(lost)
            if interruption is not None:
                interruption.set()  # ends what is left behind, too
            if self._deadline.expired:
                raise self._deadline.reached() from None
            raise

    def _progressed(self, progress: Progress) -> None:
        """The model has read or written more."""
        if self._interruption is not None:
            self._interruption.check()
        reasoning, text = split_reasoning(progress.text)
        self._on_progress(replace(progress, text=text, reasoning=progress.reasoning + reasoning))


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
        completions: Its requests to the model.
        observe: Told of each run, to learn from its replies.
        gate: Holds the writes of programs to a plan that is approved first.
        before_run: Told of each program before it runs.
    """

    def __init__(
        self,
        settings: SessionSettings,
        completions: Completions,
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
        self.completions = completions
        self._answer = Completion("")
        self.help = help
        self.journal = journal
        self.gate = gate
        self.state = SolveState()
        self._observe = observe
        self.emit = emit
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

    def try_again(self) -> None:
        """Begin the next try."""
        self.completions.trial += 1
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
        self._answer = self.completions.complete(*messages, **options)
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
