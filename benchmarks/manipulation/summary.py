"""The figures of a run of the suite, as `summary.json`."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.manipulation.run import ManipulationSettings, TestRecord
from benchmarks.report.manipulation_tables import CLASSES
from benchmarks.report.stats import estimate

__all__ = ["summarize_tests"]


def summarize_tests(records: Sequence[TestRecord], settings: ManipulationSettings) -> dict[str, Any]:
    """For each task and for all the measure in percent with its 95 % interval, the failures and the cost.

    The keys are part of the interface.
    """
    tasks = dict.fromkeys(record.task for record in records)
    groups = {task: [record for record in records if record.task == task] for task in tasks}
    return {
        **asdict(settings),
        "n": len(records),
        "tasks": {task: _figures(group) for task, group in groups.items()},
        "failures": _failures(records),
        "prompt_tokens": sum(record.metrics.prompt_tokens for record in records),
        "completion_tokens": sum(record.metrics.completion_tokens for record in records),
        "seconds": round(sum(record.seconds for record in records), 1),
    }


def _figures(records: Sequence[TestRecord]) -> dict[str, Any]:
    values = [record.metrics.success for record in records]
    interval = estimate(values, share=all(value in (0, 1) for value in values))
    bounds = {"mean": interval.mean, "low": interval.low, "high": interval.high}
    names = dict.fromkeys(name for record in records for name in record.details)
    return {
        "n": len(records),
        **{name: None if bound is None else round(100 * bound, 2) for name, bound in bounds.items()},
        "failures": _failures(records),
        "details": {
            name: round(statistics.fmean(record.details[name] for record in records if name in record.details), 4)
            for name in names
        },
    }


def _failures(records: Sequence[TestRecord]) -> dict[str, int]:
    """How many tests failed in each way; what failed for none of these reasons is not counted."""
    counts = Counter(record.metrics.error for record in records)
    return {name: counts[name] for name in CLASSES}
