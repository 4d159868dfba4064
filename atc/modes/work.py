"""What a mode works with: the question, the tools, the model and the API, each use of them counted and recorded.

A mode is a function of one Work that returns the answer, or raises Ended.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from atc.events import EventSink, FaultFound, ModelWaiting, ProgramWritten, RunEnded
from atc.fault import Fault
from atc.models import Completion, Message, Usage
from atc.modes.actions import Action, BadActionError, read_action
from atc.modes.api import ApiSession, Observation
from atc.modes.path import NO_ATTRIBUTION
from atc.modes.rules import FUNCTIONS_TOKENS, OBSERVATION, TryBudget, TryEnded, shorten_observations
from atc.prompting import templates
from atc.solution import Attempt, Status
from protocols.dataflow.graph import ProtocolGraph
from protocols.render import estimate, render
from sandbox import Journal, Limits, Run, Sandbox

__all__ = ["Work"]


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
    budget: TryBudget = field(default_factory=TryBudget)
    usage: Usage = field(default_factory=Usage)
    attempts: list[Attempt] = field(default_factory=list)
    kept: tuple[str, Run] | None = None
    """The program and run that are the final attempt, in a mode that runs programs."""
    _wrote: Usage = field(default_factory=Usage)

    def __post_init__(self) -> None:
        self.api = ApiSession(self.graph.protocol, self.sandbox, self.limits, self.journal)

    @property
    def number(self) -> int:
        """The number of the attempt that is under way."""
        return self.first + len(self.attempts) + len(self.api.path.abandoned)

    def run(self, mode: Callable[[Work], str]) -> tuple[Status, str, str | None]:
        """Let a mode work: the status, why there is no answer, and the answer. Raises: ModelError."""
        answer, fault = None, None
        try:
            answer = mode(self)
            return "answered", "", answer
        except TryEnded as end:
            fault = Fault("answer", end.kind, str(end))
            return end.status, str(end), None
        except BaseException as error:
            fault = Fault("answer", type(error).__name__, str(error))
            raise
        finally:
            warnings = self.api.close()
            if fault is not None:
                self.emit(FaultFound(self.number, fault, NO_ATTRIBUTION))
            if self.kept is not None:
                program, run = self.kept
                stage = fault.stage if fault else "done"
                self.attempts.append(Attempt(program, stage, run, fault, NO_ATTRIBUTION if fault else None))
            elif answer is not None or not self.attempts:
                self.attempts += self.api.path.attempts(answer, fault, warnings)

    # The model

    def functions(self, details: Sequence[str] | None = None) -> str:
        """The text of the functions, as the loop shows it; of those not in `details` only the signature."""
        tools = map(self.graph.protocol.tool, dict.fromkeys([*self.details, *self.tools]))
        chosen = self.details if details is None else details
        return render(
            tools,
            self.graph,
            details=chosen,
            speaks_of=self.speaks_of,
            query=self.query,
            whole=False,
            budget=FUNCTIONS_TOKENS,
        )

    def opening(self, prompt: str, examples: str) -> list[Message]:
        """How a conversation begins: instruction and examples, then the functions, the question last."""
        question = templates.render("question", tools=self.functions(), query=self.query)
        return [
            Message("system", templates.render(prompt, today=self.today).strip()),
            *(Message("user" if role == "user" else "assistant", said) for role, said in templates.turns(examples)),
            Message("user", question.strip()),
        ]

    def ask(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 300) -> str:
        """What the model says. Raises: Ended: The budget is used up. ModelError."""
        messages = shorten_observations(messages)
        size = estimate("".join(message.content for message in messages))
        if self.usage.model_calls >= self.budget.model_calls:
            raise TryEnded("limit", "BudgetSpent", f"no answer within {self.budget.model_calls} calls of the model")
        if self.usage.prompt_tokens + self.usage.completion_tokens + size > self.budget.tokens:
            raise TryEnded("limit", "BudgetSpent", f"no answer within {self.budget.tokens:,} tokens")
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
            correction = templates.render("bad_action", why=str(error)).strip()
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
        return self.api.call(action)

    def execute(self, program: str) -> Run:
        """Run a program in the sandbox. Raises: KeyboardInterrupt."""
        started = time.perf_counter()
        run = self.sandbox.run(program)
        self.api.seconds += time.perf_counter() - started
        self.emit(RunEnded(self.number, run))
        if run.outcome == "interrupted":
            self.kept = program, run
            raise KeyboardInterrupt
        return run
