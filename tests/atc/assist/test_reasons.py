"""A write needs a reason in the question, and is told of in the answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from atc import Agent, Solution
from atc.assist.language.question import Question
from atc.assist.rules.write_reasons import missing_names
from protocols import load
from sandbox.records import CallRecord
from tests.local_api import LocalAPI
from tests.protocols.documents.expandable import document
from tests.scripted import ScriptedModel

VASE = {"id": 2, "name": "Red Vase", "status": "shown"}
BOWL = {"id": 3, "name": "Blue Bowl", "status": "shown"}


@pytest.fixture
def api() -> Iterator[LocalAPI]:
    with LocalAPI() as service:
        service.answer("GET", "/items/paintings", {"data": [VASE, BOWL]})
        service.answer("PATCH", "/items/paintings/2", {"data": {**VASE, "status": "lost"}})
        service.answer("PATCH", "/items/paintings/3", {"data": {**BOWL, "status": "lost"}})
        service.answer("POST", "/items/paintings", {"data": {"id": 9, "name": "Green Jar"}})
        service.answer("DELETE", "/items/paintings/2", None, 204)
        yield service


def solved(api: LocalAPI, question: str, program: str, **options: object) -> Solution:
    model = ScriptedModel(f"```python\n{program}\n```")
    with Agent(load(document(api.url)), model=model, writes="allow", max_reflections=0, **options) as agent:  # type: ignore[arg-type]
        return agent.solve(question)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ('Set the status of "Red Vase" to lost', ["Red Vase"]),
        ("Rename the file notes/draft.txt to notes/final.txt", ["notes/draft.txt", "notes/final.txt"]),
        ("Delete todo.txt and/or nothing.", ["todo.txt"]),
        ("Set the price of product 2 to 89.50.", ["2", "89.50"]),
        ("Raise it by 10 % at 5 pm, by 12:30, before 2026-11-24", []),
        ("Rename \u2018Red\u2019 to “Blue”, not Bob's", ["Red", "Blue"]),
        ("See https://example.com/a/b about it", []),
    ],
)
def test_what_a_question_names(question: str, names: list[str]) -> None:
    assert sorted(Question(question).named_values) == sorted(names)


def test_what_is_said_by_the_program_or_given_to_a_call_is_said() -> None:
    call = CallRecord(0, "GET_x", "GET", "http://x", {"name": "red  vase", "n": 89.5}, 1, 200, 1.0, 1, "function")

    assert missing_names(Question('Set "Red Vase" to 89.50'), "", [call]) == []
    assert missing_names(Question('Set "Red Vase" to 89.50'), 'x(name="Red Vase", price=89.5)') == []
    assert missing_names(Question("Charge 24.99 euros"), 'x(amount={"value": 2499})') == [], "in cents"
    assert missing_names(Question("Charge 24.99 euros"), 'x(amount={"value": 2500})') == ["24.99"]
    assert missing_names(Question("Move a/draft.txt"), 'move(folder="a", file="draft.txt")') == []
    assert missing_names(Question('Set "Red Vase" to 89.50'), "x(GET_x()[0])") == ["Red Vase", "89.50"]


_FIRST = 'first = GET_items_paintings()["data"][0]\nPATCH_items_paintings_id(id=first["id"], status="lost")'
_MEANT = (
    'vase = next(one for one in GET_items_paintings()["data"] if one["name"] == "Red Vase")\n'
    'PATCH_items_paintings_id(id=vase["id"], status="lost")'
)


def test_a_write_to_what_happens_to_be_first_is_not_sent(api: LocalAPI) -> None:
    solution = solved(api, 'Set the status of the painting "Red Vase" to lost.', _FIRST)

    assert solution.status == "refused"
    assert "names 'Red Vase'" in solution.message
    assert [request.method for request in api.requests] == ["GET"]


def test_the_model_is_told_what_its_program_does_not_name(api: LocalAPI) -> None:
    model = ScriptedModel(f"```python\n{_FIRST}\n```", f"```python\n{_MEANT}\n```")
    with Agent(load(document(api.url)), model=model, writes="allow") as agent:
        solution = agent.solve('Set the status of the painting "Red Vase" to lost.')

    assert (solution.status, len(model.asked)) == ("answered", 2)
    assert 'does not name "Red Vase"' in model.asked[-1][-1].content + model.asked[-1][-2].content


def test_somebody_may_confirm_it(api: LocalAPI) -> None:
    confirmed: list[CallRecord] = []

    def confirm(call: CallRecord) -> bool:
        confirmed.append(call)
        return True

    solution = solved(api, 'Set the status of the painting "Red Vase" to lost.', _FIRST, confirm=confirm)

    assert (solution.status, len(confirmed)) == ("answered", 1)


def test_a_question_that_only_asks_never_writes(api: LocalAPI) -> None:
    solution = solved(api, "Which paintings are lost?", _FIRST)

    assert solution.status == "refused"
    assert "only asks" in solution.message
    assert [request.method for request in api.requests] == ["GET"]


@pytest.mark.parametrize(
    ("question", "program", "answer"),
    [
        ('Set the status of the painting "Red Vase" to lost.', _MEANT, "painting 2: status shown -> lost"),
        (
            'Create a painting called "Green Jar".',
            'POST_items_paintings(name="Green Jar")',
            "painting 9: made with name Green Jar",
        ),
        ("Delete painting 2.", "DELETE_items_paintings_id(id=2)", "painting 2: removed"),
    ],
)
def test_the_answer_says_what_changed(api: LocalAPI, question: str, program: str, answer: str) -> None:
    solution = solved(api, question, program)

    assert (solution.status, solution.answer) == ("answered", answer), solution.message


def test_the_model_is_told_that_a_question_only_asks(api: LocalAPI) -> None:
    reading = 'print([one["name"] for one in GET_items_paintings()["data"] if one["status"] == "shown"])'
    model = ScriptedModel(f"```python\n{_FIRST}\n```", f"```python\n{reading}\n```")
    with Agent(load(document(api.url)), model=model, writes="allow") as agent:
        solution = agent.solve("Which paintings are shown?")

    assert solution.answer == "['Red Vase', 'Blue Bowl']"
    assert [request.method for request in api.requests] == ["GET"]


def test_a_question_that_changes_something_makes_nothing(api: LocalAPI) -> None:
    program = (
        'made = POST_items_paintings(name="Red Vase")["data"]\nPATCH_items_paintings_id(id=made["id"], status="lost")'
    )
    solution = solved(api, 'Set the status of the painting "Red Vase" to lost.', program)

    assert solution.status == "refused"
    assert "makes a new thing" in solution.message
    assert api.requests == []


@pytest.mark.parametrize(
    ("question", "only"),
    [
        ('Set the price of "Rear light" to 15.', True),
        ("Please rename a.txt to b.txt, and delete c.txt.", True),
        ("Set a timer for ten minutes.", False),
        ("Add a customer called Ada.", False),
        ("Move the file and create a folder.", False),
        ("Which prices are set?", False),
    ],
)
def test_what_only_changes(question: str, only: bool) -> None:
    assert Question(question).changes_only is only
