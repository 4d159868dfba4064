"""Questions kept out of a training: some questions, or all that touch some tools or categories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from atc.retrieval.tool_index import RetrievalQuery, ToolDocument
from benchmarks.toolbench.corpus.distances import shuffled
from protocols.errors import UsageError

__all__ = ["HoldOut", "hold_out"]

_FIFTH = 5
"""One of so many questions, tools or categories is kept out."""


@dataclass(frozen=True, slots=True)
class HoldOut:
    """A split: `documents` are those that a training may read."""

    train: tuple[RetrievalQuery, ...]
    test: tuple[RetrievalQuery, ...]
    documents: tuple[ToolDocument, ...]


def hold_out(
    documents: Sequence[ToolDocument],
    judged: Sequence[RetrievalQuery],
    distance: str,
    seed: int = 0,
) -> HoldOut:
    """Split questions: `test` is a fifth of them.

    By tool or category, `test` has every question with a relevant document of a fifth of the tools or categories, and
    no document of those is in `documents`.

    Raises: UsageError: One side is empty.
    """
    if distance == "query":
        order = shuffled(range(len(judged)), seed)
        numbers = set(order[::_FIFTH])
        return _checked(
            HoldOut(
                tuple(question for number, question in enumerate(judged) if number not in numbers),
                tuple(question for number, question in enumerate(judged) if number in numbers),
                tuple(documents),
            ),
            distance,
        )
    group = _GROUPS[distance]
    unseen = set(shuffled(sorted({group(document) for document in documents}), seed)[::_FIFTH])
    hidden = {document.id for document in documents if group(document) in unseen}
    return _checked(
        HoldOut(
            tuple(question for question in judged if not question.relevant & hidden),
            tuple(question for question in judged if question.relevant & hidden),
            tuple(document for document in documents if document.id not in hidden),
        ),
        distance,
    )


_GROUPS: dict[str, Callable[[ToolDocument], tuple[str, ...]]] = {
    "tool": lambda document: (document.category, document.tool),
    "category": lambda document: (document.category,),
}


def _checked(split: HoldOut, distance: str) -> HoldOut:
    if not split.train or not split.test:
        raise UsageError(f"the questions cannot be split by {distance}: there are too few")
    return split
