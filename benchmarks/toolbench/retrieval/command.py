"""`atc retrieve`: index documented APIs, search them, and measure the search."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from atc.cli import print_json, say
from atc.retrieval.tool_index import ENCODERS
from benchmarks.toolbench.retrieval.hold_out import DISTANCES
from protocols.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["retrieve"]

_index = click.Path(file_okay=False, path_type=Path)


@click.group()
def retrieve() -> None:
    """Index documented APIs and find those that a question needs."""


@retrieve.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option("--out", required=True, type=_index, metavar="INDEX", help="The folder of the index; it grows.")
@click.option(
    "--encoder",
    default="bm25",
    show_default=True,
    metavar="|".join((*ENCODERS, "base", "DIR", "hybrid:DIR")),
    help="By words, by word vectors, by both, or by a trained encoder (sentence-transformers).",
)
def build(sources: tuple[str, ...], out: Path, encoder: str) -> None:
    """Index the APIs of each SOURCE: an API document, a query file of ToolBench, or a published corpus.tsv."""
    from atc.retrieval.tool_index import build_index
    from benchmarks.toolbench.retrieval.documents import read_documents

    documents = [document for source in sources for document in read_documents(source)]
    say(f"{build_index(out, documents, encoder):,} documents in {out}")


@retrieve.command()
@click.argument("index", type=_index)
@click.argument("text")
@click.option("-k", type=click.IntRange(min=1), default=5, show_default=True, help="How many.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def query(index: Path, text: str, k: int, as_json: bool) -> None:
    """Print the K APIs of INDEX that are nearest to TEXT, and the confidence that one of the index fits."""
    from atc.retrieval.tool_index import ToolIndex

    opened = ToolIndex(index)
    hits, confidence = opened.search(text, k), opened.confidence(text)
    if as_json:
        names = ("category", "tool", "api")
        rows = [{"score": hit.score, **{name: getattr(hit.document, name) for name in names}} for hit in hits]
        print_json({"confidence": confidence, "hits": rows})
        return
    for hit in hits:
        click.echo(f"{hit.score:8.4f}  {hit.document.category} / {hit.document.tool} / {hit.document.api}")
    say(f"confidence that an API of the index fits: {confidence:.2f}")


@retrieve.command()
@click.argument("sources", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="QUERIES...")
@click.option("--out", required=True, type=_index, metavar="DIR", help="The folder of the encoder, with a card.")
@click.option("--hold-out", type=click.Choice(DISTANCES), help="Keep a fifth out, and measure it: new in it is this.")
@click.option("--base", default="base", show_default=True, help="A sentence transformer; `base` is the packaged one.")
@click.option("--epochs", type=click.IntRange(min=1), default=4, show_default=True, help="Rounds over the questions.")
@click.option("--seed", default=0, show_default=True, help="Of the order, and of what is kept out.")
def train(sources: tuple[Path, ...], out: Path, hold_out: str | None, base: str, epochs: int, seed: int) -> None:
    """Train an encoder on the questions of QUERIES (query files of ToolBench) and the APIs that they need.

    `atc retrieve build … --encoder DIR` uses it, and `hybrid:DIR` adds its scores to those of the words.
    """
    from rich.console import Console
    from rich.progress import Progress

    from atc.training.retriever import EncoderTraining, train_encoder
    from benchmarks.toolbench.retrieval.encoder_card import write_card
    from benchmarks.toolbench.retrieval.experiment import measure_encoder, read_corpus
    from benchmarks.toolbench.retrieval.hold_out import HoldOut
    from benchmarks.toolbench.retrieval.hold_out import hold_out as split_off

    if out.exists() and any(out.iterdir()):
        raise UsageError(f"{out} is not empty; name a new folder")
    documents, judged = read_corpus(sources)
    split = HoldOut(tuple(judged), (), tuple(documents))
    if hold_out:
        split = split_off(documents, judged, hold_out, seed)
    settings = EncoderTraining(epochs=epochs, seed=seed)
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("training")
        losses = train_encoder(
            split.documents,
            split.train,
            out,
            settings,
            base,
            lambda done, total, loss: progress.update(
                task, completed=done, total=total, description=f"loss {loss:.3f}"
            ),
        )
    figures = measure_encoder(documents, split.test, str(out)) if split.test else {}
    write_card(out, sources, base, settings, hold_out, split, losses, figures)
    print_json({"out": str(out), "steps": len(losses), "loss": losses[-1], "held_out": len(split.test), **figures})


@retrieve.command("eval")
@click.argument("index", type=_index)
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="QUERIES...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def evaluate(index: Path, files: tuple[Path, ...], as_json: bool) -> None:
    """Measure how well INDEX finds the relevant APIs of questions.

    QUERIES are query files of ToolBench, or published *.query.txt with their qrels beside them.
    """
    from rich.console import Console
    from rich.progress import track

    from atc.retrieval.tool_index import ToolIndex
    from benchmarks.toolbench.retrieval.documents import read_judged
    from benchmarks.toolbench.retrieval.evaluation import averaged, published, question_figures

    opened = ToolIndex(index)
    judged = {file.stem: read_judged(file) for file in files}
    tasks = [(name, question) for name, questions in judged.items() for question in questions]
    results: dict[str, list[Mapping[str, float]]] = {name: [] for name in judged}
    for name, question in track(tasks, "queries", console=Console(stderr=True)):
        results[name].append(question_figures(opened, question))
    rows = {name: averaged(figures) for name, figures in results.items()}
    if len(rows) > 1:
        rows["all"] = averaged([row for figures in results.values() for row in figures])
    if as_json:
        facts = {"encoder": opened.encoder, "documents": len(opened.documents)}
        print_json({**facts, **rows, "published": published()})
        return
    _print_figures(rows, published())


def _print_figures(rows: Mapping[str, Mapping[str, float]], elsewhere: Mapping[str, Any]) -> None:
    """Our rows, and below them the published table."""
    from rich.console import Console
    from rich.table import Column, Table

    from benchmarks.toolbench.retrieval.evaluation import CUTS

    columns = [f"{measure}@{cut}" for measure, cuts in CUTS.items() for cut in cuts]
    headers = [column.replace("recall", "rec") for column in columns]
    table = Table(Column("queries", no_wrap=True), "n", *headers, "ndcg@5, 95 %", box=None)
    for name, row in rows.items():
        interval = f"{100 * row['low']:.0f} to {100 * row['high']:.0f}"
        table.add_row(name, str(int(row["n"])), *(f"{100 * row[column]:.1f}" for column in columns), interval)
    title = f"Published: {elsewhere['title']} ({elsewhere['source']})"
    theirs = Table("queries", *elsewhere["columns"], box=None)
    for name, cells in elsewhere["rows"].items():
        theirs.add_row(name, *cells)
    console = Console()
    console.print(table, "", title, theirs, *elsewhere["remarks"], sep="\n")
