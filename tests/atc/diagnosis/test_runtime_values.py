"""What a failing line really held is read from the responses that its values come from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from atc.diagnosis.runtime_values import runtime_facts
from sandbox import Sandbox
from tests.local_api import LocalAPI

CREDITS = {"id": 1, "cast": [], "crew": [{"job": "Director", "name": "Ana Bell", "film_title": None}]}
START = 'city = GET_cities(query="Dusk")["results"][0]\ncredits = GET_cities_city_id(city_id=city["id"])\n'


@pytest.fixture(scope="module")
def api() -> Iterator[LocalAPI]:
    with LocalAPI() as api:
        api.answer("GET", "/cities", {"results": [{"id": "oslo", "rank": 1}, {"id": "rome"}]})
        api.answer("GET", "/cities/oslo", CREDITS)
        api.answer("GET", "/cities/rome", {"message": "no"}, 500)
        yield api


def facts(api: LocalAPI, program: str) -> list[str]:
    return [fact.text for fact in runtime_facts(program, Sandbox(api.protocol).run(program))]


@pytest.mark.parametrize(
    ("rest", "fact"),
    [
        (
            'for person in credits["crew"]:\n    print(person["owner"]["name"])',
            '`person` has no "owner", but it has "name" itself; use `person["name"]`',
        ),
        (
            'print([person["title"] for person in credits["crew"]])',
            '`person` has no "title"; its keys are "job", "name", "film_title"; use "film_title"',
        ),
        (
            'for person in credits:\n    print(person["name"])',
            '`credits` is a dict with the keys "id", "cast", "crew"; loop over credits["cast"] or credits["crew"]',
        ),
        ('first = credits["cast"][0]', '`credits["cast"]` is an empty list'),
        (
            'print(credits["crew"]["name"])',
            '`credits["crew"]` is a list, not a dict; use `credits["crew"][0]["name"]`',
        ),
        ('print(credits["crew"][0]["film_title"].upper())', '`credits["crew"][0]["film_title"]` is None'),
        ('crew = credits.get("crew")\nprint(crew[3])', "`crew` is a list of 1 items"),
        ('print(max(credits["cast"], key=len))', '`credits["cast"]` is an empty list'),
        ("print(credits[0])", '`credits` is a dict, not a list; its keys are "id", "cast", "crew"'),
    ],
)
def test_the_fact_that_explains_the_failure(rest: str, fact: str, api: LocalAPI) -> None:
    assert fact in facts(api, START + rest)


@pytest.mark.parametrize(
    "rest",
    [
        'names = sum(len(person) for person in [credits])\nprint(names["a"])',
        'print(nowhere["a"])',
        'print(credits["crew"][0]["name"])',
        "print(",
    ],
)
def test_nothing_is_guessed(rest: str, api: LocalAPI) -> None:
    """A computed value, an unknown name, a line without fault and a text that is no program yield no fact."""
    assert facts(api, START + rest) == []


@pytest.mark.parametrize(
    "program",
    [
        'for city in GET_cities(query="o")["results"]:\n    print(city["rank"])',
        "def read(name):\n    return GET_cities_city_id(city_id=name)\n"
        'first, second = read("oslo"), read("oslo")\nprint(first["id"], second["mayor"], first["mayor"])',
        'city = GET_cities_city_id(city_id="rome")\nprint(city["name"])',
    ],
    ids=["only some items lack the key", "several expressions may stand for the value", "the call failed"],
)
def test_what_is_open_is_no_fact(api: LocalAPI, program: str) -> None:
    """A fact speaks of any item, of one expression, and of a response that came."""
    assert facts(api, program) == []
