"""How much is tried for an answer: time and tokens against the chance of a better one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from protocols.errors import UsageError

__all__ = ["EFFORTS", "Effort", "effort_of"]


@dataclass(frozen=True, slots=True)
class Effort:
    """`reflections`: how often a program may be revised, unless that is said otherwise. `samples`: how many programs
    there are of each turn: for one that is found wrong, before it is run or in its run, others are drawn, those with
    which nothing seems wrong are run in turn, and the first one that ends well is taken."""

    reflections: int
    samples: int


EFFORTS: Mapping[str, Effort] = {"low": Effort(1, 1), "medium": Effort(3, 1), "high": Effort(5, 4)}


def effort_of(name: str) -> Effort:
    """The effort of this name. Raises: UsageError."""
    if name not in EFFORTS:
        raise UsageError(f"unknown effort {name!r}: choose one of {', '.join(EFFORTS)}")
    return EFFORTS[name]
