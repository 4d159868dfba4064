"""`atc simulate`: an API made from its document alone, for other programs to talk to."""

from __future__ import annotations

import threading
from datetime import datetime
from typing import TYPE_CHECKING

import click

from atc.cli.options import clock_options

if TYPE_CHECKING:
    from protocols.simulator import Simulator

__all__ = ["simulate"]


@click.command()
@click.argument("spec")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="P", help="[default: any]")
@click.option("--no-auth", is_flag=True, help="Answer without a credential.")
@clock_options
def simulate(spec: str, port: int, no_auth: bool, seed: int, now: datetime | None) -> None:
    """Serve a simulated API made from SPEC on this machine until ctrl-C.

    Prints its base URL and the made-up credentials that it wants.
    """
    from protocols import load
    from protocols.simulator import Simulator

    with Simulator(load(spec), seed=seed, now=now, auth=not no_auth) as simulator:
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
