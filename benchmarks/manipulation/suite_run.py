"""Run the tests of the suite: what decides their outcome, and their records (see `benchmarks.harness.runner`)."""

from __future__ import annotations

import hashlib
import json
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from atc.models.base import Message, Model, Usage
from benchmarks.harness import Outcome
from benchmarks.manipulation.environment import NOW, Environment, ManipulationTest, TestScore
from benchmarks.manipulation.generator import ActionGenerator, Episode
from benchmarks.manipulation.prompt_selection import DocumentCount, Selection
from benchmarks.manipulation.solving import EpisodeAgent
from benchmarks.report.manipulation_tables import CLASSES
from benchmarks.report.stats import estimate
from benchmarks.run.agent_environment import raise_if_unavailable, record_of_solution
from benchmarks.tasks.metrics import Metrics
from protocols.errors import PromptRefused
from protocols.model import Protocol
from sandbox.records import CallRecord

__all__ = [
    "ACTION_MODE",
    "BENCHMARK",
    "ManipulationSettings",
    "SuiteEnvironment",
    "SuiteScorer",
    "SuiteTask",
    "TestFigures",
    "TestRunner",
]

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
    max_steps: int = 0
    compat: bool = False
    seed: int = 0
    repeat: int = 0
    profile: str = ""
    prefill: bool = True
    files: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SuiteTask:
    """A test of one of the tools."""

    tool: str
    test: ManipulationTest

    @property
    def id(self) -> str:
        """Tool and test."""
        return f"{self.tool}-{self.test.id}"


class SuiteEnvironment:
    """Runs the tests of several tools with one model: the harness's environment.

    Raises: UsageError: The settings do not fit one of the tools.
    """

    def __init__(self, tools: Mapping[str, Environment], settings: ManipulationSettings, model: Model) -> None:
        self._runners = {name: TestRunner(tool, settings, model) for name, tool in tools.items()}

    def key(self, task: SuiteTask) -> object:
        """What prompts are made of, and the test."""
        return [self._runners[task.tool].digest, task.test]

    def run(self, task: SuiteTask) -> Outcome:
        """Run a test. Raises: ModelError, KeyboardInterrupt."""
        return Outcome(self._runners[task.tool].run(task.test))

    def stop(self) -> None:
        """No test runs in another thread."""


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

    def _counted(self, test: ManipulationTest) -> list[tuple[str, ...]]:
        """The functions of each label, as its calls are counted."""
        return [self._called(names) for names in test.names]

    def run(self, test: ManipulationTest) -> dict[str, Any]:
        """Run a test; gives its record as plain data without times. Raises: ModelError, KeyboardInterrupt."""
        if self._agent is not None:
            return self._solve(self._agent, test)
        try:
            episode = self._generator.run(self._model, test, self._seed)
        except PromptRefused as error:
            return self._refused(test, str(error))
        score = self.environment.score()
        called = self._called(name for step in episode.steps for name in step.result.names)
        executed = score.failure != "non-executable"
        metrics = self._metrics(
            test,
            score,
            called,
            episode.usage,
            answered=executed,
            status="answered" if executed else "failed",
            tool_calls=len(called),
            failed_runs=sum(bool(step.result.error) for step in episode.steps),
        )
        return self._record(test, metrics, score.details, episode.prompt, _episode_solution(test, episode, score))

    def _refused(self, test: ManipulationTest, why: str) -> dict[str, Any]:
        """The record of a test whose prompt the model does not take."""
        score = TestScore(0.0, "non-executable", dict.fromkeys(self.environment.figures, 0.0))
        metrics = self._metrics(test, score, (), Usage(), status="limit")
        solution: dict[str, Any] = {
            "query": test.goal,
            "status": "limit",
            "answer": None,
            "message": why,
            "attempts": [],
        }
        return self._record(test, metrics, score.details, (), solution)

    def _solve(self, agent: EpisodeAgent, test: ManipulationTest) -> dict[str, Any]:
        solved = agent.run(self._model, test)
        solution = solved.solution
        raise_if_unavailable(solution)
        function_names = {name for names in self._counted(test) for name in names}
        failed = [attempt for attempt in solution.attempts if attempt.run is not None and attempt.run.outcome != "ok"]
        metrics = self._metrics(
            test,
            solved.score,
            [_called_name(call, agent.protocol, function_names) for call in solution.calls],
            solution.usage,
            answered=solution.status == "answered",
            status=solution.status,
            tool_calls=sum(len(attempt.calls) for attempt in solution.attempts),
            failed_runs=len(failed),
            wasted_calls=sum(call.attempts > 0 for attempt in failed for call in attempt.calls),
            reflections=solution.reflections,
            standing=solution.standing,
            findings=len(solution.findings),
            turns=len(solution.tree),
        )
        record: Any = record_of_solution(solution, agent.base_url)
        return self._record(test, metrics, solved.score.details, solved.prompt, record)

    def _metrics(
        self, test: ManipulationTest, score: TestScore, called: Sequence[str], usage: Usage, **others: Any
    ) -> Metrics:
        labels = self._counted(test)
        recall, precision = _overlap(called, labels)
        return Metrics(
            score.value,
            recall,
            precision,
            score.value,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cached_tokens=usage.cached_tokens,
            model_calls=usage.model_calls,
            gold_calls=len(labels[0]),
            error=score.failure or None,
            **others,
        )

    def _record(
        self,
        test: ManipulationTest,
        metrics: Metrics,
        details: Mapping[str, float],
        prompt: Sequence[Message],
        solution: Mapping[str, Any],
    ) -> dict[str, Any]:
        messages = [message.to_json() for message in prompt]
        return {
            "id": f"{self.environment.name}-{test.id}",
            "dataset": self.environment.name,
            "metric": self.environment.metric,
            "query": test.goal,
            "gold": {"calls": dict(Counter(self._counted(test)[0])), "counted": True},
            "labels": list(test.labels),
            "metrics": asdict(metrics),
            "details": dict(details),
            "prompt": {"sha256": _digest(messages), "messages": messages},
            "solution": solution,
        }


