"""`verify`: the model looks at its answer once more, and what it names is one revision."""

from __future__ import annotations

import json
from pathlib import Path

from atc import Agent, Solution
from atc.apps.tui.parts import note_lines
from atc.solution_file import read_solution
from protocols import load
from protocols.samples import sample
from tests.scripted import ScriptedModel

TITLE = '```python\nprint(GET_films(query="The Silent Harbor")["films"][0]["title"])\n```'
YEAR = '```python\nprint(GET_films(query="The Silent Harbor")["films"][0]["releaseDate"][:4])\n```'
BROKEN = '```python\nprint(GET_films(query="The Silent Harbor")["films"][0]["released"])\n```'
FAULT = "Fault: line 1 prints the title; it should print the year."


def solved(*texts: str, mode: str = "attribute") -> tuple[Solution, ScriptedModel]:
    model = ScriptedModel(*texts)
    with Agent(load(sample("cinema")), model, mode, profile="large", simulate=True, verify=True) as agent:
        return agent.solve("In which year was The Silent Harbor made?"), model


def test_an_answer_that_may_stand_costs_one_more_call(tmp_path: Path) -> None:
    """The model is shown the question, the program, what was printed, and where that comes from."""
    solution, model = solved(YEAR, "`ok`")
    (tmp_path / "solution.json").write_text(json.dumps(solution.to_json()), "utf-8")

    assert solution.verification is not None
    assert solution.verification.outcome == "ok"
    assert solution.usage.model_calls == 2
    assert solution.standing == "supported"
    assert note_lines(solution) == ["verified: a second look named nothing wrong"]
    assert read_solution(tmp_path / "solution.json").verification == solution.verification
    (message,) = model.asked[1]
    assert "In which year was The Silent Harbor made?" in message.content
    assert f'["films"][0]["releaseDate"] = "{solution.answer}-' in message.content
    assert "line 1: GET_films(query='The Silent Harbor') -> 200" in message.content


def test_a_named_fault_is_one_revision() -> None:
    """The revision is told of it, and its answer takes the place of the first one."""
    solution, model = solved(TITLE, FAULT, YEAR, mode="none")

    assert solution.verification is not None
    assert solution.verification.outcome == "revised"
    assert solution.answer is not None
    assert solution.answer.isdigit()
    assert [attempt.stage for attempt in solution.attempts] == ["answer", "done"]
    assert "line 1 prints the title; it should print the year." in model.asked[2][-1].content
    assert solution.usage.model_calls == 3


def test_a_revision_that_fails_leaves_the_answer_with_what_was_named() -> None:
    solution, _ = solved(TITLE, FAULT, BROKEN)

    assert solution.answer == "The Silent Harbor"
    assert solution.standing == "qualified"
    assert solution.to_json()["verification"] == {
        "outcome": "stands",
        "fault": "line 1 prints the title; it should print the year.",
        "message": "the revision failed: 'released'",
    }


def test_a_model_that_says_neither_leaves_the_answer() -> None:
    for texts in ((TITLE, "Well."), (TITLE,)):
        solution, _ = solved(*texts)

        assert solution.answer == "The Silent Harbor"
        assert solution.verification is not None
        assert solution.verification.outcome == "unverified"
        assert solution.standing == "supported"


def test_what_was_written_is_not_written_anew() -> None:
    """A doubt is told, and nothing is done twice for it."""
    remove = "```python\nDELETE_me_watchlist(filmIds=[41])\nprint('removed')\n```"
    solution, model = solved(remove, "Fault: line 1 removes film 41; it should be 42.", YEAR)

    assert len(model.asked) == 2
    assert solution.verification is not None
    assert solution.verification.outcome == "stands"
    assert len(solution.attempts) == 1
