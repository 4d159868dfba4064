"""`atc data pull` and `atc data show`: fetch the files of benchmarks, and show what a set of tasks is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atc.apps.cli import print_json, say
from atc.apps.cli.options import argument, json_option, option, takes
from benchmarks.harness.registry import benchmarks
from protocols.errors import UsageError

if TYPE_CHECKING:
    from benchmarks.tasks.datasets import Dataset
    from benchmarks.tasks.task_files import Task
    from protocols import Protocol, Tool

__all__ = ["pull", "show"]


@click.command()
@click.argument(
    "name", type=click.Choice(["restbench", "toolflow", "openapi", "stabletoolbench", "toolbench"]), metavar="NAME"
)
def pull(name: str) -> None:
    """Fetch the files of NAME (restbench, toolflow, openapi, stabletoolbench or toolbench).

    They go to $ATC_DATA, or to the cache folder.
    """
    from benchmarks.tasks.download import SOURCES, folders
    from benchmarks.tasks.download import pull as fetch

    target, sources = folders()[0], SOURCES[name]
    got = fetch(name, target)
    there = sum(len(source.files) for source in sources) - len(got)
    say(f"{len(got)} files came, {there} were there: {target / name}")
    for source in sources:
        licence_file = next(place for place in source.files if "LICENSE" in place)
        say(f"from {source.origin}, licence {source.licence} ({target / licence_file})")


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
    from benchmarks.report.render import print_table
    from benchmarks.tasks.datasets import open_dataset

    names = [name for name, benchmark in benchmarks().items() if not benchmark.command]
    is_name = options.source in names
    if not is_name and not Path(options.source).is_file():
        raise UsageError(f"{options.source} is neither a file nor one of {', '.join(names)}")
    task_file = None if is_name else Path(options.source)
    dataset = open_dataset(options.source if is_name else "own", task_file, options.apis, options.subset)
    for warning in dataset.warnings:
        say(f"warning: {warning}")
    rows = _statistics(dataset)
    if options.as_json:
        print_json(rows)
        return
    columns = ("domain", "tasks", "tools", "gold calls", "gold tools", "tokens a tool", "interface")
    print_table("", columns, (row.values() for row in rows))


def _statistics(dataset: Dataset) -> list[dict[str, object]]:
    """The figures of each domain, and last those of all tasks; only the latter where each task has its own APIs."""
    tasks: dict[str, list[Task]] = {}
    for task in dataset.tasks:
        tasks.setdefault(task.domain, []).append(task)
    total = _figures("all", dataset.tasks, [dataset.protocols[domain] for domain in tasks])
    if dataset.own_protocols or len(tasks) == 1:
        return [total]
    return [*(_figures(domain, of_domain, [dataset.protocols[domain]]) for domain, of_domain in tasks.items()), total]


def _figures(domain: str, tasks: Sequence[Task], protocols: Sequence[Protocol]) -> dict[str, object]:
    """The figures of the tasks of one domain, or of all; a token is estimated as three characters."""
    from protocols.quoting import estimate
    from protocols.render import render_full

    solutions = [task.gold.calls for task in tasks]
    tools = {f"{protocol.title}.{tool.name}": tool for protocol in protocols for tool in protocol.tools}
    return {
        "domain": domain,
        "tasks": len(tasks),
        "tools": len(tools),
        "gold_calls": _mean([sum(calls.values()) for calls in solutions]),
        "gold_tools": _mean([len(calls) for calls in solutions]),
        "documentation_tokens": _mean([estimate(render_full([tool])) for tool in tools.values()]),
        "interface": ", ".join(dict.fromkeys(map(_interface, tools.values()))),
    }


def _interface(tool: Tool) -> str:
    """How a tool is called, in the paper's words."""
    if tool.function is not None:
        return "Python function"
    return "virtual API server" if tool.envelope is not None else "RESTful API"


def _mean(numbers: Sequence[int]) -> float:
    return round(sum(numbers) / max(len(numbers), 1), 2)
