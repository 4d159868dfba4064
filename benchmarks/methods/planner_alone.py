"""The planner alone: its first complete plan is run, and no model is asked.

What a mode adds to the planner is the difference to this one.
"""

from __future__ import annotations

from atc.assist.small import plans_of
from atc.evidence import judge
from atc.program.plan import sketch
from atc.session import TryEnded
from benchmarks.methods.call_path import check_health
from benchmarks.methods.method_try import MethodTry, method

__all__ = ["plan"]


@method()
def plan(trial: MethodTry) -> str:
    """Run the first plan that leaves nothing open. Raises: TryEnded."""
    if not trial.offer.sections:
        raise TryEnded(
            "failed", "NoPlan", "there are no plans: none fits, or the profile has no planner (--profile small)"
        )
    planned = plans_of(trial.query, trial.offer)
    complete = next((candidate for candidate in planned if not candidate.has_placeholder), None)
    if complete is None:
        raise TryEnded("failed", "NoPlan", "the planner has no complete plan for this question")
    program = sketch(complete.printing())
    trial.wrote(program)
    run = trial.execute(program)
    trial.final = program, run
    check_health(trial.protocol, run.calls, stopped=run.outcome == "limit")
    fault = judge(program, run)
    if fault is not None:
        raise TryEnded("failed", fault.type, fault.message)
    return run.stdout.strip()
