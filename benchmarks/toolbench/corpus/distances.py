"""How far test questions are from those of a training: ToolLLM's three levels of generalization, and a seeded order.

The training data of models is split into parts that share nothing (`annotation/split.py`). The retriever is tested on
folds that cover all questions (`retrieval/hold_out.py`).
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Literal, TypeVar, get_args

__all__ = ["DISTANCES", "SplitDistance", "shuffled"]

SplitDistance = Literal["query", "tool", "category"]

DISTANCES: tuple[SplitDistance, ...] = get_args(SplitDistance)
"""What is new in the questions of a test."""

Item = TypeVar("Item")


def shuffled(items: Iterable[Item], seed: int) -> list[Item]:
    """The items in an order that the seed and their own order decide."""
    order = list(items)
    random.Random(seed).shuffle(order)
    return order
