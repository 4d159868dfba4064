"""`atc train`: one command for each thing that is made or trained; `data` makes samples of the manipulation suite."""

from __future__ import annotations

import json
import random
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import click

from atc.apps.cli import print_json, say
from atc.apps.cli.options import json_option, option, out_file, takes
from benchmarks.harness.placed_group import PlacedGroup

__all__ = ["data", "train"]


@click.group(
    cls=PlacedGroup,
    places={
        "data": "benchmarks.learning.train_command:data",
        "sft": "benchmarks.learning.sft_command:sft",
    },
)
def train() -> None:
    """Make training data, and train models with it."""


@dataclass(frozen=True, kw_only=True)
class _DataOptions:
    tasks: tuple[str, ...] = option(
        "--from-task",
        multiple=True,
        required=True,
        metavar="NAME",
        help="A tool of `atc bench manipulation`. Repeatable; all are mixed.",
    )
    out: Path = option("--out", required=True, metavar="FILE", type=out_file, help="JSONL, a conversation a line.")
    count: int | None = option(
        "--count",
        type=click.IntRange(1),
        metavar="N",
        help="Samples of each tool  [default: as many as the paper has of it]",
    )
    samples: int = option(
        "--pairs",
        default=4,
        show_default=True,
        type=click.IntRange(1),
        metavar="K",
        help="Samples of a tool in one conversation.",
    )
    seed: int = option("--seed", default=0, show_default=True, help="Of the choice and the order.")
    as_json: bool = json_option("Print the number of conversations as JSON.")


@click.command()
@takes(_DataOptions)
def data(options: _DataOptions) -> None:
    """Make conversations from the samples of tools of `atc bench manipulation`.

    A line has the functions, several goals with their actions, and the last action as the answer. `atc train sft`
    learns all of these actions, or with `loss_on: last` the last one.
    """
    from atc.files import write_text
    from benchmarks.manipulation.generator import alignment_data
    from benchmarks.manipulation.suite import open_environment

    _check_own(options.out)
    conversations = []
    for task in dict.fromkeys(options.tasks):
        with closing(open_environment(task)) as environment:
            conversations += alignment_data(environment, options.count, options.samples, options.seed)
    random.Random(options.seed).shuffle(conversations)
    lines = (json.dumps(conversation, ensure_ascii=False) for conversation in conversations)
    write_text(options.out, "".join(f"{line}\n" for line in lines))
    if options.as_json:
        print_json({"written": len(conversations)})
    say(f"{len(conversations)} conversations: {options.out}")


def _check_own(out: Path) -> None:
    """Raises: click.UsageError: A file with something else would be overwritten."""
    from atc.files import read_lines

    where, line = next(read_lines(out), ("", {"task": ""}))
    if not isinstance(line, dict) or "task" not in line:
        raise click.UsageError(f"{where}: this is no sample of `atc train data --from-task`; name another --out")
