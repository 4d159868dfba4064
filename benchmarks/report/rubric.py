"""The ATC paper's rubric, graded by a model: Executability and Utility of a solution, each from 1 to 3.

The paper had people grade 30 solutions of each benchmark (section A.1.2). A model's grades are no human evaluation:
they are kept apart in `rubric.jsonl` of the run folder, with the model's name, and are shown as its.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from atc.files import append_line
from atc.models import Message
from benchmarks.methods.observations import truncate
from benchmarks.report.grades import FILE, call_lines, read_judges, solution_key

if TYPE_CHECKING:
    from atc.models import Model
    from benchmarks.report.runs import TaskRecord

__all__ = ["grade"]

_CALLS, _ANSWER = 20, 200
"""Calls that the model is shown, the last ones; tokens of the answer."""

_GRADE = re.compile(r"(executability|utility)\W*([123])\b", re.IGNORECASE)


def grade(folder: Path, tasks: Sequence[TaskRecord], model: Model) -> Iterator[str]:
    """Have the solutions of a run graded that this model has not graded yet; gives the id of each when it is done.

    Raises: ModelError; UsageError: The grades cannot be written.
    """
    earlier_grades = read_judges(folder)
    for task in tasks:
        key = solution_key(task.query, task.solution)
        if (key, model.name) not in earlier_grades:
            prompt = _template().substitute(_prompt_values(task))
            reply = model.complete([Message("user", prompt)], max_tokens=40).text
            grades = {name.lower(): int(value) for name, value in _GRADE.findall(reply)}
            entry = {"solution": key, "id": task.id, "model": model.name}
            append_line(folder / FILE, json.dumps({**entry, "executability": None, "utility": None, **grades}))
        yield task.id


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
