"""What a benchmark run shows while it goes on: a bar with the figures so far on a terminal, a line a task elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column

from atc.apps.cli import say
from benchmarks.harness.parts import Scorer
from benchmarks.harness.runner import Finished

__all__ = ["Dashboard"]

FiguresT = TypeVar("FiguresT")


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
