"""What a word is worth for each of several texts (BM25+), with the texts of a word found without a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["WordIndex"]


class WordIndex:
    """Scores of the words of texts; each text is given as its stems."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        from rank_bm25 import BM25Plus

        self._index = BM25Plus([list(text) for text in texts])
        self._counts: dict[str, list[tuple[int, int]]] = {}
        for place, counts in enumerate(self._index.doc_freqs):
            for word, count in counts.items():
                self._counts.setdefault(word, []).append((place, count))
        lengths = np.array(self._index.doc_len)
        index = self._index
        self._length_norm = index.k1 * (1 - index.b + index.b * lengths / (index.avgdl or 1))
        self._worth: dict[str, Any] = {}

    def worth(self, word: str) -> Any:
        """The score of each text for a stem, 0 for the texts with the least."""
        if word not in self._worth:
            index = self._index
            frequency = np.zeros(len(index.doc_len), dtype=int)
            for place, count in self._counts.get(word, ()):
                frequency[place] = count
            scores = (index.idf.get(word) or 0) * (
                index.delta + (frequency * (index.k1 + 1)) / (self._length_norm + frequency)
            )
            self._worth[word] = scores - scores.min()  # BM25+ gives every text something for every word
        return self._worth[word]
