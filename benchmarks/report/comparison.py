"""The comparison of runs on the tasks that all of them have; every form of the report is made from it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from atc.costs import Prices
from benchmarks.report.figures import Figures, Group, figures, measures
from benchmarks.report.runs import RunFolder, TaskRecord
from benchmarks.report.stats import Difference, difference

__all__ = ["BenchmarkReport", "ComparedRun", "RunPair", "compare", "gold_rows", "group_rows"]

PAIRED = ("success", "path", "precision", "correct", "prompt_tokens", "completion_tokens", "seconds", "cost")


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A run with the tasks that were looked at, and its figures over them."""

    run: RunFolder
    tasks: tuple[TaskRecord, ...]
    figures: Figures


@dataclass(frozen=True, slots=True)
class RunPair:
    """Two runs task by task; `differences` are second minus first, by name of the measure.

    `consistency` is the share of tasks on which they agree in success, answer, calls and program.
    """

    first: str
    second: str
    differences: Mapping[str, Difference]
    consistency: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class BenchmarkReport:
    """Everything that is reported. `settings` are those in which the runs differ, by name; `notes` are for people."""

    runs: tuple[ComparedRun, ...]
    pairs: tuple[RunPair, ...]
    settings: Mapping[str, tuple[Any, ...]]
    notes: tuple[str, ...]
    prices: Prices

    def to_json(self) -> dict[str, object]:
        """Plain data; the keys are part of the interface."""
        return {
            "runs": [
                {
                    "name": compared.run.name,
                    "config": dict(compared.run.config),
                    "figures": asdict(compared.figures),
                    "tasks": [
                        {"id": task.id, "dataset": task.dataset, **asdict(task.metrics)}
                        | ({"seconds": task.times.seconds} if task.times else {})
                        for task in compared.tasks
                    ],
                }
                for compared in self.runs
            ],
            "pairs": [asdict(pair) for pair in self.pairs],
            "settings": {name: list(values) for name, values in self.settings.items()},
            "notes": list(self.notes),
            "prices": {"currency": self.prices.currency, "date": self.prices.date, "source": self.prices.source},
        }


def compare(runs: Sequence[RunFolder], prices: Prices) -> BenchmarkReport:
    """Compare runs on the tasks they share; runs that share none are shown each on its own tasks, without pairs."""
    shared = set.intersection(*({task.key for task in run.tasks} for run in runs)) if runs else set()
    looked_at = [
        ComparedRun(run, tasks, figures(run, tasks, prices.of(run.model)))
        for run in runs
        for tasks in [tuple(task for task in run.tasks if task.key in shared or not shared)]
    ]
    pairs = [_run_pair(*two, prices) for two in itertools.combinations(looked_at, 2)] if shared else []
    settings = _differing(runs)
    return BenchmarkReport(
        tuple(looked_at), tuple(pairs), settings, tuple(_notes(looked_at, len(shared), prices)), prices
    )


def group_rows(
    runs: Sequence[ComparedRun], groups: Callable[[Figures], Iterable[Group]]
) -> list[tuple[str, list[Group | None]]]:
    """The groups of each run, by name of the group; None for a run without that group."""
    columns = [{group.name: group for group in groups(compared.figures)} for compared in runs]
    names = dict.fromkeys(name for column in columns for name in column)
    return [(name, [column.get(name) for column in columns]) for name in names]


def gold_rows(runs: Sequence[ComparedRun]) -> list[tuple[str, list[Group | None]]]:
    """The groups by number of gold calls, in the order of the number."""
    return sorted(group_rows(runs, lambda figures: figures.by_gold), key=lambda row: int(row[0].split()[0]))


def _run_pair(first: ComparedRun, second: ComparedRun, prices: Prices) -> RunPair:
    order = {task.key: task for task in second.tasks}
    task_pairs = [(task, order[task.key]) for task in first.tasks]
    differences = {}
    for measure, second_measure in zip(
        measures(prices.of(first.run.model)), measures(prices.of(second.run.model)), strict=True
    ):
        if measure.name in PAIRED:
            values = [(measure.of(a), second_measure.of(b)) for a, b in task_pairs]
            known_values = [(a, b) for a, b in values if a is not None and b is not None]
            if known_values:
                differences[measure.name] = difference([a for a, _ in known_values], [b for _, b in known_values])

    def agree(of: Callable[[TaskRecord], object]) -> float:
        return sum(of(a) == of(b) for a, b in task_pairs) / len(task_pairs)

    consistency = {
        "success": agree(lambda task: task.metrics.success),
        "answer": agree(lambda task: task.solution["answer"]),
        "calls": agree(lambda task: [call["tool"] for call in _last(task).get("calls", [])]),
        "program": agree(lambda task: _last(task).get("program", "")),
    }
    return RunPair(first.run.name, second.run.name, differences, consistency)


def _last(task: TaskRecord) -> Mapping[str, Any]:
    attempts = task.solution["attempts"]
    last: Mapping[str, Any] = attempts[-1] if attempts else {}
    return last


def _differing(runs: Sequence[RunFolder]) -> dict[str, tuple[Any, ...]]:
    names = dict.fromkeys(name for run in runs for name in run.config)
    values = {name: tuple(run.config.get(name) for run in runs) for name in names}
    return {
        name: run_values
        for name, run_values in values.items()
        if len({json.dumps(value, sort_keys=True) for value in run_values}) > 1
    }


def _notes(runs: Sequence[ComparedRun], shared: int, prices: Prices) -> list[str]:
    """Cautions for readers of the figures."""
    notes = []
    files = {json.dumps(compared.run.task_file, sort_keys=True) for compared in runs}
    counts = ", ".join(f"{compared.run.name} has {len(compared.run.tasks)}" for compared in runs)
    if runs and not shared:
        notes.append(
            f"The runs have no task in common ({counts}): each is shown on its own tasks, and nothing is paired."
        )
    elif any(len(compared.run.tasks) > shared for compared in runs):
        notes.append(f"All figures are of the {shared} tasks that every run has ({counts}).")
    if shared and len(files) > 1:
        notes.append("The runs are of different task files; a task is the same if dataset, id and query are.")
    notes += _partial_notes(runs, "correct", "The right answer is known")
    notes += _partial_notes(runs, "seconds", "Seconds are recorded")
    notes += _partial_notes(runs, "utility", "Grades are there")
    records = [task for compared in runs for task in compared.tasks]
    graders = sorted({judge for task in records if task.grades for judge in task.grades.judges})
    if graders:
        notes.append(
            f"Executability and utility are graded by {', '.join(graders)}; the paper's are graded by people, and no "
            "comparison with those is meant."
        )
    unpriced = sorted({compared.run.model for compared in runs if prices.of(compared.run.model) is None})
    return notes + [f"{model} has no price in the table: name one with --prices." for model in unpriced]


def _partial_notes(runs: Sequence[ComparedRun], measure: str, subject: str) -> list[str]:
    """Notes on a measure that only some tasks have: of how many, once for all runs with the same number."""
    names: dict[tuple[int, int], list[str]] = {}
    for compared in runs:
        if 0 < compared.figures.means[measure].n < len(compared.tasks):
            names.setdefault((compared.figures.means[measure].n, len(compared.tasks)), []).append(compared.run.name)
    return [
        f"{subject} for {count} of {tasks} tasks ({', '.join(run_names)})."
        for (count, tasks), run_names in names.items()
    ]
