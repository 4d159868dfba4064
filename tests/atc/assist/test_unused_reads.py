"""Reads that nothing uses are left out of a program, unless they say something about it."""

from __future__ import annotations

import pytest

from atc import Agent
from atc.assist.language.question import Question
from atc.assist.unused_reads import without_unused_reads
from atc.profile import LARGE
from protocols import load
from protocols.samples import sample
from tests.scripted import ScriptedModel

CINEMA = load(sample("cinema"))
TOOLS = tuple(tool.name for tool in CINEMA.tools)
USED = 'print(GET_films(query="Dune"))'


def lean(program: str, question: str = "Which films are called Dune?") -> tuple[str, list[int]]:
    """A program as it is run, and the lines of the calls that are left out."""
    text, left_out = without_unused_reads(program, CINEMA, TOOLS, Question(question))
    return text, [call.line for call in left_out]


def test_a_read_goes_with_all_that_only_it_is_used_for() -> None:
    """And with nothing else; the lines are those of the program as it was written."""
    program = (
        "# the watchlist\n"
        "watchlist = GET_me_watchlist()\n"
        "first = watchlist[0]  # the first\n"
        'name = first.get("name").lower()\n'
        "count = 2\n"
        f"{USED}\n"
        "GET_films_top_rated(\n"
        "    year=2020,\n"
        ")"
    )
    assert lean(program) == (f"# the watchlist\ncount = 2\n{USED}", [2, 7])


@pytest.mark.parametrize(
    "line",
    [
        "watchlist = GET_me_watchlist()\nprint(watchlist)",
        'PUT_me_watchlist(filmId="f")',
        'x = GET_people(query="Dune")',
        'day = "2023-06-01"\nx = GET_films_filmId_screenings(date=day)',
        "try:\n    GET_me_watchlist()\nexcept ToolError:\n    print('none')",
        "x = GET_me_watchlist(); y = 2",
        "if len(TOTAL) > 1:\n    GET_me_watchlist()",
        "rows = []\nrows.append(GET_me_watchlist())",
        "x = GET_me_watchlist()\nrows = []\nrows.append(x)\nprint(rows)",
        "x = GET_me_watchlist()\nx = 3\nprint(x)",
        "x = GET_me_watchlist()[int(input())]",
        "for x in GET_me_watchlist():\n    y = x",
        "x = GET_me_watchlist(limit=(n := 3))\nprint(n)",
        'film = GET_films(query="Dune")["films"][0]\nprint(GET_films_filmId(filmId=film["filmId"]))',
    ],
)
def test_a_call_stays_where_it_may_be_wanted(line: str) -> None:
    """Used, writing, with a text that was chosen for it, made for its error, or with another effect."""
    program = f"{line}\n{USED}"
    assert lean(program) == (program, [])


def test_a_read_stays_if_the_question_speaks_of_it() -> None:
    """The answer is to rest on it, which the model is told after the run."""
    program = f"watchlist = GET_me_watchlist()\n{USED}"
    assert lean(program, "Is Dune in my watchlist?") == (program, [])
    assert lean(program, "Which films are called Dune?") == (USED, [1])


def test_a_chain_that_leads_nowhere_keeps_its_beginning() -> None:
    """A search for what the question names shows that the answer does not rest on it."""
    chain = 'film = GET_films(query="Dune")["films"][0]\n'
    program = f'{chain}details = GET_films_filmId(filmId=film["filmId"])\nprint(GET_me_watchlist())'
    assert lean(program, "How long is Dune?") == (f"{chain}print(GET_me_watchlist())", [2])


def test_a_program_is_not_left_without_a_call() -> None:
    """One that uses no reply is told so, by the check of its answer."""
    program = "watchlist = GET_me_watchlist()\nprint('Dune')"
    assert lean(program) == (program, [])
    assert lean("print(") == ("print(", [])


def test_the_edit_is_an_attempt_of_its_own() -> None:
    """It costs no model call and no revision, and a strong model's program is left alone."""
    program = f"watchlist = GET_me_watchlist()\n{USED}"
    with Agent(CINEMA, model=ScriptedModel(program), simulate=True) as agent:
        solution = agent.solve("Which films are called Dune?")

    first, last = solution.attempts
    assert (first.stage, last.stage, solution.reflections, solution.usage.model_calls) == ("check", "done", 0, 1)
    assert first.fault is not None
    assert (first.fault.type, first.fault.line) == ("UnusedRead", 1)
    assert first.fault.message == "nothing uses GET_me_watchlist(…); left out: line 1"
    assert (last.program, last.diff) == (USED, ("-watchlist = GET_me_watchlist()",))
    assert [call.tool for call in solution.calls] == ["GET_films"]

    with Agent(CINEMA, model=ScriptedModel(program), simulate=True, profile=LARGE) as agent:
        assert agent.solve("Which films are called Dune?").attempts[0].program == program


def test_it_comes_after_what_was_fixed_before() -> None:
    """A misspelt argument is fixed first, and then the program runs without the read."""
    model = ScriptedModel('watchlist = GET_me_watchlist()\nprint(GET_films(qurey="Dune"))')
    with Agent(CINEMA, model=model, simulate=True) as agent:
        solution = agent.solve("Which films are called Dune?")

    assert [attempt.stage for attempt in solution.attempts] == ["check", "check", "done"]
    assert solution.program == USED
