"""Runs of `atc bench` that are stopped, killed or run out of space go on where they were."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from atc.apps.cli import main
from atc.files import append_line
from benchmarks.harness import Outcome
from benchmarks.harness.engines import thread_engine
from benchmarks.harness.runner import Runner
from benchmarks.report.summary import MetricsScorer
from benchmarks.run.agent_environment import AgentEnvironment
from benchmarks.tasks.datasets import open_dataset
from benchmarks.tasks.task_files import OfferedTask, Task
from protocols import UsageError
from protocols.errors import ModelError
from tests.benchmarks.bench_runs import (
    BOTH,
    SEARCH_ONLY,
    TASKS,
    bench,
    command,
    settings,
    summary,
    write,
)


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """No file grows beyond a size."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def replayed(films: Path, folder: Path, tasks: object) -> list[str]:
    """The arguments of a run whose answers were recorded, but for the place of its results."""
    file, recorded = write(folder, tasks), folder / "answers.jsonl"
    assert bench(films, file, folder / "first", "--record", str(recorded)).exit_code == 0
    model = ["--model", f"replay:{recorded}", "--profile", "large"]
    return ["bench", "restbench-tmdb", "--tasks", str(file), "--api", str(films), "--simulate", *model]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_bench_goes_on_after_a_stop(films: Path, endpoint: Callable[..., None], tmp_path: Path, workers: str) -> None:
    """Ctrl-C in the second task, and while others are under way: exit code 130. The same command again solves what is
    missing and nothing else."""
    endpoint(BOTH, None)
    tasks, out, options = write(tmp_path, TASKS), tmp_path / "out", ("--workers", workers)
    atc = Path(sys.executable).with_name("atc")
    process = subprocess.Popen([atc, *command(films, tasks, out, *options)], stderr=subprocess.PIPE, text=True)
    assert process.stderr
    assert "the world file of tmdb is left out" in process.stderr.readline()
    assert any("1/3" in line for line in process.stderr)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    (finished,) = (out / "tasks").iterdir()
    first = finished.read_bytes()

    assert process.returncode == 130
    assert not (out / "summary.json").exists()

    endpoint(BOTH)
    assert bench(films, tasks, out, *options).exit_code == 0
    assert finished.read_bytes() == first
    assert summary(out)["tasks"] == 3


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


def test_a_run_that_was_killed_ends_as_an_undisturbed_one(
    films: Path, endpoint: Callable[..., None], tmp_path: Path
) -> None:
    """kill -9 in the middle: every finished task stays, and at the end all files are the same."""
    endpoint(BOTH, SEARCH_ONLY)
    several = [{**task, "query": f"{task['query']} ({n})"} for n in range(3) for task in TASKS]
    replay = replayed(films, tmp_path, several)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert CliRunner().invoke(main, [*replay, "--out", str(whole)]).exit_code == 0
    atc = str(Path(sys.executable).with_name("atc"))
    finished: set[str] = set()
    for _ in range(2):
        arguments = [atc, *replay, "--out", str(killed)]
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert process.stderr is not None
        lines = (line for line in process.stderr if b" task " in line)
        for _ in zip(range(len(finished) + 1), lines, strict=False):  # one more is done
            pass
        process.kill()
        process.communicate()
        before, finished = finished, {file.name for file in (killed / "tasks").glob("*.json")}
        assert finished and before <= finished
    assert CliRunner().invoke(main, [*replay, "--out", str(killed)]).exit_code == 0

    assert {file.name for file in (killed / "tasks").iterdir()} == {file.name for file in (whole / "tasks").iterdir()}
    for file in sorted((whole / "tasks").iterdir()):
        assert (killed / "tasks" / file.name).read_bytes() == file.read_bytes()
    assert {**summary(killed), "seconds": 0} == {**summary(whole), "seconds": 0}


def test_what_others_solve_is_kept_when_the_model_goes(
    films: Path, endpoint: Callable[..., None], tmp_path: Path
) -> None:
    """Two tasks are under way when one of them finds the model gone: the other one comes to its end."""
    dataset = open_dataset("restbench-tmdb", write(tmp_path, TASKS), [str(films)])
    names = tuple(tool.name for tool in dataset.protocols["tmdb"].tools)
    gone = threading.Event()

    class Failing(AgentEnvironment):
        def solve(self, task: Task, candidates: tuple[str, ...]) -> Outcome:
            if task.position == 0:
                gone.wait(10)
                raise ModelError("gone")
            gone.set()
            time.sleep(0.2)
            return super().solve(task, candidates)

    endpoint(BOTH)
    with closing(Failing(settings(dataset), dataset)) as environment, pytest.raises(ModelError):
        runner = Runner(environment.settings, environment, MetricsScorer(), thread_engine(environment, 2))
        list(runner.run([OfferedTask(task, names) for task in dataset.tasks], tmp_path / "out"))
    finished = {file.name for file in (tmp_path / "out" / "tasks").iterdir()}
    assert "tmdb-1.json" in finished and "tmdb-0.json" not in finished


def test_a_line_is_added_whole_or_not_at_all(tmp_path: Path) -> None:
    """One that a stop cut off stays apart; where the disk is full, nothing of it stays."""
    file = tmp_path / "lines.jsonl"
    file.write_text('{"a": 1}\n{"b": ')
    append_line(file, '{"c": 3}')
    with full_disk(40), pytest.raises(UsageError, match=r"lines\.jsonl cannot be written"):
        append_line(file, "x" * 80)

    assert file.read_text().splitlines() == ['{"a": 1}', '{"b": ', '{"c": 3}']


def test_a_full_disk_loses_nothing(films: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """What cannot be written is told; the tasks before it stay, nothing half written does, and it goes on later."""
    long = '```python\nprint(GET_search_film(query="Tide")["results"][0]["title"] * 5000)\n```'
    endpoint(BOTH, long)
    out = tmp_path / "out"
    arguments = [*replayed(films, tmp_path, TASKS[:2]), "--out", str(out)]
    with full_disk(40_000):
        stopped = CliRunner().invoke(main, arguments)

    assert stopped.exit_code == 2
    assert "tmdb-1.json cannot be written: File too large" in stopped.stderr
    assert [file.name for file in (out / "tasks").iterdir()] == ["tmdb-0.json"]

    written_at = (out / "tasks" / "tmdb-0.json").stat().st_mtime_ns
    assert CliRunner().invoke(main, arguments).exit_code == 0
    assert (out / "tasks" / "tmdb-0.json").stat().st_mtime_ns == written_at
    assert (summary(out)["tasks"], summary(out)["success"]) == (2, summary(tmp_path / "first")["success"])


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
