"""What the moving part of the live view says of calls under way."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor

import pytest
from rich.console import Console

from atc.apps.tui.live import LiveView
from atc.events import CallBegan, CallMade, Event, ModelWaiting, ProgramWritten, RunEnded
from atc.models import Usage
from sandbox.records import CallRecord, Resources, Run

CUT_OFF = Run("limit", "", "", None, (), Resources(0, 0, 0, 0), "wall")
PROGRAM = "".join(f"GET_film({line})\n" for line in range(1, 10))


def call(index: int) -> CallRecord:
    return CallRecord(
        index, "GET_film", "GET", f"http://api/{index}", {"id": index}, index + 1, 200, 1.0, 1, "function"
    )


def view_of(*events: Event) -> LiveView:
    view = LiveView(Console(file=io.StringIO(), force_terminal=True, width=80, height=24, record=True))
    for event in (ModelWaiting(1), ProgramWritten(1, PROGRAM, Usage(1200, 34, 0, 1, 1.0)), *events):
        view(event)
    return view


def moving(view: LiveView) -> str:
    """The moving part as text."""
    console = Console(file=io.StringIO(), width=80, height=24, record=True)
    console.print(view.moving())
    return console.export_text()


def test_the_line_of_a_call_is_marked() -> None:
    """A call under way is named with its line; afterwards the mark stays there until the next call."""
    began = CallBegan(1, 0, "GET_film", 3)
    pending, answered = moving(view_of(began)), moving(view_of(began, CallMade(1, call(0))))

    assert "line 3: GET_film is called · " in pending and "1,234 tokens so far" in pending
    assert "❱ 3 GET_film(3)" in pending
    assert "the program runs" in answered
    assert "❱ 3 GET_film(3)" in answered


@pytest.mark.parametrize(
    ("events", "status"),
    [
        ([*(CallBegan(1, number, "GET_film", 3 + number) for number in range(4)), CallMade(1, call(3))], "and 2 more"),
        ([CallBegan(1, 0, None, None)], "a request is sent"),
        ([CallBegan(1, 0, "GET_film", 3), RunEnded(1, CUT_OFF)], "looking at how it went"),
    ],
)
def test_what_is_going_on(events: list[Event], status: str) -> None:
    """Calls side by side are counted, a URL is no tool, and a call that was cut off is not named any more."""
    assert status in moving(view_of(*events))


def test_calls_from_many_threads_are_all_there() -> None:
    """A program that calls side by side loses none of its calls on the screen."""
    view = view_of()
    with ThreadPoolExecutor(8) as threads:
        for _ in threads.map(lambda number: view(CallMade(1, call(number))), range(400)):
            pass

    assert len(view._turn.calls) == 400
