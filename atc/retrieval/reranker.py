"""The nearest documents of an index in the order of a cross-encoder, which reads question and document together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from atc.engines.pretrained import look_up
from atc.retrieval.tool_index import Hit, ToolIndex
from protocols.errors import UsageError
from protocols.extras import needs_extra

__all__ = ["Reranker"]

_DEPTH = 20
"""The nearest documents that are put into another order."""

_MOST_TOKENS = 256
_MISSING = needs_extra("a cross-encoder", "train")


class Reranker:
    """A cross-encoder of sentence-transformers with one score for each pair of texts.

    Args:
        name: Its folder, or a name of the hub.
    Raises: UsageError: It cannot be had, or a package is missing.
    """

    def __init__(self, name: str) -> None:
        try:
            from sentence_transformers import CrossEncoder
        except ImportError:
            raise UsageError(_MISSING) from None
        try:
            look_up(name, "cross-encoder")
            self._model: Any = CrossEncoder(name, device="cpu", max_length=_MOST_TOKENS)
        except Exception as error:  # the libraries below raise of everything for a folder without a model
            reason = str(error).strip().partition("\n")[0]
            raise UsageError(
                f"{name} is no cross-encoder that can be read ({reason}); name a folder of sentence-transformers"
            ) from None
        if self._model.num_labels != 1:
            raise UsageError(f"{name} gives {self._model.num_labels} scores; a cross-encoder for ranking gives one")

    def search(self, index: ToolIndex, query: str, k: int = 5) -> list[Hit]:
        """The k best of the nearest documents; their scores are the cross-encoder's."""
        hits = index.search(query, max(k, _DEPTH))
        scores = self._model.predict([(query, hit.document.text) for hit in hits], show_progress_bar=False)
        rescored = [replace(hit, score=float(score)) for hit, score in zip(hits, scores, strict=True)]
        return sorted(rescored, key=lambda hit: -hit.score)[:k]
