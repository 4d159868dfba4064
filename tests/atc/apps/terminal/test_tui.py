"""What a user sees of a solve: the same events on a wide terminal, a narrow one, one without colours, and in a log.

The moving part tells of calls under way; a program is listed, or the diff to the one before it.
"""

from __future__ import annotations

import io
import re
from concurrent.futures import ThreadPoolExecutor
from typing import get_args, get_type_hints

import pyte
import pytest
from rich.console import Console, RenderableType

from atc.apps.tui import open_view
from atc.apps.tui.attempt import revision_code, revision_lines
from atc.apps.tui.lines import LineView
from atc.apps.tui.live import LiveView
from atc.apps.tui.parts import attribution_text, flow_lines
from atc.diagnosis.provenance import ArgumentFlow
from atc.events import (
    CallBegan,
    CallMade,
    Event,
    FaultFound,
    ModelProgress,
    ModelWaiting,
    OutputPrinted,
    ProgramWritten,
    RunEnded,
    SolveEnded,
    SolveStarted,
)
from atc.fault import Attribution, Fault
from atc.models import Progress, Usage
from atc.solution import Attempt, Solution
from protocols.quoting import visible
from sandbox.records import CallRecord, ProgramError, Resources, Run

WRONG = 'films = GET_search_film(query="Dune")\nprint(GET_film_film_id_credits(film_id=films[0]["uid"])["crew"])\n'
RIGHT = WRONG.replace("uid", "id")
SEARCH = CallRecord(
    0, "GET_search_film", "GET", "http://api/search/film", {"query": "Dune"}, 1, 200, 12.3, 1, "function"
)
CREDITS = CallRecord(
    1, "GET_film_film_id_credits", "GET", "http://api/film/7", {"film_id": 7}, 2, 200, 4.0, 1, "function"
)
FAULT = Fault("run", "KeyError", "'uid'", 2, '  2 > print(...films[0]["uid"]...)')
BEFORE = "films = GET_films()\nprint(films[0]['uid'])\n"
AFTER = "films = GET_films()\nprint(films[0]['id'])\n"
BLAME = Attribution("GET_search_film", 0, '[0]["uid"]', "data", ("GET_search_film",))
CUT_OFF = Run("limit", "", "", None, (), Resources(0, 0, 0, 0), "wall")
NUMBERED = "".join(f"GET_film({line})\n" for line in range(1, 10))


def run_of(*calls: CallRecord, stdout: str = "", error: ProgramError | None = None) -> Run:
    """A run that made these calls."""
    return Run("error" if error else "ok", stdout, "", error, calls, Resources(0.25, 0.1, 30.0, len(stdout)))


def repaired(answer: str = "Denis Villeneuve") -> list[Event]:
    """The events of a solve whose first program fails and whose second answers."""
    first = run_of(SEARCH, error=ProgramError("KeyError", "'uid'", 2))
    second = run_of(SEARCH, CREDITS, stdout=answer)
    usage = Usage(1000, 40, 900, 1, 2.5)
    attempts = (Attempt(WRONG, "run", first, FAULT, BLAME), Attempt(RIGHT, "done", second, None, None))
    seconds = {"total": 5.6, "model": 5.0, "run": 0.5}
    solution = Solution("Who directed Dune?", "answered", answer, attempts, (), usage + usage, seconds, {})
    return [
        SolveStarted("Who directed Dune?", ("GET_search_film", "GET_film_film_id_credits")),
        ModelWaiting(1),
        ProgramWritten(1, WRONG, usage),
        CallMade(1, SEARCH),
        RunEnded(1, first),
        FaultFound(1, FAULT, BLAME),
        ModelWaiting(2),
        ProgramWritten(2, RIGHT, usage),
        CallMade(2, SEARCH),
        CallMade(2, CREDITS),
        OutputPrinted(2, "stdout", answer),
        RunEnded(2, second),
        SolveEnded(solution),
    ]


