"""`atc bench`: reading RestBench's files, running them with a scripted model, going on after a stop, the figures."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from atc.cli import main
from atc.files import append_line
from atc.profile import FEATURES
from benchmarks.report import summarize
from benchmarks.run.engines import thread_engine
from benchmarks.run.runner import RunSettings, SolvedTask, TaskResult, prepare_folder, run_tasks
from benchmarks.run.task_run import TaskRunner
from benchmarks.tasks.datasets import open_dataset
from benchmarks.tasks.download import DownloadSource, pull
from benchmarks.tasks.metrics import Gold, Score
from benchmarks.tasks.references import query_hash
from benchmarks.tasks.task_files import Task, candidate_tools, read_entries, read_tasks
from protocols import Protocol, UsageError, load
from protocols.errors import APIError, ModelError

SEARCH, CREDITS, LATEST = "GET_search_film", "GET_film_film_id_credits", "GET_film_latest"
BOTH = """```python
film = GET_search_film(query="The Long Tide")["results"][0]
print(GET_film_film_id_credits(film_id=film["id"])["crew"][0]["name"])
```"""
SEARCH_ONLY = '```python\nprint(GET_search_film(query="Tide")["results"][0]["title"])\n```'
TASKS = [
    {"query": "Who made The Long Tide?", "solution": ["GET /search/film", "GET /film/{film_id}/credits"]},
    {"query": "Who made the very best film?", "solution": ["GET /search/film", "GET /film/{film_id}/credits"]},
    {"query": "Is there a film called Tide?", "solution": ["GET /search/film"]},
]


@pytest.fixture
def protocol(films: Path) -> Protocol:
    """The films API."""
    return load(films)


def read(file: Path, protocol: Protocol) -> tuple[list[Task], list[str]]:
    """The tasks of a file of one domain."""
    return read_tasks(file, {"tmdb": protocol}, ["tmdb"] * len(read_entries(file)))


def write(folder: Path, tasks: object) -> Path:
    """A task file."""
    file = folder / "tasks.json"
    file.write_text(json.dumps(tasks))
    return file


def command(films: Path, tasks: Path, out: Path, *options: str) -> list[str]:
    """The arguments of a run against the simulated API with the scripted model."""
    files = ["--tasks", str(tasks), "--api", str(films), "--out", str(out)]
    return ["bench", "restbench-tmdb", *files, "--simulate", "--model", "openai:scripted", *options]


def bench(films: Path, tasks: Path, out: Path, *options: str) -> Result:
    """Run it in this process."""
    return CliRunner().invoke(main, command(films, tasks, out, *options))


def summary(out: Path) -> dict[str, object]:
    """The figures of a finished run."""
    return dict(json.loads((out / "summary.json").read_text()))


# --- task files


def test_the_original_format_names_calls(protocol: Protocol, tmp_path: Path) -> None:
    """`GET /film/{film_id}/credits` is the tool of that method and path, whatever its parameter is called."""
    file = write(tmp_path, [{"query": " q ", "solution": ["GET /search/film", "GET /film/{id}/credits"]}])
    tasks, notes = read(file, protocol)

    assert tasks == [Task(0, "tmdb-0", "q", Gold({SEARCH: 1, CREDITS: 1}), domain="tmdb")]
    assert notes == []


def test_the_candidate_format_names_tools(protocol: Protocol, tmp_path: Path) -> None:
    """Gold and candidates are tool names, also where each candidate is an object; gold may say how often."""
    listed = [CREDITS, {"api_name": LATEST}, SEARCH]
    entry = {"qid": "q7", "query": "q", "solution": [[SEARCH, 2], [CREDITS, 1], [SEARCH, 1]], "api_list": listed}
    (task,), _ = read(write(tmp_path, [entry]), protocol)

    assert task == Task(
        0, "tmdb-q7", "q", Gold({SEARCH: 3, CREDITS: 1}, counted=True), (CREDITS, LATEST, SEARCH), "tmdb"
    )


def test_a_gold_path_may_differ_by_a_plural(protocol: Protocol, tmp_path: Path) -> None:
    """`/search/films` can only be `/search/film`; that is done, and told once."""
    wrong = {"query": "q", "solution": ["GET /search/films"]}
    tasks, notes = read(write(tmp_path, [wrong, wrong]), protocol)

    assert [task.gold for task in tasks] == [Gold({SEARCH: 1})] * 2
    assert len(notes) == 1
    assert "/search/films" in notes[0]


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
        read(write(tmp_path, tasks), protocol)

    assert complaint in str(caught.value)
    assert "tasks.json" in str(caught.value)


def test_offered_tools_do_not_give_the_gold_away(protocol: Protocol) -> None:
    """Listed candidates come in the document's order, not with the gold tools first."""
    task = Task(0, "0", "q", Gold({LATEST: 1}), (LATEST, SEARCH))

    assert candidate_tools(task, protocol, None, 0) == (SEARCH, LATEST)


