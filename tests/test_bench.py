"""`atc bench`: reading RestBench's files, running them with a scripted model, going on after a stop, the figures."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from atc.cli import main
from benchmarks.metrics import Gold, Score
from benchmarks.report import summarize
from benchmarks.restbench import Task, offer, read_tasks
from benchmarks.runner import Result as TaskResult
from benchmarks.runner import Settings
from protocols import Protocol, UsageError, load

SEARCH, CREDITS, LATEST = "GET_search_film", "GET_film_film_id_credits", "GET_film_latest"
BOTH = """```python
film = GET_search_film(query="The Long Tide")["results"][0]
print(GET_film_film_id_credits(film_id=film["id"])["crew"][0]["name"])
```"""
SEARCH_ONLY = '```python\nprint(GET_search_film(query="Tide")["results"][0]["title"])\n```'
TASKS = [
    {"query": "Who made The Long Tide?", "solution": ["GET /search/film", "GET /film/{film_id}/credits"]},
    {"query": "Who made Harbour Lights?", "solution": ["GET /search/film", "GET /film/{film_id}/credits"]},
    {"query": "Is there a film called Tide?", "solution": ["GET /search/film"]},
]


@pytest.fixture
def protocol(films: Path) -> Protocol:
    """The films API."""
    return load(films)


def write(folder: Path, tasks: object) -> Path:
    """A task file."""
    file = folder / "tasks.json"
    file.write_text(json.dumps(tasks))
    return file


def command(films: Path, tasks: Path, out: Path, *more: str) -> list[str]:
    """The arguments of a run against the simulated API with the scripted model."""
    files = ["--tasks", str(tasks), "--api", str(films), "--out", str(out)]
    return ["bench", "restbench-tmdb", *files, "--simulate", "--model", "openai:scripted", *more]


def bench(films: Path, tasks: Path, out: Path, *more: str) -> Result:
    """Run it in this process."""
    return CliRunner().invoke(main, command(films, tasks, out, *more))


def summary(out: Path) -> dict[str, object]:
    """The figures of a finished run."""
    return dict(json.loads((out / "summary.json").read_text()))


# --- task files


def test_the_original_format_names_calls(protocol: Protocol, tmp_path: Path) -> None:
    """`GET /film/{film_id}/credits` is the tool of that method and path, whatever its parameter is called."""
    file = write(tmp_path, [{"query": " q ", "solution": ["GET /search/film", "GET /film/{id}/credits"]}])
    tasks, told = read_tasks(file, protocol)

    assert tasks == [Task(0, "0", "q", Gold({SEARCH: 1, CREDITS: 1}))]
    assert told == []


def test_the_candidate_format_names_tools(protocol: Protocol, tmp_path: Path) -> None:
    """Gold and candidates are tool names, also where each candidate is an object; gold may say how often."""
    listed = [CREDITS, {"api_name": LATEST}, SEARCH]
    entry = {"qid": "q7", "query": "q", "solution": [[SEARCH, 2], [CREDITS, 1], [SEARCH, 1]], "api_list": listed}
    (task,), _ = read_tasks(write(tmp_path, [entry]), protocol)

    assert task == Task(0, "q7", "q", Gold({SEARCH: 3, CREDITS: 1}, counted=True), (CREDITS, LATEST, SEARCH))


def test_a_gold_path_may_differ_by_a_plural(protocol: Protocol, tmp_path: Path) -> None:
    """`/search/films` can only be `/search/film`; that is done, and told once."""
    wrong = {"query": "q", "solution": ["GET /search/films"]}
    tasks, told = read_tasks(write(tmp_path, [wrong, wrong]), protocol)

    assert [task.gold for task in tasks] == [Gold({SEARCH: 1})] * 2
    assert len(told) == 1
    assert "/search/films" in told[0]


@pytest.mark.parametrize(
    ("tasks", "complaint"),
    [
        ({"query": "q"}, "must be a JSON list"),
        ([], "must be a JSON list"),
        ([{"question": "q"}], "task 0: no `query`"),
        ([TASKS[0], {"query": "q", "solution": []}], "task 1: no `solution`"),
        ([{"query": "q", "solution": [["GET_search_film", 0]]}], "neither a call nor [call, number]"),
        ([{"query": "q", "solution": [SEARCH], "api_list": [3]}], "3 in `api_list` names no tool"),
        ([{"query": "q", "solution": ["GET /search/movie"]}], "the nearest is GET /search/film"),
    ],
)
def test_a_wrong_task_file_is_told_with_its_place(
    protocol: Protocol, tmp_path: Path, tasks: object, complaint: str
) -> None:
    """The message names file, task and what is wrong there."""
    with pytest.raises(UsageError) as caught:
        read_tasks(write(tmp_path, tasks), protocol)

    assert complaint in str(caught.value)
    assert "tasks.json" in str(caught.value)


def test_offered_tools_do_not_give_the_gold_away(protocol: Protocol) -> None:
    """Listed candidates come in the document's order, not with the gold tools first."""
    task = Task(0, "0", "q", Gold({LATEST: 1}), (LATEST, SEARCH))

    assert offer(task, protocol, None, 0) == (SEARCH, LATEST)


