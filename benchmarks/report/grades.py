"""The grades that models gave the solutions of a run: a folder of the harness for each judge, in `rubric/`."""

from __future__ import annotations

import hashlib
import json
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.methods.observations import render_value, truncate
from protocols.bounded_files import read_whole
from protocols.errors import UsageError

__all__ = ["Grades", "call_lines", "judge_folder", "read_grades", "solution_key"]

_FOLDER = "rubric"
VALUE_TOKENS = 60
"""Tokens of arguments, and of a response, in the line of a call."""


@dataclass(frozen=True, slots=True)
class Grades:
    """The grades of one solution, of several judges their means; None where they wrote none."""

    judges: tuple[str, ...]
    executability: float | None
    utility: float | None


def judge_folder(run: Path, model: str) -> Path:
    """Where the grades of a model are kept."""
    return run / _FOLDER / hashlib.sha256(model.encode()).hexdigest()[:12]


def read_grades(run: Path) -> dict[str, Grades]:
    """The grades of a run by the key of the solution. Raises: UsageError: A file holds none."""
    by_key: dict[str, list[Grades]] = {}
    for config in sorted((run / _FOLDER).glob("*/config.json")):
        try:
            model = json.loads(read_whole(config))["model"]
            for file in sorted(config.parent.glob("tasks/*.json")):
                record = json.loads(read_whole(file))
                grades = Grades((model,), record["executability"], record["utility"])
                by_key.setdefault(record["solution"], []).append(grades)
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise UsageError(f"{config.parent} holds no grades ({error!r}); remove it to grade anew") from None
    return {
        key: Grades(
            tuple(judge for grades in all_grades for judge in grades.judges),
            _mean([grades.executability for grades in all_grades]),
            _mean([grades.utility for grades in all_grades]),
        )
        for key, all_grades in by_key.items()
    }


def _mean(grades: list[float | None]) -> float | None:
    numbers = [grade for grade in grades if grade is not None]
    return statistics.fmean(numbers) if numbers else None


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