def test_tools_may_be_chosen_from_the_whole_api(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """As `atc solve` chooses them; what the file lists is left aside."""
    endpoint(BOTH)
    tasks = write(tmp_path, [{**TASKS[0], "api_list": [SEARCH, LATEST]}])
    result = bench(films, tasks, tmp_path / "out", "--select", "1", "--json")
    record = json.loads((tmp_path / "out" / "tasks" / "tmdb-0.json").read_text())

    assert result.exit_code == 0, result.stderr
    assert json.loads((tmp_path / "out" / "config.json").read_text())["candidates"] == "best 1"
    assert record["metrics"]["success"] == 1.0  # CREDITS, which the file does not list, was there
    assert bench(films, tasks, tmp_path / "other", "--select", "1", "--candidates", "2").exit_code == 2


def test_drawn_candidates_depend_on_the_seed_alone(protocol: Protocol) -> None:
    """N tools with the gold among them: the same for the same seed, others for another, all without a number."""
    task = Task(0, "0", "q", Gold({LATEST: 1}))
    drawn = {seed: candidate_tools(task, protocol, 2, seed) for seed in range(20)}

    assert all(len(names) == 2 and LATEST in names for names in drawn.values())
    assert drawn == {seed: candidate_tools(task, protocol, 2, seed) for seed in range(20)}
    assert len(set(drawn.values())) == 2
    assert candidate_tools(task, protocol, 1, 0) == (LATEST,)
    assert candidate_tools(task, protocol, None, 0) == (SEARCH, CREDITS, LATEST)


@pytest.mark.parametrize(("name", "tasks"), [("tmdb", 30), ("spotify", 17)])
def test_both_formats_of_restbench_agree(data: Path, name: str, tasks: int) -> None:
    """The original files and those with 20 candidates have the same questions and, resolved, the same gold calls."""
    protocol = load(data / "restbench" / f"{name}_oas.json")
    plain, _ = read(data / "restbench" / f"{name}.dev.json", protocol)
    listed, notes = read(data / "toolflow" / f"{name}.candidates.dev.json", protocol)

    assert len(plain) == len(listed) == tasks
    assert [task.gold for task in plain] == [task.gold for task in listed]
    assert [task.query for task in plain] == [task.query for task in listed]
    assert notes == []
    assert all(len(candidate_tools(task, protocol, None, 0)) == 20 for task in listed)
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
        *("tasks", "success", "path", "precision", "success_any", "success_with_alternatives"),
        *("prompt_tokens", "completion_tokens", "model_calls", "tool_calls"),
        *("failed_runs", "wasted_calls", "correct", "false_success", "reflections"),
        *("tokens_per_solved", "by_gold_calls", "errors", "seconds"),
        *("model", "mode", "seed", "without", "profile", "learn", "files", "date"),
    ]
    assert [figures[name] for name in ("tasks", "success", "path", "precision")] == [3, 66.67, 83.33, 100.0]
    assert figures["model_calls"] == 1
    assert figures["tool_calls"] == 1.33
    assert figures["model"] == "openai:scripted"
    assert figures["by_gold_calls"] == {"1": {"tasks": 1, "success": 100.0}, "2": {"tasks": 2, "success": 50.0}}
    assert figures["errors"] == {"gold calls missing": 1}
    read = dict(figures["files"])  # type: ignore[call-overload]
    assert len(read.pop("references")["sha256"]) == 64
    assert read == {
        "tasks": {"file": "tasks.json", "sha256": hashlib.sha256(tasks.read_bytes()).hexdigest()},
        "tmdb": {"file": films.name, "sha256": hashlib.sha256(films.read_bytes()).hexdigest()},
    }
    record = json.loads((tmp_path / "out" / "tasks" / "tmdb-1.json").read_text())
    measured = {name: record["metrics"][name] for name in ("success", "path", "precision", "success_any")}
    assert measured == {"success": 0.0, "path": 0.5, "precision": 1.0, "success_any": 0.0}
    assert "http://api.invalid/" in record["solution"]["calls"][0]["url"]
    assert not {"ms", "seconds"}.intersection(record["solution"]["calls"][0])
    assert record["solution"]["query"] == TASKS[1]["query"]
    assert "3/3 task tmdb-2: answered, success 1 path 1.00" in result.stderr


