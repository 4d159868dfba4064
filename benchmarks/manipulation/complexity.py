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
from dataclasses import dataclass
from urllib.parse import parse_qsl

from benchmarks.manipulation.curl import CurlError, parse_curl

__all__ = [
    "Combination",
    "Complexity",
    "ComplexityTest",
    "combination",
    "complexity",
    "distance",
    "request_parameters",
    "reversed_f1",
]


@dataclass(frozen=True, slots=True)
class Combination:
    """The functions that a demonstration calls, a repeated one as often as it is called."""

    id: str
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComplexityTest:
    """A test: the calls of each program that is accepted, one at least, and the demonstrations shown for it.

    `functions` is |D|, how many there are to draw from.
    """

    id: str
    programs: tuple[tuple[str, ...], ...]
    functions: int
    demonstrations: Sequence[Combination]


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

    `functions` has the fewest and the most. `original` is the digest of the files of another release; "" for our own.
    """

    name: str
    score: float
    reversed_f1: float
    functions: tuple[int, int]
    demonstrations: int
    nearest: tuple[NearestDemonstration, ...]
    original: str = ""


def distance(test: Sequence[str], demonstration: Sequence[str], functions: int) -> float:
    """d(t, e): |e| ln 2, and ln |D| for each call of the test that the demonstration lacks (formula 3).

    Args:
        functions: |D|, how many functions there are; 1 at least.
    """
    calls, shown_calls = Counter(test), Counter(demonstration)
    return _distance(calls, shown_calls, (calls & shown_calls).total(), functions)


def reversed_f1(test: Sequence[str], demonstration: Sequence[str]) -> float:
    """(1 - F1) * 100 of two multisets of calls: from 0, where they are equal, to 100 (formula 5)."""
    calls, shown_calls = Counter(test), Counter(demonstration)
    return _reversed_f1(calls, shown_calls, (calls & shown_calls).total())


def complexity(name: str, tests: Sequence[ComplexityTest]) -> Complexity:
    """The score of a task: of each test the best of its programs with the best demonstration, then the mean (4, 6).

    A test that no demonstration is shown for is reached by drawing all its calls. There is one test at least.
    """
    nearest = tuple(map(_nearest, tests))
    return Complexity(
        name,
        statistics.fmean(near.distance for near in nearest),
        statistics.fmean(near.reversed_f1 for near in nearest),
        (min(test.functions for test in tests), max(test.functions for test in tests)),
        len({entry for test in tests for entry in test.demonstrations}),
        nearest,
    )


def _nearest(test: ComplexityTest) -> NearestDemonstration:
    """The first of the nearest demonstrations."""
    examples: dict[tuple[str, ...], str] = {}
    for entry in test.demonstrations:
        examples.setdefault(tuple(sorted(entry.calls)), entry.id)
    bags = [(Counter(calls), name) for calls, name in examples.items()] or [(Counter[str](), "")]
    programs = [Counter(calls) for calls in dict.fromkeys(tuple(sorted(program)) for program in test.programs)]
    figures = [
        (_distance(program, bag, shared, test.functions), _reversed_f1(program, bag, shared), name)
        for program in programs
        for bag, name in bags
        for shared in [sum(min(count, bag[call]) for call, count in program.items() if call in bag)]
    ]
    least, _, demonstration = min(figures, key=lambda figure: figure[0])
    return NearestDemonstration(test.id, demonstration, least, min(figure[1] for figure in figures))


def _distance(test: Counter[str], demonstration: Counter[str], shared: int, functions: int) -> float:
    return demonstration.total() * math.log(2) + (test.total() - shared) * math.log(functions)


def _reversed_f1(test: Counter[str], demonstration: Counter[str], shared: int) -> float:
    total = test.total() + demonstration.total()
    return 100 * (1 - 2 * shared / total) if total else 0.0


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
