"""`atc trace`: a solution as one HTML page, in a file and in a browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result

from atc import Agent
from atc.models.base import Usage
from atc.solution import Solution
from tests.atc_command import atc
from tests.benchmarks.report_runs import task, write_run
from tests.browser import Browser, open_browser
from tests.local_api import LocalAPI
from tests.scripted import ScriptedModel

CRASH = 'cities = GET_cities(query="Oslo")["results"]\nprint(cities[5]["name"])'
GOOD = """cities = GET_cities(query="Oslo")["results"]
city = GET_cities_city_id(city_id=cities[0]["id"])
print(city["name"], city["population"])
"""
QUESTION = "How many people live in Oslo?"


def trace(*arguments: str | Path) -> Result:
    return atc("trace", *arguments)


@pytest.fixture(scope="module")
def weather() -> Iterator[LocalAPI]:
    with LocalAPI() as api:
        api.answer("GET", "/cities", {"results": [{"id": "osl", "name": "Oslo", "note": "in the north"}]})
        api.answer("GET", "/cities/osl", {"name": "Oslo", "population": 717710})
        yield api


def solved(api: LocalAPI, folder: Path, *programs: str, mode: str = "attribute") -> Path:
    """A file with a solution, as `atc solve --out` writes it."""
    solution = Agent(api.protocol, ScriptedModel(*programs), mode=mode).solve(QUESTION)
    file = folder / "solution.json"
    file.write_text(json.dumps(solution.to_json()))
    return file


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One window for the tests of this module."""
    with open_browser() as window:
        yield window


@pytest.fixture(scope="module")
def page(weather: LocalAPI, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a solve whose first program fails."""
    folder = tmp_path_factory.mktemp("page")
    page = folder / "page.html"
    result = trace(solved(weather, folder, CRASH, GOOD), "-o", page)
    assert (result.exit_code, result.stderr) == (0, f"atc: wrote {page}\n")
    return page


def test_the_page_loads_nothing_and_is_private(page: Path) -> None:
    """One file: no script, no address but those of calls, a policy that forbids loading; nobody else may read it."""
    text = page.read_text()

    assert "default-src 'none'" in text
    assert not any(sign in text for sign in ("<script", "<link", "@import", "url(", "src="))
    assert page.stat().st_mode & 0o777 == 0o600


@pytest.mark.browser
def test_the_page_in_a_browser(page: Path, browser: Browser) -> None:
    """Answer, evidence, data flow, and each attempt with its calls at their lines, its fault and what was changed."""
    browser.open(page)
    text = browser.text("main")

    assert all(part in text for part in (QUESTION, "Oslo 717710", "supported", "Evidence", "Data flow"))
    assert "call 1 GET_cities_city_id → population: “717710”" in text
    assert "Attributed to GET_cities" in text
    assert browser.count(".program .line.failed") == 1
    assert browser.text(".program .line.failed").startswith('print(cities[5]["name"])')
    assert "in the north" not in text
    browser.click(".calls details summary")
    assert "in the north" in browser.text(".calls details")
    browser.click(".changes summary")
    assert '-print(cities[5]["name"])' in browser.text(".changes")
    browser.click("a.at[href='#s-a1-c1']")
    assert browser.count("tr#s-a1-c1:target") == 1
    assert browser.logged() == []


@pytest.mark.browser
def test_a_search_is_a_tree(weather: LocalAPI, tmp_path: Path, browser: Browser) -> None:
    """In a mode that makes one call at a time, the messages fold open."""
    call = 'Thought: first I search\nAction: GET_cities\nAction Input: {"query": "Oslo"}'
    end = "Thought: I know\nAction: finish\nAction Input: Oslo"
    trace(solved(weather, tmp_path, call, end, mode="react"), "-o", tmp_path / "page.html")
    browser.open(tmp_path / "page.html")

    assert "2 messages" in browser.text(".tree > summary")
    browser.click(".tree > summary")
    assert "first I search" in browser.text(".tree ul")


def test_a_task_of_a_run(tmp_path: Path) -> None:
    """The folder of `atc bench` and the id of a task; a task's own file will do, too."""
    run = write_run(tmp_path / "run", [task("q1", "Who made Titanic?"), task("q2", "Who made Tide?")])
    for entry in (run / "tasks").glob("*.json"):
        data = json.loads(entry.read_text())
        data["solution"] |= {"usage": {"model_calls": 1}, "versions": {}, "warnings": [], "flow": []}
        for attempt in data["solution"]["attempts"]:
            attempt["run"] |= {"error": None, "resources": {"output": 8}}
        entry.write_text(json.dumps(data))
    page = tmp_path / "page.html"

    by_id = trace(run, "--task", "q2", "-o", page)
    assert by_id.exit_code == 0, by_id.output
    assert "Who made Tide?" in page.read_text()
    assert trace(run / "tasks" / "q1.json", "-o", page).exit_code == 0
    assert "Who made Titanic?" in page.read_text()


def test_what_is_no_solution_is_told(tmp_path: Path) -> None:
    """A damaged or foreign file, a folder without a task, a task that is not there: exit code 2 and what to name."""
    run = write_run(tmp_path / "run", [task("q1"), task("q2")])
    (tmp_path / "no.json").write_text("{")
    (tmp_path / "foreign.json").write_text('{"openapi": "3.1.0"}')
    (tmp_path / "damaged.json").write_text('{"query": "?", "attempts": [{"program": 3}]}')
    cases = {
        ("no.json",): "no.json is no JSON",
        ("foreign.json",): "foreign.json holds no solution; `atc solve --out FILE`",
        ("damaged.json",): "damaged.json is damaged: ",
        ("run",): "name one of its tasks with --task (q1, q2)",
        ("run", "--task", "q9"): "name one of its tasks with --task (q1, q2)",
        ("run/tasks",): "holds no run with finished tasks",
        ("run/tasks/q1.json", "--task", "q1"): "q1.json is a file; --task names a task in the folder of a run",
    }
    for (name, *options), message in cases.items():
        result = trace(tmp_path / name, *options, "-o", tmp_path / "page.html")

        assert result.exit_code == 2, name
        assert message in result.stderr
        assert "Traceback" not in result.stderr
    assert not (tmp_path / "page.html").exists()
    assert run.is_dir()


def test_a_notebook_shows_names_and_answers_as_text() -> None:
    """Also the status and the names of tools, which come from elsewhere."""
    tag = "<script>alert(1)</script>"
    page = Solution(tag, "failed", None, (), (tag,), Usage(), {"total": 1.0}, {}, message=tag)._repr_html_()

    assert "<script" not in page
