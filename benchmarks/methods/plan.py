"""The planner alone: its first complete plan is run, and no model is asked.

What a mode adds to the planner is the difference to this one.
"""

from __future__ import annotations

from atc.evidence import judge
from atc.modes.api import check_health
from atc.modes.rules import TryEnded
from atc.modes.toolbox import Toolbox
from atc.program.sketch import sketch

__all__ = ["plan"]


def plan(toolbox: Toolbox) -> str:
    """Run the first plan that leaves nothing open. Raises: TryEnded."""
    complete = next((planned for planned in toolbox.opening.plans if not planned.has_placeholder), None)
    if complete is None:
        raise TryEnded("failed", "NoPlan", "the planner has no complete plan for this question")
    program = sketch(complete.printing())
    toolbox.wrote(program)
    run = toolbox.execute_snippet(program)
    toolbox.kept = program, run
    check_health(toolbox.protocol, run.calls, stopped=run.outcome == "limit")
    fault = judge(program, run)
    if fault is not None:
        raise TryEnded("failed", fault.type, fault.message)
    return run.stdout.strip()
