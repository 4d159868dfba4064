"""`atc retrieve train`: train an encoder, and write a card with its data, settings, figures and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import click

from atc.apps.cli import print_json
from benchmarks.toolbench.corpus.distances import DISTANCES
from protocols.errors import UsageError

if TYPE_CHECKING:
    from benchmarks.learning.retriever import EncoderTraining
    from benchmarks.toolbench.retrieval.hold_out import HoldOut

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

    from benchmarks.learning.retriever import EncoderTraining, train_encoder
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
    _write_card(out, sources, base, settings, hold_out, split, losses, figures)
    print_json({"out": str(out), "steps": len(losses), "loss": losses[-1], "held_out": len(split.test), **figures})


def _write_card(
    folder: Path,
    sources: Sequence[Path],
    base: str,
    settings: EncoderTraining,
    distance: str | None,
    split: HoldOut,
    losses: Sequence[float],
    figures: Mapping[str, float],
) -> None:
    """Write its facts as `training.json`, and `README.md`, into the folder of an encoder."""
    from atc.files import write_json, write_text
    from benchmarks.tasks.datasets import file_digest
    from benchmarks.toolbench.retrieval.encoder_card import FACTS

    files = [(digest["file"], digest["sha256"]) for digest in map(file_digest, sources)]
    facts = {
        "sources": files,
        "base": base,
        **asdict(settings),
        "hold_out": distance,
        "questions": len(split.train),
        "held_out": [question.id for question in split.test],
        "documents": len(split.documents),
        "losses": [round(loss, 4) for loss in losses],
        "figures": dict(figures),
        "date": datetime.now(UTC).date().isoformat(),
    }
    write_json(folder / FACTS, facts)
    card = Template(Path(__file__).with_name("encoder_card.txt").read_text("utf-8")).substitute(
        base=base,
        files="\n".join(f"- `{name}` (sha256 {digest[:16]}…)" for name, digest in files),
        questions=len(split.train),
        documents=f"{len(split.documents):,}",
        settings=", ".join(f"{name} {value}" for name, value in asdict(settings).items()),
        steps=len(losses),
        held=f"{len(split.test)} questions kept out by {distance}" if distance else "none was kept out",
        figures="\n".join(f"- {name}: {100 * value:.1f} %" for name, value in figures.items()) or "- not measured",
        date=facts["date"],
    )
    write_text(folder / "README.md", card)
