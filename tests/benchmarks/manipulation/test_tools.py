"""What all tools of the suite promise: their numbers, right labels, and no test in what a model learns from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing

import pytest

from benchmarks.manipulation.environment import Environment, ManipulationTest, TestScore
from benchmarks.manipulation.suite import open_environment
from tests.benchmarks.manipulation.suite_tasks import SUITE

COUNTS: Mapping[str, tuple[int, int, int]] = {
    "weather": (9, 100, 18),
    "cat": (6, 100, 12),
    "home": (15, 100, 10),
    "trip": (20, 120, 11),
    "sheets": (108, 70, 55),
    "virtualhome": (40, 100, 378),
    "webshop": (2, 100, 200),
    "tabletop": (32, 105, 74),
}
"""Functions, tests and demonstrations of each; the paper's, but for the demonstrations of Sheets and VirtualHome."""

UNSEEN = {"home": {"API.set_num_swimming_pools", "API.set_floor_number", "API.set_max_commute_time"}}
"""Functions that no demonstration has, as in the paper."""

pytestmark = pytest.mark.parametrize("name", SUITE)


@pytest.fixture
def tool(name: str) -> Iterator[Environment]:
    with closing(open_environment(name)) as environment:
        yield environment


def act(tool: Environment, test: ManipulationTest, label: str) -> TestScore:
    """The score of a label; what it calls is what the test says."""
    tool.reset(test)
    lines = label.splitlines() if tool.steps > 1 else [label]
    results = [tool.act(line) for line in lines]
    assert [result.error for result in results if result.error] == []
    assert set(test.names[test.labels.index(label)]) <= {name for result in results for name in result.names}
    return tool.score()


def test_counts_are_the_papers(tool: Environment, name: str) -> None:
    """Functions, tests and demonstrations; no goal of a test comes twice, and every function is demonstrated."""
    functions = {document.name for document in tool.functions}
    demonstrated = {called for pair in tool.demonstrations for called in pair.names}

    assert (len(tool.functions), len(tool.tests), len(tool.demonstrations)) == COUNTS[name]
    assert len({test.goal for test in tool.tests}) == len({test.id for test in tool.tests}) == len(tool.tests)
    for function in functions - UNSEEN.get(name, set()):
        assert any(function.startswith(called) for called in demonstrated), function
    assert not demonstrated & UNSEEN.get(name, set())


def test_every_label_has_full_marks(tool: Environment) -> None:
    """A perfect generator has 100 %, with any label of every third test; where nothing is done, nothing is reached."""
    for test in tool.tests[::3]:
        tool.reset(test)
        assert tool.score().value < 1, test.id
        for label in test.labels:
            score = act(tool, test, label)
            assert (score.value, score.failure) == (1, ""), (test.id, label)


def test_prose_around_an_action_is_not_executable(tool: Environment) -> None:
    """Nothing is cleaned: the first class of failures comes before all others."""
    test = tool.tests[0]
    tool.reset(test)
    tool.act(f"Sure, this does it:\n{test.labels[0]}")

    assert tool.score().value < 1
    assert tool.score().failure == "non-executable"


def test_samples_are_no_tests(tool: Environment) -> None:
    """No goal that is trained on is asked for."""
    assert not {sample.goal for sample in tool.samples} & {test.goal for test in tool.tests}


def test_what_a_model_is_shown_or_trained_on_is_right(tool: Environment) -> None:
    """Demonstrations and samples score full marks as tests, where a test is made of texts alone."""
    for pair in (*tool.demonstrations[:100:4], *tool.samples[:100:4]) if tool.readable else ():
        test = ManipulationTest("shown", pair.goal, (pair.action,), (pair.names,))
        assert act(tool, test, pair.action).value == 1, pair.action
