"""What becomes of a doubtful answer: the model looks again, or whoever reads the answer is warned."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from atc import Agent
from atc.solution import Evidence
from tests.local_api import LocalAPI
from tests.scripted import ScriptedModel

FIRST_OF_ALL = 'city = GET_cities(query="Oslo")["results"][0]\nprint(city["population"])'
BY_NAME = (
    'for city in GET_cities(query="Oslo")["results"]:\n'
    '    if city["name"] == "Oslo":\n'
    '        print(city["population"])'
)


@pytest.fixture
def cities() -> Iterator[LocalAPI]:
    """A service that finds two cities, and not the one that is meant first."""
    with LocalAPI() as api:
        api.answer(
            "GET",
            "/cities",
            {
                "results": [
                    {"id": "osm", "name": "Oslo Mills", "population": 340},
                    {"id": "osl", "name": "Oslo", "population": 717710},
                ]
            },
        )
        yield api


def test_the_model_looks_again_and_finds_the_right_one(cities: LocalAPI) -> None:
    """It reads what is doubtful, where, and the tool that this is about; its second answer has no warning."""
    model = ScriptedModel(FIRST_OF_ALL, BY_NAME)

    solution = Agent(cities.protocol, model=model).solve("How many people live in Oslo?")

    assert (solution.status, solution.answer, solution.reflections) == ("answered", "717710", 1)
    assert solution.evidence[0] == Evidence(0, ("results", 1, "population"), "exact", "717710")
    fault = solution.attempts[0].fault
    assert fault is not None
    assert (fault.stage, fault.type, fault.line) == ("answer", "OtherEntity", 1)
    reflection = model.asked[1][-2].content
    assert "It ran, but its answer is doubtful:\nOtherEntity: the program took item 0" in reflection
    assert 'take ["results"][1], found by its name' in reflection
    assert "GET_cities(query" in reflection
    assert not [warning for warning in solution.warnings if "doubtful" in warning]


def test_who_says_the_same_again_is_believed(cities: LocalAPI) -> None:
    """The answer stands after one reflection, with a warning."""
    model = ScriptedModel(FIRST_OF_ALL, FIRST_OF_ALL)

    solution = Agent(cities.protocol, model=model).solve("How many people live in Oslo?")

    assert (solution.status, solution.answer, solution.reflections) == ("answered", "340", 1)
    assert [warning for warning in solution.warnings if warning.startswith("the answer is doubtful (OtherEntity): ")]


def test_an_answer_that_rests_on_nothing_is_not_believed(cities: LocalAPI) -> None:
    """However often it is given: another one is drawn."""
    model = ScriptedModel("print('about a million')", "print('about a million')", BY_NAME)

    solution = Agent(cities.protocol, model=model).solve("How many people live in Oslo?")

    assert (solution.status, solution.answer) == ("answered", "717710")


def test_the_same_program_is_not_sent_again_and_again(cities: LocalAPI) -> None:
    """Where nothing is known but that a service is broken, whatever differs is worth more than the same."""
    cities.answer("GET", "/cities", {"message": "broken"}, status=422)
    model = ScriptedModel(FIRST_OF_ALL, FIRST_OF_ALL, BY_NAME)

    solution = Agent(cities.protocol, model=model, max_reflections=1).solve("How many people live in Oslo?")

    assert [attempt.program for attempt in solution.attempts] == [FIRST_OF_ALL, BY_NAME]


def test_nothing_is_deleted_that_somebody_made_up(cities: LocalAPI) -> None:
    """Not by the last program either, which is run in any other case."""
    cities.answer("DELETE", "/cities/your_city_id", None, status=204)
    program = 'DELETE_cities_city_id(city_id="your_city_id")\nprint("done")'

    solution = Agent(cities.protocol, ScriptedModel(*[program] * 4), max_reflections=1, writes="allow").solve(
        "Delete a city."
    )

    assert (solution.status, cities.requests) == ("failed", [])
    assert "your_city_id" in solution.message


@pytest.mark.parametrize(("mode", "reflections"), [("attribute", 0), ("naive", 3), ("none", 3)])
def test_where_no_second_look_is_left_there_is_a_warning(cities: LocalAPI, mode: str, reflections: int) -> None:
    """When no turn is left, and in the paper's modes."""
    model = ScriptedModel(FIRST_OF_ALL)

    solution = Agent(cities.protocol, model=model, mode=mode, max_reflections=reflections).solve(
        "How many people live in Oslo?"
    )

    assert (solution.answer, solution.reflections) == ("340", 0)
    assert [warning for warning in solution.warnings if "OtherEntity" in warning]


def test_each_kind_of_doubt_is_told_once(cities: LocalAPI) -> None:
    """Another kind is another reflection, as long as there are turns."""
    model = ScriptedModel(FIRST_OF_ALL, "print('about a million')", BY_NAME)

    solution = Agent(cities.protocol, model=model).solve("How many people live in Oslo?")

    faults = [attempt.fault.type for attempt in solution.attempts if attempt.fault]
    assert faults == ["OtherEntity", "NoCall"]
    assert (solution.answer, solution.reflections) == ("717710", 2)


def test_what_was_written_is_not_written_again(cities: LocalAPI) -> None:
    """A program that changed something is not followed by another one: who reads the answer is warned."""
    cities.answer("DELETE", "/cities/osm", None, status=204)
    model = ScriptedModel(
        'city = GET_cities(query="Oslo")["results"][0]\nDELETE_cities_city_id(city_id=city["id"])\nprint("done")'
    )

    solution = Agent(cities.protocol, model=model, writes="allow").solve("Delete Oslo from my cities.")

    assert (solution.answer, solution.reflections) == ("done", 0)
    assert [warning for warning in solution.warnings if "OtherEntity" in warning]
