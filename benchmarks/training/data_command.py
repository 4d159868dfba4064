"""`atc train data`: questions with right programs, made from the document of an API alone."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from atc.cli import print_json
from atc.cli.options import json_option, option, out_file, takes

if TYPE_CHECKING:
    from rich.console import Console

    from atc.training.data.generation import Tally

__all__ = ["data"]

_REASONS = {
    "no question": "nothing to ask this way",
    "excluded": "tools of an excluded task",
    "duplicate": "the same question before",
    "form": "too many of its form",
    "calls": "too many calls",
    "tools": "too many of its tools",
    "check": "refused by the check",
    "run": "ended with an error",
    "response": "a call was refused",
    "write": "the write changed nothing",
    "empty": "an empty answer",
    "long": "a long answer",
    "unsupported": "rests on no response",
    "doubtful": "a finding speaks against it",
}


@dataclass(frozen=True, kw_only=True)
class _DataOptions:
    api: str = option(
        "--from-protocol", required=True, metavar="SPEC", help="The API: an OpenAPI document or tools file."
    )
    out: Path = option("--out", required=True, metavar="FILE", type=out_file, help="JSONL, a pair a line.")
    count: int = option("--count", default=1000, show_default=True, type=click.IntRange(1), help="Pairs in the file.")
    seed: int = option("--seed", default=0, show_default=True, help="Of the questions and the simulated service.")
    exclude: tuple[Path, ...] = option(
        "--exclude",
        multiple=True,
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Tasks (RestBench, ToolFlow, ToolBench, ours): no pair has the tools of one of them. Repeatable.",
    )
    kind: Literal["program", "select"] = option(
        "--kind", type=click.Choice(["program", "select"]), default="program", show_default=True,
        help="What the model is to write: the program, or the names of its tools.",
    )  # fmt: skip
    candidates: int = option(
        "--candidates", default=5, show_default=True, metavar="K", type=click.IntRange(0),
        help="Tools in each prompt; 0 leaves the messages out.",
    )  # fmt: skip
    profile: str = option(
        "--profile", default="tiny", show_default=True, metavar="NAME|FILE",
        help="The prompt's profile: that of the model to tune (tiny for smollm2-135m, else small).",
    )  # fmt: skip
    processes: int = option("--processes", default=2, show_default=True, metavar="P", type=click.IntRange(1))
    as_json: bool = json_option("Print the counts as JSON.")


@click.command()
@takes(_DataOptions)
def data(options: _DataOptions) -> None:
    """Make questions with the programs that answer them, from an API document alone.

    Each program is checked, run in the simulated service, and kept if its answer rests on the responses. A line has
    the question, the program, its tools, the answer, and the messages of `atc solve --tools K --profile NAME` with
    the program as their answer. To go on after a stop, repeat the command.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from atc.training.data.generation import PairSettings, generate
    from benchmarks.training.exclusion import read_gold
    from protocols import load

    protocol = load(options.api)
    excluded = read_gold(options.exclude, protocol)
    settings = PairSettings(
        options.out, options.count, options.seed, options.kind, options.candidates, options.processes,
        profile=options.profile,
    )  # fmt: skip
    console = Console(stderr=True)
    started = time.perf_counter()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("pairs", total=options.count)
        tally = generate(protocol, settings, excluded, lambda pairs: progress.update(bar, completed=pairs))
    seconds = round(time.perf_counter() - started, 1)
    if options.as_json:
        print_json({**tally.to_json(), "excluded_tasks": len(excluded), "seconds": seconds})
    _print_counts(tally, options, seconds, console)


def _print_counts(tally: Tally, options: _DataOptions, seconds: float, console: Console) -> None:
    """The table of what became of the drafts."""
    from rich.table import Table

    table = Table("drafts", str(tally.drafts), title=str(options.out))
    table.columns[1].justify = "right"
    for reason, number in tally.dropped.most_common():
        table.add_row(_REASONS.get(reason, reason), str(number))
    table.add_row("written", str(tally.written), style="bold")
    if tally.before:
        table.add_row("written before", str(tally.before))
    counts = tally.to_json()
    for name in ("tools", "multisets", "shapes", "forms", "most_of_a_form", "prompts_with_added_tools"):
        table.add_row(name.replace("_", " "), str(counts[name]))
    table.add_row("seconds", str(seconds))
    console.print(table)
    if tally.before + tally.written < options.count:
        missing = options.count - tally.before - tally.written
        console.print(
            f"{missing} pairs are missing: nothing new can be asked with this seed; try another --seed and --out"
        )
