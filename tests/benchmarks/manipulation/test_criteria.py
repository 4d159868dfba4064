"""What Home Search and Trip Booking have in common: unseen combinations of functions, and wrong programs that fail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from benchmarks.manipulation.criteria.criteria_environment import CriteriaEnvironment
from benchmarks.manipulation.suite import open_environment
from tests.benchmarks.manipulation.criteria_mutants import mutants
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


def test_no_mutant_of_any_label_scores(tool: CriteriaEnvironment) -> None:
    """Twelve kinds of wrong programs fail on every fifth test; each runs in the sandbox."""
    scored = [
        (test.id, kind)
        for test in tool.tests[::5]
        for kind, program in mutants(test.labels[0])
        if judged(tool, test, program).value
    ]

    assert scored == []
