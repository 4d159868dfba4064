"""`atc data show` describes a task file, a user's own or a paper's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.atc_command import atc

GOLD = {
    'When was "The Long Tide" made?': [["GET_search_film", 1]],
    'Who made "The Long Tide"?': [["GET_search_film", 1], ["GET_film_film_id_credits", 1]],
}


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """A file of two tasks for the small API of films."""
    file = tmp_path / "own.json"
    file.write_text(json.dumps([{"query": query, "solution": gold} for query, gold in GOLD.items()]))
    return file


def test_they_are_shown(tasks: Path, films: Path) -> None:
    """Tasks, tools, mean gold calls, mean tokens of a tool's documentation, the kind of interface."""
    result = atc("data", "show", tasks, "--api", films, "--json")
    (row,) = json.loads(result.stdout)

    assert (row["tasks"], row["tools"], row["interface"]) == (2, 3, "RESTful API")
    assert row["gold_calls"] == row["gold_tools"] == 1.5
    assert 50 < row["documentation_tokens"] < 500
    assert "RESTful" in atc("data", "show", tasks, "--api", films).stdout


def test_the_papers_benchmark_is_shown(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """RestBench's TMDB has 54 tools, as in Table 8 of the ATC paper, and about as much documentation for each."""
    monkeypatch.setenv("ATC_DATA", str(data))
    (row,) = json.loads(atc("data", "show", "restbench-tmdb", "--json").stdout)

    assert row["tools"] == 54
    assert row["gold_tools"] == pytest.approx(2.26, rel=0.2)
    assert row["documentation_tokens"] == pytest.approx(673.67, rel=0.2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing",), "nothing is neither a file nor one of tiny, "),
        (("there.json", "--api", "films.yaml"), "there.json cannot be read as JSON"),
    ],
)
def test_mistakes_are_named(
    arguments: tuple[str, ...], message: str, films: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is wrong, and what to do."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.json").write_text("no JSON")
    (tmp_path / "films.yaml").write_text(films.read_text())
    result = atc("data", "show", *arguments)

    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr
