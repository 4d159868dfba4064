"""`atc simulate`: an API made from its document alone, for other programs to talk to."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atc.apps.cli.documents import chosen
from atc.apps.cli.options import (
    RealRange,
    agent_options,
    argument,
    option,
    out_file,
    per_second,
    takes,
)
from atc.options import Options

if TYPE_CHECKING:
    from protocols.simulator import Simulator

__all__ = ["simulate"]


@dataclass(frozen=True, kw_only=True)
class _Options:
    spec: str = argument()
    agent: Options = agent_options("document", "clock")
    port: int = option("--port", type=click.IntRange(0, 65535), default=0, metavar="P", help="[default: any]")
    no_auth: bool = option("--no-auth", is_flag=True, help="Answer without a credential.")
    world: Path | None = option(
        "--world",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE",
        help="A world file (YAML): names, sizes, relations, effects of writes, meanings of parameters that SPEC lacks.",
    )
    latency: float = option(
        "--latency",
        type=RealRange(min=0),
        default=0.0,
        metavar="S",
        help="Seconds that each answer takes longer.",
    )
    fail_rate: float = option(
        "--fail-rate",
        type=RealRange(0, 1),
        default=0.0,
        metavar="P",
        help="The part of the requests, from 0 to 1, that fail with 5xx or 429; which ones follows from the seed.",
    )
    rate_limit: float | None = option(
        "--rate-limit",
        type=per_second,
        metavar="N/s",
        help="Requests a second in each session; more are refused with 429 and Retry-After.",
    )
    log: Path | None = option(
        "--log",
        type=out_file,
        metavar="FILE",
        help="Add a JSON line for each request: time, method, path, status, ms, session.",
    )


@click.command()
@takes(_Options)
def simulate(options: _Options) -> None:
    """Serve a simulated API made from SPEC on this machine until ctrl-C.

    Prints its base URL and the made-up credentials that it wants. POST /__session__ with {"seed", "task", "query"}
    opens a world of its own, POST BASE_URL/__reset__ undoes its writes, DELETE /__session__/ID ends it.
    """
    from protocols import load
    from protocols.quoting import one_line
    from protocols.simulator import Simulator

    protocol = chosen(load(options.spec), options.agent.only, options.agent.without)
    click.get_current_context().call_on_close(protocol.close)
    with Simulator(
        protocol,
        seed=options.agent.seed,
        now=options.agent.now,
        auth=not options.no_auth,
        world=options.world,
        latency=options.latency,
        fail_rate=options.fail_rate,
        rate_limit=options.rate_limit or 0.0,
        log=options.log,
    ) as simulator:
        click.echo(simulator.start(options.port))
        click.echo("\n".join(map(one_line, _credentials(simulator))))
        threading.Event().wait()


def _credentials(simulator: Simulator) -> list[str]:
    """How a client signs in, ready to be copied: one line for each credential."""
    from protocols.calls.credentials import ANY_REQUEST

    lines = []
    for credential in simulator.credentials:
        headers = credential.sign(ANY_REQUEST)
        kinds = (("header", headers, ": "), ("query", credential.query(), "="), ("cookie", credential.cookies(), "="))
        lines += [
            f"credential: {kind} {name}{joint}{value}" for kind, pairs, joint in kinds for name, value in pairs.items()
        ]
    return list(dict.fromkeys(lines)) or ["credential: none needed"]
