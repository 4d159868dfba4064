"""The figures of one run over some of its tasks: means with intervals, and the ATC paper's drawings as numbers."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from atc.costs import Price
from atc.modes import LOOP
from benchmarks.report.manipulation_tables import MANIPULATION
from benchmarks.report.runs import RunFolder, TaskRecord
from benchmarks.report.stats import Estimate, estimate
from benchmarks.tasks.metrics import Gold

__all__ = ["MEASURES", "Figures", "Group", "Measure", "figures", "measures", "solved_within"]

MANY = 7
"""Tasks with at least so many gold calls are one group, as in the paper's long-term planning."""

Unit = Literal["share", "number", "seconds", "money"]


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure that every task has or lacks (None). `ours`: the papers do not report it in this way."""

    name: str
    title: str
    unit: Unit
    ours: bool
    of: Callable[[TaskRecord], float | None]


@dataclass(frozen=True, slots=True)
class Group:
    """Some tasks of a run: those with a number of gold calls, or those that failed in one way."""

    name: str
    tasks: int
    solved: int


@dataclass(frozen=True, slots=True)
class Figures:
    """`means` by name of the measure; `by_reflections[k]` is the share solved with at most k reflections.

    `tokens_per_solved` are all tokens of the run by its successes, None without one; `seconds_median` is None where no
    times are recorded. `by_error` counts the failed tasks, most frequent category first.
    """

    tasks: int
    solved: int
    means: Mapping[str, Estimate]
    tokens: int
    tokens_per_solved: float | None
    seconds_median: float | None
    cost: float | None
    by_gold: tuple[Group, ...]
    by_error: tuple[Group, ...]
    by_reflections: tuple[float, ...]


def _measure(name: str, title: str, unit: Unit, ours: bool = True) -> Measure:
    """A measure that is a figure of the task's metrics."""

    def of(task: TaskRecord) -> float | None:
        value = getattr(task.metrics, name)
        return float(value) if isinstance(value, bool) else value

    return Measure(name, title, unit, ours, of)


def _graded(name: Literal["executability", "utility"]) -> Measure:
    def of(task: TaskRecord) -> float | None:
        return getattr(task.grades, name) if task.grades else None

    return Measure(name, f"{name}, 1 to 3, graded by a model", "number", True, of)


MEASURES = (
    _measure("success", "Success", "share", ours=False),
    _measure("path", "Path", "share", ours=False),
    _measure("precision", "Prec", "share", ours=False),
    _measure("success_any", "success over all attempts", "share"),
    _measure("correct", "answer correct", "share"),
    _measure("false_success", "false success", "share"),
    _measure("prompt_tokens", "prompt tokens", "number"),
    _measure("cached_tokens", "of them cached", "number"),
    _measure("completion_tokens", "completion tokens", "number"),
    _measure("model_calls", "model calls", "number"),
    _measure("tool_calls", "tool calls", "number"),
    _measure("reflections", "reflections", "number"),
    _graded("executability"),
    _graded("utility"),
    Measure("seconds", "seconds", "seconds", True, lambda task: task.times.seconds if task.times else None),
)
"""All but the cost, which needs a price; `measures` has that too."""


def measures(price: Price | None) -> tuple[Measure, ...]:
    """The measures of a run whose tokens have this price; without one its cost is unknown."""

    def cost(task: TaskRecord) -> float | None:
        return price.cost(task.metrics) if price else None

    return (*MEASURES, Measure("cost", "cost", "money", True, cost))


def figures(run: RunFolder, tasks: Sequence[TaskRecord], price: Price | None) -> Figures:
    """All figures of a run over some of its tasks, at least one."""
    # Up to how many reflections there are figures: those of the loop's modes, and of one try. An environment that is
    # changed judges the last attempt alone.
    most = 0 if run.mode == "none" else int(run.config["max_reflections"]) if run.mode in LOOP else -1
    most = -1 if run.config["benchmark"] == MANIPULATION else most
    solved = _solved(tasks)
    tokens = sum(task.metrics.tokens for task in tasks)
    seconds = [task.times.seconds for task in tasks if task.times]
    return Figures(
        tasks=len(tasks),
        solved=solved,
        means={
            measure.name: estimate(
                [value for task in tasks if (value := measure.of(task)) is not None], share=measure.unit == "share"
            )
            for measure in measures(price)
        },
        tokens=tokens,
        tokens_per_solved=tokens / solved if solved else None,
        seconds_median=statistics.median(seconds) if seconds else None,
        cost=sum(price.cost(task.metrics) for task in tasks) if price else None,
        by_gold=_by_gold(tasks),
        by_error=_by_error(tasks),
        by_reflections=tuple(
            statistics.fmean(solved_within(task, reflections) for task in tasks) for reflections in range(most + 1)
        ),
    )


def solved_within(task: TaskRecord, reflections: int) -> float:
    """The task's success, had the loop been cut off after so many reflections.

    Where it went on, the last attempt until then is judged: an answer that was doubted would have been accepted. A
    program that a check held back was not run and counts as unsolved.
    """
    if task.metrics.reflections <= reflections:
        return task.metrics.success
    revisions, last = -1, None
    for attempt in task.solution["attempts"]:
        revisions += not attempt.get("mended", False)
        if revisions > reflections:
            break
        last = attempt
    run = (last.get("run") if last else None) or {}
    if last is None or run.get("outcome") != "ok" or not str(run.get("stdout", "")).strip():
        return 0.0
    good = [call["tool"] for call in last["calls"] if call["tool"] and (call["status"] or 0) // 100 == 2]
    gold = Gold(task.gold, task.counted)
    return float(gold.needed <= gold.bag(good))


def _by_gold(tasks: Sequence[TaskRecord]) -> tuple[Group, ...]:
    """Figure 6a: successes by the number of calls that the gold solution makes."""
    groups: dict[int, list[TaskRecord]] = {}
    for task in tasks:
        groups.setdefault(min(task.metrics.gold_calls, MANY), []).append(task)
    return tuple(
        Group(f"{number} or more" if number == MANY else str(number), len(members), _solved(members))
        for number, members in sorted(groups.items())
    )


def _by_error(tasks: Sequence[TaskRecord]) -> tuple[Group, ...]:
    """Figure 6b: failed tasks by category."""
    counted = Counter(task.metrics.error or "no category" for task in tasks if task.metrics.success < 1)
    order = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Group(name, number, 0) for name, number in order)


def _solved(tasks: Iterable[TaskRecord]) -> int:
    return sum(task.metrics.success == 1 for task in tasks)
