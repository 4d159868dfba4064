"""How many episodes a second each tool of the manipulation suite gets through when the model knows the labels.

`python -m benchmarks.micro.manipulation` goes through the tests of each tool again and again until some seconds are
over:

    start and score    `reset` and `score`, and nothing in between: milliseconds of an episode
    label              the label is executed by `act`: in the sandbox, over HTTP, or by parsing
    generator          through the runner, with prompt, record and file
    agent              through the runner, as a program of the mode `none`
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import click

from benchmarks.manipulation.environment import Environment, ManipulationTest
from benchmarks.manipulation.perfect import LabelModel
from benchmarks.manipulation.run import ACTION_MODE, BENCHMARK, ManipulationSettings, TestRunner, run_tests
from benchmarks.manipulation.suite import TASKS, open_environment
from benchmarks.micro.frame import Measurement, json_option, print_table
from benchmarks.run.runner import prepare_folder
from protocols.errors import ATCError

__all__ = ["main", "measure"]


def measure(environment: Environment, folder: Path, seconds: float = 3.0) -> dict[str, float]:
    """Milliseconds of a start with its score, then episodes a second of each kind, by the names of the module.

    Args:
        folder: Where the records go.
        seconds: How long each is measured, at least; after one episode that does not count.
    Raises: ATCError: A label does not score full marks.
    """
    tests = environment.tests

    def start(test: ManipulationTest) -> None:
        environment.reset(test)
        environment.score()

    def label(test: ManipulationTest) -> None:
        environment.reset(test)
        for action in test.labels[0].splitlines() if environment.steps > 1 else test.labels[:1]:
            environment.act(action)
        if environment.score().value < 1:
            raise ATCError(f"{environment.name}: the label of test {test.id} does not score full marks")

    rates = {"start and score, ms": 1000 / _rate(tests, start, seconds), "label": _rate(tests, label, seconds)}
    for name, mode in (("generator", ACTION_MODE), ("agent", "none")):
        settings = ManipulationSettings(BENCHMARK, "labels", mode, 0, 3, "paper", "bm25", False)
        model = LabelModel(environment, programs=mode != ACTION_MODE)
        rates[name] = _rate(tests, _Through(TestRunner(environment, settings, model), settings, model, folder), seconds)
    return rates


class _Through:
    """An episode through the runner, into a new folder for each round of the tests."""

    def __init__(self, runner: TestRunner, settings: ManipulationSettings, model: LabelModel, folder: Path) -> None:
        self._runner, self._settings, self._model = runner, settings, model
        self._out = folder / settings.mode
        self._round: set[str] = set()

    def __call__(self, test: ManipulationTest) -> None:
        """Run a test. Raises: ATCError: It is not solved."""
        if test.id in self._round or not self._round:
            self._round.clear()
            shutil.rmtree(self._out, ignore_errors=True)
            prepare_folder(self._out, self._settings)
        self._round.add(test.id)
        self._model.expect(test)
        for record in run_tests(self._runner, [test], self._settings, self._out):
            if record.metrics.success < 1:
                raise ATCError(f"test {record.id} is not solved by its label (mode {self._settings.mode})")


def _rate(tests: Sequence[ManipulationTest], episode: Callable[[ManipulationTest], None], seconds: float) -> float:
    """Episodes a second."""
    episode(tests[-1])
    started, count = time.perf_counter(), 0
    while (passed := time.perf_counter() - started) < seconds:
        episode(tests[count % len(tests)])
        count += 1
    return count / passed


@click.command(cls=Measurement)
@click.option("--task", "tasks", multiple=True, help="Only this tool. Repeatable.")
@click.option(
    "--seconds", type=click.FloatRange(min=0.1), default=3.0, show_default=True, help="How long each is measured."
)
@json_option()
def main(tasks: tuple[str, ...], seconds: float, as_json: bool) -> None:
    """Measure the episodes a second of each tool of the manipulation suite."""
    from atc.apps.cli import print_json

    figures = {}
    for task in tasks or TASKS:
        with tempfile.TemporaryDirectory() as folder, closing(open_environment(task)) as environment:
            figures[task] = measure(environment, Path(folder), seconds)
    if as_json:
        print_json(figures)
        return
    columns = ("", *next(iter(figures.values()), {}))
    rows = [(task, *(f"{rate:,.2f}" for rate in row.values())) for task, row in figures.items()]
    print_table(columns, rows, title="episodes a second", figures_from=1)


if __name__ == "__main__":
    main()
