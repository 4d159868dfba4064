"""Runs of `atc bench` that are stopped, killed or run out of space go on where they were."""

from __future__ import annotations

import contextlib
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
from click.testing import CliRunner

from atc.apps.cli import main
from atc.files import append_line
from benchmarks.harness.engines import thread_engine
from benchmarks.harness.parts import Outcome
from benchmarks.harness.runner import Runner
from benchmarks.report.summary import MetricsScorer
from benchmarks.run.agent_environment import AgentEnvironment
from benchmarks.run.run_settings import RunSettings
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
    summary,
    write,
)


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
    """kill -9 at random moments: every finished task stays, and at the end all files are the same."""
    endpoint(BOTH, SEARCH_ONLY)
    several = [{**task, "query": f"{task['query']} ({n})"} for n in range(4) for task in TASKS]
    tasks, recorded = write(tmp_path, several), tmp_path / "answers.jsonl"
    assert bench(films, tasks, tmp_path / "first", "--record", str(recorded)).exit_code == 0
    model = ["--model", f"replay:{recorded}", "--profile", "large"]
    replay = ["--tasks", str(tasks), "--api", str(films), "--simulate", *model]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert CliRunner().invoke(main, ["bench", "restbench-tmdb", *replay, "--out", str(whole)]).exit_code == 0
    code = "import sys; from atc.apps.cli import main; sys.argv[0] = 'atc'; main()"
    arguments = [sys.executable, "-c", code, "bench", "restbench-tmdb", *replay, "--out", str(killed)]
    chance = random.Random(7)
    finished: set[str] = set()
    for _ in range(4):
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert process.stderr is not None
        next((line for line in process.stderr if b" task " in line), b"")  # one is done, or the run is over
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(chance.uniform(0.0, 0.1))
        process.kill()
        process.communicate()
        assert finished <= (finished := {file.name for file in (killed / "tasks").glob("*.json")})
    subprocess.run(arguments, check=True, capture_output=True)

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

    class Failing(AgentEnvironment):
        def solve(self, task: Task, candidates: tuple[str, ...]) -> Outcome:
            if task.position == 0:
                gone.wait(10)
                raise ModelError("gone")
            gone.set()
            time.sleep(0.2)
            return super().solve(task, candidates)

    endpoint(BOTH)
    with closing(Failing(settings, dataset)) as environment, pytest.raises(ModelError):
        runner = Runner(settings, environment, MetricsScorer(), thread_engine(environment, 2))
        list(runner.run([OfferedTask(task, names) for task in dataset.tasks], tmp_path / "out"))
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
    code = full + "from atc.apps.cli import main; sys.argv[0] = 'atc'; main()"
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
