"""Programs of the corpus of faulty programs fail through the call that is named: one of each kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from benchmarks.injection.corpus import FailingProgram, failing_programs
from benchmarks.injection.replies import path_steps
from benchmarks.injection.services import SEED, open_sandbox, serve
from sandbox import CallRecord, Run

MISSING = object()


def run(case: FailingProgram) -> Run:
    """One run of a case against a service of its own."""
    with serve(case.api, case) as service, open_sandbox(service, SEED) as sandbox:
        return sandbox.run(case.program)


def value_at(body: object, place: Sequence[str | int]) -> object:
    """What stands at a place of a response, or MISSING."""
    for step in place:
        if not isinstance(body, dict | list):
            return MISSING
        try:
            body = cast("Any", body)[step]
        except (KeyError, IndexError, TypeError):
            return MISSING
    return body


def occurs(body: object, value: object) -> bool:
    """Whether a value stands anywhere in a response; True is not 1."""
    if type(body) is type(value) and body == value:
        return True
    inside = body.values() if isinstance(body, dict) else body if isinstance(body, list) else ()
    return any(occurs(item, value) for item in inside)


def failed(call: CallRecord) -> bool:
    """Whether a call did not give what was asked for, a web page in place of JSON included."""
    return call.status is None or call.status >= 400 or call.error is not None


def loosely(arguments: Mapping[str, object]) -> list[object]:
    """The values of a call's arguments, those of a path also as the numbers that they may have been."""
    texts = [str(value) for value in arguments.values()]
    return [*arguments.values(), *texts, *(int(text) for text in texts if text.isdecimal())]


ONE_OF_EACH_KIND = list({case.kind: case for case in failing_programs()}.values())


@pytest.mark.parametrize("case", ONE_OF_EACH_KIND, ids=lambda case: case.kind)
def test_each_program_fails_through_the_call_that_is_named(case: FailingProgram) -> None:
    """It ends with an error, the call to blame was made, and what is wrong is where the case says."""
    result = run(case)

    assert result.outcome == "error", result.stdout
    culprit = case.find(result.calls)
    assert (culprit is None) == (case.culprit is None)
    assert case.second is None or case.second in [call.tool for call in result.calls]
    if culprit is None:
        assert case.call is None and case.second is None and case.path is None
        assert not any(failed(call) for call in result.calls)
        return
    if case.chosen is None:
        assert culprit.index == case.call
    if case.kind in {"swapped", "wrong_argument", "refused"}:
        assert culprit.status is not None and 400 <= culprit.status < 500
    elif case.kind == "server_error":
        assert failed(culprit) and not 400 <= (culprit.status or 0) < 500
    elif case.kind == "wrong_id":
        assert case.second is not None and result.calls[-1].tool == case.second and failed(result.calls[-1])
    if case.second is not None and case.path is None:
        givers = [call.response for call in result.calls if call.tool == case.second]
        assert any(occurs(giver, value) for giver in givers for value in loosely(culprit.arguments))
    if case.path is not None:
        assert not failed(culprit)
        place = path_steps(case.path)
        assert value_at(culprit.response, place[:-1]) is not MISSING
        value = value_at(culprit.response, place)
        if case.kind == "wrong_key":
            assert value is MISSING
        elif case.kind == "none":
            assert value is None
        elif case.kind in {"wrong_id", "wrong_type"}:
            assert value is not MISSING
        if case.kind == "wrong_id":
            assert value in loosely(result.calls[-1].arguments)
        if case.twin:
            other_responses = [call.response for call in result.calls if call is not culprit]
            assert any(occurs(response, value) for response in other_responses)
    else:
        assert not case.twin
