"""Answers questions with the tools of a protocol: what people hold in their hands; the work is done in atc.loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from copy import copy
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from atc.events import EventSink
from atc.loop import Loop
from atc.models import Model, default_model, open_model
from atc.modes import MODES, parse
from atc.profile import Profile, open_profile, profile_of
from atc.profile import without as features_off
from atc.prompting.prompt import Opening, opening
from atc.retrieval.candidates import Candidates
from atc.retrieval.demonstrations import Demonstrations
from atc.solution import Solution
from protocols import load
from protocols.contracts.contract import Contract
from protocols.contracts.store import SIMULATED, ContractStore
from protocols.dataflow.enum_values import enum_values
from protocols.dataflow.graph import ProtocolGraph
from protocols.errors import UsageError
from protocols.model import Protocol
from sandbox import CallRecord, Journal, Limits
from sandbox.egress.egress_rules import origin
from sandbox.egress.writes import POLICIES, Writes

if TYPE_CHECKING:
    from protocols.simulator import Session

__all__ = ["MODES", "SIMULATED_NOW", "Agent"]

WritesPolicy = Literal["ask", "allow", "deny", "simulate"]
SIMULATED_NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
"""What time it is in a rehearsal, unless one says otherwise."""


class Agent:
    """Answers questions with the tools of a protocol.

    Args:
        protocol: What the API offers; from a document with `Agent.from_openapi`.
        model: A name such as "openai:gpt-4.1" or "local:qwen2.5-coder-1.5b", or any object with `complete`. By default
            what `ATC_MODEL` names, else the local model. A model that this agent opened it also closes.
        mode: How a failed program is repaired: "attribute" names the tool to blame and shows its documentation again,
            "naive" shows the error text alone, "none" does not repair. Or a method to compare with: "react", "codeact",
            "dfsdt", "restgpt" or "conagents" (see atc.modes). `MODE@N` is up to N tries, ended by the first answer;
            after the first try the model's answers are drawn, with a seed of each try.
        max_reflections: How often a program may be revised (the paper's alpha); 3 allows four programs. By default as
            the profile says. The methods to compare with have budgets of their own.
        base_url: Where the API is, when that is not where its document says.
        allow: Origins such as "https://cdn.example.com" that programs may reach besides the API, without credentials;
            the API's own is named here when it has a private address.
        auth: Credentials as `KIND:SOURCE`, such as "bearer:env:MY_TOKEN".
        simulate: Rehearse against a simulated API made from the protocol; no request leaves this machine. Or a session
            of one, a world of its own, which this agent closes.
        seed: Of the simulated API, the model, and a program's random numbers.
        tools: How many tools the model is shown at most, or "all"; by default as the profile says.
        now: What time it is for the program and the model; the real time by default, a fixed one with `simulate`.
        limits: What a program may use.
        store: A folder in which what responses really hold is kept, and programs that answered: programs are held to
            the former besides the document, and the model is shown the latter with a question like theirs. What is
            simulated is kept apart, in `simulated` in it.
        profile: What the model is given and held to: "small", "large", a file, or a Profile (see atc.profile). By
            default "large" for `openai:` models, else "small".
        without: Features of the profile to turn off, to measure what they are worth.
        learn: Let the data flow of good calls guide later questions to this agent; off where runs are compared.
        strict_sandbox: Refuse to run programs where a layer of the sandbox cannot be had; else that is a warning.
        on_event: Called with every event as it happens.
        writes: What becomes of calls that may change something: "allow" sends them, "deny" ends the solve, "simulate"
            has a simulated API answer them, "ask" asks `confirm`, and is "deny" without it. By default "ask", and
            "allow" with `simulate`. At a real service "allow" sends a write for which the question gives a reason
            (see atc.verify.write_reasons), and asks `confirm` about any other.
        confirm: Given a write that is not sent yet, from another thread; says whether it may be.
    Raises: UsageError: An unknown mode, profile or feature, an unreadable credential, or something in `allow` that is no origin.
    """

    def __init__(
        self,
        protocol: Protocol,
        model: str | Model | None = None,
        mode: str = "attribute",
        max_reflections: int | None = None,
        base_url: str | None = None,
        auth: Sequence[str] = (),
        simulate: bool | Session = False,
        seed: int = 0,
        *,
        tools: int | Literal["all"] | None = None,
        now: datetime | None = None,
        allow: Sequence[str] = (),
        limits: Limits | None = None,
        learn: bool = False,
        profile: str | Profile | None = None,
        without: Sequence[str] = (),
        store: Path | None = None,
        strict_sandbox: bool = False,
        on_event: EventSink | None = None,
        writes: WritesPolicy | None = None,
        confirm: Callable[[CallRecord], bool] | None = None,
    ) -> None:
        if writes is not None and writes not in POLICIES:
            raise UsageError(f"unknown writes policy {writes!r}: choose one of {', '.join(POLICIES)}")
        name, tries = parse(mode)
        if not isinstance(profile, Profile):
            profile = open_profile(profile) if profile is not None else profile_of(_name_of(model))
        self.profile = features_off(profile, without).for_mode(name)
        reflections = self.profile.reflections if max_reflections is None else max_reflections
        if reflections < 0:
            raise UsageError(f"max_reflections is {max_reflections}: it must be 0 or more")
        if simulate and base_url:
            raise UsageError("a simulated API has its own base URL: give either simulate or base_url")
        for one in allow:
            origin(one)
        from protocols.calls.auth import credential

        self.protocol = protocol
        self.mode = name
        self.tries = tries
        self.max_reflections = reflections if name != "none" else 0
        self.seed = seed
        self.tools = tools if tools is not None else self.profile.tools
        self.now = now or (SIMULATED_NOW if simulate else None)
        self.limits = limits or Limits()
        self.allow = tuple(allow)
        self.learn = learn
        store = store / SIMULATED if store is not None and simulate else store
        self.store = ContractStore(store) if store is not None else None
        self.solved = Demonstrations(store, protocol) if store is not None else None
        self.strict_sandbox = strict_sandbox
        self.on_event: EventSink = on_event or (lambda event: None)
        policy: WritesPolicy = writes or ("allow" if simulate else "ask")
        self.writes: Writes = confirm if policy == "ask" and confirm is not None else policy
        self.confirm = confirm
        self.simulated = bool(simulate)
        self._closing = ExitStack()
        self._model: str | Model | None = model
        self.credentials = tuple(credential(spec, protocol) for spec in auth)
        self.base_url = base_url
        if simulate:
            from protocols.simulator import Simulator

            made: Simulator | Session = (
                simulate if simulate is not True else Simulator(protocol, seed=seed, now=self.now)
            )
            self._closing.enter_context(made)
            self.base_url = made.url
            self.credentials = (*made.credentials, *self.credentials)

    @classmethod
    def from_openapi(
        cls,
        source: str | Path | dict[str, object],
        model: str | Model | None = None,
        mode: str = "attribute",
        max_reflections: int | None = None,
        base_url: str | None = None,
        auth: Sequence[str] = (),
        simulate: bool | Session = False,
        seed: int = 0,
        *,
        tools: int | Literal["all"] | None = None,
        now: datetime | None = None,
        allow: Sequence[str] = (),
        limits: Limits | None = None,
        learn: bool = False,
        profile: str | Profile | None = None,
        without: Sequence[str] = (),
        store: Path | None = None,
        strict_sandbox: bool = False,
        on_event: EventSink | None = None,
        writes: WritesPolicy | None = None,
        confirm: Callable[[CallRecord], bool] | None = None,
    ) -> Self:
        """An agent for the API that a document describes: a file, a URL, or the parsed document.

        Raises: ProtocolError: The document cannot be read.
        """
        return cls(
            load(source),
            model,
            mode,
            max_reflections,
            base_url,
            auth,
            simulate,
            seed,
            tools=tools,
            now=now,
            allow=allow,
            limits=limits,
            learn=learn,
            profile=profile,
            without=without,
            store=store,
            strict_sandbox=strict_sandbox,
            on_event=on_event,
            writes=writes,
            confirm=confirm,
        )

    def within(self, model: Model, world: Session | None = None) -> Self:
        """The same agent with another model, and in a simulated world, which it closes.

        What was worked out about the protocol is shared, but for a data flow that learns.
        """
        if not self.learn:
            _ = self.candidates, self.vocabulary
        agent = copy(self)
        for name in ("model", "contract", *(("graph", "candidates") if self.learn else ())):
            agent.__dict__.pop(name, None)
        agent._model = model
        agent._closing = ExitStack()
        if world is not None:
            agent._closing.enter_context(world)
            agent.base_url = world.url
            agent.credentials = (*world.credentials, *self.credentials)
        return agent

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the simulated API and the model, where this agent started them."""
        self._closing.close()

    @cached_property
    def graph(self) -> ProtocolGraph:
        """The data flow between the tools of the protocol. Raises: UsageError: The store is damaged."""
        graph = ProtocolGraph(self.protocol)
        for edge in self.store.edges(self.protocol) if self.store is not None else ():
            graph.observe(edge.tool, edge.argument, edge.source, edge.path)
        return graph

    @cached_property
    def contract(self) -> Contract:
        """What is known of the responses, to which programs are held. Raises: UsageError: The store is damaged."""
        return self.store.contract(self.protocol) if self.store is not None else Contract(self.protocol)

    @cached_property
    def candidates(self) -> Candidates:
        """What chooses the tools to show for a question."""
        return Candidates(self.graph, meaning=self.profile.meaning)

    @cached_property
    def vocabulary(self) -> Mapping[str, frozenset[str]]:
        """The fixed words that fields of the API draw on."""
        return enum_values(self.protocol)

    @cached_property
    def model(self) -> Model:
        """The model, opened at its first use. Raises: ModelError."""
        if isinstance(self._model, str) or self._model is None:
            opened = open_model(self._model, seed=self.seed, keep=True)
            self._closing.callback(opened.close)
            return opened
        return self._model

    def solve(self, query: str, tools: Sequence[str] | None = None, journal: Journal | None = None) -> Solution:
        """Answer a question.

        Args:
            query: The question, in plain words.
            tools: Names of the tools to show the model, in this order; chosen for the query by default.
            journal: Where calls and answers are kept, so that no attempt repeats a write; in memory by default. With
                the journal of a solve that was cut off, that one goes on.
        Returns: A Solution, also when there is no answer: its `status` says why, its `attempts` what was tried.
        Raises: UsageError: An empty question, an unknown tool, or a journal of another question or document.
        """
        if not query.strip():
            raise UsageError("the question is empty")
        unknown = [name for name in tools or () if name not in self.protocol]
        if unknown:
            raise UsageError(f"{self.protocol.title} has no tool {', '.join(unknown)}")
        kept = journal if journal is not None else self.new_journal()
        if kept is None and self.mode == "codeact":  # its snippets are run again on the journal
            kept = Journal()
        try:
            return Loop(self, query.strip(), tools, kept).run()
        finally:
            if journal is None and kept is not None:
                kept.close()

    @property
    def today(self) -> str:
        """The date that the model is told, as YYYY-MM-DD."""
        return (self.now or datetime.now(UTC)).date().isoformat()

    def opening(self, query: str, tools: Sequence[str] | None = None, today: str | None = None) -> Opening:
        """What the model would be asked with first; it is not asked.

        Args:
            tools: Those to offer, by default the best. today: As YYYY-MM-DD, by default the agent's.
        """
        most = len(self.protocol.tools) if self.tools == "all" else self.tools
        return opening(
            query, self.candidates, self.vocabulary, today or self.today, tools, most, self.profile, self.solved
        )

    def new_journal(self) -> Journal | None:
        """The journal of a solve that is given none; a subclass may do without one."""
        return Journal()


def _name_of(model: str | Model | None) -> str:
    return model if isinstance(model, str) else default_model() if model is None else getattr(model, "name", "")
