"""Decide whether a run is an answer at all, and whether anything that it printed comes from the API.

The paper's loop counts every program that ends well as a success (section A.4 names it as a limitation). A program that
printed nothing has not answered, and one that printed only its own words has nothing to rest on.
"""

from __future__ import annotations

import ast

from atc.evidence.finding import failed, made_writes
from atc.fault import Fault, Stage
from atc.program.choices import lines_behind_output
from atc.program.source import parsed
from atc.program.tree import nodes_of
from sandbox.records import Run

__all__ = ["is_unsupported", "judge"]


def judge(program: str, run: Run | None) -> Fault | None:
    """The fault of a run that is no answer; None for an answer."""
    if run is None or not program:
        return Fault("write", "NoProgram", "the answer held no Python program; write one in a code block")
    if run.outcome == "ok":
        if run.stdout.strip():
            return None
        return Fault("answer", "NoOutput", _explain_silence(program))
    stage: Stage = "policy" if run.outcome == "refused" else "run"
    if (error := run.error) is None:
        return Fault(stage, "Limit", f"stopped at the limit of {run.limit}")
    return Fault(stage, error.type, error.message, error.line, error.snippet)


def _explain_silence(program: str) -> str:
    """Explain why a program printed nothing."""
    names = nodes_of(parsed(program) or ast.Module([], []), ast.Name)
    prints = [node.lineno for node in names if node.id == "print"]
    if not prints:
        return "the program ended without printing an answer; print() it"
    lines = f"line{'s' * (len(prints) > 1)} {', '.join(map(str, prints))}"
    return f"the print() on {lines} was never reached: what is looked for was not found; print an answer then, too"


def is_unsupported(program: str, run: Run) -> bool:
    """True if no printed value is known to come from the API, and nothing was written."""
    if all(failed(call) for call in run.calls):
        return True
    if run.provenance is None or run.provenance.printed or made_writes(run):
        return False
    # Lists that came back empty leave no trace in what is printed of them.
    return lines_behind_output(program).isdisjoint(call.line for call in run.calls if not failed(call))
