"""`atc trace`: a solution as one HTML page, in a file and in a browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from atc import Agent
from atc.apps.cli import main
from tests.benchmarks.report_runs import task, write_run
from tests.browser import Browser, open_browser
from tests.local_api import LocalAPI
from tests.scripted import ScriptedModel

EVIL = '</pre><script>document.title="owned"</script><img src=x onerror="document.title=1">'
CRASH = 'cities = GET_cities(query="Oslo")["results"]\nprint(cities[5]["name"])'
GOOD = """cities = GET_cities(query="Oslo")["results"]
city = GET_cities_city_id(city_id=cities[0]["id"])
print(city["name"], city["population"])
"""
QUESTION = "How many people live in Oslo?"


def trace(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["trace", *map(str, arguments)])


@pytest.fixture
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


@pytest.fixture
def page(weather: LocalAPI, tmp_path: Path) -> Path:
    """The page of a solve whose first program fails."""
    page = tmp_path / "page.html"
    result = trace(solved(weather, tmp_path, CRASH, GOOD), "-o", page)
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
def test_a_reply_that_is_markup_does_nothing(weather: LocalAPI, tmp_path: Path, browser: Browser) -> None:
    """Replies, programs, errors and answers are text; nothing of them runs, loads or ends the page's elements."""
    weather.answer("GET", "/cities", {EVIL: [{"name": EVIL, "\u202ex": "\x1b[2J"}]})
    weather.answer("GET", "/alerts", {"message": EVIL}, status=422)
    failing = f"print(GET_cities(query={EVIL!r}))\nraise ValueError({EVIL!r})"
    printing = f"reply = GET_cities(query='Oslo')\nprint(list(reply)[0], {EVIL!r})"
    file = solved(weather, tmp_path, failing, "GET_alerts()", printing)
    trace(file, "-o", tmp_path / "page.html")
    browser.open(tmp_path / "page.html")

    assert browser.count("script, img") == 0
    assert EVIL in browser.text(".answer")
    browser.click(".calls details summary")
    assert EVIL in browser.text(".calls details").replace('\\"', '"')
    assert browser.run("return document.title") == "atc trace"
    assert browser.logged() == []
    assert "\u202e" not in (tmp_path / "page.html").read_text()


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
