"""Answers that have to be of a type, over real HTTP; the model alone is scripted."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Any, Literal

import pytest
from pydantic import BaseModel, field_validator

from atc import Agent
from atc.answer_type import AnswerType, WrongAnswerError
from protocols.errors import UsageError
from tests.local_api import LocalAPI
from tests.scripted import ScriptedModel

QUESTION = "How many people live in Oslo?"
CITY = 'city = GET_cities(query="Oslo")["results"][0]\n'


class Place(BaseModel):
    """A city as the tests want it."""

    name: str
    population: int

    @field_validator("population")
    @classmethod
    def _inhabited(cls, population: int) -> int:
        if population < 1:
            raise ValueError("nobody lives there")
        return population


class Colour(Enum):
    """Two values."""

    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    """A dataclass is a type for answers, too."""

    x: int


def test_the_answer_is_an_object(weather: LocalAPI) -> None:
    """The prompt has the type as Python, and `value` the validated object; the JSON of the solution has plain data."""
    model = ScriptedModel(
        f'import json\n{CITY}print(json.dumps({{"name": city["name"], "population": city["population"]}}))'
    )

    solution = Agent(weather.protocol, model=model).solve(QUESTION, answer_type=Place)

    assert solution.value == Place(name="Oslo", population=717710)
    assert "class Place(TypedDict):\n    name: str\n    population: int" in model.asked[0][-2].content
    assert json.loads(json.dumps(solution.to_json()))["answer"] == '{"name": "Oslo", "population": 717710}'


@pytest.mark.parametrize(("mode", "profile"), [("attribute", "small"), ("attribute", "large"), ("naive", "small")])
def test_a_mismatch_is_one_more_reflection(weather: LocalAPI, mode: str, profile: str) -> None:
    """The model is told the field and what is wrong with it, and its revision answers."""
    wrong = f'import json\n{CITY}print(json.dumps({{"name": city["name"], "population": city["name"]}}))'
    right = wrong.replace('"population": city["name"]', '"population": city["population"]')
    model = ScriptedModel(wrong, right)

    solution = Agent(weather.protocol, model=model, mode=mode, profile=profile).solve(QUESTION, answer_type=Place)

    assert solution.value == Place(name="Oslo", population=717710)
    assert solution.reflections == 1
    assert [attempt.fault.type for attempt in solution.attempts if attempt.fault] == ["WrongType"]
    asked = "\n".join(message.content for message in model.asked[1])
    assert "population: Input should be a valid integer" in asked


def test_a_last_revision_that_does_not_fit_is_a_failure(weather: LocalAPI) -> None:
    """The message names the field; there is no answer and no value."""
    wrong = f'import json\n{CITY}print(json.dumps({{"name": city["name"], "population": "many"}}))'
    model = ScriptedModel(wrong, wrong.replace("many", "lots"))

    solution = Agent(weather.protocol, model=model, max_reflections=1).solve(QUESTION, answer_type=Place)

    assert (solution.status, solution.answer) == ("failed", None)
    assert solution.value is None
    assert "population: Input should be a valid integer" in solution.message
    assert len(solution.attempts) == 2


def test_no_write_is_repeated_for_another_form_of_the_answer(weather: LocalAPI) -> None:
    """The revision gets the reply of the write from the journal."""
    weather.answer("POST", "/alerts", {"text": "storm", "level": 2})
    write = 'alert = POST_alerts(text="storm", level=2)\n'
    model = ScriptedModel(f'{write}print(alert["text"])', f'{write}print(alert["level"])')

    agent = Agent(weather.protocol, model=model, writes="allow")
    solution = agent.solve('Post the alert "storm" of level 2 and give its level.', answer_type=int)

    assert solution.value == 2
    assert [request.method for request in weather.requests] == ["POST"]


@pytest.mark.parametrize("mode", ["react", "codeact", "react@2"])
def test_other_modes_validate_at_the_end(weather: LocalAPI, mode: str) -> None:
    """An answer that does not fit fails the try; with several tries there is another one."""
    if mode == "codeact":
        good = [f"```python\n{CITY}print(city)\n```", "Answer: 717710"]
    else:
        good = ['Action: GET_cities(query="Oslo")', 'Action: finish(answer="717710")']
    bad = [*good[:1], good[1].replace("717710", "some 700 thousand")]

    solution = Agent(weather.protocol, model=ScriptedModel(*good), mode=mode).solve(QUESTION, answer_type=int)
    failed = Agent(weather.protocol, model=ScriptedModel(*bad, *good), mode=mode).solve(QUESTION, answer_type=int)

    assert solution.value == 717710
    assert (failed.value, failed.status) == ((717710, "answered") if mode == "react@2" else (None, "failed"))
    assert mode == "react@2" or "Input should be a valid integer" in failed.message


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (int, "42", 42),
        (str, "42", "42"),
        (str, "two words", "two words"),
        (bool, "True", True),
        (date, "2024-06-01", date(2024, 6, 1)),
        (Literal["yes", "no"], "yes", "yes"),
        (Colour, "red", Colour.RED),
        (Point, '{"x": 1}', Point(1)),
        (list[Point], '[{"x": 1}]', [Point(1)]),
        (int | None, "null", None),
        (dict[str, float], '{"a": 1.5}', {"a": 1.5}),
    ],
)
def test_types(kind: Any, text: str, value: object) -> None:
    """JSON is read as JSON; of a scalar type the plain text will do."""
    assert AnswerType(kind).read(text) == value


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (list[Place], '[{"name": "Oslo", "population": "x"}]', "[0].population: Input should be a valid integer"),
        (Place, '{"name": "Oslo", "population": 0}', "population: Value error, nobody lives there (it is 0)"),
        (Place, "{'name': 'Oslo'}", "is no JSON; print it with json.dumps()"),
        (Literal["yes", "no"], "maybe", "Input should be 'yes' or 'no' (it is maybe)"),
        (int, "", "the answer is empty"),
    ],
)
def test_wrong_answers(kind: Any, text: str, message: str) -> None:
    """The message names the field and the value."""
    with pytest.raises(WrongAnswerError) as caught:
        AnswerType(kind).read(text)
    assert message in str(caught.value)


@pytest.mark.parametrize("kind", [object(), Callable[[int], int], LocalAPI, "Nowhere"])
def test_a_type_without_a_schema_is_refused_before_anything_is_asked(weather: LocalAPI, kind: Any) -> None:
    """It is a UsageError of the call that says what to give instead."""
    model = ScriptedModel()
    with pytest.raises(UsageError, match=r"no type for answers .* give a pydantic model"):
        Agent(weather.protocol, model=model).solve(QUESTION, answer_type=kind)
    assert not model.asked


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (list[int], "list[int]"),
        (dict[str, float], "dict[str, float]"),
        (str | None, "str | None"),
        (tuple[int, str], "tuple[int, str]"),
        (Literal["a", "b"], "Literal['a', 'b']"),
    ],
)
def test_the_model_reads_a_type_as_python(type_: Any, text: str) -> None:
    assert AnswerType(type_).text == text


def test_what_python_does_not_say_is_told_as_a_schema() -> None:
    """A date in a list has a form, which the model has to know."""
    assert AnswerType(list[date]).text.startswith("list[str]\nIts JSON Schema has limits: {")
    assert '"format": "date"' in AnswerType(list[date]).text
