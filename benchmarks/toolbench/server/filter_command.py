"""`atc toolbench filter`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import click

from atc.apps.cli import print_json, say
from atc.apps.cli.options import RealRange, json_option, option, out_file, takes
from benchmarks.toolbench.server.command import data_option, open_catalogue

__all__ = ["filter_"]


@dataclass(frozen=True, kw_only=True)
class _Options:
    """The command line of `atc toolbench filter`."""

    data: tuple[Path, ...] = data_option()  # type: ignore[assignment]
    server: str = option("--server", required=True, metavar="URL", help="The server of the published protocol to ask.")
    out: Path = option(
        "--out",
        required=True,
        type=out_file,
        metavar="FILE",
        help="A JSON line for each API; those that it has are not called again.",
    )
    max_seconds: float = option(
        "--max-seconds",
        type=RealRange(min=0.01),
        default=10.0,
        show_default=True,
        metavar="S",
        help="Drop an API whose reply takes longer.",
    )
    as_json: bool = json_option("Print the counts as JSON.")


@click.command("filter")
@takes(_Options)
def filter_(options: _Options) -> None:
    """Call each API once with its documented examples, and tell which give data in time.

    An API is dropped if the call fails, takes too long, or replies with nothing, HTML or an error message. To go on
    after a stop, repeat the command.
    """
    from rich.console import Console
    from rich.progress import track
    from rich.table import Table

    from benchmarks.toolbench.server.filtering import check_apis
    from benchmarks.toolbench.server.upstream import Upstream

    catalogue = open_catalogue(options.data, needed=True)
    assert catalogue is not None
    addresses = list(catalogue.addresses())
    checked = check_apis(catalogue, addresses, Upstream(options.server), options.out, options.max_seconds)
    verdicts = list(track(checked, "APIs", total=len(addresses), console=Console(stderr=True)))
    reasons = Counter(verdict.reason or "kept" for verdict in verdicts)
    simulated = sum(verdict.simulated for verdict in verdicts)
    if options.as_json:
        print_json({"apis": len(verdicts), "simulated": simulated, **dict(reasons.most_common())})
        return
    table = Table("verdict")
    table.add_column("APIs", justify="right")
    for reason, count in sorted(reasons.items(), key=lambda entry: (entry[0] != "kept", -entry[1])):
        table.add_row(reason, f"{count:,}")
    Console().print(table)
    if simulated:
        say(f"warning: {simulated} replies were simulated, and say nothing about a service")
