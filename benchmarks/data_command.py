"""`atc data new` and `atc data show`: tasks for one's own API, and what a set of tasks is made of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atc.apps.cli import print_json, say
from atc.apps.cli.options import argument, check_api_options, json_option, option, out_file, takes
from benchmarks.harness.registry import benchmarks
from protocols.errors import UsageError

if TYPE_CHECKING:
    from benchmarks.tasks.new_tasks import NewTasks, TaskSettings

__all__ = ["new", "show"]

_SUITE = "manipulation"
"""The tool-manipulation suite, whose tasks are in no task file."""

_REASONS = {
    "no question": "nothing to ask this way",
    "disagreement": "the second run gave something else",
    "run": "ended with an error",
    "response": "a call was refused",
    "empty": "an empty answer",
}
"""What the likeliest reasons mean against a draft; others are named as `atc train data` counts them."""


@dataclass(frozen=True, kw_only=True)
class _NewOptions:
    file: Path = argument(type=out_file, metavar="FILE")
    api: str = option(
        "--api", required=True, metavar="SPEC", help="The API: an OpenAPI document or *.tools.json, file or URL."
    )
    simulate: bool = option("--simulate", is_flag=True, help="Ask a simulated API, and about writes too.")
    base_url: str | None = option("--base-url", metavar="URL", help="Where the API is, if not where its document says.")
    auth: tuple[str, ...] = option(
        "--auth", metavar="KIND:SOURCE", multiple=True, help="A credential, as `atc solve` takes it. Repeatable."
    )
    count: int = option(
        "--count", type=click.IntRange(min=1), default=50, show_default=True, metavar="N", help="Tasks."
    )
    seed: int = option("--seed", type=int, default=0, show_default=True, help="Of the questions and the simulated API.")
    as_json: bool = json_option("Print the counts as JSON.")


@click.command()
@takes(_NewOptions)
def new(options: _NewOptions) -> None:
    """Write tasks for the API of SPEC to FILE, which `atc bench own --tasks FILE --api SPEC` reads.

    A task is a question with a program that answers it, and the calls of that program with their arguments as gold. It
    is kept only if two runs of the program make the same calls and print the same. A real service is read from and not
    written to; its data may change, and then so do the answers. To go on after a stop, repeat the command.
    """
    from benchmarks.learning.pairs.trial import RealService
    from benchmarks.tasks.new_tasks import TaskSettings
    from protocols import load

    check_api_options(options.simulate, options.base_url, options.auth)
    if options.file.exists():
        raise UsageError(f"{options.file} exists; move it away, or name another file")
    protocol = load(options.api)
    if protocol.of_functions:
        raise UsageError("--api names functions, and tasks are made for an API document")
    service = None if options.simulate else RealService(options.base_url, options.auth)
    settings = TaskSettings(options.file, options.count, options.seed, service)
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from benchmarks.tasks.new_tasks import make_tasks

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("drafted", total=options.count)
        result = make_tasks(
            protocol, settings, lambda step, number: progress.update(bar, description=step, completed=number)
        )
    _print_new(result, settings, options)


def _print_new(result: NewTasks, settings: TaskSettings, options: _NewOptions) -> None:
    """What was written, why drafts were dropped, and how the tasks are run."""
    if options.as_json:
        print_json({"tasks": len(result.tasks), "drafts": result.drafts, "dropped": dict(result.dropped)})
    reasons = ", ".join(f"{number} {_REASONS.get(reason, reason)}" for reason, number in result.dropped.items())
    say(f"{len(result.tasks)} tasks of {result.drafts} drafts; left out: {reasons or 'none'}")
    if len(result.tasks) < settings.count:
        say(f"warning: there is no more to ask that has an answer twice; {settings.count} tasks were wanted")
    seed = f" --seed {settings.seed}" if options.simulate and settings.seed else ""
    simulated = " --simulate" if options.simulate else f" --base-url {options.base_url}" if options.base_url else ""
    say(f"next: atc bench own --tasks {settings.out} --api {options.api}{simulated}{seed} --out runs/own")


@dataclass(frozen=True, kw_only=True)
class _ShowOptions:
    source: str = argument(metavar="NAME|FILE")
    apis: tuple[str, ...] = option(
        "--api", multiple=True, metavar="[DOMAIN=]SPEC", help="The API of the tasks, as `atc bench` takes it."
    )
    subset: str = option("--subset", default="", metavar="SUBSET", help="Of ToolBench's queries, such as G2_category.")
    as_json: bool = json_option()


@click.command()
@takes(_ShowOptions)
def show(options: _ShowOptions) -> None:
    """Show what a benchmark (its NAME as in `atc bench`) or a task file is made of, by domain and in all.

    Tasks and tools, mean gold calls and different gold tools for a task, mean tokens of a tool's documentation
    (estimated), and the kind of interface, as the ATC paper's Tables 8 and 9 have them.
    """
    from rich.console import Console
    from rich.table import Table

    from benchmarks.tasks.datasets import open_dataset
    from benchmarks.tasks.statistics import statistics

    if options.source == _SUITE:
        from benchmarks.manipulation.statistics import suite_statistics

        rows = suite_statistics()
    else:
        names = [name for name, benchmark in benchmarks().items() if not benchmark.command]
        is_name = options.source in names
        if not is_name and not Path(options.source).is_file():
            raise UsageError(f"{options.source} is neither a file nor one of {', '.join((*names, _SUITE))}")
        task_file = None if is_name else Path(options.source)
        dataset = open_dataset(options.source if is_name else "own", task_file, options.apis, options.subset)
        for warning in dataset.warnings:
            say(f"warning: {warning}")
        rows = statistics(dataset)
    if options.as_json:
        print_json([row.to_json() for row in rows])
        return
    table = Table("domain", "tasks", "tools", "gold calls", "gold tools", "tokens a tool", "interface")
    for column in table.columns[1:6]:
        column.justify = "right"
    for row in rows:
        table.add_row(*map(str, row.to_json().values()), style="bold" if row is rows[-1] else None)
    Console().print(table)
