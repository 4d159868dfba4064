"""Run the tests of the suite, so that a run that was stopped goes on where it was.

A run folder is laid out as those of the other benchmarks (see benchmarks.harness.runner): each test is one JSON file in
`tasks/`, which is taken again only under the very same settings and for the very same test.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from atc.files import append_line, write_json
from atc.models.base import Model
from atc.solution import Solution
from benchmarks.harness.runner import stored_seconds
from benchmarks.manipulation.environment import NOW, Environment, ManipulationTest, TestScore
from benchmarks.manipulation.generator import ActionGenerator, Episode
from benchmarks.manipulation.selection import DocumentCount, Selection
from benchmarks.manipulation.solving import EpisodeAgent
from benchmarks.run.agent_environment import raise_if_unavailable, record_of_solution
from benchmarks.tasks.metrics import Metrics
from protocols.errors import PromptRefused, UsageError
from protocols.model import Protocol
from sandbox.records import CallRecord

__all__ = ["ACTION_MODE", "BENCHMARK", "ManipulationSettings", "TestRecord", "TestRunner", "run_tests"]

BENCHMARK = "manipulation"
ACTION_MODE = "action"


@dataclass(frozen=True, slots=True)
class ManipulationSettings:
    """All that decides the outcome of a test, beside the tests themselves.

    `mode` is "action" or a mode of an agent; what follows `oracle` concerns the former alone. `max_steps` is 0 for the
    environment's own. `repeat` is added to `seed` for what a seed varies: the environment, and the order of equally
    near demonstrations. `files` has a digest of a record of answers.
    """

    benchmark: str
    model: str
    mode: str
    max_reflections: int
    shots: int
    documents: DocumentCount
    retriever: str
    oracle: bool
    system_prompt: bool = False
    strip_fences: bool = False
    max_steps: int = 0
    compat: bool = False
    seed: int = 0
    repeat: int = 0
    profile: str = ""
    prefill: bool = True
    files: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TestRecord:
    """A finished test: its score, the digest of its first prompt, and the seconds that it took."""

    task: str
    id: str
    metrics: Metrics
    details: Mapping[str, float]
    prompt: str
    seconds: float

    __test__ = False


class TestRunner:
    """Runs the tests of one environment.

    In the modes of an agent, a program is judged by what it does alone: see `benchmarks.manipulation.solving`.

    Args:
        model: Asked by either kind of mode.
    Raises: UsageError: The settings do not fit the environment.
    """

    __test__ = False

    def __init__(self, environment: Environment, settings: ManipulationSettings, model: Model) -> None:
        self.environment = environment
        self._settings = settings
        self._model = model
        self._seed = settings.seed + settings.repeat
        selection = Selection(
            environment, settings.shots, settings.documents, settings.oracle, settings.retriever, self._seed
        )
        self._generator = ActionGenerator(
            environment,
            selection,
            settings.system_prompt,
            settings.prefill,
            settings.strip_fences,
            settings.max_steps,
        )
        self._agent = None
        if settings.mode != ACTION_MODE:
            self._agent = EpisodeAgent(
                environment,
                selection,
                settings.mode,
                settings.max_reflections,
                settings.profile,
                settings.model,
                self._seed,
                NOW,
            )

    @cached_property
    def digest(self) -> str:
        """A digest of what prompts are made of, beside the test."""
        environment = self.environment
        parts: list[object] = [list(map(asdict, environment.functions)), list(map(asdict, environment.demonstrations))]
        if self._agent is not None:
            parts.append(self._agent.protocol.digest)
        return _digest(parts)

    @cached_property
    def _value_classes(self) -> frozenset[str]:
        return self.environment.protocol().value_classes

    def _called(self, names: Iterable[str]) -> tuple[str, ...]:
        """The functions among some names, without constructors: to make a value is no call, and it may serve two."""
        return tuple(name for name in names if name not in self._value_classes)

    def _counted(self, test: ManipulationTest) -> ManipulationTest:
        """The test as its calls are counted: no label has a constructor."""
        return replace(test, names=tuple(map(self._called, test.names)))

    def run(self, test: ManipulationTest) -> dict[str, Any]:
        """Run a test; gives its record as plain data without times. Raises: ModelError, KeyboardInterrupt."""
        if self._agent is not None:
            return self._solve(self._agent, test)
        try:
            episode = self._generator.run(self._model, test, self._seed)
        except PromptRefused as error:
            return self._refused(test, str(error))
        score, counted = self.environment.score(), self._counted(test)
        called = self._called(name for step in episode.steps for name in step.result.names)
        return {
            **_test_record(self.environment, counted),
            "metrics": asdict(_episode_metrics(counted, episode, score, called)),
            "details": dict(score.details),
            "prompt": _shown([message.to_json() for message in episode.prompt]),
            "solution": _episode_solution(test, episode, score),
            "picture": self.environment.picture(),
        }

    def _refused(self, test: ManipulationTest, why: str) -> dict[str, Any]:
        """The record of a test whose prompt the model does not take."""
        test = self._counted(test)
        metrics = Metrics(0.0, 0.0, 0.0, 0.0, status="limit", gold_calls=len(test.names[0]), error="non-executable")
        return {
            **_test_record(self.environment, test),
            "metrics": asdict(metrics),
            "details": dict.fromkeys(self.environment.figures, 0.0),
            "prompt": _shown([]),
            "solution": {"query": test.goal, "status": "limit", "answer": None, "message": why, "attempts": []},
        }

    def _solve(self, agent: EpisodeAgent, test: ManipulationTest) -> dict[str, Any]:
        solved = agent.run(self._model, test)
        raise_if_unavailable(solved.solution)
        counted = self._counted(test)
        return {
            **_test_record(self.environment, counted),
            "metrics": asdict(_solution_metrics(counted, solved.solution, solved.score, agent.protocol)),
            "details": dict(solved.score.details),
            "prompt": _shown([message.to_json() for message in solved.prompt]),
            "solution": record_of_solution(solved.solution, agent.base_url),
            "picture": self.environment.picture(),
        }


def run_tests(
    runner: TestRunner, tests: Sequence[ManipulationTest], settings: ManipulationSettings, out: Path
) -> Iterator[TestRecord]:
    """Yield the record of each test in order, running those that have none.

    Args:
        out: A folder that `prepare_folder` made.
    Raises:
        ModelError: The model cannot be had; what was finished stays.
        UsageError: A stored record is damaged, or one cannot be written.
    """
    times = out / "times.jsonl"
    task, digest = runner.environment.name, runner.digest
    earlier = stored_seconds(times)
    for test in tests:
        key = _digest([asdict(settings), digest, asdict(test)])
        file = out / "tasks" / f"{task}-{test.id}.json"
        record = _read(file, key)
        seconds = earlier.get(f"{task}-{test.id}", 0.0)
        if record is None:
            started = time.perf_counter()
            record = {"key": key, **runner.run(test)}
            seconds = round(time.perf_counter() - started, 3)
            write_json(file, record)
            append_line(times, json.dumps({"id": record["id"], "seconds": seconds}))
        yield _record(file, record, seconds)


def _digest(parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=list).encode()).hexdigest()


def _shown(messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The first prompt with its digest."""
    return {"sha256": _digest(messages), "messages": list(messages)}


