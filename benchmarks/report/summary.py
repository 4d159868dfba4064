"""The figures of one run: as `summary.json`, and as the table that is printed."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.report.render import TextTable
from benchmarks.tasks.metrics import Metrics, mean, percent

__all__ = ["MetricsScorer", "TaskResult", "ablation", "summarize", "table"]

_DIGITS = {
    **dict.fromkeys(("prompt_tokens", "completion_tokens"), 1),
    **dict.fromkeys(("model_calls", "tool_calls", "failed_runs", "wasted_calls", "reflections"), 2),
}
_WARNED = ("doubtful", "unsupported")
"""Standings of answers that a user is warned of by atc; `qualified` ones are by the model itself."""
_FORMATS = {
    **dict.fromkeys(("success", "path", "precision", "success_any"), "{:.1f} %"),
    **dict.fromkeys(("answered", "gold_offered", "correct", "false_success", "usable_turns"), "{:.1f} %"),
    **dict.fromkeys(("wrong_warned", "right_warned", "risk", "coverage"), "{:.1f} %"),
    **dict.fromkeys(("prompt_tokens", "completion_tokens"), "{:,.0f}"),
    **dict.fromkeys(("model_calls", "tool_calls", "failed_runs", "wasted_calls"), "{:.2f}"),
    "seconds": "{:.1f}",
}
_ROWS = {
    "tasks": "tasks",
    "success": "Success",
    "path": "Path",
    "precision": "Prec",
    "success_any": "success_any (ours)",
    "gold_offered": "gold tools offered (ours)",
    "answered": "answered",
    "usable_turns": "messages with a usable call (ours)",
    "correct": "answers right (ours)",
    "false_success": "false success (ours)",
    "wrong_warned": "wrong answers with a warning (ours)",
    "right_warned": "right answers with a warning (ours)",
    "coverage": "answers that stand as supported (ours)",
    "risk": "wrong among them (ours)",
    "prompt_tokens": "prompt tokens, mean",
    "completion_tokens": "completion tokens, mean",
    "model_calls": "model calls, mean",
    "tool_calls": "tool calls, mean",
    "seconds": "seconds, median",
}
_ABLATION_COLUMNS = {
    "success": "Success",
    "correct": "right",
    "prompt_tokens": "prompt tokens",
    "completion_tokens": "tokens written",
    "failed_runs": "failed runs",
    "wasted_calls": "their calls",
    "seconds": "seconds",
}


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
        """As `summarize`."""
        return summarize(figures)


def summarize(results: Sequence[TaskResult]) -> dict[str, Any]:
    """Means over the tasks (percent for the measures), `seconds` as the median; the keys are part of the interface."""
    metrics = [result.metrics for result in results]
    means = {name: round(mean(getattr(task, name) for task in metrics), digits) for name, digits in _DIGITS.items()}
    reflections = means.pop("reflections")
    verdicts = [task.correct for task in metrics if task.correct is not None]
    judged = [share for task in metrics if (share := task.false_success) is not None]
    solved = sum(task.success for task in metrics)
    turns = sum(task.turns for task in metrics)
    by_gold_calls: dict[int, list[float]] = {}
    for task in sorted(metrics, key=lambda task: task.gold_calls):
        by_gold_calls.setdefault(task.gold_calls, []).append(task.success)
    return {
        "tasks": len(results),
        **{
            name: percent(getattr(task, name) for task in metrics)
            for name in ("success", "path", "precision", "success_any")
        },
        **means,
        "answered": percent(task.answered for task in metrics),
        "gold_offered": percent(shares)
        if (shares := [task.gold_offered for task in metrics if task.gold_offered is not None])
        else None,
        "usable_turns": round(100 * sum(task.usable_turns for task in metrics) / turns, 2) if turns else None,
        "correct": percent(verdicts) if verdicts else None,
        "false_success": percent(judged) if judged else None,
        **_warned_shares(metrics),
        "reflections": reflections,
        "tokens_per_solved": round(sum(task.tokens for task in metrics) / solved, 1) if solved else None,
        "by_gold_calls": {
            str(size): {"tasks": len(successes), "success": percent(successes)}
            for size, successes in by_gold_calls.items()
        },
        "errors": dict(sorted(Counter(task.error for task in metrics if task.error).items())),
        "seconds": round(statistics.median(result.seconds for result in results), 2) if results else 0.0,
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


def _cell(summary: Mapping[str, Any], name: str) -> str:
    return "-" if summary[name] is None else _FORMATS.get(name, "{}").format(summary[name])


def table(title: str, summary: Mapping[str, Any]) -> TextTable:
    """The figures for people."""
    return TextTable(title, ("measure", "value"), tuple((text, _cell(summary, name)) for name, text in _ROWS.items()))


def ablation(title: str, summaries: Sequence[Mapping[str, Any]]) -> TextTable:
    """The figures of an ablation: the first run has all features, each other run lacks one."""
    rows = [
        (", ".join(summary["without"]) or "nothing", *(_cell(summary, name) for name in _ABLATION_COLUMNS))
        for summary in summaries
    ]
    return TextTable(title, ("left out", *_ABLATION_COLUMNS.values()), tuple(rows))
