"""The tool behind a failure is found from the records and the program's own text, and the model is the last resort."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from atc.attribution import attribute
from atc.faults import Fault
from sandbox import CallRecord, ProgramError, Resources, Run


def call(index: int, tool: str, line: int, status: int = 200) -> CallRecord:
    return CallRecord(index, tool, "GET", f"https://api.test/{tool}", {}, line, status, 1.0, 1, "function", {})


def failed(error: ProgramError, *calls: CallRecord) -> Run:
    return Run("error", "", "", error, calls, Resources(0.1, 0.1, 10.0, 0))


def never(names: Sequence[str]) -> str | None:
    raise AssertionError(f"the model was asked about {names}")


def blame(program: str, error: ProgramError, *calls: CallRecord, ask: object = never) -> tuple[str | None, str]:
    fault = Fault("run", error.type, error.message, error.line)
    found = attribute(fault, program, failed(error, *calls), ask)  # type: ignore[arg-type]
    return found.tool, found.how


def test_a_rejected_call_is_to_blame_itself() -> None:
    """An error that a call raised is that call's, whatever else is on the line."""
    error = ProgramError("ToolError", "GET_film: 404 Not Found", line=2, call=1, tool="GET_film")

    assert blame(
        "a = GET_search()\nb = GET_film(id=a)", error, call(0, "GET_search", 1), call(1, "GET_film", 2, 404)
    ) == (
        "GET_film",
        "call",
    )


def test_a_call_on_the_failing_line_is_to_blame() -> None:
    error = ProgramError("KeyError", "'cast'", line=2)

    assert blame(
        "a = GET_search()\nb = GET_film(id=1)['cast']", error, call(0, "GET_search", 1), call(1, "GET_film", 2)
    ) == (
        "GET_film",
        "line",
    )


@pytest.mark.parametrize(
    "program",
    [
        "s = GET_search()\nc = GET_credits(id=s['id'])\ncrew = c['crew']\nfor m in crew:\n    print(m['department'])",
        "s = GET_search()\nc = GET_credits(id=s['id'])\ncrew = [m for m in c['crew']]\nprint(crew[0]['department'])",
    ],
)
def test_the_data_of_the_failing_line_leads_to_its_call(program: str) -> None:
    """The paper's own example: the loop fails long after the call, on a field that its items do not have."""
    line = next(n for n, text in enumerate(program.splitlines(), 1) if "department" in text)
    error = ProgramError("KeyError", "'department'", line=line, trace=(line,))

    assert blame(program, error, call(0, "GET_search", 1), call(1, "GET_credits", 2)) == ("GET_credits", "data")


def test_a_failure_inside_a_helper_leads_to_the_call_of_its_argument() -> None:
    program = "def first(items):\n    return items[0]['id']\nfound = GET_search()\nprint(first(found['results']))"
    error = ProgramError("IndexError", "list index out of range", line=2, trace=(4, 2))

    assert blame(program, error, call(0, "GET_other", 3), call(1, "GET_search", 3), ask=lambda names: "GET_search") == (
        "GET_search",
        "model",
    )
    assert blame(program, error, call(0, "GET_search", 3)) == ("GET_search", "data")


def test_a_call_made_in_a_helper_is_found_through_the_value_that_the_helper_made() -> None:
    """The value comes from the helper's call, not from the call that gave the helper its argument."""
    program = (
        "def credits(person):\n    return GET_credits(id=person)\n"
        "person = GET_search()['id']\nmovies = credits(person)\nprint([m['job'] for m in movies])"
    )
    error = ProgramError("TypeError", "string indices must be integers", line=5, trace=(5,))

    assert blame(program, error, call(0, "GET_search", 3), call(1, "GET_credits", 2)) == ("GET_credits", "data")


def test_the_model_is_asked_only_when_several_remain() -> None:
    """Two responses meet on one line: the model chooses, and an answer that is none of them leaves the nearest."""
    program = "a = GET_films()\nb = GET_people()\nprint(a[0] + b[0])"
    error = ProgramError("IndexError", "list index out of range", line=3, trace=(3,))
    calls = (call(0, "GET_films", 1), call(1, "GET_people", 2))

    assert blame(program, error, *calls, ask=lambda names: "GET_people") == ("GET_people", "model")
    tool, how = blame(program, error, *calls, ask=lambda names: "GET_nothing")
    assert tool in {"GET_films", "GET_people"}
    assert how == "data"


def test_a_slip_of_the_program_is_nobodys_fault() -> None:
    """A name that was never defined has no call behind it."""
    error = ProgramError("NameError", "name 'titel' is not defined", line=2)

    assert blame("title = GET_film()\nprint(titel)", error, call(0, "GET_film", 1)) == (None, "none")