def test_drawn_candidates_depend_on_the_seed_alone(protocol: Protocol) -> None:
    """N tools with the gold among them: the same for the same seed, others for another, all without a number."""
    task = Task(0, "0", "q", Gold({LATEST: 1}))
    drawn = {seed: offer(task, protocol, 2, seed) for seed in range(20)}

    assert all(len(names) == 2 and LATEST in names for names in drawn.values())
    assert drawn == {seed: offer(task, protocol, 2, seed) for seed in range(20)}
    assert len(set(drawn.values())) == 2
    assert offer(task, protocol, 1, 0) == (LATEST,)
    assert offer(task, protocol, None, 0) == (SEARCH, CREDITS, LATEST)


@pytest.mark.parametrize(("name", "tasks"), [("tmdb", 30), ("spotify", 17)])
def test_both_formats_of_restbench_agree(data: Path, name: str, tasks: int) -> None:
    """The original files and those with 20 candidates have the same questions and, resolved, the same gold calls."""
    protocol = load(data / "restbench" / f"{name}_oas.json")
    plain, _ = read_tasks(data / "restbench" / f"{name}.dev.json", protocol)
    listed, told = read_tasks(data / "toolflow" / f"{name}.candidates.dev.json", protocol)

    assert len(plain) == len(listed) == tasks
    assert [task.gold for task in plain] == [task.gold for task in listed]
    assert [task.query for task in plain] == [task.query for task in listed]
    assert told == []
    assert all(len(offer(task, protocol, None, 0)) == 20 for task in listed)
    assert all(set(task.gold.calls) <= set(task.candidates) for task in listed)


# --- runs


