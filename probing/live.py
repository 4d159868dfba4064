"""Show the progress of a probe in the terminal."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from atc.apps.tui.text import first_line, visible
from probing.prober.findings import ToolFinding

__all__ = ["COLOURS", "ProbeProgress"]

COLOURS = {
    "documented": "green",
    "no_content": "green",
    "web_page": "green",
    "always_empty": "yellow",
    "refused_by_policy": "yellow",
    "budget": "yellow",
}
_MAX_KEYS = 8


class ProbeProgress:
    """Shows on stderr the tool in progress, and the question, program and answer of each completed one.

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

    def finished(self, finding: ToolFinding, example: object) -> None:
        """Show a completed tool; `example` is one of its responses."""
        self._progress.advance(self._bar)
        if not self._console.is_terminal:  # the final summary has it all
            return
        colour = COLOURS.get(finding.outcome, "red")
        self._console.print(f"[{colour}]{finding.outcome}[/] [bold]{escape(finding.tool)}[/] round {finding.iteration}")
        self._console.print(f"  {escape(visible(finding.question))}", highlight=False)
        for line in visible(finding.program).splitlines():
            self._console.print(f"  [dim]{escape(line)}[/]", highlight=False, soft_wrap=True)
        self._console.print(f"  → {escape(_shape(example))}", highlight=False)


def _shape(body: object) -> str:
    """The keys of a response, on one line."""
    if isinstance(body, list):
        return f"[{_shape(body[0])}]" if body else "[]"
    if isinstance(body, dict):
        keys = [visible(str(key)) for key in body]
        return f"{{{', '.join(keys[:_MAX_KEYS])}{', …' if len(keys) > _MAX_KEYS else ''}}}"
    return type(body).__name__ if body is not None else "no content"
