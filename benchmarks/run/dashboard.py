"""What a benchmark run shows while it goes on: a dashboard on a terminal, a line for each task elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from atc.apps.cli import say
from atc.apps.tui.text import first_line, shorten, visible
from benchmarks.run.runner import Engine, SolvedTask, TaskResult
from benchmarks.tasks.task_files import Task

__all__ = ["Dashboard"]

TOOLS_SHOWN = 6
"""Tools whose last faults are shown."""

FAULT_WIDTH = 200
"""Longest fault shown, in characters."""

BAR_WIDTH = 30

_SUMMED = ("success", "path", "answered", "prompt_tokens", "completion_tokens")
"""The metrics that are added up."""

THE_PROGRAM = "(the program itself)"
"""What stands in place of a tool where none is to blame."""


@dataclass(frozen=True, slots=True)
class _ToolFaults:
    """The faults that one tool is to blame for: how many, and the last of them with its task."""

    count: int
    task: str
    text: str


class Dashboard:
    """Follows the tasks of a run: how many are done, the success so far, tokens, speed, and the last faults by tool.

    Args:
        total: How many tasks there are, with those that were finished before.
        console: Where it is drawn.
    """

    def __init__(self, total: int, console: Console) -> None:
        self._total = total
        self._console = console
        self._live = console.is_terminal and not console.is_dumb_terminal
        self._sums = dict.fromkeys(_SUMMED, 0.0)
        self._finished = self._solved = 0
        self._faults: dict[str, _ToolFaults] = {}
        self._started = time.monotonic()

    def watched(self, engine: Engine) -> Engine:
        """The engine; the faults and the speed of what it solves are noted."""

        def solve(tasks: Sequence[tuple[Task, tuple[str, ...]]]) -> Iterator[SolvedTask]:
            self._started = time.monotonic()
            for solved in engine(tasks):
                self._solved += 1
                for tool, text in _faults(solved.record):
                    count = self._faults.pop(tool).count if tool in self._faults else 0
                    self._faults[tool] = _ToolFaults(count + 1, solved.task.id, text)
                yield solved

        return solve

    def collect(self, results: Iterable[TaskResult]) -> list[TaskResult]:
        """All results, shown as they come."""
        finished = []
        drawing = Live(console=self._console, get_renderable=self._drawn, refresh_per_second=4)
        with drawing if self._live else nullcontext():
            for result in results:
                finished.append(result)
                self._finished += 1
                for name in _SUMMED:
                    self._sums[name] += getattr(result.metrics, name)
                if not self._live:
                    say(self._line(result))
        return finished

    def _line(self, result: TaskResult) -> str:
        metrics = result.metrics
        measures = f"success {metrics.success:.0f} path {metrics.path:.2f}"
        count = f"{self._finished}/{self._total}"
        return f"{count} task {result.id}: {metrics.status}, {measures}, {result.seconds:.1f} s"

    def _drawn(self) -> RenderableType:
        parts: list[RenderableType] = [self._bar()]
        if self._finished:
            parts += [_cut(Text(self._figures())), _cut(Text(self._spent()))]
        room = self._console.height - len(parts) - 3
        latest = list(self._faults.items())[::-1][: max(min(TOOLS_SHOWN, room), 0)]
        if latest:
            parts += _fault_lines(latest, self._console.width)
        return Group(*parts)

    def _bar(self) -> RenderableType:
        count = self._finished
        elapsed = time.monotonic() - self._started
        left = ""
        if self._solved and count < self._total:
            left = f", about {_clock((self._total - count) * elapsed / self._solved)} left"
        row = Table.grid(padding=(0, 1))
        bar = ProgressBar(self._total, count, width=min(BAR_WIDTH, max(self._console.width - 40, 1)))
        row.add_row(f"{count}/{self._total}", bar, _cut(Text(f"{_clock(elapsed)}{left}")))
        return row

    def _figures(self) -> str:
        success, path, answered = (100 * self._sums[name] / self._finished for name in ("success", "path", "answered"))
        return f"Success {success:.1f} %  Path {path:.1f} %  answered {answered:.1f} %"

    def _spent(self) -> str:
        read, written = self._sums["prompt_tokens"], self._sums["completion_tokens"]
        rate = 60 * self._solved / max(time.monotonic() - self._started, 1e-9)
        speed = f"{rate:.1f} tasks a minute · " if self._solved else ""
        before = self._finished - self._solved
        earlier = f" · {before} from before" if before > 0 else ""
        return f"{speed}{read:,.0f} tokens read, {written:,.0f} written{earlier}"


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


def _faults(record: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Tool and text of each fault in the record of a task."""
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
