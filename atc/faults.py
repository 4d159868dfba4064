"""What went wrong in an attempt, and whose fault it was.

Every kind of failure enters the loop as the same thing, a Fault; the paper's reflection modes are choices of what of it
the model is shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Attribution", "Fault", "Stage"]

Stage = Literal["write", "policy", "run", "answer"]
"""Where an attempt failed: no program in the model's text, refused by the policy, raised while running, no answer."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why an attempt is not an answer. `snippet` is the program around `line` with the failing line marked."""

    stage: Stage
    type: str
    message: str
    line: int | None = None
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class Attribution:
    """The tool whose call made a program fail (paper, section 3.3).

    `tool` is None when the fault is the program's own. `call` is the index of the call among the run's calls, `path`
    where in its response the fault lies (`["results"][0]`, 0 standing for any item; None at its root or where that
    cannot be told), `how` the evidence: call (the call itself failed), line
    (the only tool on the failing line), data (the failing line works on that call's response), only (the only tool
    called), model (the model was asked), none. `candidates` are the tools that were considered, nearest first.
    """

    tool: str | None
    call: int | None
    path: str | None
    how: Literal["call", "line", "data", "only", "model", "none"]
    candidates: tuple[str, ...] = ()
