"""How good a ranking is: NDCG with binary relevance, and recall.

Source: Järvelin and Kekäläinen (2002); ToolLLM's Table 2 uses NDCG.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import log2

__all__ = ["ndcg", "recall"]


def ndcg(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Normalized discounted cumulative gain of the first k, from 0 to 1. `relevant` is not empty."""
    gained = sum(1 / log2(place + 2) for place, document in enumerate(ranking[:k]) if document in relevant)
    return gained / sum(1 / log2(place + 2) for place in range(min(len(relevant), k)))


def recall(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """The share of the relevant documents among the first k."""
    return len(set(ranking[:k]) & set(relevant)) / len(relevant)
