"""What the benchmark figures mean, on cases small enough to work out by hand."""

from __future__ import annotations

import pytest

from benchmarks.tasks.metrics import Alternative, Gold, Score, mean, percent, score, success_with_alternatives
from sandbox.records import CallRecord


def call(tool: str | None, status: int | None = 200) -> CallRecord:
    """A call of a tool that was answered with a status."""
    return CallRecord(0, tool, "GET", "http://api.test/", {}, 1, status, 1.0, 1, "function")


SEARCH_THEN_CREDITS = Gold({"search": 1, "credits": 1})


def test_all_gold_calls_answered_is_a_success() -> None:
    """Success, Path and Prec are 1 when exactly the gold tools were called, in any order and however often."""
    calls = [call("credits"), call("search"), call("credits")]

    assert score(SEARCH_THEN_CREDITS, [calls], "answered") == Score(1, 1, 1, 1)


def test_calls_beyond_the_gold_cost_precision_only() -> None:
    """Two needless tools among four halve the precision."""
    calls = [call("search"), call("credits"), call("images"), call("images"), call("reviews")]

    assert score(SEARCH_THEN_CREDITS, [calls], "answered") == Score(1, 1, 0.5, 1)


def test_a_call_that_failed_counts_for_the_path_but_not_for_success() -> None:
    """The path was right although the API refused a call; the question is not solved by that."""
    calls = [call("search"), call("credits", 404)]

    assert score(SEARCH_THEN_CREDITS, [calls], "answered") == Score(0, 1, 1, 0)


@pytest.mark.parametrize("status", [None, 302, 400, 429, 503])
def test_only_2xx_is_an_answer(status: int | None) -> None:
    """A redirect, a refusal, or no reply at all is not what the gold asks for."""
    assert score(Gold({"search": 1}), [[call("search", status)]], "answered").success == 0


@pytest.mark.parametrize("status", [200, 201, 204, 299])
def test_every_2xx_is_an_answer(status: int) -> None:
    """A write may well be answered 201 or 204."""
    assert score(Gold({"search": 1}), [[call("search", status)]], "answered").success == 1


def test_a_failed_call_repeated_with_success_is_a_success() -> None:
    """A program may meet an error, correct the argument and call again."""
    assert score(Gold({"search": 1}), [[call("search", 422), call("search")]], "answered").success == 1


@pytest.mark.parametrize("status", ["failed", "refused", "limit", "model_error", "api_error", "interrupted"])
def test_without_an_answer_there_is_no_success(status: str) -> None:
    """All gold calls were made, but the solve did not end in an answer: only our own `success_any` says so."""
    calls = [call("search"), call("credits")]

    assert score(SEARCH_THEN_CREDITS, [calls], status) == Score(0, 1, 1, 1)


def test_only_the_final_attempt_counts() -> None:
    """What an earlier attempt called is not part of the path, and Success does not see it; `success_any` does."""
    attempts = [[call("search"), call("credits")], [call("search")]]

    assert score(SEARCH_THEN_CREDITS, attempts, "answered") == Score(0, 0.5, 1, 1)


def test_success_any_pools_the_attempts() -> None:
    """One attempt reached the first tool, another the second."""
    attempts = [[call("search")], [call("search", 401), call("credits")]]

    assert score(SEARCH_THEN_CREDITS, attempts, "failed") == Score(0, 1, 1, 1)


@pytest.mark.parametrize("attempts", [[], [[]], [[call("search")], []]])
def test_no_call_has_no_precision(attempts: list[list[CallRecord]]) -> None:
    """With no call in the final attempt, precision is 0, not undefined."""
    result = score(SEARCH_THEN_CREDITS, attempts, "answered")

    assert (result.success, result.path, result.precision) == (0, 0, 0)


def test_a_request_that_fits_no_tool_is_no_tool_call() -> None:
    """It spoils neither path nor precision, as the papers count tools."""
    assert score(Gold({"search": 1}), [[call(None, 404), call("search")]], "answered") == Score(1, 1, 1, 1)


def test_counted_gold_wants_each_call_as_often() -> None:
    """Where the gold gives counts, calling a tool once is one of three."""
    gold = Gold({"recipes": 3, "taste": 1}, counted=True)
    calls = [call("recipes"), call("taste")]

    assert score(gold, [calls], "answered") == Score(0, 0.5, 1, 0)


def test_counted_gold_is_met_by_enough_calls() -> None:
    """More calls than asked for cost precision, as in a multiset."""
    gold = Gold({"recipes": 2}, counted=True)
    calls = [call("recipes"), call("recipes"), call("recipes", 404), call("taste")]

    assert score(gold, [calls], "answered") == Score(1, 1, 0.5, 1)


def test_counted_gold_needs_that_many_answers() -> None:
    """A call that failed is on the path, but does not count towards the number answered."""
    gold = Gold({"recipes": 2}, counted=True)

    assert score(gold, [[call("recipes"), call("recipes", 500)]], "answered") == Score(0, 1, 1, 0)


def test_counts_are_ignored_where_the_gold_does_not_count() -> None:
    """RestBench lists a tool that is called for each of many items only once."""
    gold = Gold({"search": 2})

    assert score(gold, [[call("search")]], "answered") == Score(1, 1, 1, 1)


def test_a_task_without_gold_is_an_error() -> None:
    """Nothing can be measured against no gold; silently counting it either way would be wrong."""
    with pytest.raises(ValueError, match="without gold calls"):
        score(Gold({}), [[call("search")]], "answered")


def test_means_are_in_percent() -> None:
    """A table shows 66.67, and 0 when there was no task."""
    assert percent([1, 1, 0]) == 66.67
    assert percent([]) == 0
    assert mean([2, 4]) == 3


ALTERNATIVES = [Alternative("search", "find", "."), Alternative("images", None, ".")]


@pytest.mark.parametrize(
    ("gold", "tools", "status", "success"),
    [
        (Gold({"search": 1, "credits": 1}), ["find", "credits"], "answered", 1),
        (Gold({"search": 1, "credits": 1}), ["find"], "answered", 0),
        (Gold({"search": 1, "credits": 1}), ["find", "credits"], "failed", 0),
        (Gold({"search": 1, "find": 1}), ["find"], "answered", 0),
        (Gold({"search": 1, "images": 1}), ["search"], "answered", 1),
        (Gold({"search": 2}, counted=True), ["search", "find"], "answered", 1),
        (Gold({"search": 2}, counted=True), ["find"], "answered", 0),
    ],
)
def test_alternatives_stand_for_missing_gold_calls(gold: Gold, tools: list[str], status: str, success: float) -> None:
    """A tool that does as well counts for the gold one, and a gold one may be needless; the headline knows neither."""
    attempts = [[call(tool) for tool in tools]]

    assert success_with_alternatives(gold, attempts, status, ALTERNATIVES) == success
    assert success_with_alternatives(gold, attempts, status, ()) == score(gold, attempts, status).success
