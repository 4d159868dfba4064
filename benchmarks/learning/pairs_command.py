"""`atc train data`: questions with right programs, made from the document of an API, or from the suite's templates."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atc.apps.cli import print_json, say
from atc.apps.cli.options import is_typed, json_option, option, out_file, takes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.learning.pairs.pair_file import Tally
    from benchmarks.manipulation.alignment import AlignmentCounts

__all__ = ["REASONS", "data"]

_COUNT = 1000
"""Pairs, where their number is not given."""

_PROTOCOL_OPTIONS = ("exclude", "candidates", "profile")
_TASK_OPTIONS = ("pairs",)

REASONS = {
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
"""What the reasons against a draft mean."""


@dataclass(frozen=True, kw_only=True)
class _DataOptions:
    api: str | None = option("--from-protocol", metavar="SPEC", help="The API: an OpenAPI document or tools file.")
    tasks: tuple[str, ...] = option(
        "--from-task", multiple=True, metavar="NAME",
        help="A tool of `atc bench manipulation`, in place of an API. Repeatable; all are mixed.",
    )  # fmt: skip
    out: Path = option("--out", required=True, metavar="FILE", type=out_file, help="JSONL, a pair a line.")
    count: int | None = option(
        "--count", type=click.IntRange(1), metavar="N",
        help="Pairs in the file, or samples of each tool  [default: 1000, or as many as the paper has of each tool]",
    )  # fmt: skip
    pairs: int = option(
        "--pairs", default=4, show_default=True, type=click.IntRange(1), metavar="K",
        help="Samples of a tool in one conversation (--from-task).",
    )  # fmt: skip
    seed: int = option("--seed", default=0, show_default=True, help="Of the questions and the simulated service.")
    exclude: tuple[Path, ...] = option(
        "--exclude",
        multiple=True,
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Tasks (RestBench, ToolFlow, ToolBench, ours): no pair has the tools of one of them. Repeatable.",
    )
    candidates: int = option(
        "--candidates", default=5, show_default=True, metavar="K", type=click.IntRange(0),
        help="Tools in each prompt; 0 leaves the messages out.",
    )  # fmt: skip
    profile: str = option(
        "--profile", default="tiny", show_default=True, metavar="NAME|FILE",
        help="The prompt's profile: that of the model to tune (tiny for smollm2-135m, else small).",
    )  # fmt: skip
    as_json: bool = json_option("Print the counts as JSON.")


@click.command()
@takes(_DataOptions)
def data(options: _DataOptions) -> None:
    """Make questions with the programs that answer them, from an API document alone, or from a tool's samples.

    With --from-protocol each program is checked, run in the simulated service, and kept if its answer rests on the
    responses. A line has the question, the program, its tools, the answer, and the messages of `atc solve --tools K
    --profile NAME` with the program as their answer. To go on after a stop, repeat the command.

    With --from-task a line has the functions, several goals with their actions, and the last action as the answer.
    `atc train sft` learns all of these actions, or with `loss_on: last` the last one.
    """
    if (options.api is None) == (not options.tasks):
        raise click.UsageError("give one of --from-protocol SPEC and --from-task NAME")
    if options.tasks:
        _refuse(_PROTOCOL_OPTIONS, "--from-task")
        _from_tasks(options)
        return
    _refuse(_TASK_OPTIONS, "--from-protocol")
    _from_protocol(options, options.api or "", options.count or _COUNT)


def _refuse(names: Iterable[str], source: str) -> None:
    """Raises: click.UsageError: One of the options is given, and would have no effect."""
    for name in names:
        if is_typed(name):
            raise click.UsageError(f"--{name} has no effect with {source}: leave it out")


def _from_tasks(options: _DataOptions) -> None:
    """Write the samples of tools of the suite, mixed."""
    from atc.files import write_text
    from benchmarks.manipulation.alignment import alignment_data
    from benchmarks.manipulation.suite import open_environment

    _check_own(options.out)
    conversations, counts = [], []
    for task in dict.fromkeys(options.tasks):
        with closing(open_environment(task)) as environment:
            of_task, task_counts = alignment_data(environment, options.count, options.pairs, options.seed)
        conversations += of_task
        counts.append(task_counts)
    random.Random(options.seed).shuffle(conversations)
    lines = (json.dumps(conversation, ensure_ascii=False) for conversation in conversations)
    write_text(options.out, "".join(f"{line}\n" for line in lines))
    if options.as_json:
        print_json({"tasks": [task_counts.to_json() for task_counts in counts], "written": len(conversations)})
    _print_alignment(counts, options)


def _check_own(out: Path) -> None:
    """Raises: click.UsageError: A file with something else would be overwritten."""
    from atc.files import read_lines

    place, line = next(read_lines(out), ("", {"task": ""}))
    if not isinstance(line, dict) or "task" not in line:
        raise click.UsageError(f"{place}: this is no sample of `atc train data --from-task`; name another --out")


def _from_protocol(options: _DataOptions, api: str, count: int) -> None:
    """Write pairs for an API."""
    from atc.profile import open_profile
    from benchmarks.harness.progress import counting
    from benchmarks.learning.exclusion import read_gold
    from benchmarks.learning.pairs.pair_file import PairSettings, generate
    from protocols import load

    open_profile(options.profile)  # an unknown one is told before anything else
    protocol = load(api)
    excluded = read_gold(options.exclude, protocol, say)
    settings = PairSettings(
        protocol.digest, options.seed, options.candidates, options.profile, exclusion=excluded.digest
    )
    if options.exclude and not excluded:
        say("warning: none of the tasks of --exclude is of this API: nothing is left out")
    with counting("pairs", count) as show:
        tally = generate(protocol, settings, options.out, count, excluded, lambda pairs: show(pairs, "pairs"))
    if options.as_json:
        print_json({**tally.to_json(), "excluded_tasks": len(excluded)})
    _print_counts(tally, options, count)
    if options.exclude:
        say(f"{len(excluded)} tasks are excluded")


def _print_alignment(counts: Sequence[AlignmentCounts], options: _DataOptions) -> None:
    """The table of samples, and of what they share with the tests."""
    from rich.console import Console
    from rich.table import Table

    columns = (
        "tool",
        "samples",
        "distinct",
        "lines",
        "combinations",
        "those of tests",
        "shared",
        "tests with these",
        "goals shared",
    )
    table = Table(title=str(options.out), box=None, collapse_padding=True, pad_edge=False)
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if place else "left", no_wrap=" " not in column)
    for task_counts in counts:
        table.add_row(*map(str, task_counts.to_json().values()))
    console = Console(stderr=True)
    console.print(table)
    console.print("A combination is the multiset of functions called. Samples with the goal of a test are left out.")


def _print_counts(tally: Tally, options: _DataOptions, count: int) -> None:
    """The table of what became of the drafts."""
    from benchmarks.report.render import print_table

    rows = [(REASONS.get(reason, reason), number) for reason, number in tally.dropped.most_common()]
    rows += [("written", tally.written), *([("written before", tally.before)] if tally.before else [])]
    names = ("tools", "multisets", "shapes", "forms", "most_of_a_form", "prompts_with_added_tools")
    counts = tally.to_json()
    figures = [(name.replace("_", " "), counts[name]) for name in names]
    print_table(str(options.out), ("drafts", str(tally.drafts)), (*rows, *figures), stderr=True)
    if missing := max(0, count - tally.before - tally.written):
        say(f"{missing} pairs are missing: nothing new can be asked with this seed; try another --seed and --out")
