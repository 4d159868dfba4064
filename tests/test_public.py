"""What a user's own code sees of atc: its public names, their types, and a solution in a session or a notebook."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import atc
from atc.apps.tui.text import format_answer
from atc.models import Usage
from atc.solution import Solution


def test_a_model_and_an_event_sink_can_be_written_with_the_public_names() -> None:
    """`atc` itself has all that these take: nobody has to look into its modules."""
    needed = {"Model", "Message", "Completion", "Usage", "Progress", "ModelError", "Event", "EventSink"}
    events = {"SolveStarted", "ModelWaiting", "ModelProgress", "ProgramWritten"}
    events |= {"CallBegan", "CallMade", "OutputPrinted"}
    events |= {"RunStarted", "RunEnded", "FaultFound", "SolveEnded"}

    assert needed | events <= set(atc.__all__)
    assert set(atc.__all__) <= set(dir(atc))
    assert all(hasattr(atc, name) for name in atc.__all__)


def solution(answer: str | None, message: str = "", query: str = "Who?") -> Solution:
    """A solution without attempts."""
    status = "answered" if answer is not None else "failed"
    return Solution(query, status, answer, (), (), Usage(), {"total": 1.5}, {}, message)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("shown", "parts"),
    [
        (solution("Ada\nBell"), ("answered", "'Ada\\nBell'")),
        (solution(None, "KeyError: 'id'"), ("failed", "KeyError")),
        (solution("x" * 5000), ("answered", "…")),
    ],
)
def test_a_solution_is_one_line(shown: Solution, parts: Sequence[str]) -> None:
    """In a session of Python a solution says how it ended, and does not fill the screen."""
    line = repr(shown)

    assert "\n" not in line
    assert len(line) < 220
    assert all(part in line for part in parts)


def test_a_notebook_shows_a_solution_without_running_what_is_in_it() -> None:
    """The answer, the program and what it cost; text of the API, the model and the user is escaped."""
    page = solution("<script>alert(1)</script>", query="<b onload=x>Who?")._repr_html_()

    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&lt;b onload=x&gt;Who?" in page
    assert "<script" not in page
    assert "1.5 s" in page


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("['Dune', 'Solaris']", "- Dune\n- Solaris"),
        ("[1, 2.5]", "- 1\n- 2.5"),
        ("[{'title': 'Dune', 'year': 2021}]", "- title: Dune, year: 2021"),
        ("{'title': 'Dune', 'cast': ['A', 'B']}", "title: Dune\ncast: A, B"),
        ("[]", "[]"),
        ("42", "42"),
        ("[1, 2] and more", "[1, 2] and more"),
        ("(see below)", "(see below)"),
        ("[a, b]", "[a, b]"),
        ("Dune\nSolaris", "Dune\nSolaris"),
    ],
)
def test_a_list_is_shown_for_people(answer: str, shown: str) -> None:
    """What Python prints of a list or a dictionary becomes lines; every other answer stays as it is."""
    assert format_answer(answer) == shown
