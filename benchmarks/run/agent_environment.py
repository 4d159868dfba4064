"""The environment in which an agent solves the tasks of a benchmark, each in a world of its own.

A solution is judged by its calls, and by its answer where a reference tells what is right.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from atc import Agent, Solution
from atc.evidence import made_writes
from atc.models import Model, open_model
from atc.models.budget import BudgetedModel
from atc.options import SearchSettings
from atc.profile import profile_of
from benchmarks.harness import Outcome
from benchmarks.tasks.datasets import Dataset
from benchmarks.tasks.metrics import Metrics, Score, category, score
from benchmarks.tasks.references import (
    Reference,
    find_reference,
    is_correct,
    read_claim,
    run_reference,
    sibling_texts,
)
from benchmarks.tasks.task_files import OfferedTask, Task
from protocols.errors import APIError, ModelError, UsageError
from protocols.model import Protocol
from sandbox import Limits, Run, Sandbox

if TYPE_CHECKING:
    from protocols.simulator import Simulator

__all__ = ["BEST", "AgentEnvironment", "RunSettings", "TaskWorld", "raise_if_unavailable", "record_of_solution"]

_VARYING = frozenset({"seconds", "ms", "wall", "cpu", "memory"})
"""Members of a solution that differ from run to run."""

_TIMES = {"total": "seconds", "model": "model_seconds", "run": "run_seconds"}
"""What `times.jsonl` calls the seconds of a solution."""

_ADDRESS = re.compile(r"(?<= at )0x[0-9a-f]{6,16}>")
"""Where an object was in memory, as Python prints it."""

_lock = threading.Lock()  # not of an AgentEnvironment, which travels to other machines

_UNMEASURED = Score(0.0, 0.0, 0.0, 0.0)
"""The score of a task without gold calls."""

BEST = "best "
"""The prefix of `candidates` in the settings where the agent chooses them, before their number."""

BASE = "http://api.invalid"
"""The address of a simulated service in the records, whatever its port was."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """All that decides the outcome of a task, beside the task: `config.json` of a run.

    `files` has name and SHA-256 of the task file and of each document, with `learned-DOMAIN` for one that only the
    agent sees. `api` is "simulated" or the base URL; `now` is in ISO 8601; `candidates` is "listed" (in the task file),
    "all", or "best N" where the agent chooses them. The budgets are those of one task, 0 for none.
    `profile` is a name or a file, empty for that of the model; `without` names features that are off (see atc.profile).
    `writes`: whether calls that may change something are sent. `repeat` is added to `seed` for the model alone: worlds
    and candidates stay the same. `search` is that of the agent.
    """

    benchmark: str
    model: str
    mode: str
    max_reflections: int
    candidates: str
    seed: int
    now: str
    api: str
    files: Mapping[str, Mapping[str, str]]
    max_model_calls: int = 0
    max_tokens: int = 0
    max_seconds: float = 0.0
    without: Sequence[str] = ()
    profile: str = ""
    writes: Literal["allow", "deny", "simulate"] = "allow"
    repeat: int = 0
    search: SearchSettings = field(default_factory=SearchSettings)

    @property
    def chosen(self) -> int | None:
        """The number of candidates that the agent chooses; None where it does not."""
        return int(self.candidates.removeprefix(BEST)) if self.candidates.startswith(BEST) else None


@dataclass(eq=False)
class AgentEnvironment:
    """Solves the tasks of one run; may be used from several threads.

    Args:
        dataset: The tasks' protocols. Where it has learned ones the agent sees those; simulator, references and scores
            go by the others. With `own_protocols` agent and simulated API go with their task.
        record: A file to which the model's answers are appended.
        reuse: One whose answers are taken instead of asking, where it has them (see atc.models.open_model).
        worlds: World files of simulated APIs, by domain.
        retriever: The folder of an index, which chooses the tools where the agent chooses them.
    """

    settings: RunSettings
    dataset: Dataset
    base_url: str | None = None
    auth: Sequence[str] = ()
    record: Path | None = None
    reuse: Path | None = None
    worlds: Mapping[str, Path] = field(default_factory=dict)
    retriever: Path | None = None
    _simulators: dict[str, Simulator] = field(default_factory=dict, init=False)
    _agents: dict[tuple[str, str], Agent] = field(default_factory=dict, init=False)
    _stopped: bool = field(default=False, init=False)

    @cached_property
    def model(self) -> Model:
        """The model, opened at its first use. Raises: ModelError, UsageError."""
        seed = self.settings.seed + self.settings.repeat
        return open_model(self.settings.model, record=self.record, reuse=self.reuse, seed=seed)

    def stop(self) -> None:
        """Let the solves that are under way in other threads end: nobody waits for them."""
        self._stopped = True
        if "model" in self.__dict__:
            self.model.close()

    def close(self) -> None:
        """Close the model if it was opened, and end the simulated APIs."""
        for domain in list(self._simulators):
            self._forget(domain)
        if "model" in self.__dict__:
            self.model.close()

    def key(self, task: OfferedTask) -> object:
        """The task with its candidates."""
        return [task.task, task.candidates]

    def run(self, task: OfferedTask) -> Outcome:
        """Solve one task. Raises: ModelError, APIError: The model or the API could not be had; UsageError."""
        return self.solve(task.task, task.candidates)

    def solve(self, task: Task, candidates: tuple[str, ...]) -> Outcome:
        """Solve one task with these tools. Raises: as `run`."""
        simulated = self.settings.api == "simulated"
        reference = find_reference(self.settings.benchmark, task.query) if simulated else None
        try:
            with self.world(task) as world:
                solution = world.agent.solve(task.query, tools=None if self.settings.chosen else candidates)
                correct = self._judge(reference, solution, world, task) if reference else None
                offered = world.agent.opening(task.query).tools if self.settings.chosen else candidates
                return _outcome(solution, task, offered, world.base_url, correct)
        finally:
            if self.dataset.own_protocols:
                self._forget(task.domain)

    def _forget(self, domain: str) -> None:
        """End the simulated API of a domain, and let its agent go."""
        with _lock:
            for key in [key for key in self._agents if key[0] == domain]:
                del self._agents[key]
            simulator = self._simulators.pop(domain, None)
        if simulator is not None:
            simulator.stop()

    @contextmanager
    def world(self, task: Task) -> Iterator[TaskWorld]:
        """A world for one task, so that no task sees what another one changed."""
        settings = self.settings
        simulated = settings.api == "simulated"
        simulator = self._simulator(task.domain) if simulated else None
        model = BudgetedModel(
            self.model,
            calls=settings.max_model_calls,
            tokens=settings.max_tokens,
            seconds=settings.max_seconds,
            stopped=lambda: self._stopped,
        )
        session = simulator.session(query=task.query, task=task.id) if simulator else None
        with self._agent(task.domain).within(model, session) as agent:
            yield TaskWorld(agent, self.dataset.protocols[task.domain], session.url if session is not None else None)

    def _agent(self, domain: str) -> Agent:
        """The agent of a domain, without model and world."""
        settings = self.settings
        with _lock:
            if (domain, settings.mode) not in self._agents:
                self._agents[domain, settings.mode] = Agent(
                    self.dataset.learned.get(domain, self.dataset.protocols[domain]),
                    None,
                    settings.mode,
                    settings.max_reflections,
                    self.base_url,
                    tuple(self.auth),
                    seed=settings.seed + settings.repeat,
                    now=datetime.fromisoformat(settings.now),
                    profile=settings.profile or profile_of(settings.model),
                    max_tools=settings.chosen or "all",
                    retriever=self.retriever,
                    ablate=[*settings.without, "demonstrations"],  # no task is an example for another one
                    writes=settings.writes,
                    search=settings.search,
                )
            return self._agents[domain, settings.mode]

    def _simulator(self, domain: str) -> Simulator:
        """The simulated API that has a session for each task."""
        from protocols.simulator import Simulator

        with _lock:
            if domain not in self._simulators:
                self._simulators[domain] = Simulator(
                    self.dataset.protocols[domain],
                    seed=self.settings.seed,
                    now=datetime.fromisoformat(self.settings.now),
                    world=self.worlds.get(domain),
                    open=self.dataset.own_protocols,
                )
            return self._simulators[domain]

    def _judge(self, reference: Reference, solution: Solution, world: TaskWorld, task: Task) -> bool:
        """True if the answer of a solution is right by its reference. Raises: UsageError: The reference is broken.

        The solve is wrong where the reference runs in an untouched world but not in the world that it left, and where
        it changed nothing though the reference looks at a change.
        """
        if solution.answer is None:
            return False
        try:
            claim = self.claim(reference, task, world)
        except UsageError:
            if not reference.after:
                raise
            with self.world(task) as untouched:
                self.claim(reference, task, untouched)
            return False
        if "state" in claim and not any(attempt.run and made_writes(attempt.run) for attempt in solution.attempts):
            return False
        return is_correct(solution.answer, claim)

    def claim(self, reference: Reference, task: Task, solved: TaskWorld) -> Mapping[str, object]:
        """The claim that the answer of a task must meet.

        Args:
            solved: The world that the solve left. A reference runs in it or in a fresh one, as it says.
        Raises: UsageError: The reference does not run to its end, or claims nothing.
        """

        def run_fresh(program: str) -> Run:
            with self.world(task) as fresh:
                return _run_to_end(fresh, program)

        try:
            run = run_reference(reference, partial(_run_to_end, solved), run_fresh)
            claim = read_claim(run.stdout)
            siblings = sibling_texts(claim, [(call.tool or "", call.response) for call in run.calls])
            return {"others": siblings, **claim} if siblings else claim
        except ValueError as error:
            raise UsageError(f"the reference for {task.query!r} is broken: {error}") from None


@dataclass(frozen=True, slots=True)
class TaskWorld:
    """The world of one task: an agent, the protocol of the service, and the address of a simulated one.

    The protocol of the agent may be a learned one.
    """

    agent: Agent
    protocol: Protocol
    base_url: str | None = None

    def run(self, program: str) -> Run:
        """Run a program of ours in this world, with all tools."""
        agent = self.agent
        with Sandbox(
            self.protocol,
            base_url=agent.service.base_url,
            credentials=agent.service.credentials,
            now=agent.settings.now,
            seed=agent.settings.options.seed,
            limits=Limits(calls=1000),
            track=False,
        ) as sandbox:
            return sandbox.run(program)


def _run_to_end(world: TaskWorld, program: str) -> Run:
    """Run a program of ours. Raises: ValueError: It does not run to its end."""
    run = world.run(program)
    if run.error is not None:
        raise ValueError(f"{run.error.type}: {run.error.message} (line {run.error.line})")
    return run


def _outcome(
    solution: Solution,
    task: Task,
    offered: tuple[str, ...],
    base_url: str | None,
    correct: bool | None,
) -> Outcome:
    raise_if_unavailable(solution)
    attempts = [attempt.calls for attempt in solution.attempts]
    judged = score(task.gold, attempts, solution.status) if task.gold.calls else _UNMEASURED
    failed = [attempt for attempt in solution.attempts if attempt.run is not None and attempt.run.outcome != "ok"]
    metrics = Metrics(
        **asdict(judged),
        correct=correct,
        answered=solution.status == "answered",
        status=solution.status,
        prompt_tokens=solution.usage.prompt_tokens,
        completion_tokens=solution.usage.completion_tokens,
        cached_tokens=solution.usage.cached_tokens,
        model_calls=solution.usage.model_calls,
        tool_calls=sum(len(calls) for calls in attempts),
        failed_runs=len(failed),
        wasted_calls=sum(call.attempts > 0 for attempt in failed for call in attempt.calls),
        reflections=solution.reflections,
        gold_calls=task.gold.needed.total(),
        gold_offered=len(set(task.gold.needed) & set(offered)) / len(task.gold.needed) if task.gold.needed else None,
        error=category(solution, judged),
        standing=solution.standing,
        findings=len(solution.findings),
        turns=len(solution.tree),
        usable_turns=sum(bool(node.steps) and all(step.code != 1 for step in node.steps) for node in solution.tree),
    )
    record: dict[str, object] = {
        "id": task.id,
        "dataset": task.domain,
        "query": task.query,
        "gold": asdict(task.gold),
        "candidates": list(offered),
        "metrics": asdict(metrics),
        "solution": record_of_solution(solution, base_url),
    }
    return Outcome(record, {title: solution.seconds[name] for name, title in _TIMES.items()})


def record_of_solution(solution: Solution, base_url: str | None) -> object:
    """A solution as plain data without what differs from run to run."""
    text = _ADDRESS.sub("0x…>", json.dumps(_without_times(solution.to_json())))
    return json.loads(text.replace(base_url, BASE) if base_url else text)


def _without_times(data: object) -> object:
    if isinstance(data, dict):
        return {
            name: value if name in ("response", "arguments") else _without_times(value)
            for name, value in data.items()
            if name not in _VARYING
        }
    return [_without_times(part) for part in data] if isinstance(data, list) else data


def raise_if_unavailable(solution: Solution) -> None:
    """Raise where a solve says nothing about the model, so that it is no result."""
    if solution.status == "interrupted":
        raise KeyboardInterrupt
    again = "repeat the command to go on from here"
    if solution.status == "model_error":
        raise ModelError(f"{solution.message}; {again}")
    answered = any((call.status or 0) // 100 == 2 for attempt in solution.attempts for call in attempt.calls)
    if solution.status == "api_error" and not answered:
        raise APIError(f"{solution.message}; {again}")
