"""How a program, and the diff to the one before it, are listed."""

from __future__ import annotations

import io

import pytest
from rich.console import Console, RenderableType

from atc.apps.tui.code import revision_code, revision_lines
from atc.apps.tui.parts import flow_lines
from atc.diagnosis.provenance import ArgumentFlow
from atc.models import Usage
from atc.solution import Attempt, Solution
from sandbox.records import CallRecord, Resources, Run

BEFORE = "films = GET_films()\nprint(films[0]['uid'])\n"
AFTER = "films = GET_films()\nprint(films[0]['id'])\n"


def drawn(part: RenderableType, width: int = 80) -> list[str]:
    """The lines on a terminal without colours."""
    console = Console(file=io.StringIO(), width=width, record=True)
    console.print(part)
    return console.export_text().splitlines()


def test_a_revision_shows_what_changed() -> None:
    """Lines that were removed and added have a sign each, and those that stayed have none."""
    lines = ["  films = GET_films()", "- print(films[0]['uid'])", "+ print(films[0]['id'])"]

    assert revision_lines(BEFORE, AFTER) == lines
    assert [line.rstrip() for line in drawn(revision_code(BEFORE, AFTER, failed=2))] == lines


def test_a_long_revision_leaves_out_what_stayed() -> None:
    """Three lines around a change are enough of a long program; the line numbers stand for the others."""
    lines = [f"a{number} = {number}" for number in range(1, 60)]
    changed = [*lines[:29], "a30 = 0", *lines[30:]]

    assert revision_lines("\n".join(lines), "\n".join(changed)) == [
        "@@ -27,7 +27,7 @@",
        *(f"  {line}" for line in lines[26:29]),
        "- a30 = 30",
        "+ a30 = 0",
        *(f"  {line}" for line in lines[30:33]),
    ]


@pytest.mark.parametrize("after", ["x = 1\ny = 2\n", BEFORE])
def test_a_program_that_stands_alone(after: str) -> None:
    """One that has nothing in common with the program before it, or is the same, is shown with line numbers."""
    assert revision_lines(BEFORE, after) == after.splitlines()
    assert [line.split(maxsplit=1)[0] for line in drawn(revision_code(BEFORE, after))] == ["1", "2"]


def test_the_data_flow_of_a_loop_is_one_line() -> None:
    """Calls that are fed alike are counted; a single one keeps its place in the list."""
    calls = [CallRecord(0, "GET_films", "GET", "http://api/films", {}, 1, 200, 1.0, 1, "function")]
    calls += [
        CallRecord(n, "GET_credits", "GET", "http://api/credits", {}, 2, 200, 1.0, 1, "function") for n in (1, 2, 3)
    ]
    run = Run("ok", "", "", None, tuple(calls), Resources(0, 0, 0, 0))
    flow = [ArgumentFlow(n, "film_id", "response", 0, ("films", n, "id")) for n in (1, 2, 3)]
    attempts = (Attempt("", "done", run, None, None),)
    solution = Solution("q", "answered", "a", attempts, (), Usage(), {}, {}, flow=tuple(flow))
    single = Solution("q", "answered", "a", attempts, (), Usage(), {}, {}, flow=tuple(flow[:1]))

    assert flow_lines(solution) == ["data flow: GET_films → films[*].id to GET_credits(film_id), 3 times"]
    assert flow_lines(single) == ["data flow: GET_films → films[1].id to GET_credits(film_id)"]
