"""`effort="high"`: further programs speak for an answer, or against it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from atc import Agent, Solution
from tests.local_api import LocalAPI
from tests.scripted import ScriptedModel

RAIN = 'city = GET_cities(query="Oslo")["results"][0]\nprint(GET_cities_city_id_weather(city_id=city["id"])["degrees"])'
PEOPLE = 'city = GET_cities(query="Oslo")["results"][0]\nprint("It has", city["population"], "people")'
DEGREES = (
    f"{RAIN[: RAIN.index('print')]}w = GET_cities_city_id_weather(city_id=city['id'])\nprint('It is', w['degrees'])"
)
WRITE = 'POST_alerts(text="Oslo")\nprint(7)'


@pytest.fixture
def weather() -> Iterator[LocalAPI]:
    with LocalAPI() as api:
        api.answer("GET", "/cities", {"results": [{"id": "osl", "name": "Oslo", "population": 717710}]})
        api.answer("GET", "/cities/osl/weather", {"rain": True, "degrees": 7})
        yield api


def ask(api: LocalAPI, *programs: str, **options: Any) -> Solution:
    with Agent(api.protocol, model=ScriptedModel(*programs), effort="high", **options) as agent:
        return agent.solve("How many degrees are there in Oslo?")


def test_an_answer_that_further_programs_share_is_supported(weather: LocalAPI) -> None:
    """Other words around the same value agree, and no call is sent again."""
    solution = ask(weather, RAIN, DEGREES, RAIN, DEGREES)

    assert (solution.answer, solution.standing) == ("7", "supported")
    assert [answer.agrees for answer in solution.second_answers] == [True, True, True]
    assert len(weather.requests) == 2
    assert (len(solution.attempts), solution.usage.model_calls) == (1, 4)


def test_an_answer_that_most_further_programs_contradict_is_doubtful(weather: LocalAPI) -> None:
    """The finding quotes a contrary answer; the answer itself stays."""
    solution = ask(weather, RAIN, PEOPLE, DEGREES, PEOPLE)

    assert (solution.answer, solution.standing) == ("7", "doubtful")
    assert [finding.kind for finding in solution.findings] == ["Disagreement"]
    assert "2 of 3 further programs answer otherwise, such as 'It has 717710 people'" in solution.findings[0].message


def test_a_write_is_compared_and_never_made_twice(weather: LocalAPI) -> None:
    """The same write is answered from the journal, another one is refused; which one was made is what counts."""
    weather.answer("POST", "/alerts", {})
    other = WRITE.replace("Oslo", "Bergen")
    with Agent(
        weather.protocol, model=ScriptedModel(WRITE, other, WRITE, other), effort="high", writes="allow"
    ) as agent:
        solution = agent.solve("Add the alert Oslo")

    assert [answer.agrees for answer in solution.second_answers] == [False, True, False]
    assert [request.method for request in weather.requests] == ["POST"]
    assert solution.standing == "doubtful"
    assert (solution.abandoned, len(solution.attempts)) == ((), 1)


def test_a_further_program_that_writes_is_not_run(weather: LocalAPI) -> None:
    """A second look changes nothing, and a program that fails has no say."""
    solution = ask(weather, RAIN, WRITE, "print(nothing)", DEGREES, writes="allow")

    assert [answer.agrees for answer in solution.second_answers] == [True]
    assert [request.method for request in weather.requests] == ["GET", "GET"]
    assert solution.standing == "supported"
