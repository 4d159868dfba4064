"""One try of a method to compare with: its question, its tools, the model and the API, within a budget.

A method is a function of one MethodTry, which `method` makes a mode of. It returns the answer, or raises TryEnded. Its
attempts are the programs that it keeps, or the paths of its calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from atc.events import FaultFound, ModelWaiting
from atc.fault import Fault
from atc.models import Completion, Message, Usage
from atc.models.base import FunctionSpec, Layout
from atc.modes import Mode
from atc.prompting import Offer, example_turns, fill, tools_text
from atc.query import Query
from atc.session import NO_ATTRIBUTION, SolveSession, TryEnded
from atc.solution import Attempt
from benchmarks.methods.actions import Action
from benchmarks.methods.call_path import ApiSession, Observation, TryPosition
from benchmarks.methods.observations import published_observation, render_value
from protocols.dataflow.graph import ProtocolGraph
from protocols.model import Protocol
from protocols.quoting import estimate
from protocols.text.words import stem, words
from sandbox import Run

__all__ = ["OBSERVATION", "OUTPUT", "RESULT", "MethodTry", "TryBudget", "conversation", "correction", "method"]

OBSERVATION, OUTPUT, RESULT = "Observation: ", "Output:\n", "Result: "
"""How the messages begin that may be shortened."""

_SHORTENED_LENGTH = 120
"""Characters of a shortened message."""


def method(*, reruns: bool = False, calls: bool = False) -> Callable[[Callable[[MethodTry], str | None]], Mode]:
    """Make a mode of a function of one MethodTry.

    Args:
        reruns: It runs programs again on what the journal has.
        calls: It searches by single calls, so that it may need more of them than a program.
    """

    def mode(function: Callable[[MethodTry], str | None]) -> Mode:
        def run(query: Query, offer: Offer, session: SolveSession) -> str | None:
            return MethodTry(query, offer, session).run(function)

        return Mode(run, reruns=reruns, single_calls=calls)

    return mode


def conversation(instruction: str, request: str) -> list[Message]:
    """How a conversation begins that has no examples."""
    return [Message("system", instruction.strip()), Message("user", request.strip())]


def correction(reply: str, template: str, **values: str) -> list[Message]:
    """A reply of no use, and what the model is told of it."""
    return [Message("assistant", reply or "…"), Message("user", fill(template, **values).strip())]


@dataclass(frozen=True, slots=True)
class TryBudget:
    """The budget of one try, the same for all methods; `tokens` are those read and those written together."""

    model_calls: int = 40
    tokens: int = 250_000

    def raised(self, model_calls: int) -> TryBudget:
        """The budget with so many completions, and as many more tokens; 0 leaves it as it is."""
        if not model_calls:
            return self
        return TryBudget(model_calls, max(self.tokens, self.tokens * model_calls // self.model_calls))


class MethodTry:
    """One try at one question.

    `messages` is how many the model is told that it may write. `final` is the program and run that are the final
    attempt, in a method that runs snippets.
    """

    def __init__(self, query: Query, offer: Offer, session: SolveSession) -> None:
        self.query = query
        self.offer = offer
        self.session = session
        self.search = session.settings.search
        self.tools = tuple(dict.fromkeys([*offer.ranked, *offer.tools]))
        self.budget = TryBudget()
        self.messages = self.budget.model_calls
        self.usage = Usage()
        self.final: tuple[str, Run] | None = None
        published = published_observation if self.search.compat else None
        self.wanted = frozenset(map(stem, words(query.text)))
        rendered = published or partial(render_value, budget=self.search.max_observation, wanted=self.wanted)
        self.api = ApiSession(self.protocol, session.sandbox, session.settings.limits, session.journal, rendered)
        self._last_cost = Usage()

    @property
    def protocol(self) -> Protocol:
        """The tools of the API."""
        return self.offer.graph.protocol

    @property
    def graph(self) -> ProtocolGraph:
        """The data flow between them."""
        return self.offer.graph

    def run(self, function: Callable[[MethodTry], str | None]) -> str | None:
        """Run a method, and record its attempts. Raises: as the method."""
        answer, fault = None, None
        first = len(self.session.attempts)
        try:
            answer = function(self)
            return answer
        except TryEnded as end:
            fault = Fault("answer", end.kind, str(end))
            raise
        except BaseException as error:
            fault = Fault("answer", type(error).__name__, str(error))
            raise
        finally:
            warnings = self.api.close()
            self.session.took(self.api.seconds)
            if fault is not None:
                self.session.emit(FaultFound(self.session.number, fault, NO_ATTRIBUTION))
            if self.final is not None:
                program, run = self.final
                blame = NO_ATTRIBUTION if fault else None
                self.session.record(Attempt(program, fault.stage if fault else "done", run, fault, blame))
            elif answer is not None or len(self.session.attempts) == first:
                self.session.record(*self.api.attempts(answer, fault, warnings))

    # The model

    def functions(self, *, bare: bool = False) -> str:
        """The text of the functions, with plan sketches and solved questions, as in the first prompt of the loop.

        `bare` leaves out these, and the lines that say where an identifier comes from.
        """
        details, profile = self.offer.details, self.offer.profile
        if profile.documentation == "full" and not bare:
            of_programs, of_actions = (fill(name, functions="").strip() for name in ("others", "others_step"))
            return self.offer.with_context(self.offer.functions.replace(of_programs, of_actions))
        text = tools_text(
            map(self.protocol.tool, dict.fromkeys([*details, *self.tools])),
            self.graph,
            profile,
            details=details,
            speaks_of=self.offer.speaks_of,
            preferred=tuple(map(stem, words(self.query.text))),
            hints=not bare,
            budget=profile.prompt_tokens * 3 // 4,
        )
        return text if bare else self.offer.with_context(text)

    def begin(self, prompt: str, examples: str, **values: str) -> list[Message]:
        """How a conversation begins: instruction and examples, then the functions, the question last."""
        question = fill("question", tools=self.functions(), query=self.offer.asked)
        return [
            Message("system", self.instruction(prompt, **values)),
            *example_turns(examples),
            Message("user", question.strip()),
        ]

    def instruction(self, prompt: str, **values: str) -> str:
        """The text of an instruction, with the day and the limits in it."""
        limits = {"messages": str(self.messages), "output": str(self.search.max_observation)}
        return fill(prompt, today=self.query.today, **limits, **values).strip()

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
        """The model's next message; what it asks to see of the functions first, it is shown.

        Raises: TryEnded: The budget is used up. ModelError.
        """
        profile = self.offer.profile
        messages = _shortened(self._with_shown(messages), profile.prompt_tokens + 500)
        size = estimate("".join(message.content for message in messages))
        if self.usage.model_calls >= self.budget.model_calls:
            raise TryEnded("limit", "BudgetSpent", f"no answer within {self.budget.model_calls} calls of the model")
        if self.usage.prompt_tokens + self.usage.completion_tokens + size > self.budget.tokens:
            raise TryEnded("limit", "BudgetSpent", f"no answer within {self.budget.tokens:,} tokens")
        self.session.emit(ModelWaiting(self.session.number))
        # a strong model's answer needs room, and more of it where text and calls are together
        max_tokens = max(max_tokens, profile.output_tokens if functions else profile.output_tokens // 4)
        completion = self.session.complete(
            messages, stop=stop, max_tokens=max_tokens, functions=functions, layout=layout
        )
        self.usage += completion.usage
        self._last_cost = completion.usage
        if not completion.calls and (names := self.offer.requested(completion.text)):
            self.offer = self.offer.showing(names, "show_step")
            return self.ask_message(messages, stop=stop, max_tokens=max_tokens, functions=functions, layout=layout)
        return completion

    def _with_shown(self, messages: Sequence[Message]) -> Sequence[Message]:
        """The conversation with what the model asked to see behind the message that has the functions."""
        if not self.offer.shown:
            return messages
        functions = self.functions()
        behind = next((place for place, message in enumerate(messages, 1) if functions in message.content), None)
        if behind is None:
            return messages
        behind += messages[behind - 1].role == "system"
        return [*messages[:behind], *self.offer.shown, *messages[behind:]]

    # The API

    def wrote(self, text: str, call_id: str = "") -> None:
        """Tell that the model's last message holds a call or a program."""
        self.session.wrote(text, self._last_cost, call_id=call_id)

    def call(self, action: Action) -> Observation:
        """Make a call, which is then on the path. Raises: TryEnded: No other call would get any further."""
        self.wrote(str(action), action.id)
        return self.api.call(action)

    def leave(self, position: TryPosition, why: str) -> None:
        """Go back to a position on the path; the calls after it stay done, as an attempt of their own."""
        before = len(self.api.abandoned)
        self.api.backtrack(position, why)
        for _ in self.api.abandoned[before:]:
            self.session.turn_back()

    def execute(self, program: str) -> Run:
        """Run the snippets of a method as one program. Raises: KeyboardInterrupt."""
        run = self.session.execute(program)
        if run.outcome == "interrupted":
            self.final = program, run
            raise KeyboardInterrupt
        return run


def _shortened(messages: Sequence[Message], most: int) -> Sequence[Message]:
    """The conversation with its oldest observations shortened until it has at most so many tokens."""
    shortened = list(messages)
    excess = 3 * (estimate("".join(message.content for message in shortened)) - most)
    for number, message in enumerate(shortened[:-1]):
        observed = message.role == "tool" or message.content.startswith((OBSERVATION, OUTPUT, RESULT))
        if excess > 0 and observed and len(message.content) > _SHORTENED_LENGTH:
            shortened[number] = replace(message, content=f"{message.content[:_SHORTENED_LENGTH].rstrip()}…")
            excess -= len(message.content) - len(shortened[number].content)
    return shortened
