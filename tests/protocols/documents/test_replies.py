"""A document has names for its operations, and may be wrong about what a service replies: the reply counts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from atc import Agent, Solution
from protocols import load
from protocols.model import Protocol
from sandbox import Sandbox
from tests.local_api import LocalAPI
from tests.protocols.documents.expandable import document
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
    ("lender", "fact"),
    [
        ({"id": 7}, '`reply` has no "data"; its keys are "id"'),
        ([LENDER], "`reply` is a list, not a dict"),
    ],
)
def test_a_revision_is_told_what_was_replied(api: LocalAPI, museum: Protocol, lender: object, fact: str) -> None:
    answer(api, {}, lender)
    program = 'reply = GET_items_lenders_id(id=7)\nprint(reply["data"]["label"])'

    _, model = solved(museum, "What is the name of lender 7?", program)

    assert fact in model.asked[1][-2].content


def test_a_revision_is_checked_against_what_was_replied(api: LocalAPI, museum: Protocol) -> None:
    """After the reply the document alone no longer refuses a program that goes by it."""
    answer(api, {}, {"holder": {"label": "Hanabi"}})
    first = 'reply = GET_items_lenders_id(id=7)\nprint(reply["data"]["title"])'
    second = 'reply = GET_items_lenders_id(id=7)\nprint(reply["holder"]["label"])'

    solution, model = solved(museum, "What is the label of lender 7?", first, second, second)

    assert (solution.answer, len(model.asked)) == ("Hanabi", 2)


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


def test_a_name_that_stands_for_something_else_is_none(api: LocalAPI) -> None:
    described = document(api.url)
    named = ["print", "import", "readLoan", "readLoan", "GET_items_rooms", "read loan 2"]
    for path, name in zip([path for path in described["paths"] if path.endswith("{id}")], named, strict=True):
        described["paths"][path]["get"]["operationId"] = name
    aliases = load(described).aliases

    assert {"print", "import", "readLoan", "GET_items_rooms"}.isdisjoint(aliases)
    assert {"import_", "read_loan_2"} <= aliases.keys()


def test_a_program_calls_it_so(api: LocalAPI, museum: Protocol) -> None:
    answer(api, {}, {"data": LENDER})
    run = Sandbox(museum).run('print(readLender(id=7)["data"]["name"])')

    assert (run.stdout, [call.tool for call in run.calls]) == ("Hanabi\n", ["GET_items_lenders_id"])


def test_a_name_of_the_program_stays_its_own(museum: Protocol) -> None:
    assert Sandbox(museum).run("readLender = 3\nprint(readLender)").stdout == "3\n"
