"""The ATC paper's rubric, graded by a model: Executability and Utility of a solution, each from 1 to 3.

The paper had people grade 30 solutions of each benchmark (section A.1.2). A model's grades are no human evaluation:
they are kept apart, in a folder of the model's own, and are shown as its.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from atc.models import Message
from benchmarks.harness import Outcome
from benchmarks.harness.engines import thread_engine
from benchmarks.harness.run_folders import run_folder
from benchmarks.harness.runner import Runner
from benchmarks.methods.observations import truncate
from benchmarks.report.grades import call_lines, judge_folder, solution_key

if TYPE_CHECKING:
    from atc.models import Model
    from benchmarks.report.runs import TaskRecord

__all__ = ["RubricEnvironment", "RubricScorer", "RubricSettings", "grade"]

_CALLS, _ANSWER = 20, 200
"""Calls that the model is shown, the last ones; tokens of the answer."""

_GRADE = re.compile(r"(executability|utility)\W*([123])\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RubricSettings:
    """What a grade depends on beside the solution."""

    model: str


@dataclass(frozen=True)
class RubricEnvironment:
    """Asks a model for the grades of solutions."""

    model: Model

    def key(self, task: TaskRecord) -> object:
        """That of the solution."""
        return solution_key(task.query, task.solution)

    def run(self, task: TaskRecord) -> Outcome:
        """Grade one solution. Raises: ModelError."""
        prompt = _template().substitute(_prompt_values(task))
        reply = self.model.complete([Message("user", prompt)], max_tokens=40).text
        grades = {name.lower(): int(value) for name, value in _GRADE.findall(reply)}
        record = {"id": task.id, "solution": self.key(task), "executability": None, "utility": None, **grades}
        return Outcome(record)

    def stop(self) -> None:
        """Nothing is under way: one solution is graded after another."""


class RubricScorer:
    """The scorer of grades: how many there are."""

    def figures(self, record: Mapping[str, Any], seconds: float) -> tuple[int | None, int | None]:
        """Both grades."""
        return record["executability"], record["utility"]

    def line(self, figures: tuple[int | None, int | None]) -> str:
        """Both grades."""
        return "executability {}, utility {}".format(*figures)

    def progress(self, figures: Sequence[tuple[int | None, int | None]]) -> tuple[str, str]:
        """Nothing beside the number."""
        return "graded", ""

    def summary(self, figures: Sequence[tuple[int | None, int | None]]) -> dict[str, Any]:
        """How many were graded."""
        return {"n": len(figures)}


def grade(folder: Path, tasks: Sequence[TaskRecord], model: Model) -> None:
    """Have the solutions of a run graded that this model has not graded yet.

    Raises: ModelError; UsageError: The grades cannot be written.
    """
    environment = RubricEnvironment(model)
    runner = Runner(RubricSettings(model.name), environment, RubricScorer(), thread_engine(environment))
    run_folder(runner, tasks, judge_folder(folder, model.name))


def _prompt_values(task: TaskRecord) -> dict[str, Any]:
    return {
        "query": task.query,
        "gold": ", ".join(f"{name} ({count} times)" if count > 1 else name for name, count in task.gold.items()),
        "calls": "\n".join(call_lines(task.solution)[-_CALLS:]) or "none",
        "answer": truncate(task.solution["answer"] or "none", _ANSWER),
    }


@cache
def _template() -> Template:
    return Template(files(__package__).joinpath("rubric.txt").read_text("utf-8").strip())
