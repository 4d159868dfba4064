"""Read the JSON of a Solution back: what `atc solve --out` wrote, or a task of a benchmark run.

A task's record has no times, because they differ from run to run; they read as zero.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from atc.solution import Solution
from protocols.bounded_files import read_whole
from protocols.errors import UsageError
from sandbox.records import nested

__all__ = ["read_json", "read_solution", "solution_data", "solution_of"]


MOST_BYTES = 256 * 1024 * 1024
"""Bytes of a file that is read: it takes several times as much in memory."""

_NESTING = 250
"""Lists and objects in one another; those of a reply are at most 100 deep (see sandbox.records)."""


@cache
def _adapter() -> TypeAdapter[Solution]:
    # Pydantic looks here for what atc.solution imports for types alone: a solve has seldom a tree or a plan.
    from atc.search_tree import SearchNode  # noqa: F401
    from sandbox.egress.write_plan import WritePlan  # noqa: F401

    return TypeAdapter(Solution)


def read_json(file: Path) -> object:
    """The JSON in a file. Raises: UsageError: It cannot be read, is none, or is too large to be looked at."""
    try:
        data: object = json.loads(read_whole(file, MOST_BYTES))
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is no JSON: {str(error) or 'it is nested too deeply'}") from None
    if nested(data, _NESTING):
        raise UsageError(f"{file} is nested too deeply for a solution")
    return data


def solution_data(data: object, file: Path) -> Mapping[str, Any]:
    """The part of a file that is a solution: all of it, or the member `solution` of a benchmark's task.

    Raises: UsageError: There is none.
    """
    solution = data.get("solution", data) if isinstance(data, dict) else None
    if not isinstance(solution, dict) or not isinstance(solution.get("query"), str) or "attempts" not in solution:
        raise UsageError(f"{file} holds no solution; `atc solve --out FILE` and `atc bench --out DIR` write them")
    return solution


def read_solution(file: Path) -> Solution:
    """The solution in a file. Raises: UsageError: The file cannot be read, or a part of it has another form."""
    return solution_of(solution_data(read_json(file), file), str(file))


def solution_of(data: Mapping[str, Any], source: str) -> Solution:
    """The solution that `Solution.to_json` made this data of. Raises: UsageError: A part has another form."""
    try:
        solution = _adapter().validate_python(_completed(data))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise UsageError(f"{source} is damaged: {place}: {first['msg']}") from None
    if not _has_its_calls(solution):
        raise UsageError(f"{source} is damaged: it names calls that are not in it")
    return solution


def _has_its_calls(solution: Solution) -> bool:
    """Whether the calls that the data flow and the evidence name by their index are there."""
    run = solution.attempts[-1].run if solution.attempts else None
    named = {source.call for source in run.provenance.printed} if run and run.provenance else set()
    for flow in solution.flow:
        named |= {flow.call, *([] if flow.source is None else [flow.source])}
    return named <= set(range(len(solution.calls)))


def _completed(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data with the times that a task's record lacks, and with the calls of each run in it."""
    return {
        "seconds": {},
        **data,
        "attempts": _each(data["attempts"], _attempt),
        "abandoned": _each(data.get("abandoned", []), _call),
        "unsupported": data.get("standing") == "unsupported",
    }


def _attempt(attempt: dict[str, Any]) -> dict[str, Any]:
    run = attempt.get("run")
    if not isinstance(run, dict):
        return attempt
    resources = run.get("resources")
    if isinstance(resources, dict):
        resources = {"wall": 0.0, "cpu": 0.0, "memory": 0.0, **resources}
    return {**attempt, "run": {**run, "resources": resources, "calls": _each(attempt.get("calls", []), _call)}}


def _call(call: dict[str, Any]) -> dict[str, Any]:
    return {"ms": 0.0, **call}


def _each(entries: object, complete: Callable[[dict[str, Any]], dict[str, Any]]) -> object:
    """The objects of a list, completed; whatever else there is stays for the validation to refuse."""
    if not isinstance(entries, list):
        return entries
    return [complete(entry) if isinstance(entry, dict) else entry for entry in entries]
