"""Show the progress of a probe in the terminal."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from atc.apps.tui.text import first_line
from probing.prober.findings import ToolFinding

__all__ = ["ProbeProgress"]


class ProbeProgress:
    """Shows on stderr the tool in progress, and a line for each completed one.

    Without a terminal it shows nothing; without a total, only the tool in progress.
    """

    def __init__(self, total: int | None) -> None:
        self._console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=self._console, transient=True)
        self._bar = self._progress.add_task("probing", total=total)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def trying(self, tool: str, program: str) -> None:
        """Show the program that is about to run."""
        self._progress.update(self._bar, description=escape(first_line(f"{tool}: {program}", 60)))

    def finished(self, finding: ToolFinding) -> None:
        """Show a completed tool."""
        self._progress.advance(self._bar)
        if self._console.is_terminal:  # otherwise the final summary has it all
            self._console.print(f"{finding.outcome} [bold]{escape(finding.tool)}[/] round {finding.iteration}")
