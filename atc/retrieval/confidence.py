"""How sure it is that a tool of an index fits a question at all, so that a caller can abstain.

Evidence is the best score by words, beside what so many words reach by chance, and the best likeness of vectors. The
more documents an index has, the higher is the best of scores that mean nothing, so their number counts, too.
"""

from __future__ import annotations

import math

__all__ = ["confidence", "evidence"]

_CALIBRATION = {
    "bm25": (16.493, 0.0, -0.045, -4.447),
    "wordllama": (0.0, 6.098, -0.227, -0.968),
    "trained": (0.0, 15.349, -0.459, -5.160),
    "hybrid": (16.061, 0.858, -0.071, -4.490),
    "hybrid:": (8.664, 11.636, -0.368, -6.196),
}
"""By encoder: the weights of words, of vectors and of the logarithm of the number of documents, and a constant.

They are logistic regressions over ToolBench's 422 questions, each asked of indexes of 20 to 1,755 documents with and
without those of the tools that it needs (benchmarks/micro/confidence.py at 455f377). Those of a trained encoder are over
the 85 questions that were kept out of its training (`--fold 0`)."""


def evidence(documents: int, word_score: float, word_count: int, likeness: float) -> tuple[float, float, float]:
    """What the confidence goes by: a score by words, a likeness of vectors, and the size of the index.

    Args:
        documents: How many the index has.
        word_score: The best BM25 score, 0 without. It grows with the words, and with how rare a word can be.
        word_count: The different words of the question.
        likeness: The best cosine of vectors, 0 without.
    """
    size = math.log(documents + 1)
    return word_score / size / math.sqrt(max(word_count, 1)), likeness, size


def confidence(encoder: str, seen: tuple[float, float, float]) -> float:
    """The probability that a document fits a question, from 0 to 1, if before the search it was one half.

    Args:
        encoder: That of the index. `base`, which is not trained on questions, is taken for one that is: not calibrated.
        seen: As `evidence` gives it.
    """
    name = "hybrid:" if encoder.startswith("hybrid:") else encoder if encoder in _CALIBRATION else "trained"
    *weights, constant = _CALIBRATION[name]
    score = sum(weight * value for weight, value in zip(weights, seen, strict=True))
    return 1 / (1 + math.exp(-(score + constant)))
