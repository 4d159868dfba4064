"""`atc data new`: tasks for one's own API."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atc.apps.cli import print_json, say
from atc.apps.cli.options import argument, check_api_options, json_option, option, out_file, takes
from benchmarks.learning.pairs_command import REASONS
from protocols.errors import UsageError

if TYPE_CHECKING:
    from benchmarks.learning.new_tasks import NewTasks, TaskSettings

__all__ = ["new"]


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
    written to; its data may change, and then so do the answers.
    """
    from benchmarks.harness.progress import counting
    from benchmarks.learning.new_tasks import TaskSettings, make_tasks
    from benchmarks.learning.pairs.trial import RealService
    from protocols import load

    check_api_options(options.simulate, options.base_url, options.auth)
    if options.file.exists():
        raise UsageError(f"{options.file} exists; move it away, or name another file")
    protocol = load(options.api)
    if protocol.of_functions:
        raise UsageError("--api names functions, and tasks are made for an API document")
    service = None if options.simulate else RealService(options.base_url, options.auth)
    settings = TaskSettings(options.file, options.count, options.seed, service)
    with counting("solved twice", options.count) as show:
        result = make_tasks(protocol, settings, lambda number: show(number, "solved twice"))
    _print_new(result, settings, options)


def _print_new(result: NewTasks, settings: TaskSettings, options: _NewOptions) -> None:
    """What was written, why drafts were dropped, and how the tasks are run."""
    if options.as_json:
        print_json({"tasks": len(result.tasks), "drafts": result.drafts, "dropped": dict(result.dropped)})
    names = {**REASONS, "disagreement": "the second run gave something else"}
    reasons = ", ".join(f"{number} {names.get(reason, reason)}" for reason, number in result.dropped.items())
    say(f"{len(result.tasks)} tasks of {result.drafts} drafts; left out: {reasons or 'none'}")
    if len(result.tasks) < settings.count:
        say(f"warning: there is no more to ask that has an answer twice; {settings.count} tasks were wanted")
    seed = f" --seed {settings.seed}" if options.simulate and settings.seed else ""
    simulated = " --simulate" if options.simulate else f" --base-url {options.base_url}" if options.base_url else ""
    say(f"next: atc bench own --tasks {settings.out} --api {options.api}{simulated}{seed} --out runs/own")