def _read(file: Path, key: str) -> dict[str, Any] | None:
    """The record in a file, if it is one of this very test."""
    try:
        data = json.loads(file.read_text("utf-8"))
        return dict(data) if data.get("key") == key else None
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise UsageError(f"{file} cannot be read ({error}); remove it to have the test run again") from None


def _record(file: Path, data: Mapping[str, Any], seconds: float) -> TestRecord:
    try:
        metrics = Metrics.read(data["metrics"])
        return TestRecord(data["dataset"], data["id"], metrics, data["details"], data["prompt"]["sha256"], seconds)
    except (KeyError, TypeError) as error:
        raise UsageError(f"{file} has no {error}; remove it to have the test run again") from None


def _test_record(environment: Environment, test: ManipulationTest) -> dict[str, Any]:
    return {
        "id": f"{environment.name}-{test.id}",
        "dataset": environment.name,
        "metric": environment.metric,
        "query": test.goal,
        "gold": {"calls": dict(Counter(test.names[0])), "counted": True},
        "labels": list(test.labels),
    }


def _overlap(called: Sequence[str], test: ManipulationTest) -> tuple[float, float]:
    """Recall and precision of the functions called, against the nearest label."""
    shares = [
        (shared / max(len(names), 1), shared / max(len(called), 1))
        for names in test.names
        for shared in [(Counter(called) & Counter(names)).total()]
    ]
    return max(shares, key=sum)


