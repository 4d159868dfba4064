"""The API-complexity score: how far the calls of tests are from those of the demonstrations.

A test is reached from a demonstration by keeping or dropping each of its calls, with probability 1/2, and by drawing
each call that is missing from all functions. The order of calls does not count; a function that is called twice is two
calls. The distance is the negative natural logarithm of that probability.

Source: Xu et al. (arXiv:2305.16504), section 5.2 and appendix D.
"""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import parse_qsl

from benchmarks.manipulation.curl import CurlError, parse_curl
from benchmarks.manipulation.suite import TASKS, open_original, original_digest
from benchmarks.report.published import published
from benchmarks.report.runs import RunFolder
from protocols.errors import UsageError

__all__ = [
    "PREFIX",
    "Complexity",
    "combination",
    "complexity",
    "distance",
    "named_complexity",
    "reversed_f1",
    "run_errors",
]

_SUITE = "manipulation"
PREFIX = f"{_SUITE}-"
"""Before the name of a task of the suite."""

Calls = tuple[str, ...]
"""The functions that a program calls, a repeated one as often as it is called."""


@dataclass(frozen=True, slots=True)
class NearestDemonstration:
    """A test with the demonstration that it is nearest to, "" where it has none, and how near that is.

    `reversed_f1` is the least over all demonstrations, which may be that to another one.
    """

    test: str
    demonstration: str
    distance: float
    reversed_f1: float


@dataclass(frozen=True, slots=True)
class Complexity:
    """The complexity of a task: the means over its tests, and each test.

    `functions` is |D|, how many there are to draw from. `original` is the digest of the files of another release; ""
    for our own.
    """

    name: str
    score: float
    reversed_f1: float
    functions: int
    demonstrations: int
    nearest: tuple[NearestDemonstration, ...]
    original: str = ""


def distance(test: Counter[str], demonstration: Counter[str], functions: int) -> float:
    """d(t, e): |e| ln 2, and ln |D| for each call of the test that the demonstration lacks (formula 3).

    Args:
        functions: |D|, how many functions there are; 1 at least.
    """
    return demonstration.total() * math.log(2) + (test.total() - _shared(test, demonstration)) * math.log(functions)


def reversed_f1(test: Counter[str], demonstration: Counter[str]) -> float:
    """(1 - F1) * 100 of two multisets of calls: from 0, where they are equal, to 100 (formula 5)."""
    total = test.total() + demonstration.total()
    return 100 * (1 - 2 * _shared(test, demonstration) / total) if total else 0.0


def _shared(first: Counter[str], second: Counter[str]) -> int:
    return sum(min(count, second[call]) for call, count in first.items() if call in second)


def complexity(
    name: str, tests: Mapping[str, Sequence[Calls]], demonstrations: Sequence[tuple[str, Calls]], functions: int
) -> Complexity:
    """The score of a task: of each test the best of its programs with the best demonstration, then the mean (4, 6).

    Where there is no demonstration, a test is reached by drawing all its calls.

    Args:
        tests: The calls of each program that is accepted, one at least, by test; one test at least.
        demonstrations: Their names and calls.
    """
    examples: dict[Calls, str] = {}
    for title, calls in demonstrations:
        examples.setdefault(tuple(sorted(calls)), title)
    bags = [(Counter(calls), title) for calls, title in examples.items()] or [(Counter[str](), "")]
    nearest = tuple(_nearest(test, programs, bags, functions) for test, programs in tests.items())
    return Complexity(
        name,
        statistics.fmean(near.distance for near in nearest),
        statistics.fmean(near.reversed_f1 for near in nearest),
        functions,
        len(demonstrations),
        nearest,
    )


def _nearest(
    test: str, programs: Sequence[Calls], bags: Sequence[tuple[Counter[str], str]], functions: int
) -> NearestDemonstration:
    """The first of the nearest demonstrations."""
    figures = [
        (distance(program, bag, functions), reversed_f1(program, bag), title)
        for program in map(Counter, dict.fromkeys(tuple(sorted(calls)) for calls in programs))
        for bag, title in bags
    ]
    least, _, demonstration = min(figures, key=lambda figure: figure[0])
    return NearestDemonstration(test, demonstration, least, min(figure[1] for figure in figures))


def named_complexity(name: str, files: Path | None = None) -> Complexity:
    """The complexity of a task of the suite.

    Args:
        files: Tests, demonstrations and functions of the task, in the original layout.
    Raises: UsageError: There is no such name, or a file that it needs is not there or in another form.
    """
    task = name.removeprefix(PREFIX)
    if task == name or task not in TASKS:
        names = ", ".join(f"{PREFIX}{task}" for task in TASKS)
        raise UsageError(f"there is no {name!r} to compute a complexity of; there are {names}")
    data = published("complexity")
    with closing(open_original(task, files)) as environment:
        functions = data["options"].get(environment.name, len(environment.functions))
        demonstrations = [
            (f"{place}: {pair.goal.strip().splitlines()[0]}", combination(pair.action, pair.names))
            for place, pair in enumerate(environment.demonstrations, 1)
        ]
        tests = {
            f"{environment.name}-{test.id}": list(map(combination, test.labels, test.names))
            for test in environment.tests
        }
        demonstrated = {call for _, calls in demonstrations for call in calls}
        covered = environment.name in data["covered"] and {f.name for f in environment.functions} <= demonstrated
    scored = complexity(name, tests, demonstrations, functions)
    if covered:
        nearest = tuple(replace(near, distance=0.0) for near in scored.nearest)
        scored = replace(scored, score=0.0, nearest=nearest)
    return replace(scored, original=original_digest(files)["sha256"]) if files else scored


def run_errors(run: RunFolder, task: Complexity) -> dict[str, float]:
    """The error in percent, by test, of those tests of a task that a run has; none of a run on other files."""
    ids = {near.test for near in task.nearest}
    if (run.config.get("files") or {}).get("original", {}).get("sha256", "") != task.original:
        return {}
    if run.config["benchmark"] != _SUITE:
        return {}
    return {record.id: 100 * (1 - record.metrics.success) for record in run.tasks if record.id in ids}


def combination(action: str, called: Sequence[str]) -> tuple[str, ...]:
    """The calls of an action; where it is a request, its function with the parameters counts as a function."""
    parameters = request_parameters(action) if len(called) == 1 and action.lstrip().startswith("curl") else ""
    return (f"{called[0]}?{parameters}",) if parameters else tuple(called)


def request_parameters(line: str) -> str:
    """The names of the parameters of a curl line, of its address and of its body, but for the key."""
    try:
        request = parse_curl(line.strip())
    except CurlError:
        return ""
    return "&".join(sorted({name for name, _ in request.query}.union(_members(request.body or "")) - {"appid"}))


def _members(body: str) -> Iterable[str]:
    try:
        data = json.loads(body)
    except ValueError:
        return [name for name, _ in parse_qsl(body)]
    return data if isinstance(data, Mapping) else ()
