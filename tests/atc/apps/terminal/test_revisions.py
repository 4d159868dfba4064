"""How a program, and the diff to the one before it, are listed."""

from __future__ import annotations

import io

import pytest
from rich.console import Console, RenderableType

from atc.apps.tui.code import program_code, revision_code, revision_lines
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


@pytest.mark.parametrize("program", ["a", "\n\nif x:\n\tpass\n\n\n# end", 'text = """\n  a\n\n', "a\x1b[2J = (\n"])
def test_every_line_has_its_number(program: str) -> None:
    """Blank lines, an unfinished text and control characters change no line number; a line may have a mark."""
    lines = drawn(program_code(program, marked=1))
    numbers = [line.replace("❱", " ").split(maxsplit=1)[0] for line in lines]

    assert numbers == [str(number + 1) for number in range(program.rstrip("\n").count("\n") + 1)]
    assert lines[0].startswith("❱ 1 ") and not any("\x1b" in line for line in lines)


def test_a_window_of_a_program() -> None:
    """Some lines of a program, each on a line of the terminal."""
    program = "\n".join(f"value_{number} = {number}" for number in range(1, 21))
    lines = drawn(program_code(program, 12, (11, 13)), width=14)

    assert [line.replace("❱", " ").split()[0] for line in lines] == ["11", "12", "13"] and "❱" in lines[1]


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
