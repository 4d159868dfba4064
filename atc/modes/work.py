"""What a mode works with: the question, the tools, the model and the API, each use of them counted and recorded.

A mode is a function of one Work that returns the answer, or raises Ended.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from atc import prompts
from atc.events import EventSink, FaultFound, ModelWaiting, ProgramWritten, RunEnded
from atc.faults import Fault
from atc.models import Completion, Message, Usage
from atc.modes.actions import Action, BadActionError, read_action
from atc.modes.observations import cut, shown
from atc.modes.path import NOBODY, Path
from atc.solution import Attempt, Status
from atc.trouble import api_trouble
from protocols.errors import ToolError
from protocols.graph import ProtocolGraph
from protocols.render import estimate, render
from sandbox import Broker, CallRecord, Journal, Limits, Run, Sandbox
from sandbox.broker import Exceeded
from sandbox.journal import Attempt as View
from sandbox.journal import Mark

__all__ = ["OBSERVATION", "OUTPUT", "RESULT", "Budget", "Ended", "Observation", "Place", "Work"]

CONVERSATION_TOKENS = 6500
"""What the model is shown at most; before a conversation grows beyond it, its oldest observations are shortened."""

FUNCTIONS_TOKENS = 4500
"""What the text of the functions may take of that."""

OBSERVATION, OUTPUT, RESULT = "Observation: ", "Output:\n", "Result: "
"""How the messages begin that may be shortened."""
_OLD = 120
"""Characters that are left of an old observation."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What one try may ask of the model; `tokens` are those read and those written together."""

    model_calls: int = 16
    tokens: int = 100_000


