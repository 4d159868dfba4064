"""How many tasks a second the runner gets through when the model answers at once.

`python -m benchmarks.micro.runner` records what a perfect model says on the tasks of `tiny` (see
benchmarks.run.oracle), then plays it back through the runner with one worker and with two, each task with its own
world, its score and its file, again and again until some seconds are over. Beside it stand the same programs run in the
same worlds with nothing around them: what is missing to that is the runner's.
"""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import click

from benchmarks.micro.frame import Measurement, print_table
from benchmarks.run.engines import thread_engine
from benchmarks.run.oracle import oracle_script, record_answers, simulated_settings
from benchmarks.run.runner import prepare_folder, run_tasks
from benchmarks.run.task_run import TaskRunner
from benchmarks.tasks.datasets import Dataset, open_dataset
from benchmarks.tasks.task_files import candidate_tools
from protocols.errors import ATCError

__all__ = ["main", "measure"]


def measure(dataset: Dataset, folder: Path, seconds: float = 5.0) -> dict[str, float]:
    """Tasks a second: `alone`, the programs and nothing else; `runner x N` with N workers.

    Args:
        folder: Where the record and the results of the runs go.
        seconds: How long each is measured, at least; after one round that does not count.
    """
    answers = folder / "answers.jsonl"
    record_answers(dataset, answers, lambda text: len(text) // 4, ("attribute",))
    settings = simulated_settings(dataset, f"replay:{answers}", "attribute")
    offered = [(task, candidate_tools(task, dataset.protocols[task.domain], None, 0)) for task in dataset.tasks]
    rates = {}
    with closing(TaskRunner(settings, dataset.protocols)) as runner:
        programs = [
            (task, solution.program) for task, names in offered if (solution := oracle_script(runner, task, names))
        ]

        def alone() -> int:
            for task, program in programs:
                with runner.world(task) as world:
                    world.run(program)
            return len(programs)

        rates["alone"] = _rate(alone, seconds)
        for workers in (1, 2):
            rounds = itertools.count()

            def through(workers: int = workers, rounds: itertools.count[int] = rounds) -> int:
                out = folder / f"{workers}-{next(rounds)}"
                prepare_folder(out, settings)
                results = list(run_tasks(offered, settings, out, thread_engine(runner, workers)))
                if failed := [result.id for result in results if not result.metrics.answered]:
                    raise ATCError(f"the replayed tasks {', '.join(failed)} were not answered")
                return len(results)

            rates[f"runner x {workers}"] = _rate(through, seconds)
    return rates


def _rate(work: Callable[[], int], seconds: float) -> float:
    work()
    started, count = time.perf_counter(), 0
    while (passed := time.perf_counter() - started) < seconds or not count:
        count += work()
    return count / passed


@click.command(cls=Measurement)
@click.option(
    "--seconds", type=click.FloatRange(min=0.1), default=5.0, show_default=True, help="How long each is measured."
)
def main(seconds: float) -> None:
    """Measure the tasks a second of the runner on the tasks of `tiny`, with a model that answers at once."""
    with tempfile.TemporaryDirectory() as folder:
        rates = measure(open_dataset("tiny", None, ()), Path(folder), seconds)
    rows = [(name, f"{rate:.1f}", f"{rate / rates['alone']:.2f}") for name, rate in rates.items()]
    print_table(("", "tasks a second", "times alone"), rows)


if __name__ == "__main__":
    main()
