"""`atc bench`: tasks solved with a scripted model, the options of a run, and the figures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from atc.apps.cli import main
from atc.profile import FEATURES
from benchmarks.run.agent_environment import RunSettings
from benchmarks.tasks.datasets import open_dataset
from benchmarks.tasks.references import query_hash
from tests.benchmarks.bench_runs import (
    BOTH,
    LATEST,
    SEARCH,
    SEARCH_ONLY,
    TASKS,
    bench,
    record,
    summary,
    write,
)


def responses(task_record: dict[str, Any]) -> list[object]:
    """What the calls of a task were answered."""
    return [call["response"] for call in task_record["solution"]["calls"]]


def test_tools_may_be_chosen_from_the_whole_api(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """As `atc solve` chooses them; what the file lists is left aside."""
    endpoint(BOTH)
    tasks = write(tmp_path, [{**TASKS[0], "api_list": [SEARCH, LATEST]}])
    result = bench(films, tasks, tmp_path / "out", "--select", "1", "--json")
    task_record = record(tmp_path / "out")

    assert result.exit_code == 0, result.stderr
    assert json.loads((tmp_path / "out" / "config.json").read_text())["candidates"] == "best 1"
    assert task_record["metrics"]["success"] == 1.0  # CREDITS, which the file does not list, was there


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
        *("prompt_tokens", "completion_tokens", "model_calls", "tool_calls"),
        *("failed_runs", "wasted_calls", "answered", "gold_offered", "usable_turns", "correct", "false_success"),
        *("wrong_warned", "right_warned", "risk", "coverage", "reflections"),
        *("tokens_per_solved", "by_gold_calls", "errors", "seconds"),
        *(field.name for field in fields(RunSettings) if field.name != "repeat"),
        "date",
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
    task_record = record(tmp_path / "out", "tmdb-1")
    measured = {name: task_record["metrics"][name] for name in ("success", "path", "precision", "success_any")}
    assert measured == {"success": 0.0, "path": 0.5, "precision": 1.0, "success_any": 0.0}
    assert "http://api.invalid/" in task_record["solution"]["calls"][0]["url"]
    assert not {"ms", "seconds"}.intersection(task_record["solution"]["calls"][0])
    assert task_record["solution"]["query"] == TASKS[1]["query"]
    assert "3/3 task tmdb-2: answered, success 1 path 1.00" in result.stderr


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
    first, second = (responses(record(tmp_path / out, "tmdb-q0")) for out in ("one", "two"))

    assert first == second and len(first) == 2


def test_workers_change_nothing_but_the_time(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """Tasks side by side end in the same files, byte for byte, and in the same figures."""
    endpoint(BOTH)
    tasks = write(tmp_path, TASKS * 2)
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
    task_record = record(tmp_path / "out", "parcels-5")

    assert result.exit_code == 0, result.stderr
    assert (task_record["metrics"]["status"], task_record["metrics"]["correct"]) == ("answered", False)


def test_repeated_runs_lie_side_by_side(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """With a seed each for the model, in the same worlds, so that they can be compared."""
    endpoint(BOTH)
    printed = bench(films, write(tmp_path, TASKS), tmp_path / "out", "--repeat", "2", "--json")

    assert [figures["seed"] for figures in json.loads(printed.stdout)] == [0, 1]
    assert [summary(tmp_path / "out" / name)["seed"] for name in ("1", "2")] == [0, 1]
    first, second = (responses(record(tmp_path / "out" / name)) for name in ("1", "2"))
    assert first == second


def test_each_part_of_the_help_is_left_out_in_turn(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """On every other task; with one more table instead of one for each run."""
    endpoint(BOTH)
    out = tmp_path / "out"

    result = bench(films, write(tmp_path, TASKS), out, "--ablate", "--half", "even")

    assert result.exit_code == 0, result.output
    parts = sorted(f"without-{part}" for part in FEATURES if part != "demonstrations")
    assert [folder.name for folder in sorted(out.iterdir())] == ["all", *parts]
    assert result.stdout.count("Success") == 1
    assert all(f" {part} " in result.stdout for part in ("nothing", "hints", "closure", "stable"))
    assert (summary(out / "all")["tasks"], summary(out / "without-hints")["without"]) == (2, ["hints"])
    wrong = bench(films, write(tmp_path, TASKS), out, "--ablate", "--without", "hints")
    assert (wrong.exit_code, "--ablate" in wrong.output) == (2, True)


@pytest.mark.parametrize("budget", [["--max-model-calls", "1"], ["--max-tokens", "1"]])
def test_a_task_may_cost_so_much(films: Path, endpoint: Callable[..., None], tmp_path: Path, budget: list[str]) -> None:
    """What a budget ends is a result, and not solved."""
    endpoint("```python\nprint(missing)\n```")
    bench(films, write(tmp_path, TASKS[:1]), tmp_path / "out", *budget)
    task_record = record(tmp_path / "out")

    assert (task_record["metrics"]["status"], task_record["metrics"]["model_calls"]) == ("limit", 1)
    assert task_record["metrics"]["error"] == "limit"


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