class Ended(Exception):  # noqa: N818 - reads better where it is raised
    """A try is over without an answer; `status` is the solution's, `kind` says it in a word."""

    def __init__(self, status: Status, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


class Observation(NamedTuple):
    """What came of a call, as the model reads it."""

    text: str
    good: bool


class Place(NamedTuple):
    """A point on the path to go back to."""

    length: int
    mark: Mark | None


@dataclass
class Work:
    """One try at one question.

    `tools` are the names of the functions that may be called, best first, `details` those to describe. `complete`
    asks the model. `first` is the number of this try's first attempt; `attempts` and `usage` are what came of it.
    """

    query: str
    today: str
    tools: Sequence[str]
    details: Sequence[str]
    speaks_of: Mapping[str, str]
    graph: ProtocolGraph
    sandbox: Sandbox
    limits: Limits
    journal: Journal | None
    complete: Callable[..., Completion]
    emit: EventSink
    first: int
    budget: Budget = field(default_factory=Budget)
    usage: Usage = field(default_factory=Usage)
    attempts: list[Attempt] = field(default_factory=list)
    path: Path = field(default_factory=Path)
    seconds: float = 0.0
    """Spent in calls and runs."""
    kept: tuple[str, Run] | None = None
    """The program and run that are the final attempt, in a mode that runs programs."""
    _broker: Broker | None = None
    _view: View | None = None
    _wrote: Usage = field(default_factory=Usage)

    @property
    def number(self) -> int:
        """The number of the attempt that is under way."""
        return self.first + len(self.attempts) + len(self.path.left)

    def run(self, mode: Callable[[Work], str]) -> tuple[Status, str, str | None]:
        """Let a mode work: the status, why there is no answer, and the answer. Raises: ModelError."""
        answer, fault = None, None
        try:
            answer = mode(self)
            return "answered", "", answer
        except Ended as end:
            fault = Fault("answer", end.kind, str(end))
            return end.status, str(end), None
        except BaseException as error:
            fault = Fault("answer", type(error).__name__, str(error))
            raise
        finally:
            warnings: Sequence[str] = ()
            if self._broker is not None:
                self._broker.cancel()
                self._broker.close()
                warnings = self._broker.warnings
            if fault is not None:
                self.emit(FaultFound(self.number, fault, NOBODY))
            if self.kept is not None:
                program, run = self.kept
                stage = fault.stage if fault else "done"
                self.attempts.append(Attempt(program, stage, run, fault, NOBODY if fault else None))
            elif answer is not None or not self.attempts:
                self.attempts += self.path.attempts(answer, fault, warnings)

    # The model

    def functions(self, details: Sequence[str] | None = None) -> str:
        """The text of the functions, as the loop shows it; of those not in `details` only the signature."""
        tools = map(self.graph.protocol.tool, dict.fromkeys([*self.details, *self.tools]))
        chosen = self.details if details is None else details
        return render(tools, self.graph, details=chosen, speaks_of=self.speaks_of, budget=FUNCTIONS_TOKENS)

    def opening(self, prompt: str, examples: str) -> list[Message]:
        """How a conversation begins: instruction and examples, then the functions, the question last."""
        question = prompts.render("question", tools=self.functions(), query=self.query)
        return [
            Message("system", prompts.render(prompt, today=self.today).strip()),
            *(Message("user" if role == "user" else "assistant", said) for role, said in prompts.turns(examples)),
            Message("user", question.strip()),
        ]

    def ask(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 300) -> str:
        """What the model says. Raises: Ended: The budget is used up. ModelError."""
        messages = _fitting(messages)
        size = estimate("".join(message.content for message in messages))
        if self.usage.model_calls >= self.budget.model_calls:
            raise Ended("limit", "BudgetSpent", f"no answer within {self.budget.model_calls} calls of the model")
        if self.usage.prompt_tokens + self.usage.completion_tokens + size > self.budget.tokens:
            raise Ended("limit", "BudgetSpent", f"no answer within {self.budget.tokens:,} tokens")
        self.emit(ModelWaiting(self.number))
        completion = self.complete(messages, stop=stop, max_tokens=max_tokens)
        self.usage += completion.usage
        self._wrote = completion.usage
        return completion.text.strip()

    def ask_action(self, messages: list[Message], names: Sequence[str]) -> Action | None:
        """The action of the model's next message; None where it holds none. The conversation grows by the message, and
        in that case by a correction. Raises: as `ask`."""
        said = self.ask(messages, stop=(f"\n{OBSERVATION.strip()}",))
        try:
            action = read_action(said, names)
        except BadActionError as error:
            correction = prompts.render("bad_action", why=str(error)).strip()
            messages += [Message("assistant", said or "…"), Message("user", correction)]
            return None
        messages.append(Message("assistant", said[: action.end].rstrip()))
        return action

    def wrote(self, text: str) -> None:
        """Tell that the model's last message holds a call or a program."""
        self.emit(ProgramWritten(self.number, text, self._wrote))

    # The API

    def call(self, action: Action) -> Observation:
        """Make a call, which is then on the path. Raises: Ended: No other call would get any further."""
        self.wrote(str(action))
        started = time.perf_counter()
        broker = self._door()
        broker.until(time.monotonic() + self.limits.wall)
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
            broker.cancel()
            raise
        finally:
            self.seconds += time.perf_counter() - started
            for call in broker.calls[before:]:
                self.path.add(str(action), call)
        if exceeded in ("calls", "traffic"):
            raise Ended("limit", "LimitReached", observation.text)
        self.look_at(broker.calls, stopped=exceeded == "wall")
        return observation

    def execute(self, program: str) -> Run:
        """Run a program in the sandbox. Raises: KeyboardInterrupt."""
        started = time.perf_counter()
        run = self.sandbox.run(program)
        self.seconds += time.perf_counter() - started
        self.emit(RunEnded(self.number, run))
        if run.outcome == "interrupted":
            self.kept = program, run
            raise KeyboardInterrupt
        return run

    def look_at(self, calls: Sequence[CallRecord], *, stopped: bool) -> None:
        """Raises: Ended: Nothing would get any further: a write was refused, or the API cannot be had."""
        if refused := next((call for call in calls if call.refused), None):
            raise Ended("refused", "ToolError", refused.error or "")
        if trouble := api_trouble(self.graph.protocol, calls, stopped=stopped):
            raise Ended("api_error", "APIError", trouble)

    def _door(self) -> Broker:
        if self._broker is None:
            self._view = self.journal.attempt() if self.journal is not None else None
            self._broker = self.sandbox.open_broker(self._view)
        return self._broker

    # The path

    def place(self) -> Place:
        """Where the path ends now."""
        self._door()
        return Place(len(self.path), self._view.mark() if self._view is not None else None)

    def back(self, place: Place, why: str) -> None:
        """Leave what was called since a place. It is done, so equal calls from here on are answered from it."""
        self.path.back(place.length, why)
        if self._view is not None and place.mark is not None:
            self._view.back(place.mark)


def _fitting(messages: Sequence[Message]) -> Sequence[Message]:
    """The conversation with its oldest observations shortened until it is short enough."""
    found = list(messages)
    excess = 3 * (estimate("".join(message.content for message in found)) - CONVERSATION_TOKENS)
    for number, message in enumerate(found[:-1]):
        if excess > 0 and message.content.startswith((OBSERVATION, OUTPUT, RESULT)) and len(message.content) > _OLD:
            found[number] = Message(message.role, f"{message.content[:_OLD].rstrip()}…")
            excess -= len(message.content) - len(found[number].content)
    return found
