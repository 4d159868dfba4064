"""The figures of one run: as `summary.json`, and as the table that is printed."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchmarks.tasks.metrics import mean, percent

if TYPE_CHECKING:
    from rich.table import Table

    from benchmarks.run.runner import RunSettings, TaskResult

__all__ = ["ablation", "summarize", "table"]


def summarize(results: Sequence[TaskResult], settings: RunSettings) -> dict[str, object]:
    """Means over the tasks (percent for the measures), `seconds` as the median; the keys are part of the interface."""
    return {
        "tasks": len(results),
        "success": percent(result.score.success for result in results),
        "path": percent(result.score.path for result in results),
        "precision": percent(result.score.precision for result in results),
        "success_any": percent(result.score.success_any for result in results),
        "success_with_alternatives": percent(_success_with_alternatives(result) for result in results),
        "prompt_tokens": round(mean(result.prompt_tokens for result in results), 1),
        "completion_tokens": round(mean(result.completion_tokens for result in results), 1),
        "model_calls": round(mean(result.model_calls for result in results), 2),
        "tool_calls": round(mean(result.tool_calls for result in results), 2),
        "failed_runs": round(mean(result.failed_runs for result in results), 2),
        "wasted_calls": round(mean(result.wasted_calls for result in results), 2),
        "correct": percent(_correctness(results)) if _correctness(results) else None,
        "false_success": _false_success(results),
        "reflections": round(mean(result.reflections for result in results), 2),
        "tokens_per_solved": _per_solved(results),
        "by_gold_calls": _by_gold_calls(results),
        "errors": dict(sorted(Counter(result.error for result in results if result.error).items())),
        "seconds": round(statistics.median(result.seconds for result in results), 2) if results else 0.0,
        "model": settings.model,
        "mode": settings.mode,
        "seed": settings.seed + settings.repeat,
        "without": list(settings.without),
        "profile": settings.profile,
        "learn": settings.learn,
        "files": {name: dict(file) for name, file in settings.files.items()},
    }


def _success_with_alternatives(result: TaskResult) -> float:
    """Success with alternatives; without, in a result of an earlier version."""
    with_alternatives = result.success_with_alternatives
    return result.score.success if with_alternatives is None else with_alternatives


def _correctness(results: Sequence[TaskResult]) -> list[float]:
    """Correctness (0 or 1) of the tasks that have a reference."""
    return [float(result.correct) for result in results if result.correct is not None]


def _false_success(results: Sequence[TaskResult]) -> float | None:
    """Answered and wrong, in percent of those answered; None where no reference tells."""
    answered = [result for result in results if result.status == "answered" and result.correct is not None]
    return percent(float(not result.correct) for result in answered) if answered else None


def _per_solved(results: Sequence[TaskResult]) -> float | None:
    """Tokens of all tasks, read and written, for each one solved; None where none was."""
    solved = sum(result.score.success for result in results)
    spent = sum(result.prompt_tokens + result.completion_tokens for result in results)
    return round(spent / solved, 1) if solved else None


def _by_gold_calls(results: Sequence[TaskResult]) -> dict[str, object]:
    """Tasks and Success by the number of gold calls (the ATC paper's Figure 6a)."""
    groups: dict[int, list[float]] = {}
    for result in results:
        groups.setdefault(result.gold_calls, []).append(result.score.success)
    return {
        str(size): {"tasks": len(successes), "success": percent(successes)}
        for size, successes in sorted(groups.items())
    }


def table(summary: Mapping[str, object]) -> Table:
    """The figures for people."""
    from rich.table import Table

    rendered = Table(show_header=False)
    rendered.add_column("measure")
    rendered.add_column("value", justify="right")
    rows = (
        ("tasks", f"{summary['tasks']}"),
        ("Success", f"{summary['success']:.1f} %"),
        ("Path", f"{summary['path']:.1f} %"),
        ("Prec", f"{summary['precision']:.1f} %"),
        ("success_any (ours)", f"{summary['success_any']:.1f} %"),
        ("with alternatives (ours)", f"{summary['success_with_alternatives']:.1f} %"),
        ("answers right (ours)", _percent_or_dash(summary["correct"])),
        ("false success (ours)", _percent_or_dash(summary["false_success"])),
        ("prompt tokens, mean", f"{summary['prompt_tokens']:,.0f}"),
        ("completion tokens, mean", f"{summary['completion_tokens']:,.0f}"),
        ("model calls, mean", f"{summary['model_calls']:.2f}"),
        ("tool calls, mean", f"{summary['tool_calls']:.2f}"),
        ("seconds, median", f"{summary['seconds']:.1f}"),
    )
    for row in rows:
        rendered.add_row(*row)
    return rendered


def _percent_or_dash(value: object) -> str:
    return f"{value:.1f} %" if isinstance(value, float) else "-"


def ablation(summaries: Sequence[Mapping[str, Any]]) -> Table:
    """The figures of an ablation: the first run has all features, each other run lacks one."""
    from rich.table import Table

    rendered = Table()
    rendered.add_column("left out")
    for name in ("Success", "right", "prompt tokens", "tokens written", "failed runs", "their calls", "seconds"):
        rendered.add_column(name, justify="right")
    for summary in summaries:
        rendered.add_row(
            ", ".join(summary["without"]) or "nothing",
            f"{summary['success']:.1f} %",
            _percent_or_dash(summary["correct"]),
            f"{summary['prompt_tokens']:,.0f}",
            f"{summary['completion_tokens']:,.0f}",
            f"{summary['failed_runs']:.2f}",
            f"{summary['wasted_calls']:.2f}",
            f"{summary['seconds']:.1f}",
        )
    return rendered
