"""Similarity of texts by a small table of word vectors on this machine (WordLlama, 16 MB).

It takes half a second to load and microseconds a text: no model is run. Nothing is downloaded.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from protocols.extras import load

__all__ = ["embed", "likeness"]


def likeness(text: str, texts: Sequence[str]) -> list[float]:
    """The cosine between a text and each of several: 1 for the same, about 0 for unrelated ones.

    May be called from several threads; the vectors of `texts` are cached.
    """
    if not texts:
        return []
    [vector] = _table().embed([text], norm=True)
    return [float(likeness) for likeness in _embedded(tuple(texts)) @ vector]


@lru_cache(maxsize=64)
def _embedded(texts: tuple[str, ...]) -> Any:
    return embed(texts)


def embed(texts: Sequence[str]) -> Any:
    """The unit vectors of texts as rows.

    Texts of like length are embedded together: a batch is as long as its longest.
    """
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    vectors = _table().embed([texts[place] for place in order], norm=True)
    return vectors[sorted(range(len(texts)), key=order.__getitem__)]


@cache
def _table() -> Any:
    quiet = logging.NullHandler()
    logging.root.addHandler(quiet)  # without any, the package would have the whole process log to stderr
    try:
        wordllama = load("wordllama", "the choice of tools")
    finally:
        logging.root.removeHandler(quiet)
    # It would look for its tokenizer on the net, though the package carries it.
    return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
