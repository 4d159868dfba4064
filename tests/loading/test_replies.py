"""A document may be wrong about what a service replies: the reply counts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from atc import Agent, Solution
from protocols import load
from protocols.model import Protocol
from tests.loading.expandable import document
from tests.local_api import LocalAPI
from tests.scripted import ScriptedModel

LENDER = {"id": 7, "name": "Hanabi", "status": "active"}


@pytest.fixture
def api() -> Iterator[LocalAPI]:
    with LocalAPI() as service:
        yield service


@pytest.fixture
def museum(api: LocalAPI) -> Protocol:
    return load(document(api.url))


def solved(protocol: Protocol, question: str, *programs: str) -> tuple[Solution, ScriptedModel]:
    model = ScriptedModel(*(f"```python\n{program}\n```" for program in programs))
    with Agent(protocol, model=model) as agent:
        return agent.solve(question), model


def answer(api: LocalAPI, painting: object, lender: object) -> None:
    api.answer("GET", "/items/paintings/3", painting)
    api.answer("GET", "/items/lenders/7", lender)


@pytest.mark.parametrize(
    "program",
    [
        'print(GET_items_lenders_id(id=7)["data"]["name"])',
        'lender = GET_items_lenders_id(id=7)["data"]\nprint(lender["name"])',
        'reply = GET_items_lenders_id(id=7)\nprint(f"{reply["data"]["name"]}")',
    ],
)
def test_a_wrapper_that_the_reply_has_not_is_left_out(api: LocalAPI, museum: Protocol, program: str) -> None:
    answer(api, {}, LENDER)

    solution, model = solved(museum, "What is the name of lender 7?", program)

    assert (solution.status, solution.answer, len(model.asked)) == ("answered", "Hanabi", 1)


def test_a_wrapper_that_only_the_reply_has_is_written(api: LocalAPI, museum: Protocol) -> None:
    answer(api, {}, {"data": {"result": LENDER}})

    solution, model = solved(
        museum, "What is the name of lender 7?", 'print(GET_items_lenders_id(id=7)["data"]["name"])'
    )

    assert (solution.answer, len(model.asked)) == ("Hanabi", 1)


@pytest.mark.parametrize("relation", [7, LENDER])
@pytest.mark.parametrize("step", ["", '["id"]'])
def test_a_relation_is_taken_as_it_comes(api: LocalAPI, museum: Protocol, relation: object, step: str) -> None:
    answer(api, {"data": {"id": 3, "name": "Vase", "lender": relation}}, {"data": LENDER})
    first = 'lender = GET_items_paintings_id(id=3)["data"]["lender"]'
    program = f'{first}\nprint(GET_items_lenders_id(id=lender{step})["data"]["name"])'

    solution, model = solved(museum, "Who is the lender of painting 3?", program)

    assert (solution.answer, len(model.asked)) == ("Hanabi", 1)


def test_a_revision_is_checked_against_what_was_replied(api: LocalAPI, museum: Protocol) -> None:
    """After the reply the document alone no longer refuses a program that goes by it."""
    answer(api, {}, {"holder": {"label": "Hanabi"}})
    first = 'reply = GET_items_lenders_id(id=7)\nprint(reply["data"]["title"])'
    second = 'reply = GET_items_lenders_id(id=7)\nprint(reply["holder"]["label"])'

    solution, model = solved(museum, "What is the label of lender 7?", first, second, second)

    assert (solution.answer, len(model.asked)) == ("Hanabi", 2)


def test_nothing_is_guessed(api: LocalAPI, museum: Protocol) -> None:
    """Where the reply leaves more than one way, or none, the model is asked."""
    answer(api, {}, {"old": {"name": "Old"}, "new": {"name": "New"}})

    _, model = solved(museum, "What is the name of lender 7?", 'print(GET_items_lenders_id(id=7)["data"]["name"])')

    assert len(model.asked) > 1


def test_an_object_of_a_reply_may_be_sent_back(api: LocalAPI) -> None:
    """What a document calls an object takes any object that a reply holds."""
    described = document(api.url)
    body = {"type": "object", "properties": {"extra": {"anyOf": [{"type": "object"}, {"type": "null"}]}}}
    described["paths"]["/items/lenders/{id}"]["patch"]["requestBody"]["content"]["application/json"]["schema"] = body
    answer(api, {}, {"data": LENDER})
    api.answer("PATCH", "/items/lenders/7", {"data": LENDER})
    program = 'lender = GET_items_lenders_id(id=7)["data"]\nPATCH_items_lenders_id(id=7, extra=lender)\nprint("sent")'
    model = ScriptedModel(f"```python\n{program}\n```")
    with Agent(load(described), model=model, writes="allow") as agent:
        solution = agent.solve("Change the extra of lender 7.")

    assert (solution.answer, len(model.asked)) == ("sent", 1)
