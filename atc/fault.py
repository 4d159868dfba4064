"""The fault of an attempt, and the tool to blame for it.

Every kind of failure enters the loop as a Fault; the paper's reflection modes differ in what they show the model of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Attribution", "Fault", "Stage"]

Stage = Literal["write", "check", "policy", "run", "answer"]
"""The stage of a failed attempt: no program in the model's text, wrong before it ran, refused by the policy, raised
while running, no answer."""


@dataclass(frozen=True, slots=True)
class Fault:
    """The reason why an attempt is not an answer. `snippet` is the program around `line` with the failing line
    marked."""

    stage: Stage
    type: str
    message: str
    line: int | None = None
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class Attribution:
    """The tool whose call made a program fail (paper, section 3.3).

    `tool` is None when the fault is the program's own. `call` is the index of the call among the run's calls, `path`
    where in its response the fault lies (`["results"][3]`; None at its root or where that is not known), `how` the
    evidence: call (the call itself failed), data (the failing operation worked on that call's response, or a rejected
    call was given something from it), line (what the traceback tells, where the values could not be followed), check
    (the program was not run: what its line says of the tool), none.
    `candidates` are all tools involved, nearest first; `evidence` what their responses held there, in words.
    """

    tool: str | None
    call: int | None
    path: str | None
    how: Literal["call", "data", "line", "check", "none"]
    candidates: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
