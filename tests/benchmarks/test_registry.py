"""A benchmark of another package, registered as an entry point `atc.benchmarks`, runs like ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.benchmarks.bench_runs import BOTH, SEARCH_ONLY, TASKS, write

PACKAGE = '''
"""Two benchmarks of somebody else: questions about an API, and sums that need a harness alone."""

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from atc.apps.cli.options import takes
from benchmarks.harness import Outcome
from benchmarks.harness.run_folders import run_all
from benchmarks.harness.options import WorkerOptions
from benchmarks.harness.registry import Benchmark

HERE = Path(__file__).parent
films = Benchmark("films", "questions about films", ("tasks.json",), {"films": "films.yaml"}, True, folder=HERE)
sums = Benchmark("sums", "two numbers to add", command="toy_benchmarks:add_up")


@dataclass(frozen=True)
class Sum:
    id: str
    numbers: tuple[int, int]


@dataclass(frozen=True)
class SumSettings:
    offset: int = 0


class Adder:
    def key(self, task):
        return task

    def run(self, task):
        with (HERE / "added.txt").open("a") as file:
            file.write(f"{task.id}\\n")
        return Outcome({"id": task.id, "sum": sum(task.numbers)})

    def stop(self):
        pass


class SumScorer:
    def figures(self, record, seconds):
        return record["sum"]

    def line(self, figures):
        return f"is {figures}"

    def progress(self, figures):
        return f"sum {sum(figures)}", ""

    def summary(self, figures):
        return {"total": sum(figures)}


@contextmanager
def adder(settings, folder):
    yield Adder()


@click.command()
@takes(WorkerOptions)
def add_up(options):
    tasks = [Sum(f"s{number}", (number, 1)) for number in range(4)][: options.limit]
    for run in run_all({options.out: SumSettings()}, tasks, adder, SumScorer(), options):
        click.echo(run.summary["total"])
'''


@pytest.fixture
def outside(films: Path, tmp_path: Path) -> Path:
    """A folder on the import path with the installed package."""
    package = tmp_path / "package"
    described = package / "toy_benchmarks-1.dist-info"
    described.mkdir(parents=True)
    (package / "toy_benchmarks.py").write_text(PACKAGE)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-benchmarks\nVersion: 1\n")
    (described / "entry_points.txt").write_text(
        "[atc.benchmarks]\nfilms = toy_benchmarks:films\nsums = toy_benchmarks:sums\n"
    )
    (package / "films.yaml").write_text(films.read_text())
    write(package, TASKS)
    return package


RUNNER = """
import json, sys
from click.testing import CliRunner
from atc.apps.cli import main
results = [CliRunner().invoke(main, ["bench", *command]) for command in json.loads(sys.argv[1])]
print(json.dumps([(result.exit_code, result.stdout, result.stderr) for result in results]))
"""


def bench(package: Path, *commands: list[str]) -> list[tuple[int, str, str]]:
    """Exit code, stdout and stderr of `atc bench`, once for each command, with the package installed."""
    paths = os.pathsep.join([str(package), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = [sys.executable, "-c", RUNNER, json.dumps(commands)]
    finished = subprocess.run(process, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths})
    assert finished.returncode == 0, finished.stderr
    return [tuple(result) for result in json.loads(finished.stdout)]


def test_a_row_of_data_is_a_benchmark(outside: Path, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """Its tasks are solved in simulated worlds, its name is in the help, and an unknown one is refused."""
    endpoint(BOTH, SEARCH_ONLY, SEARCH_ONLY)
    out = ["--out", str(tmp_path / "out")]
    run, listed, unknown = bench(outside, ["films", "--model", "openai:scripted", *out], ["--help"], ["nothing", *out])

    assert run[0] == 0, run[2]
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["success"] == 66.67
    assert "questions about films" in listed[1]
    assert "films, sums" in unknown[2]


def test_a_command_of_its_own_has_the_whole_harness(outside: Path, tmp_path: Path) -> None:
    """Workers, a file for each task, a summary; what is there is not run again."""
    arguments = ["sums", "--workers", "2", "--out", str(tmp_path / "out")]
    first, whole = bench(outside, [*arguments, "--limit", "2"], arguments)

    assert (first[1], whole[1]) == ("3\n", "10\n"), whole[2]
    assert sorted((outside / "added.txt").read_text().split()) == ["s0", "s1", "s2", "s3"]
    assert json.loads((tmp_path / "out" / "tasks" / "s3.json").read_text())["sum"] == 4
    assert "4/4 task s" in whole[2]
