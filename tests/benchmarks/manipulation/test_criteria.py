"""What Home Search and Trip Booking have in common: unseen combinations of functions, and wrong programs that fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from benchmarks.manipulation.criteria.criteria_environment import CriteriaEnvironment
from benchmarks.manipulation.suite import open_environment
from tests.benchmarks.manipulation.suite_tasks import judged


@pytest.fixture(params=["home", "trip"])
def tool(request: pytest.FixtureRequest) -> Iterator[CriteriaEnvironment]:
    with closing(open_environment(request.param)) as environment:
        assert isinstance(environment, CriteriaEnvironment)
        yield environment


def test_tests_share_no_combination_with_demonstrations_or_samples(tool: CriteriaEnvironment) -> None:
    """Neither in-context nor in training has a model seen the combination of functions that a test needs."""
    tested = {tuple(sorted(test.names[0])) for test in tool.tests}
    samples = tool.samples

    assert len({sample.goal for sample in samples}) == 1800
    assert {name for sample in samples for name in sample.names} == {document.name for document in tool.functions}
    assert not tested & {tuple(sorted(shown.names)) for shown in tool.demonstrations}
    assert not tested & {tuple(sorted(sample.names)) for sample in samples}


@pytest.mark.parametrize(
    "wrong",
    [
        lambda lines: lines[:-1],
        lambda lines: lines[1:],
        lambda lines: [lines[1], lines[0], *lines[2:]],
        lambda lines: [*lines[:-2], lines[-1], lines[-2]],
        lambda lines: [*lines[:-1], "API.set_view(3)", lines[-1]],
        lambda lines: [line.replace("API.", "") for line in lines],
    ],
    ids=["no search", "no first call", "exchanged", "after the search", "an unknown function", "no object"],
)
def test_no_such_program_is_right(tool: CriteriaEnvironment, wrong: Callable[[list[str]], list[str]]) -> None:
    """Wrong programs that are made of labels; each runs in the sandbox."""
    scored = [
        test.id for test in tool.tests[::20] if judged(tool, test, "\n".join(wrong(test.labels[0].splitlines()))).value
    ]

    assert scored == []
