"""What a word is worth for each of several texts, by BM25+."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["WordIndex"]


class WordIndex:
    """Scores of the words of texts; each text is given as its stems. A word is looked up once."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        from rank_bm25 import BM25Plus

        self._index = BM25Plus([list(text) for text in texts])
        self._worth: dict[str, Any] = {}

    def worth(self, word: str) -> Any:
        """The score of each text for a stem, 0 for the texts with the least."""
        if word not in self._worth:
            with np.errstate(invalid="ignore"):  # texts without any word have no mean length
                scores = np.nan_to_num(self._index.get_scores([word]))
            self._worth[word] = scores - scores.min()  # BM25+ gives every text something for every word
        return self._worth[word]
