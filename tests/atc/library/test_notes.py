"""What the model says beside its program is kept, shown under the answer, and qualifies it by the model's own word."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from atc import Agent, Attempt, Solution, Usage
from atc.apps.tui.parts import note_lines
from atc.program.source import note_beside
from atc.solution_file import read_solution
from protocols import load
from protocols.samples import sample
from tests.scripted import ScriptedModel

PROGRAM = '```python\nprint(GET_films(query="The Silent Harbor")["films"][0]["title"])\n```'
QUESTION = "Which film did I watch last? Perhaps The Silent Harbor?"


def solved(*texts: str) -> tuple[Solution, ScriptedModel]:
    model = ScriptedModel(*texts)
    with Agent(load(sample("cinema")), model, profile="large", simulate=True) as agent:
        return agent.solve(QUESTION), model


def noted(note: str) -> Solution:
    """An answer with a note beside its program."""
    attempt = Attempt("print(1)", "done", None, None, None, note=note)
    return Solution(QUESTION, "answered", "1", (attempt,), (), Usage(), {}, {})


def test_the_note_is_kept(tmp_path: Path) -> None:
    """It is in the solution, its JSON and the file that is read back, and on the screen."""
    solution, _ = solved(f"There is one film of that name.\n{PROGRAM}\nIt is the newest.")
    (tmp_path / "solution.json").write_text(json.dumps(solution.to_json()), "utf-8")

    assert solution.note == "There is one film of that name.\n\nIt is the newest."
    assert solution.standing == "supported"
    assert solution.to_json()["note"] == solution.note
    assert read_solution(tmp_path / "solution.json").note == solution.note
    assert note_lines(solution) == ["note: There is one film of that name.", "      It is the newest."]


@pytest.mark.parametrize(
    "line",
    [
        "Assumption: the film in the player is the last one.",
        "- **Not possible:** no function lists what was watched.",
        "Assumptions: no film is hidden.",
        "1. Assumption: the titles are unique.",
    ],
)
def test_what_the_model_assumed_qualifies_the_answer(line: str) -> None:
    """The answer stands, and says what it depends on."""
    solution = noted(line)

    assert solution.standing == "qualified"
    assert solution.qualifications == (line.removeprefix("1. ").strip("- *"),)
    assert solution.exit_code == 0


@pytest.mark.parametrize("line", ["Assumption: none.", "Not possible: nothing"])
def test_nothing_assumed_qualifies_nothing(line: str) -> None:
    assert noted(line).standing == "supported"


def test_a_note_without_a_program_is_no_answer() -> None:
    """It is asked for a program; where none comes, its words are what the user reads."""
    words = "Not possible: there is no such function."
    solution, model = solved(words, PROGRAM)
    unsolved, _ = solved(*[words] * 4)

    assert solution.answer == "The Silent Harbor"
    assert len(model.asked) == 2
    assert (unsolved.status, unsolved.note, note_lines(unsolved)) == ("failed", words, [f"note: {words}"])
    assert unsolved.message.endswith(
        f"the answer held no Python program; write one in a code block; it held only this: {words}"
    )


@pytest.mark.parametrize(
    "opening", ["<think>\nWhich one?\n```python\nx\n```\n</think>", "Which one?\n</think>\n\n", ""]
)
def test_thoughts_are_no_note(opening: str) -> None:
    """Nor are they in a prompt; the first tag may be in the prompt's template."""
    solution, model = solved(f"{opening}```python\nprint(1 / 0)\n```\nDone.", PROGRAM)

    assert solution.attempts[0].note == "Done."
    assert "Which one?" not in str(model.asked[1])
    assert note_beside("print(1)") == ""
