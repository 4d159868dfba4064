"""`atc probe`: an API without documented responses teaches itself to the agent."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atc.cli.options import check_api_options, clock_options, out_file, target_options

if TYPE_CHECKING:
    from probing.findings import ProbeReport

__all__ = ["probe"]

_COLOURS = {"documented": "green", "no_content": "green", "refused_by_policy": "yellow", "budget": "yellow"}


@click.command()
@click.argument("spec")
@target_options
@clock_options
@click.option("-o", "--out", required=True, type=out_file, metavar="FILE", help="The OpenAPI 3.1 document to write.")
@click.option("--report", type=out_file, metavar="FILE", help="Write what came of each tool, as JSON.")
@click.option("--blind", is_flag=True, help="Hide what SPEC says of responses, and compare with it at the end.")
@click.option(
    "--writes",
    type=click.Choice(["deny", "all"]),
    help="Whether tools that may change something are called  [default: deny; all with --simulate]",
)
@click.option("--only", multiple=True, metavar="TOOL", help="Find out about this tool. Repeatable.")
@click.option("--iterations", type=click.IntRange(min=0), default=4, show_default=True, help="Rounds after the first.")
@click.option("--samples", type=click.IntRange(min=1), default=3, show_default=True, help="Programs a tool and round.")
@click.option("--budget-calls", type=click.IntRange(min=1), metavar="N", help="Most requests in all.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON instead of the table.")
@click.pass_context
def probe(
    ctx: click.Context,
    spec: str,
    simulate: bool,
    base_url: str | None,
    auth: tuple[str, ...],
    seed: int,
    now: datetime | None,
    out: Path,
    report: Path | None,
    blind: bool,
    writes: str | None,
    only: tuple[str, ...],
    iterations: int,
    samples: int,
    budget_calls: int | None,
    as_json: bool,
) -> None:
    """Find out what the tools of SPEC return by calling them, and write SPEC down with it.

    Exit code 0 when all tools are documented, 1 when some are not, 4 when a budget ended it, 130 after ctrl-C;
    FILE is written each time.
    """
    from atc.files import to_json, write_json, write_text
    from probing.agreement import agreement, fresh_answers, held_by
    from probing.blind import blinded
    from probing.document import documented
    from probing.prober import Prober
    from protocols import load
    from protocols.auth import credential
    from protocols.errors import UsageError
    from protocols.simulator import Simulator

    check_api_options(simulate, base_url, auth)
    truth = load(spec)
    if unknown := [name for name in only if name not in truth]:
        raise UsageError(f"{truth.title} has no tool {', '.join(unknown)}")
    protocol = blinded(truth) if blind else truth
    with ExitStack() as closing:
        credentials = tuple(credential(one, truth) for one in auth)
        if simulate:
            simulator = closing.enter_context(Simulator(truth, seed=seed, now=now))
            base_url, credentials = simulator.url, simulator.credentials
        prober = Prober(
            protocol,
            base_url=base_url,
            credentials=credentials,
            writes=writes or ("all" if simulate else "deny"),
            iterations=iterations,
            samples=samples,
            budget_calls=budget_calls,
            only=only,
            seed=seed,
            now=now,
        )
        found = prober.probe()
    if blind:
        compared = agreement(truth, prober.known, prober.found)
        if simulate:
            compared |= held_by(prober.found, fresh_answers(truth, prober.found, seed))
        found = found.compared(compared)
    document = documented(protocol, prober.found)
    write_text(out, _text(document, out))
    if report is not None:
        write_json(report, found.to_json())
    if as_json:
        click.echo(to_json(found.to_json()), nl=False)
    else:
        _show(found)
    ctx.exit(found.exit_code)


def _text(document: dict[str, object], out: Path) -> str:
    from atc.files import to_json

    if out.suffix == ".json":
        return to_json(document)
    import yaml

    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True)


def _show(found: ProbeReport) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table()
    for column in ("tool", "outcome", "round", "requests", "why not"):
        table.add_column(column)
    for one in found.tools:
        colour = _COLOURS.get(one.outcome, "red")
        outcome = f"[{colour}]{one.outcome}[/]"
        table.add_row(one.tool, outcome, str(one.iteration), str(one.requests), "" if one.done else escape(one.reason))
    console = Console()
    console.print(table)
    done = sum(one.done for one in found.tools)
    console.print(f"{done} of {len(found.tools)} tools, {found.requests} requests, {found.iterations} rounds")
    for name, value in found.agreement.items():
        console.print(f"{name}: {value}", markup=False, highlight=False)
