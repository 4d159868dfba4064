"""Solved questions that a benchmark gives the agent: no task becomes an example for another one."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from atc.retrieval.demonstrations import Demonstration, Demonstrations

__all__ = ["FixedDemonstrations"]


class FixedDemonstrations(Demonstrations):
    """Examples to which nothing is added.

    Args:
        chosen: They were chosen for the question: all are shown, in their order.
    """

    def __init__(self, examples: Sequence[Demonstration], *, chosen: bool = False) -> None:
        self._examples = tuple(examples)
        self._chosen = chosen

    def all(self) -> list[Demonstration]:
        """The examples, in their order."""
        return list(self._examples)

    def add(self, solved: Demonstration) -> int:
        """Nothing is added, or removed."""
        return 0

    def like(
        self, query: str, tools: Collection[str], most: int = 2, *, meaning: bool = True
    ) -> Sequence[Demonstration]:
        """As `Demonstrations.like`, or all of them."""
        return self._examples if self._chosen else super().like(query, tools, most, meaning=meaning)
