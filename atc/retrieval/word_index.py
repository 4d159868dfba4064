"""What a word is worth for each of several texts, by BM25+."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["WordIndex"]


class WordIndex:
    """Scores of the words of texts; each text is given as its stems."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        import bm25s

        self._size = len(texts)
        self._index: Any = None
        if any(texts):
            self._index = bm25s.BM25(method="bm25+", k1=1.5, b=0.75, delta=1.0)
            self._index.index([list(text) for text in texts], show_progress=False)

    def worth(self, word: str) -> Any:
        """The score of each text for a stem, 0 for the texts with the least."""
        import numpy as np

        if self._index is None or not word or word not in self._index.vocab_dict:
            return np.zeros(self._size)
        scores = self._index.get_scores([word])
        return scores - scores.min()  # BM25+ gives every text something for every word
