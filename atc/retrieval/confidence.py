"""How sure it is that a tool of an index fits a question at all, so that a caller can abstain.

Evidence is the best score by words, beside what so many words reach by chance, and the best likeness of vectors. The
more documents an index has, the higher is the best of scores that mean nothing, so their number counts, too.
"""

from __future__ import annotations

import math

__all__ = ["confidence"]

_CALIBRATION = {
    "bm25": (18.901, 0.0, -0.131, -4.548),
    "wordllama": (0.0, 9.250, -0.280, -1.897),
    "trained": (0.0, 18.373, -0.642, -5.568),
    "hybrid": (17.118, 3.581, -0.237, -4.773),
    "hybrid:": (6.382, 15.561, -0.615, -6.032),
}
"""By encoder: the weights of words, of vectors and of the logarithm of the number of documents, and a constant.

They are logistic regressions over ToolBench's 422 questions (85 that were kept out of the training, for a trained
encoder), each over 20 to 1,755 documents with and without all documents of the tools that the question needs."""


def confidence(encoder: str, documents: int, word_score: float, word_count: int, likeness: float) -> float:
    """The probability that a document fits a question, from 0 to 1, if before the search it was one half.

    Args:
        encoder: That of the index. `base`, which is not trained on questions, is taken for one that is: not calibrated.
        documents: How many the index has.
        word_score: The best BM25 score, 0 without.
        word_count: The different words of the question.
        likeness: The best cosine of vectors, 0 without.
    """
    name = "hybrid:" if encoder.startswith("hybrid:") else encoder if encoder in _CALIBRATION else "trained"
    by_words, by_vectors, by_size, constant = _CALIBRATION[name]
    size = math.log(documents + 1)
    # A score by words grows with the words, and with how rare a word can be.
    words = word_score / size / math.sqrt(max(word_count, 1))
    return 1 / (1 + math.exp(-(by_words * words + by_vectors * likeness + by_size * size + constant)))
