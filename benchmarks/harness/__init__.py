"""One harness for all benchmarks: Task, Environment, Scorer, Runner.

A benchmark brings tasks as data, an environment that runs an episode of each, and a scorer of what came of it: these
are here. The runner (`runner`) does the rest, and is the only one that resumes: a file for each finished task, workers,
repeats, halves, `summary.json`. `registry` lists the benchmarks.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["Identified", "Outcome", "Scorer", "TaskEnvironment"]

TaskT = typing.TypeVar("TaskT", contravariant=True)
FiguresT = typing.TypeVar("FiguresT")


class Identified(typing.Protocol):
    """A task: data with an id, which is unique in a run and names the task's file."""

    @property
    def id(self) -> str:
        """Letters, digits, `.`, `_` and `-`."""
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a task.

    `record` is plain data with the task's `id`, and holds what depends on settings and task alone: no times, no dates,
    no ports. `seconds` are those of `times.jsonl`, by name; without `seconds` in it the runner measures that one.
    """

    record: Mapping[str, typing.Any]
    seconds: Mapping[str, float] = field(default_factory=dict)


class TaskEnvironment(typing.Protocol[TaskT]):
    """An environment: tools and world of the tasks. It is asked by one thread, or with `--workers` by several."""

    def key(self, task: TaskT) -> object:
        """All that an outcome depends on beside the settings: plain data, or dataclasses of it."""
        ...

    def run(self, task: TaskT) -> Outcome:
        """Run a task to its end. What can be judged only while its world stands is judged here, into the record.

        Raises: ModelError, APIError, KeyboardInterrupt: It came to no result, and is tried again another time.
        """
        ...

    def stop(self) -> None:
        """Let the episodes that are under way in other threads end: nobody waits for them."""
        ...


class Scorer(typing.Protocol[FiguresT]):
    """The figures of results: of one, of all so far, and of a whole run."""

    def figures(self, record: Mapping[str, typing.Any], seconds: float) -> FiguresT:
        """The figures of a record, as it is in its file. Raises: KeyError, TypeError, ValueError: It is damaged."""
        ...

    def line(self, figures: FiguresT) -> str:
        """What a log says of a finished task."""
        ...

    def progress(self, figures: Sequence[FiguresT]) -> tuple[str, str]:
        """What a dashboard says of all tasks that are finished: how good they are, and what they cost."""
        ...

    def summary(self, figures: Sequence[FiguresT]) -> dict[str, typing.Any]:
        """The figures of `summary.json`, in the order of the tasks; the keys are part of the interface."""
        ...
