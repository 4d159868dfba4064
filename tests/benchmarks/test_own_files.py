"""A user's own benchmark: `atc data new` makes it, `atc data show` describes it, `atc bench own` runs it."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from atc.agent import SIMULATED_NOW
from atc.apps.cli import main
from benchmarks.learning.new_tasks import TaskSettings, make_tasks
from benchmarks.learning.pairs.trial import RealService
from protocols import load
from protocols.errors import UsageError
from protocols.simulator import Simulator
from tests.local_api import Answer, LocalAPI, Received


def atc(*arguments: str | Path) -> Result:
    """Run the command in this process, where there is no terminal."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of five tasks for the small API of films, made once."""
    file = tmp_path_factory.mktemp("tasks") / "own.json"
    films = Path(__file__).parents[1] / "films.yaml"
    result = atc("data", "new", file, "--api", films, "--simulate", "--count", "5", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["tasks"] == 5
    assert f"next: atc bench own --tasks {file} --api {films} --simulate --out runs/own" in result.stderr
    return file


def entries(file: Path) -> list[dict[str, Any]]:
    """The tasks of a file."""
    data: list[dict[str, Any]] = json.loads(file.read_text())
    return data


def test_a_task_has_gold_calls_and_arguments(tasks: Path) -> None:
    """The gold of a task is what its program calls, how often, and with which arguments; it has an answer."""
    for entry in entries(tasks):
        assert dict(entry["solution"]) == Counter(call["tool"] for call in entry["calls"])
        assert all(isinstance(call["arguments"], dict) for call in entry["calls"])
        assert entry["query"] and entry["program"] and entry["answer"]
    assert len({entry["query"] for entry in entries(tasks)}) == 5
    assert not tasks.with_name("own.json.pairs.jsonl").exists()


def test_the_benchmark_runs_them(tasks: Path, films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """In the world of each task its program gives its answer: a model that writes these programs is right each time."""
    endpoint(*(f"```python\n{entry['program']}\n```" for entry in entries(tasks)))
    command = ("bench", "own", "--tasks", tasks, "--api", films, "--simulate", "--mode", "none")
    result = atc(*command, "--model", "openai:scripted", "--out", tmp_path / "run", "--json")

    assert result.exit_code == 0, result.output
    answers = {}
    for file in (tmp_path / "run" / "tasks").glob("*.json"):
        record = json.loads(file.read_text())
        answers[record["query"]] = str(record["solution"]["answer"]).strip()
        assert (record["metrics"]["success"], record["metrics"]["path"]) == (1, 1)
    assert answers == {entry["query"]: entry["answer"] for entry in entries(tasks)}


def test_they_are_shown(tasks: Path, films: Path) -> None:
    """Tasks, tools, mean gold calls, mean tokens of a tool's documentation, the kind of interface."""
    result = atc("data", "show", tasks, "--api", films, "--json")
    (row,) = json.loads(result.stdout)
    calls = [len(entry["calls"]) for entry in entries(tasks)]

    assert (row["tasks"], row["tools"], row["interface"]) == (5, 3, "RESTful API")
    assert row["gold_calls"] == pytest.approx(sum(calls) / 5, abs=0.01)
    assert row["gold_tools"] == pytest.approx(sum(len(entry["solution"]) for entry in entries(tasks)) / 5, abs=0.01)
    assert 50 < row["documentation_tokens"] < 500
    assert "RESTful" in atc("data", "show", tasks, "--api", films).stdout


def test_the_papers_benchmark_is_shown(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """RestBench's TMDB has 54 tools, as in Table 8 of the ATC paper, and about as much documentation for each."""
    monkeypatch.setenv("ATC_DATA", str(data))
    (row,) = json.loads(atc("data", "show", "restbench-tmdb", "--json").stdout)

    assert row["tools"] == 54
    assert row["gold_tools"] == pytest.approx(2.26, rel=0.2)
    assert row["documentation_tokens"] == pytest.approx(673.67, rel=0.2)


def test_the_same_seed_gives_the_same_tasks(tasks: Path, films: Path, tmp_path: Path) -> None:
    """What is asked, and the simulated service, depend on the seed alone."""
    file = tmp_path / "own.json"
    assert atc("data", "new", file, "--api", films, "--simulate", "--count", "5").exit_code == 0
    assert entries(file) == entries(tasks)


def test_a_real_service_is_read_and_not_written(films: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --simulate the service is asked, with a credential; no write reaches it."""
    log = tmp_path / "requests.jsonl"
    with Simulator(load(films), seed=3, now=SIMULATED_NOW, log=log) as service:
        monkeypatch.setenv("FILMS_TOKEN", service.credentials[0].secrets()[0])
        address = ("--api", films, "--base-url", service.url, "--auth", "bearer:env:FILMS_TOKEN")
        result = atc("data", "new", tmp_path / "own.json", *address, "--count", "2")
        assert result.exit_code == 0, result.output

    made = entries(tmp_path / "own.json")
    assert 1 <= len(made) <= 2
    requests = [json.loads(line) for line in log.read_text().splitlines()]
    assert {request["method"] for request in requests} == {"GET"}
    assert all(request["status"] != 401 for request in requests)
    assert service.credentials[0].secrets()[0] not in (tmp_path / "own.json").read_text() + result.output


def test_answers_that_change_make_no_task(tmp_path: Path) -> None:
    """A service that answers otherwise each time has no task in it; that is said, and no file is written."""
    counter, lengths = itertools.count(1000), itertools.count(1)

    def city(request: Received) -> Answer:
        return Answer(200, {"id": f"c{next(counter)}", "name": f"Town {next(counter)}", "population": next(counter)})

    def cities(request: Received) -> Answer:
        return Answer(200, {"results": [city(request).body for _ in range(next(lengths))]})

    with LocalAPI() as service:
        service.respond("GET", "/cities", cities)
        service.respond("GET", "/cities/oslo", city)
        settings = TaskSettings(tmp_path / "own.json", 1, 0, RealService(service.url))
        with pytest.raises(UsageError, match="nothing that was asked had an answer twice"):
            make_tasks(service.documented, settings, lambda number: None)

    assert service.requests and {request.method for request in service.requests} == {"GET"}
    assert not (tmp_path / "own.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("new", "there.json", "--api", "films.yaml", "--simulate"), "there.json exists; move it away"),
        (("new", "own.json", "--api", "missing.yaml", "--simulate"), "missing.yaml: no such file"),
        (("new", "own.json", "--simulate"), "Missing option '--api'"),
        (
            ("new", "own.json", "--api", "films.yaml", "--simulate", "--auth", "bearer:env:X"),
            "--simulate needs no --auth",
        ),
        (("show", "nothing"), "nothing is neither a file nor one of tiny, "),
        (("show", "there.json", "--api", "films.yaml"), "there.json cannot be read as JSON"),
    ],
)
def test_mistakes_are_named(
    arguments: tuple[str, ...], message: str, films: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is wrong, and what to do."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.json").write_text("no JSON")
    (tmp_path / "films.yaml").write_text(films.read_text())
    result = atc("data", *arguments)

    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr
