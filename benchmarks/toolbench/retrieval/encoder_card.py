"""The card of a trained encoder: its data, settings, figures and limits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from string import Template

from atc.files import write_json, write_text
from atc.retrieval.tool_index import RetrievalQuery
from benchmarks.learning.retriever import EncoderTraining
from benchmarks.tasks.datasets import file_digest
from benchmarks.toolbench.retrieval.hold_out import HoldOut

__all__ = ["trained_questions", "write_card"]

_FACTS = "training.json"


def write_card(
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
    write_json(folder / _FACTS, facts)
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


def trained_questions(folder: Path, file: Path, questions: Sequence[RetrievalQuery]) -> int:
    """How many of a file's questions the encoder in a folder was trained on; 0 where its card is missing.

    A file is known by its content, whatever its name.
    """
    try:
        facts = json.loads((folder / _FACTS).read_text("utf-8"))
        digest = file_digest(file)["sha256"]
        stem = next((Path(name).stem for name, trained in facts["sources"] if trained == digest), None)
        held_out = set(facts["held_out"])
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return 0
    return 0 if stem is None else sum(f"{stem}:{question.id}" not in held_out for question in questions)