def test_bench_prints_and_writes_the_figures(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """Two tasks solved, one half: a table on stdout, summary.json, and each task with its whole solution."""
    endpoint(BOTH, SEARCH_ONLY, SEARCH_ONLY)
    tasks = write(tmp_path, TASKS)
    result = bench(films, tasks, tmp_path / "out")
    figures = summary(tmp_path / "out")

    assert result.exit_code == 0, result.stderr
    assert "Success" in result.stdout
    assert "66.7 %" in result.stdout
    assert list(figures) == [
        *("tasks", "success", "path", "precision", "success_any"),
        *("prompt_tokens", "completion_tokens", "model_calls", "tool_calls", "seconds"),
        *("model", "mode", "seed", "protocol", "task_file"),
    ]
    assert [figures[name] for name in ("tasks", "success", "path", "precision")] == [3, 66.67, 83.33, 100.0]
    assert figures["model_calls"] == 1
    assert figures["tool_calls"] == 1.33
    assert figures["model"] == "openai:scripted"
    assert figures["task_file"] == {"file": "tasks.json", "sha256": hashlib.sha256(tasks.read_bytes()).hexdigest()}
    assert figures["protocol"] == {"file": films.name, "sha256": hashlib.sha256(films.read_bytes()).hexdigest()}
    record = json.loads((tmp_path / "out" / "tasks" / "0001.json").read_text())
    assert record["result"]["score"] == {"success": 0.0, "path": 0.5, "precision": 1.0, "success_any": 0.0}
    assert record["solution"]["query"] == TASKS[1]["query"]
    assert "3/3 task 2: answered, success 1 path 1.00" in result.stderr


def test_bench_goes_on_after_a_stop(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """Ctrl-C in the second task: exit code 130. The same command again solves what is missing and nothing else."""
    endpoint(BOTH, None)
    tasks, out = write(tmp_path, TASKS), tmp_path / "out"
    atc = Path(sys.executable).with_name("atc")
    process = subprocess.Popen([atc, *command(films, tasks, out)], stderr=subprocess.PIPE, text=True)
    assert process.stderr
    assert "1/3" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    first = (out / "tasks" / "0000.json").read_bytes()

    assert process.returncode == 130
    assert [file.name for file in (out / "tasks").iterdir()] == ["0000.json"]
    assert not (out / "summary.json").exists()

    endpoint(BOTH, SEARCH_ONLY)
    assert bench(films, tasks, out).exit_code == 0
    assert (out / "tasks" / "0000.json").read_bytes() == first
    assert summary(out)["success"] == 100


def test_finished_tasks_are_not_solved_again(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """With all tasks there, the model is not even asked: an endpoint that never answers does not matter."""
    tasks, out = write(tmp_path, TASKS), tmp_path / "out"
    endpoint(BOTH)
    bench(films, tasks, out)
    before = (out / "summary.json").read_bytes()
    endpoint(None)

    assert json.loads(bench(films, tasks, out, "--json").stdout) == json.loads(before)
    assert (out / "summary.json").read_bytes() == before


def test_limit_can_be_raised(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """A first look at two tasks is a beginning of the whole run."""
    tasks, out = write(tmp_path, TASKS), tmp_path / "out"
    endpoint(BOTH)
    assert bench(films, tasks, out, "--limit", "2").exit_code == 0
    assert summary(out)["tasks"] == 2
    assert bench(films, tasks, out).exit_code == 0
    assert summary(out)["tasks"] == 3


def test_results_of_other_settings_are_not_mixed(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """Another mode or another task file needs another folder; the message says what differs."""
    tasks, out = write(tmp_path, TASKS), tmp_path / "out"
    endpoint(BOTH)
    bench(films, tasks, out, "--limit", "1")
    result = bench(films, tasks, out, "--limit", "1", "--mode", "naive")

    assert result.exit_code == 2
    assert "mode is 'naive' now and was 'attribute'" in result.stderr
    write(tmp_path, TASKS[:2])
    assert "task_file" in bench(films, tasks, out).stderr


def test_tasks_do_not_see_each_other(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """A task's calls are answered alike whether it runs first or last: each has a simulated API of its own."""
    endpoint(BOTH)
    bench(films, write(tmp_path, TASKS[:2]), tmp_path / "one")
    bench(films, write(tmp_path, [TASKS[1], TASKS[0]]), tmp_path / "two")
    responses = [
        [call["response"] for call in json.loads(file.read_text())["solution"]["calls"]]
        for file in (tmp_path / "one" / "tasks" / "0000.json", tmp_path / "two" / "tasks" / "0001.json")
    ]

    assert responses[0] == responses[1]
    assert len(responses[0]) == 2


def test_a_model_that_is_gone_is_no_result(
    films: Path, endpoint: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the endpoint goes down, the run stops with 5 and says how to go on; no task is counted as failed."""
    tasks, out = write(tmp_path, TASKS), tmp_path / "out"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    result = bench(films, tasks, out)

    assert result.exit_code == 5
    assert "repeat the command to go on from here" in result.stderr
    assert list((out / "tasks").iterdir()) == []


def test_drawn_candidates_and_listed_ones_exclude_each_other(
    films: Path, endpoint: Callable[..., None], tmp_path: Path
) -> None:
    """--candidates N is for files without lists; what was drawn is in the record."""
    endpoint(BOTH)
    tasks = write(tmp_path, TASKS[:1])
    bench(films, tasks, tmp_path / "out", "--candidates", "2")
    record = json.loads((tmp_path / "out" / "tasks" / "0000.json").read_text())
    listed = write(tmp_path, [{**TASKS[0], "api_list": [SEARCH, CREDITS]}])

    assert record["candidates"] == [SEARCH, CREDITS]
    assert bench(films, listed, tmp_path / "other", "--candidates", "2").exit_code == 2


def test_help_lists_names_and_modes() -> None:
    """`atc bench --help` is enough to know what can be run."""
    shown = CliRunner().invoke(main, ["bench", "--help"]).stdout

    assert all(name in shown for name in ("restbench-tmdb", "restbench-spotify", "attribute|naive|none"))
    assert CliRunner().invoke(main, ["bench", "restbench-none"]).exit_code == 2


def test_a_baseline_is_measured_like_the_loop(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """A step-wise mode with tries: usage is summed over all, the final attempt is the path to the answer."""
    search, credits = 'GET_search_film(query="The Long Tide")', "GET_film_film_id_credits(film_id=1)"
    endpoint(f"Action: {search}", f"Action: {credits}", "Answer: someone")
    result = bench(films, write(tmp_path, TASKS[:1]), tmp_path / "out", "--mode", "react@2")
    figures = summary(tmp_path / "out")

    assert result.exit_code == 0, result.stderr
    assert [figures[name] for name in ("mode", "path", "precision", "model_calls", "tool_calls")] == [
        *("react@2", 100, 100, 3, 2),
    ]


# --- figures


def test_summary_takes_means_and_the_median() -> None:
    """Measures in percent, costs as means, seconds as the median, which one slow task does not move."""
    settings = Settings("b", "m", "attribute", 3, "all", 0, "", "simulated", {"file": "a"}, {"file": "t"})
    results = [
        TaskResult("0", "answered", Score(1, 1, 0.5, 1), 100, 10, 1, 2, 1.0),
        TaskResult("1", "failed", Score(0, 0.5, 1, 1), 300, 30, 4, 6, 100.0),
        TaskResult("2", "answered", Score(0, 0, 0, 0), 200, 20, 1, 0, 2.0),
    ]
    figures = summarize(results, settings)

    assert [figures[name] for name in ("success", "path", "precision", "success_any")] == [33.33, 50, 50, 66.67]
    assert [figures[name] for name in ("prompt_tokens", "completion_tokens")] == [200, 20]
    assert [figures[name] for name in ("model_calls", "tool_calls", "seconds")] == [2, 2.67, 2]
