"""`atc retrieve train`: train an encoder, and write a card with its data, settings and limits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import click

from atc.apps.cli import print_json
from atc.apps.cli.options import announced
from protocols.errors import UsageError

if TYPE_CHECKING:
    from atc.retrieval.tool_index import RetrievalQuery, ToolDocument

__all__ = ["train"]


@click.command()
@click.argument("sources", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="QUERIES...")
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="The folder of the encoder, with a card.",
)
@click.option("--base", default="base", show_default=True, help="A sentence transformer; `base` is the packaged one.")
@click.option("--epochs", type=click.IntRange(min=1), default=4, show_default=True, help="Rounds over the questions.")
@click.option("--seed", default=0, show_default=True, help="Of the order.")
@announced
def train(sources: tuple[Path, ...], out: Path, base: str, epochs: int, seed: int) -> None:
    """Train an encoder on the questions of QUERIES (query files of ToolBench) and the APIs that they need.

    `atc toolbench split` keeps questions, tools or categories out for a test. `atc retrieve build … --encoder DIR` uses
    the encoder, and `hybrid:DIR` adds its scores to those of the words.
    """
    from benchmarks.harness.progress import counting
    from benchmarks.learning.retriever import EncoderTraining, train_encoder
    from benchmarks.tasks.datasets import file_digest

    if out.exists() and any(out.iterdir()):
        raise UsageError(f"{out} is not empty; name a new folder")
    documents, judged = _read_corpus(sources)
    settings = EncoderTraining(epochs=epochs, seed=seed)
    steps = epochs * math.ceil(len(judged) / settings.batch)
    with counting("training", steps) as show:
        losses = train_encoder(
            documents, judged, out, settings, base, lambda step, loss: show(step, f"loss {loss:.3f}")
        )
    facts = {
        "sources": [(digest["file"], digest["sha256"]) for digest in map(file_digest, sources)],
        "base": base,
        **asdict(settings),
        "questions": len(judged),
        "documents": len(documents),
        "losses": [round(loss, 4) for loss in losses],
        "date": datetime.now(UTC).date().isoformat(),
    }
    settings_text = ", ".join(f"{name} {value}" for name, value in asdict(settings).items())
    _write_card(out, facts, settings_text)
    print_json({"out": str(out), "steps": len(losses), "loss": losses[-1]})


def _read_corpus(files: Iterable[Path]) -> tuple[list[ToolDocument], list[RetrievalQuery]]:
    """All different documents of query files, and their questions."""
    from benchmarks.toolbench.retrieval.documents import read_documents, read_judged

    documents: dict[str, ToolDocument] = {}
    judged: list[RetrievalQuery] = []
    for file in files:
        documents.update((document.id, document) for document in read_documents(str(file)))
        judged += read_judged(file)
    return list(documents.values()), judged


def _write_card(folder: Path, facts: Mapping[str, Any], settings: str) -> None:
    """Write the facts as `training.json`, and `README.md`, into the folder of an encoder."""
    from atc.files import write_json, write_text
    from benchmarks.toolbench.retrieval.retriever_figures import FACTS

    write_json(folder / FACTS, facts)
    card = Template(Path(__file__).with_name("encoder_card.txt").read_text("utf-8")).substitute(
        base=facts["base"],
        files="\n".join(f"- `{name}` (sha256 {digest[:16]}…)" for name, digest in facts["sources"]),
        questions=facts["questions"],
        documents=f"{facts['documents']:,}",
        settings=settings,
        steps=len(facts["losses"]),
        date=facts["date"],
    )
    write_text(folder / "README.md", card)
