"""How good a ranking is: NDCG with binary relevance, and recall.

Source: Järvelin and Kekäläinen (2002); ToolLLM's Table 2 uses NDCG.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from protocols.errors import UsageError

__all__ = ["ndcg", "recall"]

_MISSING = "NDCG is worked out by scikit-learn, which is not installed: pip install 'atc-toolchain[measure]'"


def ndcg(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Normalized discounted cumulative gain of the first k, from 0 to 1. `relevant` is not empty.

    Raises: UsageError: scikit-learn is not installed.
    """
    try:
        from sklearn.metrics import ndcg_score
    except ImportError:
        raise UsageError(_MISSING) from None
    first = ranking[:k]
    gains = [document in relevant for document in first] + [False] * (k - len(first))
    # The relevant ones that are not among the first come behind them; the library refuses a list of a single document.
    gains += [True] * (len(relevant) - sum(gains)) + [False]
    return float(ndcg_score([gains], [range(len(gains), 0, -1)], k=k, ignore_ties=True))


def recall(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """The share of the relevant documents among the first k."""
    return len(set(ranking[:k]) & set(relevant)) / len(relevant)
