"""What a failing line really held is read back from the responses, through assignments, loops and comprehensions."""

from __future__ import annotations

import pytest

from atc.diagnosis.runtime_values import runtime_facts
from sandbox import CallRecord

CREDITS = {"id": 1, "cast": [], "crew": [{"job": "Director", "name": "Ana Bell", "film_title": None}]}
START = 'film = GET_films(query="Dusk")["films"][0]\ncredits = GET_film_credits(film_id=film["id"])\n'


def call(index: int, tool: str, line: int, response: object, status: int = 200) -> CallRecord:
    return CallRecord(index, tool, "GET", "https://api.test", {}, line, status, 1.0, 1, "function", response)


def facts(program: str, line: int) -> list[str]:
    calls = [call(0, "GET_films", 1, {"films": [{"id": 7}]}), call(1, "GET_film_credits", 2, CREDITS)]
    return [finding.text for finding in runtime_facts(program, line, calls)]


@pytest.mark.parametrize(
    ("rest", "line", "fact"),
    [
        (
            'for one in credits["crew"]:\n    print(one["person"]["name"])',
            4,
            '`one` has no "person", but it has "name" itself; use `one["name"]`',
        ),
        (
            'print([one["title"] for one in credits["crew"]])',
            3,
            '`one` has no "title"; its keys are "job", "name", "film_title"; use "film_title"',
        ),
        (
            'for one in credits:\n    print(one["name"])',
            4,
            '`credits` is a dict with the keys "id", "cast", "crew"; loop over credits["cast"] or credits["crew"]',
        ),
        ('first = credits["cast"][0]', 3, '`credits["cast"]` is an empty list'),
        (
            'print(credits["crew"]["name"])',
            3,
            '`credits["crew"]` is a list, not a dict; use `credits["crew"][0]["name"]`',
        ),
        ('print(credits["crew"][0]["film_title"].upper())', 3, '`credits["crew"][0]["film_title"]` is None'),
        ('crew = credits.get("crew")\nprint(crew[3])', 4, "`crew` is a list of 1 items"),
        ('print(max(credits["cast"], key=len))', 3, '`credits["cast"]` is an empty list'),
        ("print(credits[0])", 3, '`credits` is a dict, not a list; its keys are "id", "cast", "crew"'),
    ],
)
def test_the_fact_that_explains_the_failure(rest: str, line: int, fact: str) -> None:
    assert fact in facts(START + rest, line)


@pytest.mark.parametrize(
    ("rest", "line"),
    [
        ('names = sum(len(one) for one in [credits])\nprint(names["a"])', 4),
        ('print(nowhere["a"])', 3),
        ('print(credits["crew"][0]["name"])', 3),
        ("print(", 3),
    ],
)
def test_nothing_is_guessed(rest: str, line: int) -> None:
    """A computed value, an unknown name, a line without fault and a text that is no program yield no fact."""
    assert facts(START + rest, line) == []


def test_a_call_that_failed_has_no_response_to_read() -> None:
    calls = [call(0, "GET_films", 1, {"message": "no"}, status=500)]

    assert runtime_facts('films = GET_films()\nprint(films["films"])', 2, calls) == []
