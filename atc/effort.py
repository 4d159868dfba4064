"""How much is tried for an answer: time and tokens against the chance of a better one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from protocols.errors import UsageError

__all__ = ["EFFORTS", "Effort", "effort_of"]


@dataclass(frozen=True, slots=True)
class Effort:
    """`reflections`: how often a program may be revised, unless that is said otherwise. `samples`: how many programs
    are drawn for one that is found wrong before it is run; the first that is not is run."""

    reflections: int
    samples: int


EFFORTS: Mapping[str, Effort] = {"low": Effort(1, 1), "medium": Effort(3, 1), "high": Effort(5, 4)}


def effort_of(name: str) -> Effort:
    """The effort of this name. Raises: UsageError."""
    if name not in EFFORTS:
        raise UsageError(f"unknown effort {name!r}: choose one of {', '.join(EFFORTS)}")
    return EFFORTS[name]
