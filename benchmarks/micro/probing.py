"""How much a blind probe finds out, and what it costs: the ATC paper's Table 5 for us, and what the schemas are worth.

`python -m benchmarks.micro.probing restbench-tmdb --ablate` probes the documents of a benchmark, each against its own
simulated service of which the prober is told no response; then without several samples, without the chain, and without
a model. `--fresh N` holds the schemas to what the tools answer in N worlds that the probe has not seen.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from atc.models import Model, default_model, open_model
from benchmarks.micro.frame import Measurement, print_table
from benchmarks.tasks.datasets import BENCHMARKS, open_dataset
from benchmarks.worlds import find_worlds
from probing.evaluation import evaluate
from probing.prober.permission import WritePermission
from probing.prober.prober import Prober
from probing.strip_responses import strip_responses
from protocols.model import Protocol
from protocols.simulator import Simulator
from sandbox import Sandbox

__all__ = ["main", "measure"]

VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "all": {},
    "one sample": {"samples": 1},
    "no chain": {"chain": False},
    "no model": {},
}
_FIGURES = ("precision", "recall", "types", "marks", "valid", "caught")


def measure(
    protocol: Protocol, model: Model | None, seed: int, world: Path | None, fresh: int, **settings: Any
) -> dict[str, Any]:
    """Probe one API blind; gives counts, and percentages under their names in probing.evaluation.

    Args:
        world: The world file of its simulated service.
        fresh: Worlds of other seeds to hold the schemas to; 0 for none.
        settings: For the Prober.
    """
    hidden = strip_responses(protocol)
    permission = WritePermission(hidden, "all")
    started = time.monotonic()
    with ExitStack() as closing:
        service = closing.enter_context(Simulator(protocol, seed=seed, world=world))
        sandbox = Sandbox(
            hidden, base_url=service.url, credentials=service.credentials, seed=seed, track=False, writes=permission
        )
        prober = Prober(hidden, model, sandbox, permission=permission, seed=seed, **settings)
        report = prober.probe()
    seconds = time.monotonic() - started
    figures = evaluate(protocol, prober.observations, seed, fresh=bool(fresh), worlds=fresh)
    totals = report.to_json()["totals"]
    undocumented = [
        f"{tool_report.tool} ({tool_report.outcome})" for tool_report in report.tools if not tool_report.is_complete
    ]
    return {**totals, **{name: figures.get(name) for name in _FIGURES}, "seconds": seconds, "left": undocumented}


def _column(figures: Mapping[str, Any]) -> Mapping[str, str]:
    tools = figures["tools"]
    return {
        "documented": f"{figures['done']} of {tools}",
        "requests a tool": f"{figures['requests'] / tools:.1f}",
        "samples a tool": f"{figures['samples'] / tools:.2f}",
        "tokens a tool": f"{(figures['prompt_tokens'] + figures['completion_tokens']) / tools:,.0f}",
        **{name: "" if figures[name] is None else f"{figures[name]:.1f}" for name in _FIGURES},
        "seconds": f"{figures['seconds']:.0f}",
    }


@click.command(cls=Measurement)
@click.argument("name", type=click.Choice(list(BENCHMARKS)), metavar="NAME")
@click.option("--model", default=None, metavar="MODEL", help="Who is asked; none for nobody  [default: as atc solve]")
@click.option("--reuse", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="As in atc bench.")
@click.option("--seed", default=0, show_default=True)
@click.option(
    "--fresh", default=3, show_default=True, type=click.IntRange(min=0), help="Unseen worlds to compare with."
)
@click.option("--ablate", is_flag=True, help="Also without several samples, without the chain, without a model.")
def main(name: str, model: str | None, reuse: Path | None, seed: int, fresh: int, ablate: bool) -> None:
    """Probe the documents of the benchmark NAME blind, and print what was found out at what cost."""
    opened = None if model == "none" else open_model(model or default_model(), reuse=reuse, seed=seed)
    protocols = open_dataset(name, None, ()).protocols
    worlds = find_worlds(protocols)
    for domain, protocol in protocols.items():
        columns: dict[str, Mapping[str, str]] = {}
        remarks = []
        for variant, settings in VARIANTS.items() if ablate else [("all", {})]:
            variant_model, unseen = None if variant == "no model" else opened, fresh if variant == "all" else 0
            figures = measure(protocol, variant_model, seed, worlds.get(domain), unseen, **settings)
            columns[variant] = _column(figures)
            if figures["left"]:
                remarks.append(f"{domain}, {variant}, not documented: {', '.join(figures['left'])}")
        print_table((domain, *columns), ([row, *(c[row] for c in columns.values())] for row in columns["all"]))
        for line in remarks:
            click.echo(line)
    if opened is not None:
        opened.close()


if __name__ == "__main__":
    main()
