"""The ATC paper's rubric, graded by a model: Executability and Utility of a solution, each from 1 to 3.

The paper had people grade 30 solutions of each benchmark (section A.1.2). A model's grades are no human evaluation:
they are kept apart in `rubric.jsonl` of the run folder, with the model's name, and are shown as its.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from atc.files import append_line, read_lines
from atc.models import Message
from atc.modes.observations import render_value, truncate
from protocols.errors import UsageError

if TYPE_CHECKING:
    from atc.models import Model
    from benchmarks.report.runs import TaskRecord

__all__ = ["FILE", "Grades", "grade", "graded", "read_grades"]

FILE = "rubric.jsonl"

_CALLS, _REPLY, _ANSWER = 20, 60, 200
"""Calls that the model is shown, the last ones; tokens of a reply, and of the answer."""

_GRADE = re.compile(r"(executability|utility)\W*([123])\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Grades:
    """What a model gave one solution; None where it wrote no grade."""

    model: str
    executability: int | None
    utility: int | None


def grade(folder: Path, tasks: Sequence[TaskRecord], model: Model) -> Iterator[str]:
    """Have the solutions of a run graded that this model has not graded yet; gives the id of each when it is done.

    Raises: ModelError; UsageError: The grades cannot be written.
    """
    earlier_grades = read_grades(folder)
    for task in tasks:
        earlier = earlier_grades.get(_key(task))
        if earlier is None or earlier.model != model.name:
            prompt = _template().substitute(_prompt_values(task))
            reply = model.complete([Message("user", prompt)], max_tokens=40).text
            grades = {name.lower(): int(value) for name, value in _GRADE.findall(reply)}
            entry = {"solution": _key(task), "id": task.id, "model": model.name}
            line = json.dumps({**entry, "executability": None, "utility": None, **grades})
            append_line(folder / FILE, line)
        yield task.id


def read_grades(folder: Path) -> dict[str, Grades]:
    """The grades in a run folder by solution, the last ones of each. Raises: UsageError: A line holds none."""
    grades = {}
    for place, data in read_lines(folder / FILE):
        try:
            grades[data["solution"]] = Grades(data["model"], data["executability"], data["utility"])
        except (ValueError, KeyError, TypeError):
            raise UsageError(f"{place}: these are no grades; delete the line") from None
    return grades


def graded(task: TaskRecord, grades: Mapping[str, Grades]) -> TaskRecord:
    """A task with its grades, if its solution is still the one that was graded."""
    return replace(task, grades=grades.get(_key(task)))


def _key(task: TaskRecord) -> str:
    text = json.dumps([task.query, task.solution["answer"], _calls(task)], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _calls(task: TaskRecord) -> list[str]:
    """The calls of the last attempt, a line each."""
    attempts = task.solution["attempts"]
    lines = []
    for call in attempts[-1]["calls"] if attempts else []:
        arguments = ", ".join(f"{name}={value!r}" for name, value in call.get("arguments", {}).items())
        reply = render_value(call.get("response"), _REPLY)
        lines.append(
            f"{call['tool'] or call.get('url', '?')}({truncate(arguments, _REPLY)}) -> {call['status']} {reply}"
        )
    return lines


def _prompt_values(task: TaskRecord) -> dict[str, Any]:
    return {
        "query": task.query,
        "gold": ", ".join(f"{name} ({count} times)" if count > 1 else name for name, count in task.gold.items()),
        "calls": "\n".join(_calls(task)[-_CALLS:]) or "none",
        "answer": truncate(task.solution["answer"] or "none", _ANSWER),
    }


@cache
def _template() -> Template:
    return Template(files(__package__).joinpath("rubric.txt").read_text("utf-8").strip())
