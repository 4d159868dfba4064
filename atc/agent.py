"""Answers questions with the tools of a protocol: the object that users hold; atc.solve does the work."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, overload

from atc.events import Event, EventSink
from atc.help import open_help
from atc.knowledge import Knowledge
from atc.models import AnyModel, Model
from atc.models.base import as_model
from atc.options import AgentArguments, Options, check_text, spoken, takes
from atc.prompting import Offer
from atc.query import Query
from atc.resolved import SIMULATED_NOW, check_options, model_name, resolve
from atc.solution import Solution
from atc.solve import Asked, Service, Solve, first_prompt
from protocols.calls.credentials import Credential
from protocols.dataflow.graph import ProtocolGraph
from protocols.errors import UsageError
from protocols.model import Protocol
from sandbox import Journal, Sandbox
from sandbox.egress.egress_rules import base_urls
from sandbox.egress.network import open_network

if TYPE_CHECKING:
    from atc.background import Interruption, StartedSolve
    from atc.chat import Chat, Turn
    from atc.program_run import ProgramResult
    from atc.retrieval.candidates import Candidates
    from protocols.simulator import Session

__all__ = ["SIMULATED_NOW", "Agent"]

Value = TypeVar("Value")


class Agent:
    """Answers questions with tools: those of an API, of Python functions, of an MCP server, or of all of them.

    Args:
        tools: An OpenAPI document (a file, a URL, or parsed), `mcp:URL`, a Protocol, a Python function or an object;
            or several, as a list or as a mapping by name (see protocols.gathering.gather). Options says what the other
            arguments mean.
    Raises: UsageError: Something is no source of tools, two tools have one name, an unknown argument, mode, profile or
        feature, an unreadable credential, a pattern that fits no operation, or something in `allow` that is no origin.
        ProtocolError: A document cannot be read.
    """

    @takes(AgentArguments)
    @spoken
    def __init__(self, arguments: AgentArguments) -> None:
        options = arguments.options()
        check_options(options)
        self._model = _checked(options.model)
        options = replace(options, model=self._model)
        protocol = _gathered(arguments.tools, options)
        if options.only or options.without or options.reads or not options.takes_hints:
            from protocols.choice import choose

            protocol = choose(protocol, options.only, options.without, options.reads, hints=options.takes_hints)
        headers: tuple[Credential, ...] = ()
        if options.headers:
            from protocols.calls.header_option import header_of, without_headers

            headers = tuple(header_of(text, protocol) for text in options.headers)
            protocol = without_headers(protocol, ((sent.namespace, sent.place[1]) for sent in headers))
        self.protocol = protocol
        self.on_event = options.on_event or (lambda event: None)
        self._closing = ExitStack()
        self._closing.callback(protocol.close)
        self._opened: Model | None = None
        self._opening = threading.RLock()
        self.settings = resolve(protocol, options)
        store = Path(options.store) if options.store is not None else None
        if store is not None and options.simulate:
            from protocols.contracts.store import SIMULATED

            store = store / SIMULATED
        self.knowledge = Knowledge(protocol, self.settings.profile, store, options.retriever)
        from protocols.calls.auth import credential

        credentials = tuple(credential(text, protocol) for text in options.auth)
        network = open_network(options.ca_file, options.client_cert)
        base_urls(options.base_url, protocol)  # before a model is asked
        self.service = Service(options.base_url, (*credentials, *headers), bool(options.simulate), network)
        if options.simulate:
            from protocols.simulator import Simulator

            world = options.simulate
            if world is True:
                simulator = self._closing.enter_context(Simulator(protocol, options.seed, self.settings.now))
                world = simulator.session(rehearses=True)
            self._enter(world)

    @classmethod
    @takes(AgentArguments)
    def from_openapi(cls, arguments: AgentArguments) -> Self:
        """The same as the constructor."""
        return cls(**vars(arguments))

    def within(self, model: Model, world: Session | None = None) -> Self:
        """The same agent with another model, and in a simulated world, which it closes.

        What was worked out about the protocol is shared.
        """
        agent = copy(self)
        agent._opened = None
        agent._opening = threading.RLock()
        agent.knowledge = self.knowledge.shared()
        agent._model = model
        agent._closing = ExitStack()
        if world is not None:
            agent._enter(world)
        return agent

    def _enter(self, world: Session) -> None:
        """Ask a simulated API; it is closed with this agent."""
        self._closing.enter_context(world)
        credentials = (*world.credentials, *self.service.credentials)
        rehearsal = world if world.rehearses else None
        self.service = Service(world.base_urls, credentials, simulated=True, rehearsal=rehearsal)

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
                from atc.models import open_model

                options = self.settings.options
                self._opened = open_model(self._model, seed=options.seed, keep=True, silence=options.silence)
                self._closing.callback(self._opened.close)
            return self._opened

    @overload
    def solve(
        self,
        query: str,
        tools: Sequence[str] | None = None,
        journal: Journal | None = None,
        interruption: Interruption | None = None,
        *,
        answer_type: type[Value],
    ) -> Solution[Value]: ...

    @overload
    def solve(
        self,
        query: str,
        tools: Sequence[str] | None = None,
        journal: Journal | None = None,
        interruption: Interruption | None = None,
        *,
        answer_type: Any = None,
    ) -> Solution: ...

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
                list[Invoice]. The model is shown it as Python, and an answer that does not fit is revised as other
                faults are; `Solution.value` is the validated answer.
        Returns: A Solution, also when there is no answer: its `status` says why, its `attempts` what was tried.
        Raises: UsageError: An empty question, an unknown tool, a journal of another question or document, or a type
            that no JSON Schema can be made for.
        """
        return self._solve(self._task(query, tools, journal, answer_type), self.on_event, interruption)

    @overload
    async def asolve(
        self,
        query: str,
        tools: Sequence[str] | None = None,
        journal: Journal | None = None,
        *,
        answer_type: type[Value],
    ) -> Solution[Value]: ...

    @overload
    async def asolve(
        self,
        query: str,
        tools: Sequence[str] | None = None,
        journal: Journal | None = None,
        *,
        answer_type: Any = None,
    ) -> Solution: ...

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
        be gone on with. A local model answers one question at a time.
        Raises: as `solve`.
        """
        from atc.background import awaited

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
        from atc.background import stream

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
        from atc.background import astream

        return astream(self._started(self._task(query, tools, journal, answer_type)))

    def chat(self, journal: Path | Journal | None = None) -> Chat:
        """A conversation: each question knows those before it, their answers and their calls.

        Args:
            journal: Where it is kept; a chat that is there already goes on. In memory by default.
        Raises: UsageError: A journal of something else, or of another document.
        """
        from atc.chat import Chat

        return Chat(self.protocol, self._answer, journal)

    def _answer(self, *question: Any) -> Solution:
        """Answer a question of a chat; the last argument is what may interrupt it."""
        *task, interruption = question
        return self._solve(self._task(*task), self.on_event, interruption)

    @spoken
    def _task(
        self,
        query: str,
        tools: Sequence[str] | None,
        journal: Journal | None,
        answer_type: Any,
        turns: Sequence[Turn] = (),
    ) -> Asked:
        """A question that can be solved. Raises: UsageError."""
        check_text("the question", query)
        if not query.strip():
            raise UsageError("the question is empty")
        unknown = [name for name in tools or () if name not in self.protocol]
        if unknown:
            why = next((f": {reason}" for name in unknown if (reason := self.protocol.why_left_out(name))), "")
            raise UsageError(f"{self.protocol.title} has no tool {', '.join(unknown)}{why}")
        of_type = None
        if answer_type is not None:
            from atc.answer_type import AnswerType

            of_type = AnswerType(answer_type)
        question = Query(query.strip())
        if turns:
            from atc.chat import follow_up

            question = follow_up(question.text, turns)
        return Asked(question, tools, journal, of_type, turns)

    def _started(self, task: Asked) -> StartedSolve:
        """A solve for a thread of its own, whose events also go to a sink."""

        def start(sink: EventSink, interruption: Interruption) -> Solution:
            def tell(event: Event) -> None:
                self.on_event(event)
                sink(event)

            return self._solve(task, tell, interruption)

        return start

    @spoken
    def _solve(self, task: Asked, on_event: EventSink, interruption: Interruption | None) -> Solution:
        used_journal = task.journal if task.journal is not None else self.new_journal()
        runs_again = self.settings.mode.reruns or self.settings.writes == "plan"
        if used_journal is None and runs_again:  # on what the journal has
            used_journal = Journal()
        try:
            with self._opening:  # worked out once
                _ = self.graph
            return Solve(
                replace(task, journal=used_journal, goes_on=task.journal is not None),
                self.knowledge,
                self.service,
                self.settings,
                lambda: self.model,
                model_name(self._model) or type(self._model).__name__,
                on_event,
                interruption,
            ).run()
        finally:
            if task.journal is None and used_journal is not None:
                used_journal.close()

    @spoken
    def run_program(
        self, program: str, journal: Journal | None = None, on_output: Callable[[str, str], None] | None = None
    ) -> ProgramResult:
        """Run a program of somebody else in the sandbox, with the tools as its functions; no model is asked.

        Credentials, limits and hooks are the agent's, and so is what becomes of writes (`writes`).

        Args:
            program: Python; it may `print` anything.
            journal: What it has answered is replayed, and no write in it is sent again.
            on_output: Given the name of a stream (stdout, stderr) and what the program prints there, as it does.
        Raises: UsageError: The program is no text, the writes cannot be planned, or a hook fails. SandboxError: No
            process can be started.
        """
        from atc.program_run import run_under

        check_text("program", program)
        settings, options = self.settings, self.settings.options
        if self.service.rehearsal is not None:
            from atc.program.demands import demands_of

            self.service.rehearsal.satisfy(demands_of(program, self.protocol, settings.now))
        open_sandbox = partial(
            Sandbox,
            self.protocol,
            base_url=self.service.base_url,
            allow=options.allow,
            credentials=self.service.credentials,
            limits=settings.limits,
            seed=options.seed,
            strict=options.strict_sandbox,
            before_call=options.before_call,
            on_call=options.after_call,
            network=self.service.network,
        )
        return run_under(
            settings.writes,
            program,
            self.protocol,
            open_sandbox,
            settings.now,
            journal,
            on_output,
            options.confirm_plan,
            self.on_event,
        )

    @overload
    def as_tool(self, *, asynchronous: Literal[False] = False) -> Callable[[str], str]: ...

    @overload
    def as_tool(self, *, asynchronous: Literal[True]) -> Callable[[str], Awaitable[str]]: ...

    def as_tool(self, *, asynchronous: bool = False) -> Callable[[str], str] | Callable[[str], Awaitable[str]]:
        """The agent as a tool of another framework: a function from a question to a text, or with `asynchronous` a
        coroutine function.

        Its name, docstring and type hints say what the tools can do. The text is the answer with the doubts about it,
        or why there is none; no error is raised, and one of the model's own code is logged.
        """
        from atc.question_tool import async_question_tool, question_tool

        protocol = self.protocol
        if self.settings.writes == "deny":
            protocol = protocol.only(tool.name for tool in protocol.tools if not tool.writes)
        if asynchronous:
            return async_question_tool(self.asolve, protocol, self.settings.changes)
        return question_tool(self.solve, protocol, self.settings.changes)

    def opening(self, query: str, tools: Sequence[str] | None = None, today: str | None = None) -> Offer:
        """What the model would be asked with first; it is not asked.

        Args:
            tools: Those to offer, by default the best. today: As YYYY-MM-DD, by default the agent's.
        """
        question = Query(query, today=today or self.settings.today)
        profile = self.settings.profile
        help = open_help(profile.help, dict.fromkeys(profile.help_off, False))
        return first_prompt(question, self.knowledge, self.settings, help, Asked(question, tools))

    def new_journal(self) -> Journal | None:
        """The journal of a solve that is given none; a subclass may do without one."""
        return Journal()


def _gathered(tools: Any, options: Options) -> Protocol:
    """One protocol of all tools; of one that is there already, itself. Raises: UsageError, ProtocolError."""
    if isinstance(tools, Protocol):
        return tools
    from protocols.gathering import gather

    return gather(tools, options.auth, options.base_url)


def _checked(model: str | AnyModel | None) -> str | Model | None:
    """As atc.models.checked_model."""
    if model is not None and not isinstance(model, str):
        return as_model(model)
    from atc.models import checked_model

    return checked_model(model)
