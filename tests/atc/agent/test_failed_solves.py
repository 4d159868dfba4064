"""How a solve ends when the program, the API or the model fails: its status, its exit code, and what is kept."""

from __future__ import annotations

from typing import Any

import pytest

from atc import Agent
from sandbox import Limits
from tests.local_api import Answer, LocalAPI
from tests.scripted import ScriptedModel


@pytest.mark.parametrize(
    ("programs", "options", "status", "exit_code", "attempts", "says"),
    [
        ([f"print(undefined_{n})" for n in range(5)], {}, "failed", 1, 4, "NameError"),
        (["I am sorry, I cannot help with that."] * 2, {"max_reflections": 1}, "failed", 1, 2, "NoProgram"),
        (["import os\nprint(os.listdir('/'))"], {"max_reflections": 0}, "refused", 3, 1, "os"),
        (["while True:\n    pass"], {"max_reflections": 0, "limits": Limits(wall=0.5)}, "limit", 4, 1, "longer"),
        (["print(undefined)"], {}, "model_error", 5, 1, "no answer left"),
        (["print(1 / 0)"] * 2, {"mode": "none"}, "failed", 1, 1, "ZeroDivisionError"),
    ],
    ids=["the last reflection", "prose", "refused", "endless", "no model", "no reflection"],
)
def test_how_a_solve_without_an_answer_ends(
    weather: LocalAPI, programs: list[str], options: Any, status: str, exit_code: int, attempts: int, says: str
) -> None:
    """Three reflections allow four programs, and what was tried is kept."""
    solution = Agent(weather.protocol, model=ScriptedModel(*programs), **options).solve("What?")

    assert (solution.status, solution.exit_code, len(solution.attempts)) == (status, exit_code, attempts)
    assert solution.answer is None
    assert says in solution.message


@pytest.mark.parametrize(
    ("reply", "status", "named"),
    [({"message": "no"}, 401, "401"), ("<!DOCTYPE html><html><body>Welcome</body></html>", 200, "web page")],
)
def test_an_api_of_no_use_ends_the_solve(weather: LocalAPI, reply: object, status: int, named: str) -> None:
    """It refuses our credentials, or answers with a web page: no program could do better."""
    weather.answer("GET", "/cities", reply, status=status)
    model = ScriptedModel('print(GET_cities(query="Oslo"))', 'print("never")')

    solution = Agent(weather.protocol, model=model).solve("Which city?")

    assert (solution.status, solution.exit_code, len(model.asked)) == ("api_error", 6, 1)
    assert named in solution.message


HIDING = 'try:\n    print(GET_cities(query="Oslo"))\nexcept Exception as error:\n    print(error)'


@pytest.mark.parametrize(
    ("mode", "program"),
    [("attribute", 'print(GET_cities(query="Oslo"))'), ("attribute", HIDING), ("none", HIDING)],
)
def test_an_api_that_is_down_ends_the_solve(mode: str, program: str) -> None:
    """Also where the program hides it."""
    with LocalAPI() as api:
        protocol = api.protocol
    model = ScriptedModel(program, 'print("never")')

    solution = Agent(protocol, model=model, mode=mode).solve("Which city?")

    assert (solution.status, solution.exit_code, len(model.asked)) == ("api_error", 6, 1)


def test_an_api_that_answers_something_is_not_given_up(weather: LocalAPI) -> None:
    """One tool may be forbidden to us where another one is not, and a program may even expect it."""
    weather.answer("GET", "/cities/osl/weather", {"message": "no"}, status=401)
    model = ScriptedModel(
        'city = GET_cities(query="Oslo")["results"][0]\nprint(GET_cities_city_id_weather(city_id=city["id"]))',
        'print(GET_cities(query="Oslo")["results"][0]["population"])',
    )

    solution = Agent(weather.protocol, model=model).solve("How many people live in Oslo?")

    assert (solution.status, solution.answer) == ("answered", "717710")


def test_a_program_that_is_stopped_in_a_call_is_no_fault_of_an_api_that_answered(weather: LocalAPI) -> None:
    weather.script("GET", "/cities", Answer(body={"results": []}), Answer(body={"results": []}, wait=5))
    agent = Agent(
        weather.protocol,
        model=ScriptedModel('GET_cities(query="Oslo")\nprint(GET_cities(query="Bergen"))'),
        max_reflections=0,
        limits=Limits(wall=0.5),
    )

    assert agent.solve("Which city?").status == "limit"


def test_a_model_that_fails_when_asked_whom_to_blame_keeps_the_attempt(weather: LocalAPI) -> None:
    """Two tools on the failing line: the model is asked, and has no answer left."""
    model = ScriptedModel(
        'c = GET_cities(query="Oslo")["results"][0]; print(GET_cities_city_id_weather(city_id=c["id"])["then"])'
    )

    solution = Agent(weather.protocol, model=model).solve("Does it rain?")

    assert (solution.status, len(solution.attempts), len(solution.attempts[0].calls)) == ("model_error", 1, 2)
