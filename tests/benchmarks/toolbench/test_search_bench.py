"""The simulation of the searches: what it counts, and that its modes meet the same luck."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.micro.search import BUDGETS, MODES, PUBLISHED_ERROR, Habits, trails, walk
from benchmarks.report.stats import difference
from protocols import Protocol

ROOT = Path(__file__).resolve().parents[3]
SOME_BUDGETS = [budget for budget in BUDGETS if budget <= 100]


@pytest.fixture(scope="module")
def protocol() -> Iterator[Protocol]:
    server, protocol = trails()
    with closing(server):
        yield protocol


@pytest.mark.parametrize("compat", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_a_search_is_repeated_exactly(protocol: Protocol, mode: str, compat: bool) -> None:
    """The same habits and tasks give the same figures, in any order of the tasks."""
    walks = walk(protocol, mode, Habits(), range(8), compat=compat, budget=40)

    assert walk(protocol, mode, Habits(), reversed(range(8)), compat=compat, budget=40) == walks[::-1]
    assert walk(protocol, mode, Habits(seed=8), range(8), compat=compat, budget=40) != walks


@pytest.mark.parametrize("compat", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_a_smaller_budget_only_ends_a_search(protocol: Protocol, mode: str, compat: bool) -> None:
    """What is derived from one long search is what a search of the smaller budget does; none asks more than it may."""
    walks = walk(protocol, mode, Habits(), range(8), compat=compat, budget=40)
    for budget in (4, 5, 6, 10, 23):
        limited = walk(protocol, mode, Habits(), range(8), compat=compat, budget=budget)

        assert all(result.calls <= budget for result in limited)
        assert [result.solved for result in limited] == [result.solved_within(budget) for result in walks]


@pytest.mark.parametrize("error", [0.1, PUBLISHED_ERROR, 0.5])
def test_dfsdt_is_not_below_react_at_equal_calls(protocol: Protocol, error: float) -> None:
    """Its first path is ReACT's, so at any budget it solves what ReACT solves."""
    chains, trees = (walk(protocol, mode, Habits(error), range(20), budget=100) for mode in ("react", "dfsdt"))
    for budget in SOME_BUDGETS:
        chain_rates = [float(result.solved_within(budget)) for result in chains]
        tree_rates = [float(result.solved_within(budget)) for result in trees]

        assert difference(chain_rates, tree_rates).fewer == 0


@pytest.mark.parametrize("error", [PUBLISHED_ERROR, 0.5])
def test_dfsdt_is_not_below_restarts_at_equal_calls(protocol: Protocol, error: float) -> None:
    """Where a restart repeats three decisions of four, and within the interval of the difference."""
    restarts, trees = (walk(protocol, mode, Habits(error), range(20), budget=100) for mode in ("react@99", "dfsdt"))
    for budget in SOME_BUDGETS:
        restart_rates = [float(result.solved_within(budget)) for result in restarts]
        tree_rates = [float(result.solved_within(budget)) for result in trees]

        assert difference(restart_rates, tree_rates).high >= 0


def test_restarts_are_no_use_to_a_model_of_habits(protocol: Protocol) -> None:
    """A model that repeats itself solves by restarts what it solves at once."""
    chains, restarts = (walk(protocol, mode, Habits(habit=1.0), range(20), budget=40) for mode in ("react", "react@99"))

    assert [result.solved for result in restarts] == [result.solved for result in chains]


@pytest.mark.parametrize("compat", [False, True])
def test_a_model_without_errors_walks_straight(protocol: Protocol, compat: bool) -> None:
    """Four calls and the answer; `dfs` asks for a sibling of each call, and compares the two both ways."""
    calls = {mode: walk(protocol, mode, Habits(error=0.0), range(1), compat=compat)[0] for mode in MODES}

    assert {mode: result.calls for mode, result in calls.items()} == {"react": 5, "react@99": 5, "dfsdt": 5, "dfs": 17}
    assert (calls["dfs"].nodes, calls["dfs"].comparisons) == (9, 8)
    assert all(result.solved for result in calls.values())


@pytest.mark.parametrize("compat", [False, True])
def test_a_model_that_never_notices_walks_the_whole_tree(protocol: Protocol, compat: bool) -> None:
    """Two children at each of six depths: as many calls as the released code makes for a message without a thought."""
    (walked,) = walk(protocol, "dfsdt", Habits(error=1.0, notice=0.0), range(1), compat=compat)

    assert (walked.solved, walked.calls, walked.nodes) == (False, 126, 126)


def test_giving_up_at_once_ends_only_a_published_search(protocol: Protocol) -> None:
    """Ours asks for another first step."""
    walks = [walk(protocol, "dfsdt", Habits(despair=1.0), range(1), compat=compat)[0] for compat in (False, True)]

    assert [result.calls for result in walks] == [2, 1]


def test_the_command_prints_json() -> None:
    """Shares have intervals, and the published figures stand beside."""
    command = [sys.executable, "-m", "benchmarks.micro.search", "--quick", "--tasks", "4", "--json"]
    process = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    figures = json.loads(process.stdout)

    assert process.returncode == 0, process.stderr
    assert figures["published"] == {"react": 0.2934, "react@99": 0.3994, "dfsdt": 0.4875, "times_react": 4.0}
    assert {row["mode"] for row in figures["success"]} == set(MODES)
    assert all(row["budget"]["200"]["n"] == 4 for row in figures["success"])
    assert all(row["low"] <= row["mean"] <= row["high"] for row in (cost["times_react"] for cost in figures["cost"]))
