"""`atc bench apibench`: select an API and write its call, for questions far from what ToolBench trains."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atc.apps.cli import print_json
from atc.apps.cli.options import agent_option, option, takes
from benchmarks.harness.options import RunOptions

if TYPE_CHECKING:
    from benchmarks.apibench.apibench_run import APIBenchEnvironment, APIBenchSettings

__all__ = ["apibench"]


@dataclass(frozen=True, kw_only=True)
class _APIBenchOptions(RunOptions):
    """The command line of `atc bench apibench`."""

    documents: str = option(
        "--documents",
        default="gold",
        show_default=True,
        metavar="gold|bm25|wordllama|hybrid|DIR|hybrid:DIR|none",
        help="The documentation that the model reads: of the right API, of those that a retriever finds (DIR is a "
        "trained encoder), or none.",
    )
    top_k: int = option(
        "--top-k",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        metavar="K",
        help="How many documents of a retriever are shown.",
    )
    model: str | None = agent_option("model")


@click.command()
@takes(_APIBenchOptions)
def apibench(options: _APIBenchOptions) -> None:
    """Ask the TorchHub questions of APIBench: which API fits, and how is it called?

    The call is compared with the catalogue by its syntax tree. Each answer is one JSON file in DIR/tasks, the figures
    are in DIR/summary.json. To go on after a stop, repeat the command.
    """
    from atc.apps.cli.model import offer_pull
    from atc.engines.names import identity
    from atc.models import default_model, open_model
    from atc.retrieval.encoder import encoder_digest
    from atc.retrieval.tool_index import ENCODERS
    from benchmarks.apibench.apibench_run import (
        APIBenchEnvironment,
        APIBenchScorer,
        APIBenchSettings,
        apibench_tables,
        rankings,
    )
    from benchmarks.apibench.dataset import read_apibench
    from benchmarks.harness.run_folders import run_all
    from benchmarks.harness.runner import selected
    from benchmarks.tasks.datasets import answers_digest

    if options.documents in ("gold", "none") and options.top_k != 1:
        raise click.UsageError(f"--top-k is of a retriever, and --documents is {options.documents}: leave it out")
    name = identity(options.model or default_model())
    data = read_apibench()
    questions = selected(data.questions, options.half, options.limit)
    ranked = rankings(data, questions, options.documents)
    offer_pull(name)
    encoder = options.documents.removeprefix("hybrid:")
    named = encoder in (*ENCODERS, "base", "gold", "none")
    trained = {} if named else {"encoder": {"file": encoder, "sha256": encoder_digest(encoder)}}
    settings = APIBenchSettings(
        "apibench", name, options.documents, options.top_k, {**data.files, **answers_digest(name), **trained}
    )

    @contextmanager
    def environment(run_settings: APIBenchSettings, folder: Path) -> Iterator[APIBenchEnvironment]:
        with closing(open_model(name, record=options.record, reuse=options.reuse)) as model:
            yield APIBenchEnvironment(data, run_settings, ranked, model)

    for run in run_all({options.out: settings}, questions, environment, APIBenchScorer(), options):
        if options.as_json:
            print_json(run.summary)
            continue
        from benchmarks.report.render import show

        show(apibench_tables(run.summary))
