"""The facts about the training of an encoder, which lie in its folder: an evaluation must know what it has seen."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from atc.retrieval.tool_index import RetrievalQuery
from benchmarks.tasks.datasets import file_digest

__all__ = ["FACTS", "trained_questions"]

FACTS = "training.json"


def trained_questions(folder: Path, file: Path, questions: Sequence[RetrievalQuery]) -> int:
    """How many of a file's questions the encoder in a folder was trained on; 0 where its card is missing.

    A file is known by its content, whatever its name.
    """
    try:
        facts = json.loads((folder / FACTS).read_text("utf-8"))
        digest = file_digest(file)["sha256"]
        stem = next((Path(name).stem for name, trained in facts["sources"] if trained == digest), None)
        held_out = set(facts["held_out"])
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return 0
    return 0 if stem is None else sum(f"{stem}:{question.id}" not in held_out for question in questions)
