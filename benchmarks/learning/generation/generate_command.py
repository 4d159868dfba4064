"""`atc toolbench generate`."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from atc.apps.cli import print_json, say
from atc.apps.cli.options import (
    RealRange,
    agent_option,
    argument,
    json_option,
    option,
    out_file,
    record_option,
    reuse_option,
    takes,
)

if TYPE_CHECKING:
    from benchmarks.learning.generation.generate import InstructionRun
    from benchmarks.learning.generation.pool import InstructionKind
    from benchmarks.toolbench.server.catalogue import Catalogue
    from benchmarks.toolbench.server.reply_sources import Upstream

__all__ = ["generate"]

_MEANINGS = {
    "form": "values are JSON, the text is one",
    "related": "asks for each of its APIs",
    "words": "30 words or more",
    "names": "names no API",
    "concrete": "says every value",
    "new": "is no near-duplicate",
    "runs": "its calls are answered",
}


@dataclass(frozen=True, kw_only=True)
class _GenerateOptions:
    """The command line of `atc toolbench generate`."""

    sources: tuple[Path, ...] = argument(nargs=-1, type=click.Path(path_type=Path), metavar="[SOURCE]...")
    kind: str = option(
        "--kind",
        required=True,
        type=click.Choice(["I1", "I2", "I3"]),
        help="I1: about one tool, I2: about tools of one category, I3: about tools of like purpose in several.",
    )
    count: int = option("--count", required=True, type=click.IntRange(min=1), metavar="N", help="Instructions, in all.")
    model: str | None = agent_option("model")
    out: Path = option(
        "--out",
        required=True,
        type=out_file,
        metavar="FILE",
        help="The query file; of NAME.json every attempt is in NAME.attempts.jsonl beside it. To go on, repeat the "
        "command.",
    )
    seed: int = option("--seed", type=int, default=0, show_default=True, help="Of what is drawn, and of the model.")
    max_tokens: int = option(
        "--max-tokens", type=click.IntRange(min=0), default=0, metavar="N", help="Most tokens, read and written."
    )
    max_seconds: float = option("--max-seconds", type=RealRange(min=0), default=0.0, metavar="S", help="Most seconds.")
    server: str | None = option(
        "--server", metavar="URL", help="Try the calls against this virtual API server, as `atc toolbench serve`."
    )
    simulate: bool = option("--simulate", is_flag=True, help="Try the calls against simulated APIs.")
    record: Path | None = record_option()
    reuse: Path | None = reuse_option()
    as_json: bool = json_option("Print the counts as JSON.")


@click.command()
@takes(_GenerateOptions)
def generate(options: _GenerateOptions) -> None:
    """Have a model write instructions for APIs, check them, and write a query file.

    SOURCE is an unpacked release, a folder of tools, or a query file [default: the releases under $ATC_DATA]. What is
    written can be solved (`atc bench toolbench --tasks FILE`) and annotated (`atc toolbench annotate FILE`).
    """
    from atc.engines.names import identity
    from atc.models import default_model, open_model
    from atc.models.budget import BudgetedModel
    from benchmarks.harness.progress import counting
    from benchmarks.learning.generation.generate import GenerationSettings
    from benchmarks.learning.generation.generate import generate as write
    from benchmarks.learning.generation.pool import ToolPool, proposed_collections
    from benchmarks.tasks.datasets import answers_digest

    if options.server and options.simulate:
        raise click.UsageError("--server and --simulate exclude each other: calls are tried in one place")
    catalogue = _catalogue(options.sources)
    pool = ToolPool(catalogue)
    collections = proposed_collections(pool, options.seed) if options.kind == "I3" else []
    name = identity(options.model or default_model())
    settings = GenerationSettings(
        kind=cast("InstructionKind", options.kind),
        seed=options.seed,
        model="#".join([name, *(digest["sha256"][:12] for digest in answers_digest(name).values())]),
        pool=pool.digest,
        runs=options.server or ("simulated" if options.simulate else ""),
    )
    with ExitStack() as stack:
        server = _server(options, catalogue, stack)
        model = stack.enter_context(
            closing(open_model(name, record=options.record, reuse=options.reuse, seed=options.seed, keep=True))
        )
        budgeted = BudgetedModel(model, tokens=options.max_tokens, seconds=options.max_seconds)
        with counting("instructions", options.count) as bar:

            def show(run: InstructionRun) -> None:
                bar(len(run.queries), f"{len(run.entries)} attempts")

            run = write(pool, collections, settings, options.count, budgeted, server, options.out, show)
    if options.as_json:
        print_json(run.to_json())
    else:
        _print(run)
    if run.stopped:
        say(f"stopped before {options.count} instructions: {run.stopped}")


def _catalogue(sources: tuple[Path, ...]) -> Catalogue:
    """The tools of the sources, or of the releases under `ATC_DATA`; what cannot be read is told."""
    from benchmarks.toolbench.server.catalogue import Catalogue, default_sources

    catalogue = Catalogue(sources or default_sources("as SOURCE"))
    for warning in catalogue.warnings:
        say(f"warning: {warning}")
    return catalogue


def _server(options: _GenerateOptions, catalogue: Catalogue, stack: ExitStack) -> Upstream | None:
    """What calls are tried against; None leaves that check out, and says so."""
    from benchmarks.toolbench.server.reply_sources import Upstream
    from benchmarks.toolbench.server.virtual_server import simulated_server

    if options.server:
        return Upstream(options.server)
    if options.simulate:
        return Upstream(stack.enter_context(simulated_server(catalogue, options.seed)).start())
    say("warning: no call is tried; add --simulate or --server URL")
    return None


def _print(run: InstructionRun) -> None:
    from benchmarks.report.render import print_table

    rows = [
        (name, _MEANINGS[name], f"{row['reached']:,}", f"{row['passed']:,}", f"{row['rate']:.1%}")
        for name, row in run.to_json()["checks"].items()
    ]
    title = f"{len(run.queries)} of {len(run.entries)} attempts accepted"
    print_table(title, ("check", "refuses what is not so", "reached", "passed", "rate"), rows, 2)
