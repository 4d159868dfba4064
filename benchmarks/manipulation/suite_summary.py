"""The figures of the suite's tests: of one, of all so far, and of a run as `summary.json`."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.report.manipulation_tables import CLASSES
from benchmarks.report.stats import estimate
from benchmarks.tasks.metrics import Metrics

__all__ = ["SuiteScorer", "TestFigures"]


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