def _episode_metrics(test: ManipulationTest, episode: Episode, score: TestScore, called: Sequence[str]) -> Metrics:
    recall, precision = _overlap(called, test)
    usage = episode.usage
    return Metrics(
        score.value,
        recall,
        precision,
        score.value,
        answered=score.failure != "non-executable",
        status="answered" if score.failure != "non-executable" else "failed",
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cached_tokens=usage.cached_tokens,
        model_calls=usage.model_calls,
        tool_calls=len(called),
        failed_runs=sum(bool(step.result.error) for step in episode.steps),
        gold_calls=len(test.names[0]),
        error=score.failure or None,
    )


def _episode_solution(test: ManipulationTest, episode: Episode, score: TestScore) -> dict[str, Any]:
    """The episode in the form of a solution, as the report shows it: an attempt for each answer."""
    attempts = []
    for step in episode.steps:
        result = step.result
        fault = {"type": score.failure or "error", "message": result.error} if result.error else None
        attempts.append(
            {
                "program": step.action,
                "stage": "run" if fault else "done",
                "run": {"outcome": "error" if fault else "ok", "stdout": result.observation},
                "fault": fault,
                "attribution": None,
                "mended": False,
                "calls": [{"tool": name, "status": None if fault else 200} for name in result.names],
                "text": step.text,
                "cut": step.cut,
            }
        )
    executed = score.failure != "non-executable"
    return {
        "query": test.goal,
        "status": "answered" if executed else "failed",
        "answer": episode.steps[-1].result.observation if executed else None,
        "message": score.failure,
        "attempts": attempts,
    }


def _solution_metrics(test: ManipulationTest, solution: Solution, score: TestScore, protocol: Protocol) -> Metrics:
    function_names = {name for names in test.names for name in names}
    called = [_called_name(call, protocol, function_names) for call in solution.calls]
    recall, precision = _overlap(called, test)
    failed = [attempt for attempt in solution.attempts if attempt.run is not None and attempt.run.outcome != "ok"]
    usage = solution.usage
    return Metrics(
        score.value,
        recall,
        precision,
        score.value,
        answered=solution.status == "answered",
        status=solution.status,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cached_tokens=usage.cached_tokens,
        model_calls=usage.model_calls,
        tool_calls=sum(len(attempt.calls) for attempt in solution.attempts),
        failed_runs=len(failed),
        wasted_calls=sum(call.attempts > 0 for attempt in failed for call in attempt.calls),
        reflections=solution.reflections,
        gold_calls=len(test.names[0]),
        error=score.failure or None,
        standing=solution.standing,
        findings=len(solution.findings),
        turns=len(solution.tree),
    )


def _called_name(call: CallRecord, protocol: Protocol, function_names: set[str]) -> str:
    """What the tests call the function of a call: as the tool, or by method and path."""
    name = call.tool or ""
    if name in function_names or name not in protocol:
        return name
    tool = protocol.tool(name)
    return f"{tool.method} {tool.path}"
