"""Solutions read back from their files, whole, damaged, or no solutions at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from atc.apps.tui.stored import stored_solutions
from atc.files import write_json
from atc.solution import Solution
from atc.solution_file import read_solution
from docs.pictures import PICTURES, solved
from protocols.errors import UsageError


@pytest.fixture(scope="module", params=list(PICTURES))
def solution(request: pytest.FixtureRequest) -> Solution:
    """A solve with a revision, with a doubtful answer, and by a search."""
    picture = PICTURES[request.param]
    return solved(picture.mode, picture.messages)


def test_a_solution_comes_back_whole(solution: Solution, tmp_path: Path) -> None:
    """What `--out` writes holds all that is shown of a solution: read and written again it is the same."""
    file = tmp_path / "solution.json"
    write_json(file, solution.to_json())
    again = read_solution(file)

    assert json.loads(json.dumps(again.to_json())) == json.loads(file.read_text())
    assert (again.standing, again.evidence, again.flow) == (solution.standing, solution.evidence, solution.flow)


@pytest.fixture(scope="module")
def repaired() -> str:
    """The JSON of a solve with a revision."""
    picture = PICTURES["tui.svg"]
    return json.dumps(solved(picture.mode, picture.messages).to_json())


def without_calls(data: dict[str, Any]) -> None:
    data["attempts"][-1]["calls"] = []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.update(status="won"), "status"),
        (lambda data: data["attempts"][0].update(run=[]), "attempts.0.run"),
        (lambda data: data["attempts"][0]["calls"].append(7), "attempts.0.run.calls.2"),
        (lambda data: data.update(usage=None), "usage"),
        (without_calls, "it names calls that are not in it"),
    ],
)
def test_a_damaged_solution_is_refused_with_its_place(
    change: Callable[[dict[str, Any]], object], message: str, repaired: str, tmp_path: Path
) -> None:
    """The message names the file and the member; there is no stack trace."""
    data = json.loads(repaired)
    change(data)
    write_json(tmp_path / "solution.json", data)

    with pytest.raises(UsageError) as raised:
        read_solution(tmp_path / "solution.json")
    assert str(raised.value).startswith(f"{tmp_path / 'solution.json'} is damaged: {message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no JSON: "),
        ("[" * 100_000, "is no JSON: "),
        ('{"query": "q", "attempts": [' + "[" * 600 + "]" * 600 + "]}", "is nested too deeply"),
        ("\x00\xff", "is no JSON: "),
        ('{"solution": 3}', "holds no solution"),
    ],
)
def test_another_file_is_refused(text: str, message: str, tmp_path: Path) -> None:
    """What is no JSON or no solution says so."""
    file = tmp_path / "file.json"
    file.write_text(text, "latin-1")

    with pytest.raises(UsageError, match=message):
        read_solution(file)


def test_a_file_of_any_size_is_no_load(tmp_path: Path) -> None:
    """A file that is too large for a solution is not read: in a list it stands with its reason."""
    file = tmp_path / "large.json"
    with file.open("wb") as large:
        large.truncate(2**40)  # takes no room on the disk

    assert [stored.problem for stored in stored_solutions(tmp_path) if stored] == [
        "cannot be read: it has more than 268,435,456 bytes, and no such file has"
    ]


def test_a_folder_is_searched(tmp_path: Path) -> None:
    """Solutions lie at any depth. Hidden files, other JSON, pipes and loops of links are no solutions; a damaged one is
    listed with its reason, and a missing end of a link too."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / ".hidden").mkdir()
    good = {"query": "q", "status": "answered", "attempts": [{"calls": [1, 2]}, 3], "usage": {"prompt_tokens": 7}}
    for place in ("a/b/one.json", ".hidden/two.json", ".three.json"):
        write_json(tmp_path / place, good)
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "half.json").write_text('{"query')
    write_json(tmp_path / "usage.json", {**good, "usage": 3})
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "gone.json").symlink_to(tmp_path / "nowhere")
    found = list(stored_solutions(tmp_path))
    listed = {stored.name: stored for stored in found if stored is not None}

    assert found.count(None) == 1
    assert sorted(listed) == ["a/b/one.json", "gone.json", "half.json", "usage.json"]
    assert (listed["a/b/one.json"].calls, listed["a/b/one.json"].tokens) == (2, 7)
    assert listed["half.json"].problem.startswith("is no JSON: ")
    assert listed["usage.json"].problem == "is damaged: its attempts are no list, or its usage no object"
    assert listed["gone.json"].status == "damaged"
