"""The one call in a message is read however it is written."""

from __future__ import annotations

import pytest

from benchmarks.methods.actions import Action, BadActionError, read_action

NAMES = ("GET_cities", "GET_cities_city_id_weather", "GET_alerts", "finish", "give_up")


@pytest.mark.parametrize(
    "message",
    [
        'Action: GET_cities(query="Oslo", page=2)',
        "Thought: call GET_alerts() later.\nAction: GET_cities(query='Oslo', page=2)\nAction: GET_alerts()",
        '**Action:** `GET_cities(query="Oslo", page=2)` and then we\'ll see',
        'Action 1: get_cities(query="Oslo", page=2)',
        'GET_cities({"query": "Oslo", "page": 2})',
        'GET_cities(**{"query": "Oslo", "page": 2})',
        'GET_cities(\n    query="Oslo",\n    page=2,\n)',
        'Action: GET_cities\nAction Input: {"query": "Oslo", "page": 2}',
        'Action: GET_cities {"query": "Oslo", "page": 2} is what I need',
        '{"name": "GET_cities", "arguments": {"query": "Oslo", "page": 2}} I hope this helps!',
        "{'action': 'GET_cities', 'action_input': {'query': 'Oslo', 'page': 2}}",
        '{"name": "GET_cities", "arguments": "{\\"query\\": \\"Oslo\\", \\"page\\": 2}"}',
        '```json\n{"function": {"name": "GET_cities", "parameters": {"query": "Oslo", "page": 2}}}\n```',
        '{"thought": "hm", "tool": "GET_cities", "query": "Oslo", "page": 2}',
        'GET_cities(query="Oslo", page=2',
    ],
)
def test_an_action_is_read_however_it_is_written(message: str) -> None:
    action = read_action(message, NAMES)

    assert (action.name, action.arguments) == ("GET_cities", {"query": "Oslo", "page": 2})


def test_values_may_be_json_or_python() -> None:
    action = read_action('GET_alerts(a=true, b=None, c=[1, "x(y)"], d={"e": null}, f=-1.5)', NAMES)

    assert action.arguments == {"a": True, "b": None, "c": [1, "x(y)"], "d": {"e": None}, "f": -1.5}
    assert read_action("Action: GET_alerts", NAMES) == Action("GET_alerts", end=18)
    assert read_action('GET_cities("Oslo")', NAMES).positional == ("Oslo",)


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ('Action: finish(answer="It rains (a lot).")', "It rains (a lot)."),
        ('Finish("yes")', "yes"),
        ('{"name": "finish", "arguments": {"answer": ["a", "b"]}}', '["a", "b"]'),
        ("Thought: done.\nFinal Answer: two\nlines", "two\nlines"),
        ("**Answer:** 42", "42"),
        ("Action: finish(answer=42)", "42"),
    ],
)
def test_an_answer_is_read_however_it_is_written(message: str, answer: str) -> None:
    assert read_action(message, NAMES).arguments == {"answer": answer}


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("", "calls no function"),
        ("I think it rains.", "calls no function"),
        ('Action: GET_city(query="Oslo")', "there is no function GET_city; did you mean GET_cities?"),
        ('{"name": "search", "arguments": {}}', "there is no function search"),
        ('GET_cities(query=city["name"])', "the argument query of GET_cities must be a plain value"),
        ("GET_cities(query=Oslo)", "the argument query of GET_cities must be a plain value"),
        ("Action: GET_cities(query= = 2)", "not written as Python"),
        ("Action: finish()", "finish needs the answer"),
    ],
)
def test_what_is_no_action_is_told_in_a_sentence(message: str, why: str) -> None:
    with pytest.raises(BadActionError, match=why.replace("?", r"\?")):
        read_action(message, NAMES)


def test_arguments_alone_are_those_of_the_one_function() -> None:
    """A role that writes calls of one function may leave its name out, and have an argument called name."""
    assert read_action('{"name": "Oslo"}', ("GET_cities",)) == Action("GET_cities", {"name": "Oslo"}, end=16)
