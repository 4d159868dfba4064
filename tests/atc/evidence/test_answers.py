"""Whether a run is an answer at all, and whether anything of it comes from the API."""

from __future__ import annotations

from dataclasses import replace

import pytest

from atc.evidence import is_unsupported, judge
from sandbox.records import Provenance
from tests.atc.evidence.runs import printed


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("x = 1", "without printing an answer"),
        ("for film in []:\n    print(film)", "the print() on line 2 was never reached"),
    ],
)
def test_silence_is_no_answer(program: str, message: str) -> None:
    """The fault says where a print stands that was not reached."""
    fault = judge(program, printed("  \n", 200))

    assert fault is not None
    assert (fault.stage, fault.type) == ("answer", "NoOutput")
    assert message in fault.message


def test_what_rests_on_nothing() -> None:
    """An answer rests on a printed value, on a call that decides about it, or on an accepted write."""
    nothing = replace(printed("Paris", 200), provenance=Provenance())

    assert is_unsupported("print('Paris')", printed("Paris"))
    assert is_unsupported("GET_films()\nprint('Paris')", nothing)
    assert is_unsupported("print('Paris')", printed("Paris", 404))
    assert not is_unsupported("if not GET_films():\n    print('none')", nothing)
    assert not is_unsupported("", replace(printed("done", 204, method="PUT"), provenance=Provenance()))