def test_bench_goes_on_after_a_stop(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """Ctrl-C in the second task: exit code 130. The same command again solves what is missing and nothing else."""
    endpoint(BOTH, None)
    tasks, out = write(tmp_path, TASKS), tmp_path / "out"
    atc = Path(sys.executable).with_name("atc")
    process = subprocess.Popen([atc, *command(films, tasks, out)], stderr=subprocess.PIPE, text=True)
    assert process.stderr
    assert "the world file of tmdb is left out" in process.stderr.readline()
    assert "1/3" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    first = (out / "tasks" / "tmdb-0.json").read_bytes()

    assert process.returncode == 130
    assert [file.name for file in (out / "tasks").iterdir()] == ["tmdb-0.json"]
    assert not (out / "summary.json").exists()

    endpoint(BOTH, SEARCH_ONLY)
    assert bench(films, tasks, out).exit_code == 0
    assert (out / "tasks" / "tmdb-0.json").read_bytes() == first
    assert summary(out)["success"] == 100


def test_finished_tasks_are_not_solved_again(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """With all tasks there, the model is not even asked: an endpoint that never answers does not matter."""
    tasks, out = write(tmp_path, TASKS), tmp_path / "out"
    endpoint(BOTH)
    bench(films, tasks, out)
    before = (out / "summary.json").read_bytes()
    endpoint(None)

    printed = json.loads(bench(films, tasks, out, "--json").stdout)
    assert printed == {name: value for name, value in json.loads(before).items() if name != "date"}
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
    assert "files is" in bench(films, tasks, out).stderr


def test_tasks_do_not_see_each_other(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """A task's calls are answered alike whether it runs first or last: each has a simulated API of its own."""
    endpoint(BOTH)
    named = [{**task, "qid": f"q{number}"} for number, task in enumerate(TASKS[:2])]
    bench(films, write(tmp_path, named), tmp_path / "one")
    bench(films, write(tmp_path, named[::-1]), tmp_path / "two")
    responses = [
        [call["response"] for call in json.loads(file.read_text())["solution"]["calls"]]
        for file in (tmp_path / "one" / "tasks" / "tmdb-q0.json", tmp_path / "two" / "tasks" / "tmdb-q0.json")
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


def test_listed_candidates_are_taken_as_given(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """--candidates N is for files without lists, elsewhere it changes nothing; what was drawn is in the record."""
    endpoint(BOTH)
    tasks = write(tmp_path, TASKS[:1])
    bench(films, tasks, tmp_path / "out", "--candidates", "2")
    record = json.loads((tmp_path / "out" / "tasks" / "tmdb-0.json").read_text())
    tasks = write(tmp_path, [{**TASKS[0], "api_list": [SEARCH, CREDITS, LATEST]}])
    listed = bench(films, tasks, tmp_path / "other", "--candidates", "2")
    other_record = json.loads((tmp_path / "other" / "tasks" / "tmdb-0.json").read_text())

    assert record["candidates"] == [SEARCH, CREDITS]
    assert listed.exit_code == 0 and "--candidates goes without effect" in listed.stderr
    assert set(other_record["candidates"]) == {SEARCH, CREDITS, LATEST}


def test_workers_change_nothing_but_the_time(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """Tasks side by side end in the same files, byte for byte, and in the same figures."""
    endpoint(BOTH)
    tasks = write(tmp_path, TASKS * 3)
    for workers in ("1", "4"):
        assert bench(films, tasks, tmp_path / workers, "--workers", workers).exit_code == 0

    alone, together = (sorted((tmp_path / workers / "tasks").iterdir()) for workers in ("1", "4"))
    assert [file.name for file in alone] == [file.name for file in together]
    assert [file.read_bytes() for file in alone] == [file.read_bytes() for file in together]
    figures = [summary(tmp_path / workers) for workers in ("1", "4")]
    assert {**figures[0], "seconds": 0} == {**figures[1], "seconds": 0}


def test_answers_are_compared_with_references(
    films: Path, endpoint: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reference runs in a world of its own, or in the one that the solve left; a broken one is told."""
    endpoint(BOTH)
    folder = tmp_path / "restbench-tmdb"
    folder.mkdir()
    monkeypatch.setattr("benchmarks.tasks.references.FOLDER", tmp_path)
    right = "import json\nf = GET_search_film(query='The Long Tide')['results'][0]\n" + (
        "print(json.dumps({'all': [GET_film_film_id_credits(film_id=f['id'])['crew'][0]['name']]}))\n"
    )
    claims = [right, 'print(\'{"all": ["nobody"]}\')\n', "print('{\"state\": true}')\n"]
    for number, (task, claim) in enumerate(zip(TASKS, claims, strict=True)):
        after = " after" if "state" in claim else ""
        (folder / f"tmdb-{number}.py").write_text(f"# {query_hash(str(task['query']))}{after}\n{claim}")
    tasks = write(tmp_path, TASKS)

    assert bench(films, tasks, tmp_path / "out").exit_code == 0
    figures = summary(tmp_path / "out")
    assert (figures["correct"], figures["false_success"]) == (33.33, 66.67)  # the last one changed nothing
    (folder / "tmdb-0.py").write_text(f"# {query_hash(str(TASKS[0]['query']))}\nprint(missing)\n")
    broken = bench(films, tasks, tmp_path / "other")
    assert broken.exit_code == 2
    assert "the reference for 'Who made The Long Tide?' is broken: NameError" in broken.stderr


def test_a_world_that_a_reference_cannot_bear_is_a_wrong_answer(endpoint: Callable[..., None], tmp_path: Path) -> None:
    """Who deletes what a task is about has not done it; the run goes on."""
    endpoint(
        """```python
customer = GET_customers(name="Odd Larsen")["customers"][0]
for parcel in GET_customers_customerId_parcels(customerId=customer["customerId"])["parcels"]:
    DELETE_parcels_trackingNumber(trackingNumber=parcel["trackingNumber"])
print("done")
```"""
    )
    (task,) = [task for task in open_dataset("tiny", None, ()).tasks if task.id == "parcels-5"]
    file = write(tmp_path, [{"dataset": "parcels", "qid": 5, "query": task.query, "solution": ["GET_customers"]}])
    arguments = ["bench", "tiny", "--tasks", str(file), "--model", "openai:scripted", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(main, arguments)
    record = json.loads((tmp_path / "out" / "tasks" / "parcels-5.json").read_text())

    assert result.exit_code == 0, result.stderr
    assert (record["metrics"]["status"], record["metrics"]["correct"]) == ("answered", False)


def test_a_run_that_was_killed_ten_times_ends_as_an_undisturbed_one(
    films: Path, endpoint: Callable[..., None], tmp_path: Path
) -> None:
    """kill -9 at random moments: every finished task stays, and at the end all files are the same."""
    endpoint(BOTH, SEARCH_ONLY)
    several = [{**task, "query": f"{task['query']} ({n})"} for n in range(4) for task in TASKS]
    tasks, recorded = write(tmp_path, several), tmp_path / "answers.jsonl"
    assert bench(films, tasks, tmp_path / "first", "--record", str(recorded)).exit_code == 0
    model = ["--model", f"replay:{recorded}", "--profile", "large"]
    replay = ["--tasks", str(tasks), "--api", str(films), "--simulate", *model]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert CliRunner().invoke(main, ["bench", "restbench-tmdb", *replay, "--out", str(whole)]).exit_code == 0
    code = "import sys; from atc.cli import main; sys.argv[0] = 'atc'; main()"
    arguments = [sys.executable, "-c", code, "bench", "restbench-tmdb", *replay, "--out", str(killed)]
    chance = random.Random(7)
    finished: set[str] = set()
    alive = 0
    for _ in range(10):
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert process.stderr is not None
        next((line for line in process.stderr if b" task " in line), b"")  # one is done, or the run is over
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(chance.uniform(0.0, 0.1))
        alive += process.poll() is None
        process.kill()
        process.communicate()
        assert finished <= (finished := {file.name for file in (killed / "tasks").glob("*.json")})
    subprocess.run(arguments, check=True, capture_output=True)

    assert alive >= 3
    assert {file.name for file in (killed / "tasks").iterdir()} == {file.name for file in (whole / "tasks").iterdir()}
    for file in sorted((whole / "tasks").iterdir()):
        assert (killed / "tasks" / file.name).read_bytes() == file.read_bytes()
    assert {**summary(killed), "seconds": 0} == {**summary(whole), "seconds": 0}


def test_a_stop_among_several_workers_ends_the_process(
    films: Path, endpoint: Callable[..., None], tmp_path: Path
) -> None:
    """Ctrl-C while other tasks are under way: they end at their next question to the model, exit code 130."""
    endpoint(BOTH, None)
    tasks, out = write(tmp_path, TASKS), tmp_path / "out"
    atc = Path(sys.executable).with_name("atc")
    process = subprocess.Popen([atc, *command(films, tasks, out, "--workers", "2")], stderr=subprocess.PIPE, text=True)
    assert process.stderr
    assert any("1/3" in line for line in process.stderr)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)

    assert process.returncode == 130
    assert len(list((out / "tasks").iterdir())) == 1


def test_what_others_solve_is_kept_when_the_model_goes(
    films: Path, endpoint: Callable[..., None], tmp_path: Path
) -> None:
    """Two tasks are under way when one of them finds the model gone: the other one comes to its end."""
    dataset = open_dataset("restbench-tmdb", write(tmp_path, TASKS), [str(films)])
    settings = RunSettings("b", "openai:scripted", "none", 0, "all", 0, "2024-06-01T12:00:00+00:00", "simulated", {})
    names = tuple(tool.name for tool in dataset.protocols["tmdb"].tools)
    gone = threading.Event()

    class Failing(TaskRunner):
        def solve(self, task: Task, candidates: tuple[str, ...]) -> SolvedTask:
            if task.position == 0:
                gone.wait(10)
                raise ModelError("gone")
            gone.set()
            time.sleep(0.2)
            return super().solve(task, candidates)

    endpoint(BOTH)
    prepare_folder(tmp_path / "out", settings)
    with closing(Failing(settings, dataset.protocols)) as runner, pytest.raises(ModelError):
        list(run_tasks([(task, names) for task in dataset.tasks], settings, tmp_path / "out", thread_engine(runner, 2)))
    finished = {file.name for file in (tmp_path / "out" / "tasks").iterdir()}
    assert "tmdb-1.json" in finished and "tmdb-0.json" not in finished


def test_a_line_is_added_whole_or_not_at_all(tmp_path: Path) -> None:
    """One that a stop cut off stays apart; where the disk is full, nothing of it stays."""
    file = tmp_path / "lines.jsonl"
    file.write_text('{"a": 1}\n{"b": ')
    append_line(file, '{"c": 3}')
    assert file.read_text().splitlines() == ['{"a": 1}', '{"b": ', '{"c": 3}']

    code = (
        "import resource as r, sys; r.setrlimit(r.RLIMIT_FSIZE, (40, 40))\n"
        "from pathlib import Path; from atc.files import append_line\n"
        f"append_line(Path({str(file)!r}), 'x' * 80)"
    )
    full = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "lines.jsonl cannot be written" in full.stderr
    assert file.read_text().splitlines() == ['{"a": 1}', '{"b": ', '{"c": 3}']
    with pytest.raises(UsageError, match="No space left"):
        append_line(Path("/dev/full"), "x")


def test_a_full_disk_loses_nothing(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """What cannot be written is told; the tasks before it stay, nothing half written does, and it goes on later."""
    long = '```python\nprint(GET_search_film(query="Tide")["results"][0]["title"] * 5000)\n```'
    endpoint(BOTH, long)
    tasks, recorded, out = write(tmp_path, TASKS[:2]), tmp_path / "answers.jsonl", tmp_path / "out"
    assert bench(films, tasks, tmp_path / "whole", "--record", str(recorded)).exit_code == 0
    model = ["--model", f"replay:{recorded}", "--profile", "large"]
    replay = ["--tasks", str(tasks), "--api", str(films), "--simulate", *model]
    full = "import resource as r, sys; r.setrlimit(r.RLIMIT_FSIZE, (40_000, 40_000)); "
    code = full + "from atc.cli import main; sys.argv[0] = 'atc'; main()"
    arguments = ["bench", "restbench-tmdb", *replay, "--out", str(out)]
    stopped = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)

    assert stopped.returncode == 2
    assert "tmdb-1.json cannot be written: File too large" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert [file.name for file in (out / "tasks").iterdir()] == ["tmdb-0.json"]

    written_at = (out / "tasks" / "tmdb-0.json").stat().st_mtime_ns
    assert CliRunner().invoke(main, arguments).exit_code == 0
    assert (out / "tasks" / "tmdb-0.json").stat().st_mtime_ns == written_at
    assert (summary(out)["tasks"], summary(out)["success"]) == (2, summary(tmp_path / "whole")["success"])


@pytest.mark.ray
def test_a_cluster_that_loses_a_worker_loses_no_task(
    films: Path, endpoint: Callable[..., None], tmp_path: Path
) -> None:
    """Two workers of a Ray cluster, one of them killed in the middle: all tasks are there, as threads solve them."""
    endpoint(BOTH)
    several = [{**task, "query": f"{task['query']} ({n})"} for n in range(6) for task in TASKS]
    tasks = write(tmp_path, several)
    assert bench(films, tasks, tmp_path / "threads").exit_code == 0
    atc = Path(sys.executable).with_name("atc")
    options = ["--engine", "ray", "--workers", "2"]
    process = subprocess.Popen(
        [atc, *command(films, tasks, tmp_path / "ray", *options)], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr
    assert any("1/18 task" in line for line in process.stderr)
    workers = subprocess.run(["pgrep", "-f", "ray::_solve_remotely"], capture_output=True, text=True, check=False)
    os.kill(int(workers.stdout.split()[0]), signal.SIGKILL)
    _, stderr = process.communicate(timeout=120)

    assert process.returncode == 0, stderr
    for file in (tmp_path / "threads" / "tasks").iterdir():
        assert (tmp_path / "ray" / "tasks" / file.name).read_bytes() == file.read_bytes()


def test_repeated_runs_lie_side_by_side(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """With a seed each for the model, in the same worlds, so that they can be compared."""
    endpoint(BOTH)
    printed = bench(films, write(tmp_path, TASKS), tmp_path / "out", "--repeat", "2", "--json")

    assert [figures["seed"] for figures in json.loads(printed.stdout)] == [0, 1]
    assert [summary(tmp_path / "out" / name)["seed"] for name in ("1", "2")] == [0, 1]
    first, second = (json.loads((tmp_path / "out" / name / "tasks" / "tmdb-0.json").read_text()) for name in ("1", "2"))
    responses = [[call["response"] for call in run["solution"]["calls"]] for run in (first, second)]
    assert responses[0] == responses[1]


def test_tasks_may_learn_from_one_another(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """Only when one says so: what responses hold, and never how a task was answered."""
    endpoint(BOTH)
    tasks = write(tmp_path, TASKS)
    for flags in ([], ["--learn"]):
        assert bench(films, tasks, tmp_path / f"out{len(flags)}", *flags).exit_code == 0

    assert not (tmp_path / "out0" / "store").exists()
    assert [file.suffixes for file in (tmp_path / "out1" / "store").iterdir() if ".lock" not in file.suffixes] == [
        [".json"]
    ]
    assert [summary(tmp_path / name)["learn"] for name in ("out0", "out1")] == [False, True]


def test_each_part_of_the_help_is_left_out_in_turn(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """On every other task; with one more table instead of one for each run."""
    endpoint(BOTH)
    out = tmp_path / "out"

    result = bench(films, write(tmp_path, TASKS), out, "--ablate", "--half", "even")

    assert result.exit_code == 0, result.output
    parts = sorted(f"without-{part}" for part in FEATURES if part != "demonstrations")
    assert [folder.name for folder in sorted(out.iterdir())] == ["all", *parts]
    assert result.stdout.count("Success") == 1
    assert all(f" {part} " in result.stdout for part in ("nothing", "hints", "check", "planner"))
    assert (summary(out / "all")["tasks"], summary(out / "without-hints")["without"]) == (2, ["hints"])
    wrong = bench(films, write(tmp_path, TASKS), out, "--ablate", "--without", "hints")
    assert (wrong.exit_code, "--ablate" in wrong.output) == (2, True)


@pytest.mark.parametrize("budget", [["--max-model-calls", "1"], ["--max-tokens", "1"]])
def test_a_task_may_cost_so_much(films: Path, endpoint: Callable[..., None], tmp_path: Path, budget: list[str]) -> None:
    """What a budget ends is a result, and not solved."""
    endpoint("```python\nprint(missing)\n```")
    bench(films, write(tmp_path, TASKS[:1]), tmp_path / "out", *budget)
    record = json.loads((tmp_path / "out" / "tasks" / "tmdb-0.json").read_text())

    assert (record["metrics"]["status"], record["metrics"]["model_calls"]) == ("limit", 1)
    assert record["metrics"]["error"] == "limit"


def test_tasks_of_several_apis(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """Each is solved with the API of its domain; those without an API are left out, and that is told."""
    endpoint(BOTH)
    tasks = write(tmp_path, [{**TASKS[0], "dataset": "one", "qid": "a"}, {**TASKS[1], "dataset": "two", "qid": "a"}])
    files = ["--tasks", str(tasks), "--out", str(tmp_path / "out"), "--simulate", "--model", "openai:scripted"]
    partial_files = [*files[:3], str(tmp_path / "some"), *files[4:]]
    partial = CliRunner().invoke(main, ["bench", "toolflow", *partial_files, "--api", f"one={films}"])
    none = CliRunner().invoke(main, ["bench", "toolflow", *partial_files, "--api", f"three={films}"])
    complete = CliRunner().invoke(main, ["bench", "toolflow", *files, "--api", f"one={films}", "--api", f"two={films}"])

    assert partial.exit_code == 0, partial.stderr
    assert "1 tasks of 'two' are left out" in partial.stderr and "--api two=SPEC" in partial.stderr
    assert [file.name for file in (tmp_path / "some" / "tasks").iterdir()] == ["one-a.json"]
    assert none.exit_code == 2 and "--api one=SPEC" in none.stderr
    assert complete.exit_code == 0, complete.stderr
    assert sorted(file.name for file in (tmp_path / "out" / "tasks").iterdir()) == ["one-a.json", "two-a.json"]


def test_a_benchmark_of_ones_own(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """Tasks and API are its user's, and so may be the world; it has no published figures beside it."""
    endpoint(BOTH)
    world = tmp_path / "world.yaml"
    world.write_text("entities:\n  film: {names: [The Long Tide], size: 3}\n")
    files = ["--tasks", str(write(tmp_path, TASKS[:1])), "--simulate", "--model", "openai:scripted"]
    own = ["bench", "own", *files, "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(main, [*own, "--api", str(films), "--world", str(world)])
    config = json.loads((tmp_path / "out" / "config.json").read_text())

    assert result.exit_code == 0, result.stderr
    assert config["files"]["world-own"]["file"] == "world.yaml"
    assert [file.name for file in (tmp_path / "out" / "tasks").iterdir()] == ["own-0.json"]
    assert CliRunner().invoke(main, own).exit_code == 2
    world.write_text("entities:\n  fillm: {size: 3}\n")
    wrong = CliRunner().invoke(main, [*own, "--api", str(films), "--world", str(world)])
    assert wrong.exit_code == 2 and "there is no such kind; is it 'film'?" in wrong.stderr


def test_nothing_is_written_to_a_real_service_unasked(
    films: Path, endpoint: Callable[..., None], tmp_path: Path
) -> None:
    """A simulated one is there to be changed; another one only with --writes allow."""
    endpoint(BOTH)
    files = ["--tasks", str(write(tmp_path, TASKS[:1])), "--api", str(films), "--model", "openai:scripted"]
    nobody = ["--base-url", "http://127.0.0.1:9"]
    for name, options in (("a", ["--simulate"]), ("b", nobody), ("c", [*nobody, "--writes", "allow"])):
        CliRunner().invoke(main, ["bench", "restbench-tmdb", *files, *options, "--out", str(tmp_path / name)])

    writes = [json.loads((tmp_path / name / "config.json").read_text())["writes"] for name in "abc"]
    assert writes == ["allow", "deny", "allow"]


def test_files_are_found_under_atc_data(
    films: Path, endpoint: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where they are not, the message says what was looked for."""
    endpoint(BOTH)
    arguments = ["bench", "restbench-tmdb", "--out", str(tmp_path / "out"), "--simulate", "--model", "openai:scripted"]
    monkeypatch.setenv("ATC_DATA", str(tmp_path))
    nothing = CliRunner().invoke(main, arguments)
    (tmp_path / "restbench").mkdir()
    (tmp_path / "restbench" / "tmdb.dev.json").write_text(json.dumps(TASKS))
    (tmp_path / "restbench" / "tmdb_oas.json").write_bytes(films.read_bytes())
    complete = CliRunner().invoke(main, arguments)

    assert nothing.exit_code == 2
    assert "none of toolflow/tmdb.candidates.json" in nothing.stderr
    assert "atc data pull toolflow" in nothing.stderr
    assert complete.exit_code == 0, complete.stderr
    assert summary(tmp_path / "out")["tasks"] == 3


def test_data_is_pulled_checked_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what is missing is fetched; another file than the pinned one, and a host that is away, are told."""
    from tests.local_api import LocalAPI

    text = b"a licence"
    files = {"x/LICENSE": ("LICENSE", hashlib.sha256(text).hexdigest()), "x/t.json": ("t.json", "0" * 64)}
    monkeypatch.setattr("benchmarks.tasks.download.SOURCES", {"x": DownloadSource("o/r", "abc", "MIT", files)})
    with LocalAPI() as api:
        host = api.url.removesuffix("/v1")
        api.answer("GET", "/o/r/abc/LICENSE", text)
        api.answer("GET", "/o/r/abc/t.json", b"[]")

        with pytest.raises(APIError, match=r"t\.json is another file"):
            pull("x", tmp_path, host)
        assert (tmp_path / "x" / "LICENSE").read_bytes() == text
        with pytest.raises(APIError, match="another file"):
            pull("x", tmp_path, host)
        assert [request.path for request in api.requests].count("/o/r/abc/LICENSE") == 1
    with pytest.raises(APIError, match="set ATC_DATA"):
        pull("x", tmp_path, "http://127.0.0.1:9")
    assert sorted(file.name for file in (tmp_path / "x").iterdir()) == ["LICENSE"]


def test_toolflow_is_read(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its development split: twenty tasks of two APIs, with counted gold calls and listed candidates."""
    monkeypatch.setenv("ATC_DATA", str(data))
    dataset = open_dataset("toolflow", None, ())

    assert len(dataset.tasks) == 20
    assert set(dataset.protocols) == {"food", "weather"}
    assert all(task.gold.counted and task.candidates for task in dataset.tasks)
    assert dataset.tasks[0].id == "food-q6"


def test_help_lists_names_and_modes() -> None:
    """`atc bench --help` is enough to know what can be run."""
    help_text = CliRunner().invoke(main, ["bench", "--help"]).stdout

    assert all(name in help_text for name in ("restbench-tmdb", "restbench-spotify", "attribute|naive|none"))
    assert CliRunner().invoke(main, ["bench", "restbench-none"]).exit_code == 2


def test_a_baseline_is_measured_like_the_loop(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """A step-wise mode with tries: usage is summed over all, the final attempt is the path to the answer."""
    search, credits = 'GET_search_film(query="The Long Tide")', "GET_film_film_id_credits(film_id=1)"
    endpoint(f"Action: {search}", f"Action: {credits}", "Answer: someone")
    result = bench(films, write(tmp_path, TASKS[:1]), tmp_path / "out", "--mode", "react@2")
    figures = summary(tmp_path / "out")

    assert result.exit_code == 0, result.stderr
    assert [figures[name] for name in ("mode", "path", "precision", "model_calls", "tool_calls")] == [
        *("react@2", 100, 100, 3, 2)
    ]


# --- figures


def test_summary_takes_means_and_the_median() -> None:
    """Measures in percent, costs as means, seconds as the median, which one slow task does not move."""
    settings = RunSettings("b", "m", "attribute", 3, "all", 0, "", "simulated", {"tasks": {"file": "t"}})
    results = [
        TaskResult("0", "answered", Score(1, 1, 0.5, 1), 100, 10, 1, 2, 1.0),
        TaskResult("1", "failed", Score(0, 0.5, 1, 1), 300, 30, 4, 6, 100.0),
        TaskResult("2", "answered", Score(0, 0, 0, 0), 200, 20, 1, 0, 2.0),
    ]
    figures = summarize(results, settings)

    assert [figures[name] for name in ("success", "path", "precision", "success_any")] == [33.33, 50, 50, 66.67]
    assert [figures[name] for name in ("prompt_tokens", "completion_tokens")] == [200, 20]
    assert [figures[name] for name in ("model_calls", "tool_calls", "seconds")] == [2, 2.67, 2]


@pytest.mark.model
@pytest.mark.timeout(1200)
def test_the_local_model_gives_the_same_results_again(tmp_path: Path) -> None:
    """At temperature 0 with one worker, from an empty folder each time: each task's file, byte for byte."""
    for name in ("one", "two"):
        arguments = [
            "bench",
            "tiny",
            "--limit",
            "2",
            "--model",
            "local:qwen2.5-coder-1.5b",
            "--out",
            str(tmp_path / name),
        ]
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, result.output

    first_files, second_files = (sorted((tmp_path / name / "tasks").iterdir()) for name in ("one", "two"))
    assert len(first_files) == len(second_files) == 2
    assert [file.read_bytes() for file in first_files] == [file.read_bytes() for file in second_files]
    first, second = (summary(tmp_path / name) for name in ("one", "two"))
    keys = first.keys() - {"seconds", "date"}
    assert {key: first[key] for key in keys} == {key: second[key] for key in keys}
