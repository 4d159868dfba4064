"""A bar on stderr for what has no tasks of a benchmark: how many things are done, of how many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

__all__ = ["counting"]


@contextmanager
def counting(label: str, total: int, *, hidden: bool = False) -> Iterator[Callable[[int, str], None]]:
    """Show a bar, which is told of the number that is done and of what to say beside it."""
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(TextColumn("{task.description}"), *columns, console=Console(stderr=True), disable=hidden) as bar:
        task = bar.add_task(label, total=total)
        yield lambda completed, text: bar.update(task, completed=completed, description=text)
