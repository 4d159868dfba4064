"""`atc toolbench split`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

import click

from atc.apps.cli import print_json, say
from atc.apps.cli.options import RealRange, argument, json_option, keep_sources, option, takes

__all__ = ["split"]


@dataclass(frozen=True, kw_only=True)
class _SplitOptions:
    """The command line of `atc toolbench split`."""

    files: tuple[Path, ...] = argument(
        nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE..."
    )
    distance: str = option(
        "--by",
        required=True,
        type=click.Choice(["query", "tool", "category"]),
        help="What no two parts share; a listed API counts, whether its query needs it or not.",
    )
    seed: int = option("--seed", type=int, default=0, show_default=True, help="Of what goes where.")
    dev: float = option(
        "--dev",
        type=RealRange(0, 0.5, min_open=True),
        default=0.1,
        show_default=True,
        help="Share of dev.json, about.",
    )
    test: float = option(
        "--test",
        type=RealRange(0, 0.5, min_open=True),
        default=0.1,
        show_default=True,
        help="Share of test.json, about.",
    )
    out: Path = option(
        "--out",
        required=True,
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="train.json, dev.json and test.json.",
    )
    as_json: bool = json_option("Print the counts as JSON.")


@click.command()
@takes(_SplitOptions)
def split(options: _SplitOptions) -> None:
    """Split query files into train.json, dev.json and test.json.

    Queries that share a tool (or category) stay together, so nothing is left out. Where ids of several files are the
    same, the queries are numbered anew.
    """
    from atc.files import make_folder, write_json
    from benchmarks.learning.annotation.split import PARTS, SplitDistance, numbered, read_entries, split_queries

    if not options.dev + options.test < 1:
        raise click.UsageError("--dev and --test are shares, below 1 together: train.json has the rest")
    for part in PARTS:
        keep_sources(options.files, options.out / f"{part}.json", "one of the files to split")
    entries = read_entries(options.files)
    distance = cast("SplitDistance", options.distance)
    renumbered = [(data, query) for data, (_, query) in zip(numbered(entries), entries, strict=True)]
    parts = split_queries(renumbered, distance, options.seed, options.dev, options.test)
    make_folder(options.out)
    for part, chosen in parts.items():
        write_json(options.out / f"{part}.json", [data for data, _ in chosen])
    counts = {part: len(chosen) for part, chosen in parts.items()}
    if options.as_json:
        print_json({"by": distance, "seed": options.seed, **counts})
    else:
        say(f"{', '.join(f'{count} in {part}.json' for part, count in counts.items())}; no shared {distance}")
