"""Solve the tests of the suite with an agent in place of the action generator.

The agent revises, and a tool of the suite keeps what was done to it. So the environment starts anew before each
program runs: a revision does not act on what a failed program left, and is judged by what it does alone. Nothing of an
earlier attempt is replayed for the same reason; there is no journal. An answer that the agent takes back from an
earlier attempt is run once more before it is judged. Modes that make one call at a time (and `codeact`, which adds
to a program) have one try, in which everything done stays done. A mode that goes back along its path cannot be used.

Where the measure is success, a program that did not run to its end has none, as for the action generator.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from atc import Agent, Solution
from atc.events import Event, ProgramWritten, RunEnded
from atc.models.base import Completion, Message, Model, ModelRequest
from atc.models.budget import BudgetedModel
from atc.modes import LOOP, parse
from atc.profile import profile_of
from atc.retrieval.demonstrations import Demonstration, Demonstrations
from atc.solve import Service
from benchmarks.manipulation.environment import Environment, ManipulationTest, TestScore
from benchmarks.manipulation.prompt_selection import Selection
from protocols.errors import UsageError
from protocols.model import Protocol
from sandbox import Journal, Run, Sandbox

__all__ = ["EpisodeAgent", "agent_mode"]

AGENT_MODES = (*LOOP, "react", "codeact", "restgpt", "conagents")
"""The modes of an agent that never go back."""


@dataclass(frozen=True, slots=True)
class SolvedTest:
    """A solution with its score, and the first prompt."""

    solution: Solution
    score: TestScore
    prompt: tuple[Message, ...]


class _AgentWithoutJournal(Agent):
    """An agent whose attempts share nothing."""

    def new_journal(self) -> Journal | None:
        """None: each program makes all its calls."""
        return None


class _ChosenDemonstrations(Demonstrations):
    """Demonstrations that were chosen for a question: all are shown, in their order, and nothing is added."""

    def __init__(self, examples: Sequence[Demonstration]) -> None:
        self._examples = examples

    def add(self, solved: Demonstration) -> int:
        """Nothing is added, or removed."""
        return 0

    def like(self, query: str, tools: Collection[str], *, meaning: bool = True) -> Sequence[Demonstration]:
        """All of them."""
        return self._examples


class _ListeningModel(BudgetedModel):
    """A model that keeps the first prompt. It is left open."""

    prompt: tuple[Message, ...] = ()

    def answer(self, request: ModelRequest) -> Completion:
        """As `ModelBase.answer`."""
        self.prompt = self.prompt or tuple(request.messages)
        return super().answer(request)


def agent_mode(mode: str) -> str:
    """The name of a mode, without its number of tries. Raises: UsageError: It goes back along its path, or is none."""
    name, tries = parse(mode)
    if name not in AGENT_MODES or (tries > 1 and name not in LOOP):
        raise UsageError(
            f"--mode {mode}: a tool of the suite keeps what was done to it, so the modes are action, "
            f"{', '.join(AGENT_MODES)}, and with @N {', '.join(LOOP)}"
        )
    return name


class EpisodeAgent:
    """Solves the tests of one environment.

    Args:
        selection: Chooses the demonstrations that a prompt shows, and says how many tools.
        model_name: Decides the profile where none is named.
    Raises: UsageError: The mode cannot be used, or the profile is none.
    """

    def __init__(
        self,
        environment: Environment,
        selection: Selection,
        mode: str,
        max_reflections: int,
        profile: str,
        model_name: str,
        seed: int,
        now: datetime,
    ) -> None:
        name = agent_mode(mode)
        self._environment = environment
        self._selection = selection
        self._rewrites = name in LOOP
        self._seed = seed
        self.protocol: Protocol = environment.protocol()
        servers = [server.url for server in self.protocol.servers if server.url.startswith("http")]
        self.base_url = servers[0] if servers else None
        tool_count = selection.document_count
        self._agent = _AgentWithoutJournal(
            self.protocol,
            None,
            mode,
            max_reflections,
            seed=seed,
            now=now,
            profile=profile or profile_of(model_name),
            max_tools=tool_count if 0 < tool_count < len(environment.functions) else "all",
            writes="allow",
        )
        self._agent.service = Service(self.base_url, tuple(environment.credentials), simulated=True)

    def run(self, model: Model, test: ManipulationTest) -> SolvedTest:
        """Solve a test and judge it. Raises: SandboxError."""
        environment = self._environment
        goal = environment.reset(test, self._seed)  # a seed may change what is asked
        standing: Run | None = None

        def follow(event: Event) -> None:
            nonlocal standing
            if isinstance(event, ProgramWritten) and self._rewrites:
                environment.reset(test, self._seed)
                standing = None
            elif isinstance(event, RunEnded):
                standing = event.run

        listening = _ListeningModel(model)
        with self._agent.within(listening) as agent:
            agent.on_event = follow
            agent.knowledge.demonstrations = self._demonstrations(test)
            solution = agent.solve(goal)
        executed, calls = bool(solution.calls), solution.calls
        if self._rewrites:
            final = solution.attempts[-1].run if solution.attempts else None
            if final is not None and final is not standing:
                environment.reset(test, self._seed)
                final = self._run(solution.program)
            executed = final is not None and final.outcome == "ok"
            calls = final.calls if final is not None else ()
        environment.note_calls([call.tool for call in calls if call.tool])
        return SolvedTest(solution, self._judged(environment.score(), executed), listening.prompt)

    def _demonstrations(self, test: ManipulationTest) -> Demonstrations | None:
        chosen = self._selection.demonstrations(test.goal, test)
        if not chosen:
            return None
        examples = [Demonstration(pair.goal, pair.program or pair.action, pair.names) for pair in chosen]
        return _ChosenDemonstrations(examples)

    def _run(self, program: str) -> Run:
        settings = self._agent.settings
        with Sandbox(
            self.protocol,
            base_url=self.base_url,
            credentials=self._environment.credentials,
            now=settings.now,
            seed=settings.options.seed,
            track=False,
        ) as sandbox:
            return sandbox.run(program)

    def _judged(self, score: TestScore, executed: bool) -> TestScore:
        """The score of what was done; a program that did not run to its end is not executable."""
        if executed:
            return score
        value = 0.0 if self._environment.metric == "success" else score.value
        details = {name: figure for name, figure in score.details.items() if name != "executable LCS"}
        details |= dict.fromkeys(self._environment.figures, 0.0)
        return replace(score, value=value, failure="non-executable", details=details)
