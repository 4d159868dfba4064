"""What a server hands to its solver processes at their start, and what they send one another over their pipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from atc.apps.server.requests import SolveRequest
from atc.options import Options

__all__ = ["Cancel", "Cancelled", "Ended", "Job", "JobEvent", "JobMessage", "Message", "PlanAnswer", "PlanAsked"]
__all__ += ["Postponed", "Ready", "Refused", "ServerSettings"]


@dataclass(frozen=True)
class ServerSettings:
    """Args:
    api: The documents, as `--api` names them.
    options: Of the agent; `model` is a name, and `writes` is not "ask".
    workers: Solver processes.
    folder: Where requests and journals are kept.
    """

    api: tuple[str, ...]
    options: Options
    workers: int
    folder: Path


class Job(NamedTuple):
    """Solve this. `journal` is None for a solve that ends with its connection; `events` are sent if asked for. `asks`:
    somebody can be asked about planned writes. The limits of the request are the client's; the server's hold besides.
    """

    id: str
    request: SolveRequest
    journal: Path | None
    events: bool
    asks: bool


class Cancel(NamedTuple):
    """Nobody waits for this solve any longer."""

    id: str


class PlanAnswer(NamedTuple):
    """A client approves the plan with this id, or declines it."""

    id: str
    plan: str
    approved: bool


class PlanAsked(NamedTuple):
    """A solve waits for an answer about its planned writes; `data` shows them, as JSON."""

    id: str
    plan: str
    data: str


class Ready(NamedTuple):
    """The process takes jobs."""


class Refused(NamedTuple):
    """The process cannot be set up: the document or the model is not to be had."""

    message: str


class JobEvent(NamedTuple):
    """An event of a solve: its name and its data as JSON."""

    id: str
    name: str
    data: str


class Ended(NamedTuple):
    """A solve has a Solution, as JSON; `tokens` are those read and written, `cost` US dollars where they are known."""

    id: str
    solution: str
    status: str
    tokens: Mapping[str, int]
    cost: float | None = None


class Cancelled(NamedTuple):
    """A solve has stopped on request."""

    id: str


class Postponed(NamedTuple):
    """The journal of a solve cannot be written now, or its last process has not let it go yet."""

    id: str


JobMessage: TypeAlias = JobEvent | PlanAsked | Ended | Cancelled | Postponed
Message: TypeAlias = Ready | Refused | JobMessage
