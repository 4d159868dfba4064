"""The figures of a retriever on judged questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atc.retrieval.reranker import Reranker
from atc.retrieval.tool_index import RetrievalQuery, ToolIndex
from benchmarks.report.stats import estimate
from benchmarks.toolbench.retrieval.ranking import ndcg, recall

__all__ = ["CUTS", "averaged", "question_figures"]

CUTS = {"ndcg": (1, 3, 5, 10), "recall": (5, 10)}
"""The measures, each with the numbers of first documents that it is worked out for."""

_MEASURES = {"ndcg": ndcg, "recall": recall}


def question_figures(index: ToolIndex, question: RetrievalQuery, reranker: Reranker | None = None) -> dict[str, float]:
    """Each measure of CUTS for a question, from 0 to 1: `ndcg@5`."""
    deepest = max(max(cuts) for cuts in CUTS.values())
    hits = reranker.search(index, question.text, deepest) if reranker else index.search(question.text, deepest)
    ranking = [hit.document.id for hit in hits]
    return {
        f"{name}@{cut}": _MEASURES[name](ranking, question.relevant, cut) for name, cuts in CUTS.items() for cut in cuts
    }


def averaged(figures: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Means from 0 to 1, with the number of questions and the 95 % bootstrap interval of NDCG@5."""
    means = {name: sum(row[name] for row in figures) / len(figures) for name in figures[0]}
    interval = estimate([row["ndcg@5"] for row in figures])
    return {**means, "n": float(len(figures)), "low": interval.low or 0.0, "high": interval.high or 0.0}
