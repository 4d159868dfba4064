"""The figures of a retriever on judged questions: NDCG with binary relevance, and recall.

The facts about the training of an encoder lie in its folder: an evaluation must know what it has seen.

Source: Järvelin and Kekäläinen (2002); ToolLLM's Table 2 uses NDCG.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from math import log2
from pathlib import Path

from atc.retrieval.tool_index import RetrievalQuery, ToolIndex
from benchmarks.report.stats import estimate
from benchmarks.tasks.datasets import file_digest

__all__ = ["CUTS", "FACTS", "averaged", "ndcg", "question_figures", "recall", "trained_questions"]

FACTS = "training.json"
"""The file of an encoder's folder with the facts about its training."""

CUTS = {"ndcg": (1, 3, 5, 10), "recall": (5, 10)}
"""The measures, each with the numbers of first documents that it is worked out for."""


def ndcg(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Normalized discounted cumulative gain of the first k, from 0 to 1. `relevant` is not empty."""
    gained = sum(1 / log2(rank + 2) for rank, document in enumerate(ranking[:k]) if document in relevant)
    return gained / sum(1 / log2(rank + 2) for rank in range(min(len(relevant), k)))


def recall(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """The share of the relevant documents among the first k."""
    return len(set(ranking[:k]) & set(relevant)) / len(relevant)


_MEASURES = {"ndcg": ndcg, "recall": recall}


def question_figures(index: ToolIndex, question: RetrievalQuery) -> dict[str, float]:
    """Each measure of CUTS for a question, from 0 to 1: `ndcg@5`."""
    deepest = max(max(cuts) for cuts in CUTS.values())
    ranking = [hit.document.id for hit in index.search(question.text, deepest)]
    return {
        f"{name}@{cut}": _MEASURES[name](ranking, question.relevant, cut) for name, cuts in CUTS.items() for cut in cuts
    }


def averaged(figures: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Means from 0 to 1, with the number of questions and the 95 % bootstrap interval of NDCG@5."""
    means = {name: sum(row[name] for row in figures) / len(figures) for name in figures[0]}
    interval = estimate([row["ndcg@5"] for row in figures])
    return {**means, "n": float(len(figures)), "low": interval.low or 0.0, "high": interval.high or 0.0}


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
