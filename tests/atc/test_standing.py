"""How far an answer can be relied on: its standing, what it rests on, and what becomes of it in the terminal.

What the model says beside its program is kept, and qualifies the answer by the model's own word.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from atc import Agent, Attempt, Solution, Usage
from atc.apps.tui.lines import LineView
from atc.apps.tui.parts import evidence_lines, note_lines, standing_text
from atc.program.source import note_beside
from atc.solution_file import read_solution
from protocols import load
from protocols.samples import sample
from tests.local_api import LocalAPI
from tests.scripted import ScriptedModel

QUESTION = "How many people live in Oslo?"
RIGHT = 'cities = GET_cities(query="Oslo")["results"]\ncity = max(cities, key=lambda city: city["population"])\n'
RIGHT += 'print(city["population"])'


def solve(api: LocalAPI, program: str, query: str = QUESTION, **options: object) -> Solution:
    with Agent(api.protocol, model=ScriptedModel(program), max_reflections=0, **options) as agent:  # type: ignore[arg-type]
        return agent.solve(query)


def test_a_supported_answer_shows_what_it_rests_on(weather: LocalAPI) -> None:
    """Places in replies, choices of the program, and arguments that the question gave; all of it as data, too."""
    solution = solve(weather, RIGHT)

    assert (solution.standing, solution.exit_code, solution.findings) == ("supported", 0, ())
    assert evidence_lines(solution) == [
        "rests on: GET_cities → results[0].population",
        "chosen by: line 2: order max(cities, key=lambda city: city['population'])",
        'from the question: query="Oslo"',
    ]
    data = json.loads(json.dumps(solution.to_json()))
    assert (data["standing"], data["findings"]) == ("supported", [])
    assert data["choices"][0]["kind"] == "order"


def test_a_doubtful_answer_has_its_findings(weather: LocalAPI) -> None:
    """Each is a warning; the exit code is that of an answer."""
    program = (
        'weather = GET_cities_city_id_weather(city_id="osl")\nprint(GET_cities(query="Oslo")["results"][0]["name"])'
    )
    solution = solve(weather, program, "What is the weather in Oslo?")

    assert (solution.standing, solution.exit_code) == ("doubtful", 0)
    assert "DeadCall" in [finding.kind for finding in solution.findings]
    assert [finding.warning() for finding in solution.findings] == list(solution.warnings)
    text = standing_text(solution)
    assert text is not None
    assert (text.style, text.plain.partition(":")[0]) == ("yellow", "doubtful")


@pytest.mark.parametrize("program", ["print(717710)", 'print("About 700,000 people")'])
def test_an_answer_of_the_model_alone_is_unsupported(weather: LocalAPI, program: str) -> None:
    """Nothing of it rests on a reply: it counts as no answer for a script."""
    solution = solve(weather, program)

    assert (solution.status, solution.standing, solution.exit_code) == ("answered", "unsupported", 1)


def test_nothing_that_came_back_supports_a_no(weather: LocalAPI) -> None:
    """A loop over an empty list prints nothing of a reply, and still rests on it."""
    weather.answer("GET", "/cities", {"results": []})
    program = 'names = []\nfor city in GET_cities(query="Oslo")["results"]:\n    names.append(city["name"])\n'
    solution = solve(weather, program + 'print(", ".join(names) or "No city")', "Is there a city called Oslo?")

    assert solution.standing != "unsupported"


def test_no_standing_without_an_answer(weather: LocalAPI) -> None:
    """A solve that failed has none, and shows no evidence."""
    solution = solve(weather, "print(GET_cities()['nothing'])")

    assert (solution.standing, evidence_lines(solution), standing_text(solution)) == (None, [], None)


def test_an_automatic_edit_is_shown(weather: LocalAPI) -> None:
    """A line that the model did not write is marked as such: in the attempt, as an event, and in the log."""
    lines: list[str] = []
    wrong = RIGHT.replace("query=", "qurey=").replace('["population"])\n', '["population"]))\n', 1)
    model = ScriptedModel(wrong.replace("]))\n", "])\n"))
    with Agent(weather.protocol, model=model, on_event=LineView(lines.append)) as agent:
        solution = agent.solve(QUESTION)

    assert [attempt.mended for attempt in solution.attempts] == [False, True]
    assert solution.attempts[1].diff == (
        '-cities = GET_cities(qurey="Oslo")["results"]',
        '+cities = GET_cities(query="Oslo")["results"]',
    )
    assert "attempt 2: changed without the model:" in lines
    assert any(line.endswith('+cities = GET_cities(query="Oslo")["results"]') for line in lines)


PROGRAM = '```python\nprint(GET_films(query="The Silent Harbor")["films"][0]["title"])\n```'
WATCHED = "Which film did I watch last? Perhaps The Silent Harbor?"


def solved(*texts: str) -> tuple[Solution, ScriptedModel]:
    model = ScriptedModel(*texts)
    with Agent(load(sample("cinema")), model, profile="large", simulate=True) as agent:
        return agent.solve(WATCHED), model


def noted(note: str) -> Solution:
    """An answer with a note beside its program."""
    attempt = Attempt("print(1)", "done", None, None, None, note=note)
    return Solution(WATCHED, "answered", "1", (attempt,), (), Usage(), {}, {})


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
