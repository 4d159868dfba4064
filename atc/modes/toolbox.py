"""What a mode works with: the question, the tools, the model and the API, each use of them counted and recorded.

A mode is a function of one Toolbox. It returns the answer, or None where the output of the last run is it; without an
answer it raises TryEnded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from atc.answer_type import AnswerType, WrongAnswerError
from atc.assist.language.question import Question
from atc.assist.rules import inspect
from atc.assist.rules.agreement import SecondAnswer
from atc.events import EventSink, FaultFound, ModelWaiting, ProgramWritten, RunEnded
from atc.evidence import Finding
from atc.fault import Fault
from atc.knowledge import Knowledge
from atc.models import Completion, Message, Usage
from atc.models.base import FunctionSpec, Layout
from atc.modes.actions import Action
from atc.modes.api import NO_ATTRIBUTION, ApiSession, Observation
from atc.modes.observations import published_observation, render_value
from atc.modes.rules import TryBudget, TryEnded, shorten_observations
from atc.options import Effort, SearchSettings
from atc.profile import Profile
from atc.prompting import templates
from atc.prompting.prompt import Opening
from atc.search_tree import SearchNode
from atc.solution import Attempt, Status
from atc.write_gate import WriteGate
from protocols.contracts.contract import Contract
from protocols.dataflow.graph import ProtocolGraph
from protocols.model import Protocol
from protocols.render import estimate, render
from sandbox import Journal, Limits, Run, Sandbox

__all__ = ["Toolbox", "conversation", "correction"]


def conversation(instruction: str, request: str) -> list[Message]:
    """How a conversation begins that has no examples."""
    return [Message("system", instruction.strip()), Message("user", request.strip())]


def correction(reply: str, template: str, **values: str) -> list[Message]:
    """A reply of no use, and what the model is told of it."""
    return [Message("assistant", reply or "…"), Message("user", templates.render(template, **values).strip())]


@dataclass
class Toolbox:
    """One try at one question.

    Args:
        callable_tools: Names of the tools that a program may call, whether they were offered or not.
        complete: Asks the model; takes messages, and by name `stop`, `max_tokens`, `sampled`, `functions` and
            `layout`.
        calls_functions: The model takes functions.
        attempts: Those of all tries at this question; this try adds its own.
        max_reflections: Revisions of a program, in the modes that revise.
        guarded: A write has to have a reason in the question.
        signed: Calls carry credentials.
        elsewhere: Programs may reach services that the document does not know.
        run_aside: Runs a program that counts for nothing, and writes nothing new.
        search: How the modes search that make one call at a time.
        nodes: The tree of all tries at this question; this try adds its own.
        trial: The number of this try, from 1.
        gate: Holds the writes of programs to a plan that is approved first.
        answer_type: The type that the answer has to have.
        effort: "high" takes a second look at an answer; `second_answers` has what it gave, and `look_ended` the limit
            that cut it short.
    """

    question: Question
    today: str
    opening: Opening
    callable_tools: Collection[str]
    knowledge: Knowledge
    profile: Profile
    sandbox: Sandbox
    limits: Limits
    journal: Journal | None
    complete: Callable[..., Completion]
    emit: EventSink
    attempts: list[Attempt]
    max_reflections: int
    guarded: bool = False
    signed: bool = False
    elsewhere: bool = False
    on_program: Callable[[str], Any] = lambda program: None
    run_aside: Callable[[str], Run] = field(kw_only=True)
    search: SearchSettings = field(default_factory=SearchSettings)
    nodes: list[SearchNode] = field(default_factory=list)
    trial: int = 1
    calls_functions: bool = False
    gate: WriteGate | None = None
    effort: Effort = "normal"
    second_answers: list[SecondAnswer] = field(default_factory=list)
    look_ended: str = ""
    answer_type: AnswerType | None = None
    budget: TryBudget = field(default_factory=TryBudget)
    usage: Usage = field(default_factory=Usage)
    kept: tuple[str, Run] | None = None
    """The program and run that are the final attempt, in a mode that runs snippets."""
    _wrote: Usage = field(default_factory=Usage)
    _inspected: tuple[Run, tuple[Finding, ...]] | None = None

    def __post_init__(self) -> None:
        self.earlier = len(self.attempts)
        self.tools = tuple(dict.fromkeys([*self.opening.ranked, *self.opening.tools]))
        published = published_observation if self.search.compat else None
        rendered = published or partial(render_value, budget=self.search.max_observation)
        self.api = ApiSession(self.protocol, self.sandbox, self.limits, self.journal, rendered)

    @property
    def protocol(self) -> Protocol:
        return self.knowledge.protocol

    @property
    def graph(self) -> ProtocolGraph:
        return self.knowledge.graph

    def contract(self) -> Contract:
        """What is known of the responses, the replies of this solve included."""
        return self.knowledge.contract_with([attempt.run for attempt in self.attempts if attempt.run is not None])

    def misfit(self, answer: str) -> Fault | None:
        """The fault of an answer that does not fit the type asked for."""
        if self.answer_type is None:
            return None
        try:
            self.answer_type.read(answer.strip())
        except WrongAnswerError as error:
            return Fault("answer", "WrongType", str(error))
        return None

    def findings(self, program: str, run: Run) -> tuple[Finding, ...]:
        """The findings against the answer of a run; a run is inspected once."""
        if self._inspected is None or self._inspected[0] is not run:
            earlier = [attempt.program for attempt in self.attempts[self.earlier :] if attempt.run is not None]
            earlier = [text for text in earlier if text != program]
            self._inspected = (run, inspect(program, run, self.question, self.graph, earlier))
        return self._inspected[1]

    @property
    def number(self) -> int:
        """The number of the attempt that is under way, from 1."""
        return len(self.attempts) + 1 + len(self.api.path.abandoned)

    def run(self, mode: Callable[[Toolbox], str | None], *, records: bool) -> tuple[Status, str, str | None]:
        """Run a mode; gives the status, the reason where there is no answer, and the answer.

        Args:
            records: The mode records its attempts itself; else they are made from its path of calls.
        Raises: ModelError.
        """
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
            if not records:
                self._record(answer, fault, warnings)

    def _record(self, answer: str | None, fault: Fault | None, warnings: Sequence[str]) -> None:
        if fault is not None:
            self.emit(FaultFound(self.number, fault, NO_ATTRIBUTION))
        if self.kept is not None:
            program, run = self.kept
            stage = fault.stage if fault else "done"
            self.attempts.append(Attempt(program, stage, run, fault, NO_ATTRIBUTION if fault else None))
        elif answer is not None or len(self.attempts) == self.earlier:
            self.attempts += self.api.path.attempts(answer, fault, warnings)

    # The model

    def functions(self, *, bare: bool = False) -> str:
        """The text of the functions, with plan sketches and solved questions, as in the first prompt of the loop.

        `bare` leaves out these, and the lines that say where an identifier comes from.
        """
        details = self.opening.details
        text = render(
            map(self.protocol.tool, dict.fromkeys([*details, *self.tools])),
            self.graph,
            details=details,
            speaks_of=self.opening.speaks_of,
            preferred=self.question.stems,
            whole=self.profile.documentation == "full",
            hints=self.profile.hints and not bare,
            budget=self.profile.prompt_tokens * 3 // 4,
        )
        return text if bare else self.opening.with_earlier(self.opening.with_solved(self.opening.with_plans(text)))

    def begin(self, prompt: str, examples: str) -> list[Message]:
        """How a conversation begins: instruction and examples, then the functions, the question last."""
        question = templates.render("question", tools=self.functions(), query=self.opening.asked)
        return [
            Message("system", templates.render(prompt, today=self.today).strip()),
            *templates.turns(examples),
            Message("user", question.strip()),
        ]

    def ask(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 300) -> str:
        """What the model says. Raises: as `ask_message`."""
        return self.ask_message(messages, stop=stop, max_tokens=max_tokens).text.strip()

    def ask_message(
        self,
        messages: Sequence[Message],
        *,
        stop: Sequence[str] = (),
        max_tokens: int = 300,
        functions: Sequence[FunctionSpec] = (),
        layout: Layout = "chat",
    ) -> Completion:
        """The model's next message. Raises: TryEnded: The budget is used up. ModelError."""
        messages = shorten_observations(messages, self.profile.prompt_tokens + 500)
        size = estimate("".join(message.content for message in messages))
        if self.usage.model_calls >= self.budget.model_calls:
            raise TryEnded("limit", "BudgetSpent", f"no answer within {self.budget.model_calls} calls of the model")
        if self.usage.prompt_tokens + self.usage.completion_tokens + size > self.budget.tokens:
            raise TryEnded("limit", "BudgetSpent", f"no answer within {self.budget.tokens:,} tokens")
        self.emit(ModelWaiting(self.number))
        if functions:  # a strong model's text and calls together need room
            max_tokens = max(max_tokens, self.profile.output_tokens)
        completion = self.complete(messages, stop=stop, max_tokens=max_tokens, functions=functions, layout=layout)
        self.usage += completion.usage
        self._wrote = completion.usage
        return completion

    def wrote(self, text: str) -> None:
        """Tell that the model's last message holds a call or a program."""
        self.emit(ProgramWritten(self.number, text, self._wrote))

    # The API

    def call(self, action: Action) -> Observation:
        """Make a call, which is then on the path. Raises: TryEnded: No other call would get any further."""
        self.wrote(str(action))
        return self.api.call(action)

    def execute(self, program: str) -> Run:
        """Run a program in the sandbox, and learn from its replies."""
        self.on_program(program)
        started = time.perf_counter()
        run = self.sandbox.run(program)
        self.api.seconds += time.perf_counter() - started
        self.knowledge.observe(self.question, run)
        self.emit(RunEnded(self.number, run))
        return run

    def execute_snippet(self, program: str) -> Run:
        """Run the snippets of a mode as one program. Raises: KeyboardInterrupt."""
        run = self.execute(program)
        if run.outcome == "interrupted":
            self.kept = program, run
            raise KeyboardInterrupt
        return run
