"""What a user sees of a solve: the same events on a wide terminal, a narrow one, one without colours, and in a log."""

from __future__ import annotations

import io
import re
from typing import get_args, get_type_hints

import pytest
from rich.console import Console

from atc.apps.tui import open_view
from atc.apps.tui.lines import LineView
from atc.apps.tui.live import LiveView
from atc.apps.tui.parts import attribution_text
from atc.events import (
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
BLAME = Attribution("GET_search_film", 0, '[0]["uid"]', "data", ("GET_search_film",))
ESCAPE = "\x1b[2J\x1b]0;owned\x07"


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


def live(events: list[Event]) -> str:
    """All that the live view sends to a terminal."""
    sent = io.StringIO()
    console = Console(file=sent, force_terminal=True, width=100, height=30, color_system="truecolor")
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


def test_a_long_program_does_not_outgrow_the_terminal() -> None:
    """While a program runs, the moving part is never taller than the terminal."""
    program = "\n".join(f"a{number} = 'a line that is wider than the terminal'" for number in range(200))
    started: list[Event] = [
        SolveStarted("q", ()),
        ModelWaiting(1),
        ProgramWritten(1, program, Usage()),
        CallMade(1, SEARCH),
    ]
    console = Console(file=io.StringIO(), force_terminal=True, width=40, height=20)
    view = LiveView(console)
    for event in started:
        view(event)
    with console.capture() as capture:
        console.print(view.moving())

    assert len(capture.get().splitlines()) <= 20
    assert "GET_search_film" in capture.get().splitlines()[-1]


def test_nothing_from_outside_drives_the_terminal() -> None:
    """Escape sequences in the query, in tool text, in an error or in the answer arrive as signs, not as commands."""
    evil = CallRecord(0, None, "GET", f"http://api/{ESCAPE}", {}, 1, None, 1.0, 1, "requests", error=ESCAPE)
    solution = Solution(ESCAPE, "answered", ESCAPE, (), (ESCAPE,), Usage(), {"total": 1.0}, {})
    events: list[Event] = [
        SolveStarted(ESCAPE, (ESCAPE,)),
        ModelWaiting(1),
        ProgramWritten(1, f"print('{ESCAPE}')", Usage()),
        CallMade(1, evil),
        OutputPrinted(1, "stdout", ESCAPE),
        FaultFound(1, Fault("run", "Error", ESCAPE, 1, ESCAPE), Attribution(ESCAPE, 0, ESCAPE, "call", (ESCAPE,))),
        SolveEnded(solution),
    ]
    written: list[str] = []
    lines = LineView(written.append, verbose=True)
    for event in events:
        lines(event)
    sent = live(events)

    assert "\x1b[2J" not in sent and "\x1b]0" not in sent and "\x07" not in sent
    assert "␛[2J" in sent
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", "".join(written))
    assert sum("␛[2J" in line for line in written) >= 6


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


def moving(*events: Event) -> str:
    """What moves on a terminal after these events."""
    console = Console(file=io.StringIO(), force_terminal=True, width=100, height=12, record=True)
    view = LiveView(console)
    for event in events:
        view(event)
    console.print(view.moving())
    return console.export_text()


def test_live_view_shows_what_the_model_writes() -> None:
    """The text appears as it comes, its last lines where it is long; it cannot act on the terminal."""
    text = "".join(f"line_{number} = {number}\n" for number in range(40)) + "print(\x1b[2J"
    screen = moving(ModelWaiting(1), ModelProgress(1, Progress(1749, 1749, text, 0.0)))

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
