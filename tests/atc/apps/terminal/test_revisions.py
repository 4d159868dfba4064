"""How a program, and the diff to the one before it, are listed."""

from __future__ import annotations

import io

import pytest
from rich.console import Console, RenderableType

from atc.apps.tui.code import highlighted_lines, program_code
from atc.apps.tui.parts import flow_lines
from atc.apps.tui.revision import revision_code, revision_lines
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
    """Removed lines have no number; the failing line of the new program has the mark of every listing."""
    assert drawn(revision_code(BEFORE, AFTER, failed=2)) == [
        "  1   films = GET_films()",
        "    - print(films[0]['uid'])",
        "❱ 2 + print(films[0]['id'])",
    ]
    assert revision_lines(BEFORE, AFTER) == [
        "  films = GET_films()",
        "- print(films[0]['uid'])",
        "+ print(films[0]['id'])",
    ]


def test_a_long_revision_leaves_out_what_stayed() -> None:
    """Three lines around a change are enough of a long program; a sign stands for the others."""
    lines = [f"a{number} = {number}" for number in range(1, 60)]
    changed = [*lines[:29], "a30 = 0", *lines[30:]]
    listing = revision_lines("\n".join(lines), "\n".join(changed))

    assert listing == [
        "⋮",
        *("  " + line for line in lines[26:29]),
        "- a30 = 30",
        "+ a30 = 0",
        *("  " + line for line in lines[30:33]),
        "⋮",
    ]
    assert drawn(revision_code("\n".join(lines), "\n".join(changed)))[1] == "  27   a27 = 27"


def test_another_program_is_no_diff() -> None:
    """Of two programs that have nothing in common the second is shown alone, with line numbers."""
    assert revision_lines(BEFORE, "x = 1\ny = 2\n") == ["x = 1", "y = 2"]
    assert drawn(revision_code(BEFORE, "x = 1\ny = 2\n")) == ["  1 x = 1", "  2 y = 2"]


def test_the_same_program_again() -> None:
    """A model that repeats itself is seen to: nothing is added or removed."""
    assert revision_lines(BEFORE, BEFORE) == ["  films = GET_films()", "  print(films[0]['uid'])"]


def test_wrapped_lines_stay_beside_their_number() -> None:
    """A line that is wider than the terminal goes on below its own beginning, and nothing of it is lost."""
    program = f"value = '{'long ' * 20}'"
    lines = drawn(revision_code(f"{program}\nx = 1", f"{program}\nx = 2"), width=40)

    assert max(map(len, lines)) <= 40
    assert all(line.startswith("      ") for line in lines[1:4])
    assert "".join(line[6:] for line in lines[:4]).count("long") == 20


@pytest.mark.parametrize("program", ["", "a", "\n\nif x:\n\tpass\n\n\n# end", 'text = """\n  a\n\n', "a\x1b[2J = (\n"])
def test_every_line_has_its_number(program: str) -> None:
    """Blank lines, an unfinished text and control characters change no line number."""
    count = program.rstrip("\n").count("\n") + 1

    assert len(highlighted_lines(program)) == count
    assert len(drawn(program_code(program))) == count
    assert not any("\x1b" in line for line in drawn(program_code(program)))


def test_a_window_of_a_program() -> None:
    """Some lines of a program, each on a line of the terminal, and how many come after them."""
    program = "\n".join(f"value_{number} = {number}" for number in range(1, 21))

    assert drawn(program_code(program, 12, (11, 13)), width=14) == [
        "  11 value_11…",
        "❱ 12 value_12…",
        "  13 value_13…",
        "  … 7 more li…",
    ]


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