def live(events: list[Event], width: int = 100, height: int = 30) -> str:
    """All that the live view sends to a terminal."""
    sent = io.StringIO()
    console = Console(file=sent, force_terminal=True, width=width, height=height, color_system="truecolor")
    with LiveView(console) as view:
        for event in events:
            view(event)
    return sent.getvalue()


def plain(text: str) -> str:
    """What is left of it for the eye."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).replace("\r", "")


def test_live_view_shows_the_way_to_the_answer() -> None:
    """Question, tools, both programs, calls with status and time, the fault and its attribution, answer, figures."""
    screen = plain(live(repaired()))

    assert "Who directed Dune?" in screen
    assert "2 tools: GET_search_film, GET_film_film_id_credits" in screen
    assert '200    12 ms  GET_search_film(query="Dune")' in screen
    assert "200     4 ms  GET_film_film_id_credits(film_id=7)" in screen
    assert "✗ line 2: KeyError: 'uid'" in screen
    assert 'to blame: GET_search_film at [0]["uid"] (what failed came from its response)' in screen
    assert "Denis Villeneuve" in screen
    assert "answered · 1 reflection · 3 calls · 2,000 tokens read (1,800 cached) · 80 written" in screen
    assert "5.6 s (model 5.0, run 0.5)" in screen.replace("\n", "")


def test_narrow() -> None:
    """30 columns and 10 lines are enough for the whole way to the answer."""
    screen = pyte.HistoryScreen(30, 10, history=1000, ratio=1.0)
    pyte.Stream(screen).feed(live(repaired(), width=30, height=10).replace("\n", "\r\n"))
    above = ["".join(row[column].data for column in sorted(row)).rstrip() for row in screen.history.top]
    lines = [*above, *(line.rstrip() for line in screen.display)]

    words = "".join("".join(line.split()) for line in lines)
    assert "toblame:GET_search_film" in words
    assert "answered·1reflection" in words
    assert sum(line.startswith("program 1") for line in lines) == 1, "the moving part left nothing behind"


def test_a_long_program_does_not_outgrow_the_terminal() -> None:
    """While a program runs, the moving part is never taller than the terminal."""
    program = "\n".join(f"a{number} = 'a line that is wider than the terminal'" for number in range(200))
    events = (SolveStarted("q", ()), ModelWaiting(1), ProgramWritten(1, program, Usage()), CallMade(1, SEARCH))
    lines = drawn(view_of(*events, height=20).moving(), width=40)

    assert len(lines) <= 20
    assert "GET_search_film" in lines[-1]


def test_plain_lines_tell_the_same() -> None:
    """In a log each event is a line or two, in order, without programs unless asked."""
    written: list[str] = []
    lines = LineView(written.append)
    for event in repaired():
        lines(event)

    assert written[0] == "query: Who directed Dune?"
    assert written[1] == "tools: 2 shown to the model"
    assert 'attempt 1: 200    12 ms  GET_search_film(query="Dune")' in written
    assert "attempt 1: line 2: KeyError: 'uid'" in written
    assert any(line.startswith("to blame: GET_search_film") for line in written)
    assert written[-1].startswith("answered · 1 reflection")
    assert not any("films[0]" in line and "print(GET" in line for line in written)


def view_of(*events: Event, height: int = 24) -> LiveView:
    view = LiveView(Console(file=io.StringIO(), force_terminal=True, width=80, height=height))
    for event in events:
        view(event)
    return view


def moving(*events: Event, height: int = 24) -> str:
    """What moves on a terminal after these events, as text."""
    return "\n".join(drawn(view_of(*events, height=height).moving()))


def drawn(part: RenderableType, width: int = 80) -> list[str]:
    """The lines on a terminal without colours."""
    console = Console(file=io.StringIO(), width=width, record=True)
    console.print(part)
    return console.export_text().splitlines()


def test_live_view_shows_what_the_model_writes() -> None:
    """The text appears as it comes, its last lines where it is long; it cannot act on the terminal."""
    text = "".join(f"line_{number} = {number}\n" for number in range(40)) + "print(\x1b[2J"
    screen = moving(ModelWaiting(1), ModelProgress(1, Progress(1749, 1749, text, 0.0)), height=12)

    assert "the model writes" in screen
    assert "line_39 = 39" in screen
    assert "line_1 =" not in screen
    assert "print(␛[2J" in screen


def test_without_a_terminal_the_reading_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """A log has one line for a long prompt, none for a short one, and none for each token."""
    parts = [Progress(read, 1749, "", (1749 - read) / 100 if read else None) for read in range(0, 1749, 64)]
    with open_view() as shown:
        shown.sink(ModelWaiting(1))
        for progress in parts:
            shown.sink(ModelProgress(1, progress))
        shown.sink(ModelProgress(1, Progress(1749, 1749, "print(1)", 0.0)))
        shown.sink(ModelWaiting(2))
        shown.sink(ModelProgress(2, Progress(1700, 1749, "", 0.5)))
    lines = capsys.readouterr().err.splitlines()

    assert lines == [
        "attempt 1: the model writes",
        "attempt 1: reads 64 of 1,749 tokens · about 17 s left",
        "attempt 2: the model writes",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain, with tab\tand\nline", "plain, with tab\tand\nline"),
        ("\x1b[31m", "␛[31m"),
        ("a\r\nb\rc", "a\nb␍c"),
        ("\x00\x7f", "␀␡"),
        ("\x9b31m", "<U+009B>31m"),
        ("\u202egpj.exe", "<U+202E>gpj.exe"),
        ("\ud800", "<U+D800>"),
        ("日本語 é 👩\u200d💻", "日本語 é 👩\u200d💻"),
    ],
)
def test_visible(text: str, expected: str) -> None:
    """What acts on a terminal becomes a sign; ordinary text of any language stays as it is."""
    assert visible(text) == expected


@pytest.mark.parametrize("how", get_args(get_type_hints(Attribution)["how"]))
def test_every_kind_of_evidence_has_words(how: str) -> None:
    """Whatever an attribution rests on can be shown."""
    text = attribution_text(Attribution("GET_films", 0, None, how, ("GET_films",)))  # type: ignore[arg-type]

    assert "GET_films" in str(text)


RUNNING = (ModelWaiting(1), ProgramWritten(1, NUMBERED, Usage(1200, 34, 0, 1, 1.0)))


def call(index: int, tool: str = "GET_film") -> CallRecord:
    url = f"http://api/{index}"
    return CallRecord(index, tool, "GET", url, {"id": index}, index + 1, 200, 1.0, 1, "function")


def test_the_line_of_a_call_is_marked() -> None:
    """A call under way is named with its line; afterwards the mark stays there until the next call."""
    began = CallBegan(1, 0, "GET_film", 3)
    pending, answered = moving(*RUNNING, began), moving(*RUNNING, began, CallMade(1, call(0)))

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
    assert status in moving(*RUNNING, *events)


def test_calls_from_many_threads_are_all_there() -> None:
    """A program that calls side by side loses none of its calls on the screen."""
    view = view_of(*RUNNING)
    with ThreadPoolExecutor(8) as threads:
        for _ in threads.map(lambda number: view(CallMade(1, call(number))), range(400)):
            pass

    assert len(view._turn.calls) == 400


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
    run = run_of(call(0, "GET_films"), *(call(number, "GET_credits") for number in (1, 2, 3)))
    flow = [ArgumentFlow(n, "film_id", "response", 0, ("films", n, "id")) for n in (1, 2, 3)]
    attempts = (Attempt("", "done", run, None, None),)
    solution = Solution("q", "answered", "a", attempts, (), Usage(), {}, {}, flow=tuple(flow))
    single = Solution("q", "answered", "a", attempts, (), Usage(), {}, {}, flow=tuple(flow[:1]))

    assert flow_lines(solution) == ["data flow: GET_films → films[*].id to GET_credits(film_id), 3 times"]
    assert flow_lines(single) == ["data flow: GET_films → films[1].id to GET_credits(film_id)"]
