"""What the benchmark figures mean, on cases small enough to work out by hand."""

from __future__ import annotations

import pytest

from benchmarks.tasks.metrics import Gold, Score, score
from sandbox.records import CallRecord


def call(tool: str | None, status: int | None = 200) -> CallRecord:
    """A call of a tool that was answered with a status."""
    return CallRecord(0, tool, "GET", "http://api.test/", {}, 1, status, 1.0, 1, "function")


BOTH, COUNTED = Gold({"search": 1, "credits": 1}), Gold({"recipes": 2}, counted=True)
MANY = Gold({"recipes": 3, "taste": 1}, counted=True)

SCORES = [
    pytest.param(BOTH, [["credits", "search", "credits"]], (1, 1, 1, 1), id="in any order and however often"),
    pytest.param(BOTH, [["search", "credits", "images", "reviews"]], (1, 1, 0.5, 1), id="needless tools"),
    pytest.param(BOTH, [["search", "credits 404"]], (0, 1, 1, 0), id="a failed call is on the path, and no success"),
    pytest.param(Gold({"search": 1}), [["search 422", "search"]], (1, 1, 1, 1), id="repeated with success"),
    pytest.param(BOTH, [["search", "credits"], ["search"]], (0, 0.5, 1, 1), id="only the final attempt counts"),
    pytest.param(BOTH, [["search"], ["search 401", "credits"]], (0, 1, 1, 1), id="success_any pools the attempts"),
    pytest.param(BOTH, [], (0, 0, 0, 0), id="no attempt"),
    pytest.param(BOTH, [["search"], []], (0, 0, 0, 0), id="no call has no precision"),
    pytest.param(Gold({"search": 1}), [["- 404", "search"]], (1, 1, 1, 1), id="what fits no tool is no tool call"),
    pytest.param(MANY, [["recipes", "taste"]], (0, 0.5, 1, 0), id="counted gold wants each call as often"),
    pytest.param(COUNTED, [["recipes"] * 2 + ["recipes 404", "taste"]], (1, 1, 0.5, 1), id="enough calls"),
    pytest.param(COUNTED, [["recipes", "recipes 500"]], (0, 1, 1, 0), id="that many answers"),
    pytest.param(Gold({"search": 2}), [["search"]], (1, 1, 1, 1), id="gold that counts nothing"),
]
"""Gold, the tools called in each attempt (with a status where it is not 200), and the score."""


def called(text: str) -> CallRecord:
    """`credits 404` as a call; `-` fits no tool."""
    tool, _, status = text.partition(" ")
    return call(None if tool == "-" else tool, int(status or 200))


@pytest.mark.parametrize(("gold", "attempts", "expected"), SCORES)
def test_scores_worked_out_by_hand(gold: Gold, attempts: list[list[str]], expected: tuple[float, ...]) -> None:
    """Success, Path, Prec, and our own success over all attempts."""
    assert score(gold, [list(map(called, calls)) for calls in attempts], "answered") == Score(*expected)


@pytest.mark.parametrize("status", [None, 302, 400, 429, 503, 200, 201, 204, 299])
def test_only_2xx_is_an_answer(status: int | None) -> None:
    """A write may be answered 201 or 204; a redirect, a refusal, or no reply at all is not what the gold asks for."""
    success = score(Gold({"search": 1}), [[call("search", status)]], "answered").success
    assert success == (status is not None and status // 100 == 2)


@pytest.mark.parametrize("status", ["failed", "refused", "limit", "model_error", "api_error", "interrupted"])
def test_without_an_answer_there_is_no_success(status: str) -> None:
    """All gold calls were made, but the solve did not end in an answer: only our own `success_any` says so."""
    assert score(BOTH, [[call("search"), call("credits")]], status) == Score(0, 1, 1, 1)


def test_a_task_without_gold_is_an_error() -> None:
    """Nothing can be measured against no gold; silently counting it either way would be wrong."""
    with pytest.raises(ValueError, match="without gold calls"):
        score(Gold({}), [[call("search")]], "answered")
