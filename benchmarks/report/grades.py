"""The grades that a model gave the solutions of a run: `rubric.jsonl` in its folder, by a key of each solution."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atc.files import read_lines
from benchmarks.methods.observations import render_value, truncate
from protocols.errors import UsageError

__all__ = ["FILE", "Grades", "call_lines", "read_grades", "read_judges", "solution_key"]

FILE = "rubric.jsonl"
VALUE_TOKENS = 60
"""Tokens of arguments, and of a response, in the line of a call."""


@dataclass(frozen=True, slots=True)
class Grades:
    """The grades that a model gave one solution; None where it wrote none."""

    model: str
    executability: int | None
    utility: int | None


def read_grades(folder: Path) -> dict[str, Grades]:
    """The grades in a run folder by solution key, the last ones of each. Raises: UsageError: A line holds none."""
    return {key: grades for (key, _), grades in read_judges(folder).items()}


def read_judges(folder: Path) -> dict[tuple[str, str], Grades]:
    """The grades in a run folder by solution key and model, those of the model that graded last at the end.

    Raises: UsageError: A line holds none.
    """
    grades: dict[tuple[str, str], Grades] = {}
    for place, data in read_lines(folder / FILE):
        try:
            key = (data["solution"], data["model"])
            grades.pop(key, None)
            grades[key] = Grades(data["model"], data["executability"], data["utility"])
        except (ValueError, KeyError, TypeError):
            raise UsageError(f"{place}: these are no grades; delete the line") from None
    return grades


def solution_key(query: str, solution: Mapping[str, Any]) -> str:
    """A hash of all that a grade depends on: the question, the answer, and the calls of the last attempt."""
    text = json.dumps([query, solution["answer"], call_lines(solution)], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def call_lines(solution: Mapping[str, Any]) -> list[str]:
    """The calls of the last attempt, a line each."""
    attempts = solution["attempts"]
    lines = []
    for call in attempts[-1]["calls"] if attempts else []:
        values = ", ".join(f"{name}={value!r}" for name, value in call.get("arguments", {}).items())
        tool, arguments = call["tool"] or call.get("url", "?"), truncate(values, VALUE_TOKENS)
        lines.append(f"{tool}({arguments}) -> {call['status']} {render_value(call.get('response'), VALUE_TOKENS)}")
    return lines
