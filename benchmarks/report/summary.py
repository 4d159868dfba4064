"""The figures of one run: as `summary.json`, and as the table that is printed."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.report.render import TextTable
from benchmarks.tasks.metrics import Metrics, mean, percent

__all__ = ["MetricsScorer", "TaskResult", "ablation", "table"]

_WARNED = ("doubtful", "unsupported")
"""Standings of answers that a user is warned of by atc; `qualified` ones are by the model itself."""
_PERCENT, _TOKENS, _COUNT = "{:.1f} %", "{:,.0f}", "{:.2f}"
_ROWS = {
    "tasks": ("tasks", "{}"),
    "success": ("Success", _PERCENT),
    "path": ("Path", _PERCENT),
    "precision": ("Prec", _PERCENT),
    "success_any": ("success_any (ours)", _PERCENT),
    "gold_offered": ("gold tools offered (ours)", _PERCENT),
    "answered": ("answered", _PERCENT),
    "usable_turns": ("messages with a usable call (ours)", _PERCENT),
    "correct": ("answers right (ours)", _PERCENT),
    "false_success": ("false success (ours)", _PERCENT),
    "wrong_warned": ("wrong answers with a warning (ours)", _PERCENT),
    "right_warned": ("right answers with a warning (ours)", _PERCENT),
    "coverage": ("answers that stand as supported (ours)", _PERCENT),
    "risk": ("wrong among them (ours)", _PERCENT),
    "prompt_tokens": ("prompt tokens, mean", _TOKENS),
    "completion_tokens": ("completion tokens, mean", _TOKENS),
    "model_calls": ("model calls, mean", _COUNT),
    "tool_calls": ("tool calls, mean", _COUNT),
    "seconds": ("seconds, median", "{:.1f}"),
}
"""The figures of a run by their names, each with its title and form."""
_ABLATED = {
    "success": ("Success", _PERCENT),
    "correct": ("right", _PERCENT),
    "prompt_tokens": ("prompt tokens", _TOKENS),
    "completion_tokens": ("tokens written", _TOKENS),
    "failed_runs": ("failed runs", _COUNT),
    "wasted_calls": ("their calls", _COUNT),
    "seconds": ("seconds", "{:.1f}"),
}
"""Those of a run without a feature."""


@dataclass(frozen=True, slots=True)
class TaskResult:
    """The figures of one finished task, and the seconds that it took."""

    metrics: Metrics
    seconds: float


class MetricsScorer:
    """The scorer of tasks that an agent solves."""

    def figures(self, record: Mapping[str, Any], seconds: float) -> TaskResult:
        """Its metrics, as they are in its file."""
        return TaskResult(Metrics.read(record["metrics"]), seconds)

    def line(self, figures: TaskResult) -> str:
        """Status, Success and Path."""
        metrics = figures.metrics
        return f"{metrics.status}, success {metrics.success:.0f} path {metrics.path:.2f}"

    def progress(self, figures: Sequence[TaskResult]) -> tuple[str, str]:
        """Success, Path and answers so far; tokens."""
        metrics = [result.metrics for result in figures]
        success, path, answered = (
            100 * mean(getattr(task, name) for task in metrics) for name in ("success", "path", "answered")
        )
        read = sum(task.prompt_tokens for task in metrics)
        written = sum(task.completion_tokens for task in metrics)
        shares = f"Success {success:.1f} %  Path {path:.1f} %  answered {answered:.1f} %"
        return shares, f"{read:,.0f} tokens read, {written:,.0f} written"

    def summary(self, figures: Sequence[TaskResult]) -> dict[str, Any]:
        """Means over the tasks (percent for the measures), `seconds` as the median."""
        metrics = [result.metrics for result in figures]
        turns = sum(task.turns for task in metrics)
        solved = sum(task.success for task in metrics)
        by_gold_calls: dict[int, list[float]] = {}
        for task in sorted(metrics, key=lambda task: task.gold_calls):
            by_gold_calls.setdefault(task.gold_calls, []).append(task.success)

        def means(digits: int, *names: str) -> dict[str, float]:
            return {name: round(mean(getattr(task, name) for task in metrics), digits) for name in names}

        def share(name: str) -> float | None:
            values = [value for task in metrics if (value := getattr(task, name)) is not None]
            return percent(values) if values else None

        return {
            "tasks": len(figures),
            **{
                name: percent(getattr(task, name) for task in metrics)
                for name in ("success", "path", "precision", "success_any")
            },
            **means(1, "prompt_tokens", "completion_tokens"),
            **means(2, "model_calls", "tool_calls", "failed_runs", "wasted_calls"),
            "answered": percent(task.answered for task in metrics),
            "gold_offered": share("gold_offered"),
            "usable_turns": round(100 * sum(task.usable_turns for task in metrics) / turns, 2) if turns else None,
            "correct": share("correct"),
            "false_success": share("false_success"),
            **_warned_shares(metrics),
            **means(2, "reflections"),
            "tokens_per_solved": round(sum(task.tokens for task in metrics) / solved, 1) if solved else None,
            "by_gold_calls": {
                str(size): {"tasks": len(successes), "success": percent(successes)}
                for size, successes in by_gold_calls.items()
            },
            "errors": dict(sorted(Counter(task.error for task in metrics if task.error).items())),
            "seconds": round(statistics.median(result.seconds for result in figures), 2) if figures else 0.0,
        }


def _warned_shares(metrics: Iterable[Metrics]) -> dict[str, float | None]:
    """In percent: wrong answers with a warning, right ones with one, wrong ones among the supported, and these of all.

    None where there are no such answers.
    """
    judged = [task for task in metrics if task.false_success is not None and task.standing is not None]
    wrong, right = ([task for task in judged if task.correct is correct] for correct in (False, True))
    supported = [task for task in judged if task.standing not in _WARNED]
    shares = {
        "wrong_warned": [task.standing in _WARNED for task in wrong],
        "right_warned": [task.standing in _WARNED for task in right],
        "risk": [not task.correct for task in supported],
        "coverage": [task.standing not in _WARNED for task in judged],
    }
    return {name: percent(values) if values else None for name, values in shares.items()}


def _cell(summary: Mapping[str, Any], name: str, form: str) -> str:
    return "-" if summary[name] is None else form.format(summary[name])


def table(title: str, summary: Mapping[str, Any]) -> TextTable:
    """The figures for people."""
    rows = tuple((text, _cell(summary, name, form)) for name, (text, form) in _ROWS.items())
    return TextTable(title, ("measure", "value"), rows)


def ablation(title: str, summaries: Sequence[Mapping[str, Any]]) -> TextTable:
    """The figures of an ablation: the first run has all features, each other run lacks one."""
    rows = tuple(
        (
            ", ".join(summary["without"]) or "nothing",
            *(_cell(summary, name, form) for name, (_, form) in _ABLATED.items()),
        )
        for summary in summaries
    )
    return TextTable(title, ("left out", *(text for text, _ in _ABLATED.values())), rows)
