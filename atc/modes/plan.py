"""The planner alone: its first complete plan sketch is run, and no model is asked.

What a mode adds to the planner is the difference to this one.
"""

from __future__ import annotations

import ast

from atc.modes.api import check_health
from atc.modes.rules import TryEnded
from atc.modes.toolbox import Toolbox
from atc.verify import judge

__all__ = ["plan"]


def plan(toolbox: Toolbox) -> str:
    """Run the first plan sketch that leaves nothing open. Raises: TryEnded."""
    complete = [sketch for sketch in toolbox.opening.examples if "…" not in sketch]
    if not complete:
        raise TryEnded("failed", "NoPlan", "the planner has no complete plan for this question")
    program = _printing(complete[0])
    toolbox.wrote(program)
    run = toolbox.execute_snippet(program)
    toolbox.kept = program, run
    check_health(toolbox.protocol, run.calls, stopped=run.outcome == "limit")
    fault = judge(program, run)
    if fault is not None:
        raise TryEnded("failed", fault.type, fault.message)
    return run.stdout.strip()


def _printing(sketch: str) -> str:
    """A sketch that prints the value of its last statement."""
    tree = ast.parse(sketch)
    last = tree.body[-1]
    if isinstance(last, ast.Assign) and isinstance(last.targets[0], ast.Name):
        tree.body.append(ast.parse(f"print({last.targets[0].id})").body[0])
    elif isinstance(last, ast.Expr) and "print" not in ast.unparse(last):
        tree.body[-1] = ast.parse(f"print({ast.unparse(last)})").body[0]
    return ast.unparse(tree)
