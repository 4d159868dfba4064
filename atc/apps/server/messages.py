"""What the serving process and its solver processes send one another over their pipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from atc.costs import QuestionLimits

__all__ = ["Cancel", "Cancelled", "Ended", "Job", "JobEvent", "Message", "PlanAnswer", "PlanAsked", "Postponed"]
__all__ += ["Ready", "Refused"]


@dataclass(frozen=True, slots=True)
class Job:
    """Solve this. `journal` is None for a solve that ends with its connection; `events` are sent if asked for. `asks`:
    somebody can be asked about planned writes. `limits` are those of the client; the server's hold besides."""

    id: str
    query: str
    mode: str | None
    max_reflections: int | None
    journal: Path | None
    events: bool
    asks: bool
    limits: QuestionLimits


@dataclass(frozen=True, slots=True)
class Cancel:
    """Nobody waits for this solve any longer."""

    id: str


@dataclass(frozen=True, slots=True)
class PlanAnswer:
    """A client approves the plan with this id, or declines it."""

    id: str
    plan: str
    approved: bool


@dataclass(frozen=True, slots=True)
class PlanAsked:
    """A solve waits for an answer about its planned writes; `data` shows them, as JSON."""

    id: str
    plan: str
    data: str


@dataclass(frozen=True, slots=True)
class Ready:
    """The process takes jobs."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The process cannot be set up: the document or the model is not to be had."""

    message: str


@dataclass(frozen=True, slots=True)
class JobEvent:
    """An event of a solve: its name and its data as JSON."""

    id: str
    name: str
    data: str


@dataclass(frozen=True, slots=True)
class Ended:
    """A solve has a Solution, as JSON; `tokens` are those read and written, `cost` US dollars where they are known."""

    id: str
    solution: str
    status: str
    tokens: Mapping[str, int]
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A solve has stopped on request."""

    id: str


@dataclass(frozen=True, slots=True)
class Postponed:
    """The journal of a solve cannot be written now, or its last process has not let it go yet."""

    id: str
    message: str


Message: TypeAlias = Ready | Refused | JobEvent | PlanAsked | Ended | Cancelled | Postponed