def _digest(parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=list).encode()).hexdigest()


def _overlap(called: Sequence[str], labels: Sequence[Sequence[str]]) -> tuple[float, float]:
    """Recall and precision of the functions called, against the nearest label."""
    shares = [
        (shared / max(len(names), 1), shared / max(len(called), 1))
        for names in labels
        for shared in [(Counter(called) & Counter(names)).total()]
    ]
    return max(shares, key=sum)


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


def _called_name(call: CallRecord, protocol: Protocol, function_names: set[str]) -> str:
    """What the tests call the function of a call: as the tool, or by method and path."""
    name = call.tool or ""
    if name in function_names or name not in protocol:
        return name
    tool = protocol.tool(name)
    return f"{tool.method} {tool.path}"


@dataclass(frozen=True, slots=True)
class TestFigures:
    """A finished test: its tool, its score, and the seconds that it took."""

    tool: str
    metrics: Metrics
    details: Mapping[str, float]
    seconds: float

    __test__ = False


class SuiteScorer:
    """The harness's scorer."""

    def figures(self, record: Mapping[str, Any], seconds: float) -> TestFigures:
        """As they are in the record of a test."""
        return TestFigures(record["dataset"], Metrics.read(record["metrics"]), record["details"], seconds)

    def line(self, figures: TestFigures) -> str:
        """The class of the failure."""
        return figures.metrics.error or "right"

    def progress(self, figures: Sequence[TestFigures]) -> tuple[str, str]:
        """The measure of each tool so far, and tokens."""
        means = [f"{tool} {100 * _mean(group):.1f}" for tool, group in _by_tool(figures).items()]
        read, written = _tokens(figures)
        return "  ".join(means), f"{read:,} tokens read, {written:,} written"

    def summary(self, figures: Sequence[TestFigures]) -> dict[str, Any]:
        """For each tool and for all the measure in percent with its 95 % interval, the failures and the cost."""
        read, written = _tokens(figures)
        return {
            "n": len(figures),
            "tasks": {tool: _tool_figures(group) for tool, group in _by_tool(figures).items()},
            "failures": _failures(figures),
            "prompt_tokens": read,
            "completion_tokens": written,
            "seconds": round(sum(test.seconds for test in figures), 1),
        }


def _by_tool(figures: Sequence[TestFigures]) -> dict[str, list[TestFigures]]:
    groups: dict[str, list[TestFigures]] = {}
    for test in figures:
        groups.setdefault(test.tool, []).append(test)
    return groups


def _mean(figures: Sequence[TestFigures]) -> float:
    return statistics.fmean(test.metrics.success for test in figures)


def _tokens(figures: Sequence[TestFigures]) -> tuple[int, int]:
    """Read and written."""
    metrics = [test.metrics for test in figures]
    return sum(test.prompt_tokens for test in metrics), sum(test.completion_tokens for test in metrics)


def _tool_figures(figures: Sequence[TestFigures]) -> dict[str, Any]:
    values = [test.metrics.success for test in figures]
    interval = estimate(values, share=all(value in (0, 1) for value in values))
    bounds = {"mean": interval.mean, "low": interval.low, "high": interval.high}
    names = dict.fromkeys(name for test in figures for name in test.details)
    return {
        "n": len(figures),
        **{name: None if bound is None else round(100 * bound, 2) for name, bound in bounds.items()},
        "failures": _failures(figures),
        "details": {
            name: round(statistics.fmean(test.details[name] for test in figures if name in test.details), 4)
            for name in names
        },
    }


def _failures(figures: Sequence[TestFigures]) -> dict[str, int]:
    """How many tests failed in each way; what failed for none of these reasons is not counted."""
    counts = Counter(test.metrics.error for test in figures)
    return {name: counts[name] for name in CLASSES}
