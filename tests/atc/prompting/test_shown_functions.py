"""Of a large API some functions are written whole; a model may ask to see others before it writes a program."""

from __future__ import annotations

from dataclasses import replace

import pytest

from atc import Agent
from atc.profile import LARGE
from protocols import load
from protocols.samples import sample
from tests.scripted import ScriptedModel

FEW = replace(LARGE, described=2, stable=False)
QUESTION = "Where is the headquarters of Northlight Pictures?"
PROGRAM = '```python\nprint(GET_films(query="The Silent Harbor")["films"][0]["title"])\n```'


def test_the_others_have_a_line_each() -> None:
    """With their required arguments, and what they do."""
    with Agent(load(sample("cinema")), None, profile=FEW, simulate=True) as agent:
        offer = agent.opening(QUESTION)
    lines = offer.functions.splitlines()

    assert sum(line.startswith("def ") for line in lines) == len(offer.details) < len(offer.tools)
    assert "GET_films_filmId_reviews(filmId)  # What people wrote about a film" in lines


def test_a_model_sees_what_it_asks_for() -> None:
    """One short call, which is counted; then it writes the program. Names that there are not are left out."""
    model = ScriptedModel("SHOW: GET_me_watchlist, GET_nothing", PROGRAM)
    with Agent(load(sample("cinema")), model, profile=FEW, simulate=True) as agent:
        solution = agent.solve(QUESTION)
    first, second = model.asked

    assert "def GET_me_watchlist() -> WatchlistPage:" in second[-1].content
    assert second[: len(first)] == first  # what was read is not read again
    assert (second[-2].content, len(second)) == ("SHOW: GET_me_watchlist", len(first) + 2)
    assert (solution.answer, len(solution.attempts), solution.usage.model_calls) == ("The Silent Harbor", 1, 2)


@pytest.mark.parametrize("requests", [["SHOW: GET_me_watchlist", "SHOW: GET_me"], ["SHOW: GET_nothing"]])
def test_a_model_that_asks_for_no_more_than_there_is(requests: list[str]) -> None:
    """A second request, or one for a function that there is not, is no program, and is told so."""
    model = ScriptedModel(*requests, PROGRAM)
    with Agent(load(sample("cinema")), model, profile=FEW, simulate=True) as agent:
        solution = agent.solve(QUESTION)

    assert [attempt.fault.type if attempt.fault else "" for attempt in solution.attempts] == ["NoProgram", ""]
    assert "no more to show" in model.asked[-1][-1].content


def test_a_small_api_is_the_same_text_for_every_question() -> None:
    """Nothing of the question is in it, so that an engine reads it once."""
    with Agent(load(sample("cinema")), None, profile="large", simulate=True) as agent:
        first, second = (agent.opening(text).messages() for text in (QUESTION, "Which films are dramas?"))

    common = [a == b for a, b in zip(first, second, strict=True)]
    assert common == [True] * (len(first) - 1) + [False]
    assert first[-1].content.removesuffix(f"Question: {QUESTION}") in second[-1].content
