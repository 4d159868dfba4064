"""`atc simulate`: an API made from its document alone, for other programs to talk to."""

from __future__ import annotations

import threading
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atc.cli.options import clock_options, out_file, per_second

if TYPE_CHECKING:
    from protocols.simulator import Simulator

__all__ = ["simulate"]


@click.command()
@click.argument("spec")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="P", help="[default: any]")
@click.option("--no-auth", is_flag=True, help="Answer without a credential.")
@click.option(
    "--world",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A world file (YAML): names, sizes, relations, effects of writes, meanings of parameters that SPEC lacks.",
)
@click.option(
    "--latency", type=click.FloatRange(min=0), default=0.0, metavar="S", help="Seconds that each answer takes longer."
)
@click.option(
    "--fail-rate",
    type=click.FloatRange(0, 1),
    default=0.0,
    metavar="P",
    help="The part of the requests, from 0 to 1, that fail with 5xx or 429; which ones follows from the seed.",
)
@click.option(
    "--rate-limit",
    type=per_second,
    metavar="N/s",
    help="Requests a second in each session; more are refused with 429 and Retry-After.",
)
@click.option(
    "--log",
    type=out_file,
    metavar="FILE",
    help="Add a JSON line for each request: time, method, path, status, ms, session.",
)
@clock_options
def simulate(
    spec: str,
    port: int,
    no_auth: bool,
    world: Path | None,
    latency: float,
    fail_rate: float,
    rate_limit: float | None,
    log: Path | None,
    seed: int,
    now: datetime | None,
) -> None:
    """Serve a simulated API made from SPEC on this machine until ctrl-C.

    Prints its base URL and the made-up credentials that it wants. POST /__session__ with {"seed", "task", "query"}
    opens a world of its own, POST BASE_URL/__reset__ undoes its writes, DELETE /__session__/ID ends it.
    """
    from protocols import load
    from protocols.simulator import Simulator

    with Simulator(
        load(spec),
        seed=seed,
        now=now,
        auth=not no_auth,
        world=world,
        latency=latency,
        fail_rate=fail_rate,
        rate_limit=rate_limit or 0.0,
        log=log,
    ) as simulator:
        click.echo(simulator.start(port))
        click.echo("\n".join(_credentials(simulator)))
        threading.Event().wait()


def _credentials(simulator: Simulator) -> list[str]:
    """How a client signs in, ready to be copied: one line for each credential."""
    lines = []
    for credential in simulator.credentials:
        headers: dict[str, str] = {}
        query: list[tuple[str, str]] = []
        cookies: dict[str, str] = {}
        credential.apply(headers, query, cookies)
        kinds = (("header", headers.items(), ": "), ("query", query, "="), ("cookie", cookies.items(), "="))
        lines += [f"credential: {kind} {name}{joint}{value}" for kind, pairs, joint in kinds for name, value in pairs]
    return list(dict.fromkeys(lines)) or ["credential: none needed"]
