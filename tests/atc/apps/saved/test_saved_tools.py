"""`--api saved:DIR`: saved programs are the tools of later questions."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from atc import Agent
from protocols import UsageError, combine, load
from tests.atc_command import atc
from tests.local_api import LocalAPI, document
from tests.scripted import ScriptedModel

PROGRAM = 'city = GET_cities(query="Oslo")["results"][0]\nprint(GET_cities_city_id(city["id"])["population"])'


@pytest.fixture(scope="module")
def api() -> Iterator[LocalAPI]:
    with LocalAPI() as api:
        yield api


@pytest.fixture(scope="module")
def saved_files(api: LocalAPI, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the document of an API, and in `tools` the saved programs `population` and `warn`."""
    folder = tmp_path_factory.mktemp("saved")
    (folder / "api.json").write_text(json.dumps(document(api.url)))
    (folder / "tools").mkdir()
    programs = {
        "population": (PROGRAM, "How many people live in Oslo?"),
        "warn": ('print(POST_alerts(text="Ice")["text"])', 'Post an alert that says "Ice".'),
    }
    answer_all(api)
    for name, (program, question) in programs.items():
        agent = Agent(load(folder / "api.json"), ScriptedModel(program, program), base_url=api.url, writes="allow")
        (folder / "solution.json").write_text(json.dumps(agent.solve(question).to_json()))
        file = folder / "tools" / f"{name}.py"
        assert atc("save", folder / "solution.json", "-o", file, "--api", folder / "api.json").exit_code == 0
    return folder


def answer_all(api: LocalAPI) -> None:
    api.answer("GET", "/cities", {"results": [{"id": "osl", "name": "Oslo"}]})
    api.answer("GET", "/cities/osl", {"name": "Oslo", "population": 717710})
    api.answer("POST", "/alerts", {"text": "Ice", "level": 1}, status=201)


@pytest.fixture
def weather(api: LocalAPI, saved_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalAPI:
    """The API, beside a copy of those files."""
    monkeypatch.setenv("TOKEN", "s3cr3t-t0ken")
    shutil.copytree(saved_files, tmp_path, dirs_exist_ok=True)
    answer_all(api)
    api.requests.clear()
    return api


def test_saved_programs_are_functions(weather: LocalAPI, tmp_path: Path) -> None:
    """Each has its parameters with types and defaults, its description, and reads or writes as its calls do."""
    protocol = load(f"saved:{tmp_path / 'tools'}")
    population, warn = protocol.tools

    assert (population.name, population.method, warn.name, warn.method) == ("population", "READ", "warn", "CALL")
    assert [(a.argument, a.required, a.schema["default"]) for a in population.arguments] == [("query", False, "Oslo")]
    assert population.summary == "How many people live in Oslo?"


def test_a_later_question_calls_them(weather: LocalAPI, tmp_path: Path) -> None:
    """A program over saved tools and the API's own; credentials reach the API, and the answer comes of its replies."""
    both = combine(
        {"mine": f"saved:{tmp_path / 'tools'}", "api": str(tmp_path / "api.json")}, ["mine=bearer:env:TOKEN"]
    )
    program = (
        'bergen = int(mine__population(query="Bergen"))\n'
        'names = [city["name"] for city in api__GET_cities(query="Oslo")["results"]]\n'
        "print(bergen, names[0])"
    )
    auth = ["mine=bearer:env:TOKEN", "api=bearer:env:TOKEN"]
    agent = Agent(both, ScriptedModel(program), auth=auth)
    solution = agent.solve("How many people live in Bergen, and what is Oslo called?")

    assert solution.answer == "717710 Oslo", solution.message
    assert weather.requests[0].query == (("query", "Bergen"),)
    assert {request.headers["authorization"] for request in weather.requests} == {"Bearer s3cr3t-t0ken"}


def test_a_saved_program_that_writes_is_a_write(weather: LocalAPI, tmp_path: Path) -> None:
    """The writes policy decides on its call, before anything is sent."""
    (tmp_path / "own.py").write_text('print(warn(text="Snow"))')
    place = ["--api", f"saved:{tmp_path / 'tools'}", "--auth", "bearer:env:TOKEN"]

    assert atc("run", tmp_path / "own.py", *place, "--writes", "deny").exit_code == 3
    assert weather.requests == []
    assert atc("run", tmp_path / "own.py", *place).stdout == "Ice\n"
    assert weather.requests[0].json() == {"text": "Snow"}


def test_what_fails_in_a_saved_program_is_an_error_of_its_call(weather: LocalAPI, tmp_path: Path) -> None:
    """The program that called it sees which tool failed, and why."""
    weather.answer("GET", "/cities", {"results": []})
    (tmp_path / "own.py").write_text("print(population())")
    result = atc("run", tmp_path / "own.py", "--api", f"saved:{tmp_path / 'tools'}", "--auth", "bearer:env:TOKEN")

    assert result.exit_code == 1
    assert "population" in result.stderr
    assert "IndexError: list index out of range" in result.stderr


def test_a_folder_without_programs_or_with_broken_ones_is_told(weather: LocalAPI, tmp_path: Path) -> None:
    """No folder, an empty one, a changed API, two programs of one name, credentials for several APIs: UsageError."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="names no folder"):
        load(f"saved:{tmp_path / 'none'}")
    with pytest.raises(UsageError, match="holds no saved program; `atc save SOLUTION"):
        load(f"saved:{tmp_path / 'empty'}")
    tools = tmp_path / "tools"
    (tools / "copy.py").write_text((tools / "warn.py").read_text())
    with pytest.raises(UsageError, match="another program of the folder is called warn, too"):
        load(f"saved:{tools}")
    text = (tools / "warn.py").read_text()
    (tools / "copy.py").write_text(text.replace("'digest': '", "'digest': '0").replace("def warn", "def copy"))
    with pytest.raises(UsageError, match="has programs of several APIs"):
        load(f"saved:{tools}", ["bearer:env:TOKEN"])
    (tools / "copy.py").unlink()
    data = json.loads((tmp_path / "api.json").read_text())
    del data["paths"]["/alerts"]
    (tmp_path / "api.json").write_text(json.dumps(data))
    with pytest.raises(UsageError, match=r"POST_alerts .POST /alerts. is no tool of the API any more"):
        load(f"saved:{tools}")
