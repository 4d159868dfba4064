"""How much is tried for an answer: time and tokens against the chance of a better one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from protocols.errors import UsageError

__all__ = ["EFFORTS", "Effort", "EffortName", "effort_of"]

EffortName = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class Effort:
    """`reflections`: how often a program may be revised, unless that is said otherwise. `samples`: how many programs
    are drawn for one that is found wrong before it is run; the first that is not is run."""

    reflections: int
    samples: int


EFFORTS: dict[EffortName, Effort] = {"low": Effort(1, 1), "medium": Effort(3, 1), "high": Effort(5, 4)}
assert tuple(EFFORTS) == get_args(EffortName)


def effort_of(name: str) -> Effort:
    """The effort of this name. Raises: UsageError."""
    found = EFFORTS.get(name)  # type: ignore[call-overload]
    if found is None:
        raise UsageError(f"unknown effort {name!r}: choose one of {', '.join(EFFORTS)}")
    return found  # type: ignore[no-any-return]
