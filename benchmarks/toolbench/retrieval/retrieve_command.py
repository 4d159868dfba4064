"""`atc retrieve`: index documented APIs, search them, and measure the search."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from atc.apps.cli import print_json, say
from atc.apps.cli.options import announced
from atc.retrieval.tool_index import ENCODERS
from benchmarks.harness.placed_group import PlacedGroup
from protocols.errors import UsageError
from protocols.quoting import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["build", "evaluate", "query", "retrieve"]

_index = click.Path(file_okay=False, path_type=Path)


@click.group(
    cls=PlacedGroup,
    places={
        "build": "benchmarks.toolbench.retrieval.retrieve_command:build",
        "query": "benchmarks.toolbench.retrieval.retrieve_command:query",
        "train": "benchmarks.learning.retriever_command:train",
        "eval": "benchmarks.toolbench.retrieval.retrieve_command:evaluate",
    },
)
def retrieve() -> None:
    """Index documented APIs and find those that a question needs."""


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option("--out", required=True, type=_index, metavar="INDEX", help="The folder of the index; it grows.")
@click.option(
    "--encoder",
    default="bm25",
    show_default=True,
    metavar="|".join((*ENCODERS, "base", "DIR", "hybrid:DIR")),
    help="By words, by word vectors, by both, or by a trained encoder (sentence-transformers).",
)
@announced
def build(sources: tuple[str, ...], out: Path, encoder: str) -> None:
    """Index the APIs of each SOURCE: an API document, a query file of ToolBench, or a published corpus.tsv."""
    from atc.retrieval.tool_index import build_index
    from benchmarks.toolbench.retrieval.documents import read_documents

    documents = [document for source in sources for document in read_documents(source)]
    say(f"{build_index(out, documents, encoder):,} documents in {out}")


@click.command()
@click.argument("index", type=_index)
@click.argument("text")
@click.option("-k", type=click.IntRange(min=1), default=5, show_default=True, help="How many.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@announced
def query(index: Path, text: str, k: int, as_json: bool) -> None:
    """Print the K APIs of INDEX that are nearest to TEXT."""
    from atc.retrieval.tool_index import ToolIndex

    hits = ToolIndex(index).search(text, k)
    if as_json:
        names = ("category", "tool", "api")
        rows = [{"score": hit.score, **{name: getattr(hit.document, name) for name in names}} for hit in hits]
        print_json({"hits": rows})
        return
    for hit in hits:
        api_path = f"{hit.document.category} / {hit.document.tool} / {hit.document.api}"
        click.echo(f"{hit.score:8.4f}  {one_line(api_path)}")


@click.command("eval")
@click.argument("index", type=_index)
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="QUERIES...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@announced
def evaluate(index: Path, files: tuple[Path, ...], as_json: bool) -> None:
    """Measure how well INDEX finds the relevant APIs of questions.

    QUERIES are query files of ToolBench, or published *.query.txt with their qrels beside them.
    """
    from rich.console import Console
    from rich.progress import track

    from atc.retrieval.tool_index import ToolIndex
    from benchmarks.toolbench.retrieval.documents import read_judged
    from benchmarks.toolbench.retrieval.retriever_figures import averaged, question_figures, trained_questions

    opened = ToolIndex(index)
    judged = {file.stem: read_judged(file) for file in files}
    if len(judged) < len(files) or (len(files) > 1 and "all" in judged):
        raise click.UsageError("each of QUERIES needs a name of its own, and none is `all`: rename a file")
    indexed = {document.id for document in opened.documents}
    for file in files:
        if not any(question.relevant & indexed for question in judged[file.stem]):
            raise UsageError(f"{file}: none of its relevant APIs is in {index}; build the index from the same source")
    tasks = [(name, question) for name, questions in judged.items() for question in questions]
    if lacking := sum(not question.relevant <= indexed for _, question in tasks):
        say(
            f"warning: {lacking} of {len(tasks)} questions have relevant APIs that {index} lacks; these count as misses"
        )
    encoder = Path(opened.encoder.removeprefix("hybrid:"))
    if trained := sum(trained_questions(encoder, file, judged[file.stem]) for file in files):
        say(f"warning: the encoder was trained on {trained} of {len(tasks)} questions; measure it on those held out")
    results: dict[str, list[Mapping[str, float]]] = {name: [] for name in judged}
    for name, question in track(tasks, "queries", console=Console(stderr=True)):
        results[name].append(question_figures(opened, question))
    rows = {name: averaged(figures) for name, figures in results.items()}
    if len(rows) > 1:
        rows["all"] = averaged([row for figures in results.values() for row in figures])
    if as_json:
        facts = {"encoder": opened.encoder, "documents": len(opened.documents)}
        print_json({**facts, **rows})
        return
    _print_figures(rows)


def _print_figures(rows: Mapping[str, Mapping[str, float]]) -> None:
    from rich.console import Console
    from rich.table import Column, Table

    from benchmarks.toolbench.retrieval.retriever_figures import CUTS

    columns = [f"{measure}@{cut}" for measure, cuts in CUTS.items() for cut in cuts]
    headers = [column.replace("recall", "rec") for column in columns]
    table = Table(Column("queries", no_wrap=True), "n", *headers, "ndcg@5, 95 %", box=None)
    for name, row in rows.items():
        interval = f"{100 * row['low']:.0f} to {100 * row['high']:.0f}"
        table.add_row(name, str(int(row["n"])), *(f"{100 * row[column]:.1f}" for column in columns), interval)
    Console().print(table)
