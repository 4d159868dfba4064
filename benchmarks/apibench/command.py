"""`atc bench apibench`: select an API and write its call, for questions far from what ToolBench trains."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atc.apps.cli import print_json
from atc.apps.cli.options import (
    json_option,
    limit_option,
    model_option,
    option,
    record_option,
    results_option,
    reuse_option,
    takes,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.apibench.run import GradedReply

__all__ = ["apibench"]


@dataclass(frozen=True, kw_only=True)
class _APIBenchOptions:
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
    model: str | None = model_option()
    limit: int | None = limit_option("questions")
    out: Path = results_option("questions")
    record: Path | None = record_option()
    reuse: Path | None = reuse_option()
    as_json: bool = json_option("Print summary.json instead of the table.")


@click.command()
@takes(_APIBenchOptions)
def apibench(options: _APIBenchOptions) -> None:
    """Ask the TorchHub questions of APIBench: which API fits, and how is it called?

    The call is compared with the catalogue by its syntax tree. Each answer is one JSON file in DIR/tasks, the figures
    are in DIR/summary.json. To go on after a stop, repeat the command.
    """
    from atc.apps.cli.model import offer_pull
    from atc.engines.names import identity
    from atc.files import write_json
    from atc.models import default_model, open_model
    from atc.retrieval.encoder import encoder_digest
    from atc.retrieval.tool_index import ENCODERS
    from benchmarks.apibench.dataset import read_apibench
    from benchmarks.apibench.run import APIBenchSettings, answer_questions, rankings
    from benchmarks.apibench.summary import apibench_tables, summarize_replies
    from benchmarks.harness.runner import prepare_folder
    from benchmarks.tasks.datasets import answers_digest

    if options.documents in ("gold", "none") and options.top_k != 1:
        raise click.UsageError(f"--top-k is of a retriever, and --documents is {options.documents}: leave it out")
    name = identity(options.model or default_model())
    data = read_apibench()
    questions = data.questions[: options.limit]
    ranked = rankings(data, questions, options.documents)
    offer_pull(name)
    encoder = options.documents.removeprefix("hybrid:")
    named = encoder in (*ENCODERS, "base", "gold", "none")
    trained = {} if named else {"encoder": {"file": encoder, "sha256": encoder_digest(encoder)}}
    settings = APIBenchSettings(
        "apibench", name, options.documents, options.top_k, {**data.files, **answers_digest(name), **trained}
    )
    model = open_model(name, record=options.record, reuse=options.reuse)
    try:
        prepare_folder(options.out, settings)
        replies = _watch(answer_questions(data, ranked, settings, options.out, model), len(questions))
    finally:
        model.close()
    summary = {**summarize_replies(replies, settings), "date": datetime.now(UTC).date().isoformat()}
    write_json(options.out / "summary.json", summary)
    if options.as_json:
        print_json(summary)
        return
    from rich.console import Console

    from benchmarks.report.render import show

    show(apibench_tables(summary), (), Console())


def _watch(replies: Iterable[GradedReply], total: int) -> list[GradedReply]:
    """Collect the answers; a bar on stderr shows how many are right."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (MofNCompleteColumn(), BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    collected = []
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        bar = progress.add_task("", total=total)
        for reply in replies:
            collected.append(reply)
            right = sum(entry.outcome == "correct" for entry in collected)
            progress.update(bar, advance=1, description=f"right {100 * right / len(collected):.1f} %")
    return collected
