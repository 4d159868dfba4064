"""Programs of the corpus of faulty programs fail through the call that is named: one of each kind."""

from __future__ import annotations

import pytest

from benchmarks.injection.corpus import FailingProgram, failing_programs, open_sandbox, serve
from benchmarks.injection.replies import path_steps
from sandbox.egress.write_plan import value_at

ONE_OF_EACH_KIND = list({case.kind: case for case in failing_programs()}.values())


@pytest.mark.parametrize("case", ONE_OF_EACH_KIND, ids=lambda case: case.kind)
def test_each_program_fails_through_the_call_that_is_named(case: FailingProgram) -> None:
    """It ends with an error, the call to blame was made, and what is wrong is where the case says."""
    with serve(case) as service, open_sandbox(service) as sandbox:
        result = sandbox.run(case.program)

    assert result.outcome == "error", result.stdout
    culprit = case.find(result.calls)
    assert (culprit is None) == (case.culprit is None)
    if culprit is None:
        assert not any(call.error for call in result.calls)
    elif case.path is not None:
        *holder, last = path_steps(case.path)
        value = value_at(culprit.response, holder)
        assert culprit.error is None and isinstance(value, dict | list)
        assert case.kind != "wrong_key" or last not in value
