"""What the suite's tasks are made of, with the figures of other benchmarks (see benchmarks.tasks.statistics)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from benchmarks.manipulation.environment import Environment
from benchmarks.manipulation.http_environment import HTTPEnvironment
from benchmarks.manipulation.selection import shown_functions
from benchmarks.manipulation.suite import TASKS, open_environment
from benchmarks.tasks.statistics import TaskFigures, TaskStatistics, summarized
from protocols.render import estimate

__all__ = ["suite_statistics"]


def suite_statistics() -> list[TaskStatistics]:
    """The figures of each tool of the suite, and last those of all; of a test, its first label is the solution.

    Raises: UsageError: The engine of a tool is not installed.
    """
    figures = []
    for name in TASKS:
        with closing(open_environment(name)) as environment:
            figures.append(_figures(name, environment))
    return [*map(summarized, figures), summarized(TaskFigures.joined("all", figures))]


def _figures(name: str, environment: Environment) -> TaskFigures:
    solutions: Sequence[Sequence[str]] = [test.names[0] if test.names else () for test in environment.tests]
    sizes = {f"{name}.{document.name}": estimate(shown_functions([document])) for document in environment.functions}
    interface = "RESTful API" if isinstance(environment, HTTPEnvironment) else "Python function"
    return TaskFigures(name, solutions, sizes, (interface,))
