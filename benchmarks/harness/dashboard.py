"""What a benchmark run shows while it goes on: a dashboard on a terminal, a line for each task elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from atc.apps.cli import say
from atc.apps.tui.text import first_line, shorten, visible
from benchmarks.harness.parts import Scorer
from benchmarks.harness.runner import Finished

__all__ = ["Dashboard"]

FiguresT = TypeVar("FiguresT")

TOOLS_SHOWN = 6
"""Tools whose last faults are shown."""

FAULT_WIDTH = 200
"""Longest fault shown, in characters."""

BAR_WIDTH = 30

THE_PROGRAM = "(the program itself)"
"""What stands in place of a tool where none is to blame."""


@dataclass(frozen=True, slots=True)
class _ToolFaults:
    """The faults that one tool is to blame for: how many, and the last of them with its task."""

    count: int
    task: str
    text: str


class Dashboard(Generic[FiguresT]):
    """Follows the tasks of a run: how many are done, their figures so far, speed, and the last faults by tool.

    Args:
        total: How many tasks there are, with those that were finished before.
        console: Where it is drawn.
    """

    def __init__(self, total: int, console: Console, scorer: Scorer[FiguresT]) -> None:
        self._total = total
        self._console = console
        self._scorer = scorer
        self._live = console.is_terminal and not console.is_dumb_terminal
        self._finished: list[FiguresT] = []
        self._earlier = 0
        self._faults: dict[str, _ToolFaults] = {}
        self._started = time.monotonic()

    def collect(self, results: Iterable[Finished[FiguresT]]) -> list[Finished[FiguresT]]:
        """All results, shown as they come."""
        collected = []
        drawing = Live(console=self._console, get_renderable=self._drawn, refresh_per_second=4)
        with drawing if self._live else nullcontext():
            for result in results:
                collected.append(result)
                self._note(result)
                if not self._live:
                    count = f"{len(collected)}/{self._total}"
                    say(f"{count} task {result.id}: {self._scorer.line(result.figures)}, {result.seconds:.1f} s")
        return collected

    def _note(self, result: Finished[FiguresT]) -> None:
        self._finished.append(result.figures)
        if result.earlier:
            self._earlier += 1
            self._started = time.monotonic()
            return
        for tool, text in _faults(result.record):
            count = self._faults.pop(tool).count if tool in self._faults else 0
            self._faults[tool] = _ToolFaults(count + 1, result.id, text)

    def _drawn(self) -> RenderableType:
        parts: list[RenderableType] = [self._bar()]
        if self._finished:
            figures, cost = self._scorer.progress(self._finished)
            parts += [_cut(Text(figures)), _cut(Text(self._spent(cost)))]
        room = self._console.height - len(parts) - 3
        latest = list(self._faults.items())[::-1][: max(min(TOOLS_SHOWN, room), 0)]
        if latest:
            parts += _fault_lines(latest, self._console.width)
        return Group(*parts)

    def _bar(self) -> RenderableType:
        count = len(self._finished)
        elapsed = time.monotonic() - self._started
        remaining = ""
        if (solved := count - self._earlier) and count < self._total:
            remaining = f", about {_clock((self._total - count) * elapsed / solved)} left"
        row = Table.grid(padding=(0, 1))
        bar = ProgressBar(self._total, count, width=min(BAR_WIDTH, max(self._console.width - 40, 1)))
        row.add_row(f"{count}/{self._total}", bar, _cut(Text(f"{_clock(elapsed)}{remaining}")))
        return row

    def _spent(self, cost: str) -> str:
        solved = len(self._finished) - self._earlier
        rate = 60 * solved / max(time.monotonic() - self._started, 1e-9)
        parts = [f"{rate:.1f} tasks a minute"] * bool(solved) + [cost] * bool(cost)
        return " · ".join([*parts, *([f"{self._earlier} from before"] if self._earlier else [])])


def _fault_lines(latest: Sequence[tuple[str, _ToolFaults]], width: int) -> list[RenderableType]:
    """A line for each tool: how often it was to blame, the last task, and the fault there."""
    tool_width, task_width = min(max(width // 3, 8), 32), min(max(width // 6, 6), 14)
    rows = [("faults", "tool to blame", "last task", "the fault there")]
    rows += [(str(faults.count), visible(tool), visible(faults.task), faults.text) for tool, faults in latest]
    return [
        _cut(
            Text(
                f"{count:>6}  {_column(tool, tool_width)}  {_column(task, task_width)}  {text}", "" if place else "dim"
            )
        )
        for place, (count, tool, task, text) in enumerate(rows)
    ]


def _faults(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Tool and text of each fault in a record that holds a solution."""
    solution: Any = record.get("solution") or {}
    for attempt in solution.get("attempts", ()):
        if fault := attempt.get("fault"):
            tool = (attempt.get("attribution") or {}).get("tool") or THE_PROGRAM
            yield tool, first_line(f"{fault['type']}: {fault['message']}", FAULT_WIDTH)


def _column(text: str, width: int) -> str:
    return shorten(text, width).ljust(width)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _cut(text: Text) -> RenderableType:
    """A text, cut at the terminal's edge."""
    text.no_wrap, text.overflow = True, "ellipsis"
    return Group(text)
