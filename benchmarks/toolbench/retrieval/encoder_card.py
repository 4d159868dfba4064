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
        is_trained = any(trained == digest for _, trained in facts["sources"])
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return 0
    return len(questions) if is_trained else 0
