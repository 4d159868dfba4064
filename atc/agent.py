"""Answers questions with the tools of a protocol: the object that users hold; atc.solve does the work."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from atc.answer_type import AnswerType
from atc.assist.language.question import Question
from atc.background import StartedSolve, astream, awaited, stream
from atc.chat import Chat, ChatQuestion
from atc.engines.names import identity
from atc.events import Event, EventSink
from atc.hooks import guarded_after, guarded_before
from atc.interruption import Interruption
from atc.knowledge import Knowledge
from atc.models import Model, default_model, open_model
from atc.modes import LOOP, STEPWISE, parse
from atc.options import Options, WritesPolicy, takes_options
from atc.profile import Profile, open_profile, profile_of, without
from atc.prompting.prompt import Opening
from atc.question_limits import QuestionLimits
from atc.retrieval.candidates import Candidates
from atc.solution import Solution
from atc.solve import Service, Solve, SolveSettings, first_prompt
from atc.turns import Turn, follow_up
from atc.write_gate import check_plannable
from protocols import combine, load
from protocols.combined import names_several
from protocols.contracts.store import SIMULATED
from protocols.dataflow.graph import ProtocolGraph
from protocols.errors import UsageError
from protocols.model import Protocol
from sandbox import Journal, Limits
from sandbox.egress.egress_rules import origin
from sandbox.egress.network import open_network
from sandbox.egress.writes import POLICIES

if TYPE_CHECKING:
    from atc.models.prices import Prices
    from protocols.simulator import Session, Simulator

__all__ = ["SIMULATED_NOW", "Agent"]

SIMULATED_NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
"""The time in a rehearsal, unless another one is given."""


@dataclass(frozen=True, slots=True)
class _Task:
    """A question with what belongs to it; `turns` are those before it in a chat."""

    question: Question
    tools: Sequence[str] | None
    journal: Journal | None
    answer_type: AnswerType | None
    turns: Sequence[Turn]


_TICK = 0.1
"""Seconds after which a solve that waits for its turn notices that it was interrupted."""


class Agent:
    """Answers questions with the tools of a protocol.

    Args:
        protocol: What the API offers; from a document with `Agent.from_openapi`.
        options: As atc.options.Options lists them, each an argument of its own.
    Raises: UsageError: An unknown mode, profile or feature, an unreadable credential, a pattern that fits no operation,
        or something in `allow` that is no origin.
    """

    @takes_options(Options)
    def __init__(self, protocol: Protocol, options: Options) -> None:
        if options.writes is not None and options.writes not in POLICIES:
            raise UsageError(f"unknown writes policy {options.writes!r}: choose one of {', '.join(POLICIES)}")
        if (options.max_reflections or 0) < 0:
            raise UsageError(f"max_reflections is {options.max_reflections}: it must be 0 or more")
        if options.call_timeout is not None and not options.call_timeout > 0:
            raise UsageError(f"call_timeout is {options.call_timeout}: it must be more than 0 seconds")
        if options.max_calls is not None and options.max_calls < 1:
            raise UsageError(f"max_calls is {options.max_calls}: it must be 1 or more")
        if options.simulate and options.base_url:
            raise UsageError("a simulated API has its own base URL: give either simulate or base_url")
        for text in options.allow:
            origin(text)
        from protocols.calls.auth import credential, header_of
        from protocols.calls.header_names import without_headers
        from protocols.choice import choose

        protocol = choose(protocol, options.only, options.without, options.reads)
        headers = tuple(header_of(text, protocol) for text in options.headers)
        protocol = without_headers(protocol, ((sent.namespace, sent.place[1]) for sent in headers))
        self.protocol = protocol
        self.on_event = options.on_event or (lambda event: None)
        self._closing = ExitStack()
        self._closing.callback(protocol.close)
        self._model = options.model
        self._opened: Model | None = None
        self._opening = threading.RLock()
        self._learning = threading.Lock()
        self.settings = _settings(protocol, options)
        store = options.store
        if store is not None and options.simulate:
            store = store / SIMULATED
        self.knowledge = Knowledge(protocol, self.settings.profile, store, options.learn, options.retriever)
        credentials = tuple(credential(text, protocol) for text in options.auth)
        network = open_network(options.ca_file, options.client_cert)
        self.service = Service(options.base_url, (*credentials, *headers), bool(options.simulate), network)
        if options.simulate:
            from protocols.simulator import Simulator

            simulate = options.simulate
            world: Simulator | Session = (
                Simulator(protocol, seed=options.seed, now=self.settings.now) if simulate is True else simulate
            )
            self._enter(world)

    @classmethod
    @takes_options(Options)
    def from_openapi(cls, source: str | Path | Mapping[str, Any], options: Options) -> Self:
        """An agent for the API that a document describes: a file, a URL, or the parsed document.

        `{"shop": "shop.yaml", "crm": "crm.yaml"}` names several; see protocols.combined.combine.

        Raises: ProtocolError: A document cannot be read.
        """
        protocol = combine(source, options.auth) if names_several(source) else load(source, options.auth)
        return cls(protocol, **vars(options))

    def within(self, model: Model, world: Session | None = None) -> Self:
        """The same agent with another model, and in a simulated world, which it closes.

        What was worked out about the protocol is shared, but for a data flow that learns.
        """
        agent = copy(self)
        agent._opened = None
        agent._opening = threading.RLock()
        agent._learning = threading.Lock()
        agent.knowledge = self.knowledge.shared()
        agent._model = model
        agent._closing = ExitStack()
        if world is not None:
            agent._enter(world)
        return agent

    def _enter(self, world: Simulator | Session) -> None:
        """Ask a simulated API; it is closed with this agent."""
        self._closing.enter_context(world)
        credentials = (*world.credentials, *self.service.credentials)
        self.service = Service(world.base_urls, credentials, simulated=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """Stop the simulated API and the model, where this agent started them, and end connections to MCP servers."""
        self._closing.close()

    @property
    def graph(self) -> ProtocolGraph:
        """The data flow between the tools of the protocol. Raises: UsageError: The store is damaged."""
        return self.knowledge.graph

    @property
    def candidates(self) -> Candidates:
        """The search for tools that a question needs."""
        return self.knowledge.candidates

    @property
    def model(self) -> Model:
        """The model, opened at its first use. Raises: ModelError."""
        if not isinstance(self._model, str) and self._model is not None:
            return self._model
        with self._opening:
            if self._opened is None:
                self._opened = open_model(self._model, seed=self.settings.seed, keep=True)
                self._closing.callback(self._opened.close)
            return self._opened

    def solve(
        self,
        query: str,
        tools: Sequence[str] | None = None,
        journal: Journal | None = None,
        interruption: Interruption | None = None,
        *,
        answer_type: Any = None,
    ) -> Solution:
        """Answer a question.

        Args:
            query: The question, in plain words.
            tools: Names of the tools to show the model, in this order; chosen for the query by default.
            journal: Where calls and answers are kept, so that no attempt repeats a write; in memory by default. With
                the journal of a solve that was cut off, that one goes on.
            interruption: Ends the solve from another thread, as ctrl-C does.
            answer_type: The type that the answer has to have, as pydantic's TypeAdapter takes it: a BaseModel, int,
                list[Invoice]. The model is told its JSON Schema, and an answer that does not fit is revised as other
                faults are; `Solution.value` is the validated answer.
        Returns: A Solution, also when there is no answer: its `status` says why, its `attempts` what was tried.
        Raises: UsageError: An empty question, an unknown tool, a journal of another question or document, or a type
            that no JSON Schema can be made for.
        """
        return self._solve(self._task(query, tools, journal, answer_type), self.on_event, interruption)

    async def asolve(
        self,
        query: str,
        tools: Sequence[str] | None = None,
        journal: Journal | None = None,
        *,
        answer_type: Any = None,
    ) -> Solution:
        """As `solve`, in a thread of its own; several may be under way at once.

        Cancelling the task ends the solve within moments, as ctrl-C does: its programs are stopped, and its journal can
        be gone on with. An agent that learns answers one question at a time, and so does a local model.
        Raises: as `solve`.
        """
        return await awaited(self._started(self._task(query, tools, journal, answer_type)))

    def stream(
        self,
        query: str,
        tools: Sequence[str] | None = None,
        journal: Journal | None = None,
        *,
        answer_type: Any = None,
    ) -> Generator[Event, None, None]:
        """The events of a solve as they happen; the last one is SolveEnded, with the solution.

        The solve runs in a thread of its own, from the first event that is asked for. Closing the generator interrupts
        it. A reader who falls behind by a thousand events makes the solve wait, and may miss some ModelProgress.
        Raises: as `solve`.
        """
        return stream(self._started(self._task(query, tools, journal, answer_type)))

    def astream(
        self,
        query: str,
        tools: Sequence[str] | None = None,
        journal: Journal | None = None,
        *,
        answer_type: Any = None,
    ) -> AsyncGenerator[Event, None]:
        """As `stream`, for `async for`; cancelling the task interrupts the solve. Raises: as `solve`."""
        return astream(self._started(self._task(query, tools, journal, answer_type)))

    def chat(self, journal: Path | Journal | None = None) -> Chat:
        """A conversation: each question knows those before it, their answers and their calls.

        Args:
            journal: Where it is kept; a chat that is there already goes on. In memory by default.
        Raises: UsageError: A journal of something else, or of another document.
        """
        return Chat(self.protocol, self._answer, journal)

    def _answer(self, asked: ChatQuestion, interruption: Interruption | None) -> Solution:
        """Answer a question of a chat."""
        task = self._task(asked.query, asked.tools, asked.journal, asked.answer_type, asked.turns)
        return self._solve(task, self.on_event, interruption)

    def _task(
        self,
        query: str,
        tools: Sequence[str] | None,
        journal: Journal | None,
        answer_type: Any,
        turns: Sequence[Turn] = (),
    ) -> _Task:
        """A question that can be solved. Raises: UsageError."""
        if not query.strip():
            raise UsageError("the question is empty")
        unknown = [name for name in tools or () if name not in self.protocol]
        if unknown:
            why = next((f": {reason}" for name in unknown if (reason := self.protocol.why_left_out(name))), "")
            raise UsageError(f"{self.protocol.title} has no tool {', '.join(unknown)}{why}")
        of_type = AnswerType(answer_type) if answer_type is not None else None
        return _Task(follow_up(query.strip(), turns), tools, journal, of_type, turns)

    def _started(self, task: _Task) -> StartedSolve:
        """A solve for a thread of its own, whose events also go to a sink."""

        def start(sink: EventSink, interruption: Interruption) -> Solution:
            def tell(event: Event) -> None:
                self.on_event(event)
                sink(event)

            return self._solve(task, tell, interruption)

        return start

    def _solve(self, task: _Task, on_event: EventSink, interruption: Interruption | None) -> Solution:
        used_journal = task.journal if task.journal is not None else self.new_journal()
        runs_again = self.settings.mode == "codeact" or self.settings.writes == "plan"
        if used_journal is None and runs_again:  # on what the journal has
            used_journal = Journal()
        try:
            with self._turn(interruption):
                return Solve(
                    task.question,
                    self.knowledge,
                    self.service,
                    self.settings,
                    lambda: self.model,
                    _name_of(self._model) or type(self._model).__name__,
                    on_event,
                    task.tools,
                    used_journal,
                    interruption=interruption,
                    answer_type=task.answer_type,
                    turns=task.turns,
                ).run()
        finally:
            if task.journal is None and used_journal is not None:
                used_journal.close()

    @contextmanager
    def _turn(self, interruption: Interruption | None) -> Iterator[None]:
        """Wait for other solves where what one learns may be read by another. Raises: KeyboardInterrupt."""
        if not self.knowledge.learns:
            with self._opening:  # worked out once
                _ = self.candidates
            yield
            return
        while not self._learning.acquire(timeout=_TICK):
            if interruption is not None:
                interruption.check()
        try:
            yield
        finally:
            self._learning.release()

    def opening(self, query: str, tools: Sequence[str] | None = None, today: str | None = None) -> Opening:
        """What the model would be asked with first; it is not asked.

        Args:
            tools: Those to offer, by default the best. today: As YYYY-MM-DD, by default the agent's.
        """
        return first_prompt(Question(query), self.knowledge, self.settings, tools, today)

    def new_journal(self) -> Journal | None:
        """The journal of a solve that is given none; a subclass may do without one."""
        return Journal()


def _settings(protocol: Protocol, options: Options) -> SolveSettings:
    """How questions are solved. Raises: UsageError."""
    mode, tries = parse(options.mode)
    profile = options.profile
    if not isinstance(profile, Profile):
        profile = open_profile(profile) if profile is not None else profile_of(_name_of(options.model))
    profile = without(profile, options.ablate).for_mode(mode)
    reflections = profile.reflections if options.max_reflections is None else options.max_reflections
    tools = options.tools if options.tools is not None else profile.tools
    policy: WritesPolicy = options.writes or ("allow" if options.simulate else "ask")
    if policy == "plan":
        check_plannable(protocol)
        if mode not in LOOP:
            modes = ", ".join(LOOP)
            raise UsageError(f"writes='plan' holds one program to its plan, which {mode!r} has not; use one of {modes}")
    return SolveSettings(
        mode=mode,
        tries=tries,
        max_reflections=0 if mode == "none" else reflections,
        profile=profile,
        tools=len(protocol.tools) if tools == "all" else tools,
        seed=options.seed,
        now=options.now or (SIMULATED_NOW if options.simulate else None),
        limits=_limits(options, mode),
        allow=tuple(options.allow),
        strict_sandbox=options.strict_sandbox,
        writes=options.confirm if policy == "ask" and options.confirm is not None else policy,
        confirm=options.confirm,
        before_call=guarded_before(options.before_call) if options.before_call is not None else None,
        after_call=guarded_after(options.after_call) if options.after_call is not None else None,
        confirm_plan=options.confirm_plan,
        search=options.search,
        effort=options.effort,
        question_limits=QuestionLimits(options.max_tokens, options.max_seconds, options.max_cost),
        prices=_prices(options),
    )


def _prices(options: Options) -> Prices:
    """The price table. Raises: UsageError: It is broken, or no limit of cost can be kept with it."""
    from atc.models.prices import read_prices

    prices = read_prices(Path(options.prices) if options.prices is not None else None)
    if prices.currency != "USD":
        raise UsageError(f"{options.prices} is in {prices.currency}, and a solve counts US dollars (currency: USD)")
    name = _name_of(options.model)
    if options.max_cost is not None:
        prices.required(name)
    return prices


def _limits(options: Options, mode: str) -> Limits:
    """The limits of the sandbox; by default a search may make as many calls as its model calls ask for."""
    limits = options.limits or Limits()
    if options.limits is None and mode in STEPWISE:
        wanted = max(options.search.max_model_calls, 200 if options.search.compat else 0)
        limits = Limits(calls=max(limits.calls, 2 * wanted))
    return limits.adjusted(options.call_timeout, options.max_calls)


def _name_of(model: str | Model | None) -> str:
    if model is None or isinstance(model, str):
        return identity(model or default_model())
    return getattr(model, "name", "")
