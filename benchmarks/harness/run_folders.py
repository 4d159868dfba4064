"""What the commands of all benchmarks do: run every folder, show how far it is, and write `summary.json`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column

from atc.apps.cli import say
from benchmarks.harness import Identified, Scorer, TaskEnvironment
from benchmarks.harness.engines import ray_engine, thread_engine
from benchmarks.harness.options import RunOptions, WorkerOptions
from benchmarks.harness.runner import Engine, Finished, Runner, write_summary

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["CompletedRun", "Dashboard", "open_engine", "run_all", "run_folder"]

TaskT = TypeVar("TaskT", bound=Identified)
FiguresT = TypeVar("FiguresT")
SettingsT = TypeVar("SettingsT", bound="DataclassInstance")


@dataclass(frozen=True, slots=True)
class CompletedRun(Generic[SettingsT, FiguresT]):
    """A run whose tasks are all finished, in their order; `summary` is what `summary.json` has."""

    folder: Path
    settings: SettingsT
    finished: Sequence[Finished[FiguresT]]
    summary: Mapping[str, Any]


class Dashboard(Generic[FiguresT]):
    """Follows the tasks of a run: how many are done, their figures so far, and the time that is left.

    Args:
        total: How many tasks there are, with those that were finished before.
        console: Where it is drawn.
    """

    def __init__(self, total: int, console: Console, scorer: Scorer[FiguresT]) -> None:
        self._total = total
        self._scorer = scorer
        self._live = console.is_terminal and not console.is_dumb_terminal
        columns: list[Any] = [MofNCompleteColumn(), BarColumn(20), TimeElapsedColumn(), TimeRemainingColumn()]
        text = TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1))
        self._progress = Progress(*columns, text, console=console, disable=not self._live, expand=True)

    def collect(self, results: Iterable[Finished[FiguresT]]) -> list[Finished[FiguresT]]:
        """All results, shown as they come."""
        collected: list[Finished[FiguresT]] = []
        with self._progress as progress:
            bar = progress.add_task("", total=self._total)
            for result in results:
                collected.append(result)
                if self._live:
                    figures, cost = self._scorer.progress([task.figures for task in collected])
                    progress.update(bar, advance=1, description=escape(f"{figures}  {cost}"))
                else:
                    count = f"{len(collected)}/{self._total}"
                    say(f"{count} task {result.id}: {self._scorer.line(result.figures)}, {result.seconds:.1f} s")
        return collected


def open_engine(options: RunOptions, environment: TaskEnvironment[TaskT]) -> Engine[TaskT]:
    """What the options run tasks with. Raises: click.UsageError: They contradict one another."""
    if not isinstance(options, WorkerOptions):
        return thread_engine(environment)
    if options.engine == "ray":
        return ray_engine(environment, options.workers, options.address)
    if options.address:
        raise click.UsageError("--address is of a Ray cluster: add --engine ray")
    return thread_engine(environment, options.workers)


def run_folder(
    runner: Runner[TaskT, FiguresT], tasks: Sequence[TaskT], folder: Path
) -> CompletedRun[DataclassInstance, FiguresT]:
    """Run what is missing in a folder, show how far it is, and write `summary.json`. Raises: as `Runner.run`."""
    dashboard = Dashboard(len(tasks), Console(stderr=True), runner.scorer)
    order = {task.id: place for place, task in enumerate(tasks)}
    finished = sorted(dashboard.collect(runner.run(tasks, folder)), key=lambda result: order[result.id])
    figures = runner.scorer.summary([result.figures for result in finished])
    return CompletedRun(folder, runner.settings, finished, write_summary(folder, figures, runner.settings))


def run_all(
    folders: Mapping[Path, SettingsT],
    tasks: Sequence[TaskT],
    open_environment: Callable[[SettingsT, Path], AbstractContextManager[TaskEnvironment[TaskT]]],
    scorer: Scorer[FiguresT],
    options: RunOptions,
) -> Iterator[CompletedRun[DataclassInstance, FiguresT]]:
    """Run one folder after another, each with an environment of its own. Raises: as `Runner.run`."""
    for folder, settings in folders.items():
        with open_environment(settings, folder) as environment:
            runner = Runner(settings, environment, scorer, open_engine(options, environment))
            completed = run_folder(runner, tasks, folder)
        yield completed
