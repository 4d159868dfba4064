"""ReAct: a thought, one call, its reply, and so on until the model finishes.

Source: ReAct (arXiv:2210.03629), with functions in place of its search actions, as the ATC paper compares with it.
Under `compat`, a chain of ToolLLM's (arXiv:2307.16789) CoT@N: it ends at a give-up, or at its depth in tree nodes.
"""

from __future__ import annotations

from atc.session import TryEnded
from benchmarks.methods.method_try import MethodTry, method
from benchmarks.methods.search import Search

__all__ = ["react"]


@method(calls=True)
def react(trial: MethodTry) -> str:
    """Answer by one call per step. Raises: TryEnded, ModelError."""
    search = Search(trial, "react", give_up=False)
    branch = search.root()
    while not search.ended(branch):
        node, branch = search.grow(branch)
        if search.answer is not None:
            return search.answer
        if node.outcome == "give_up":
            raise TryEnded("failed", "GaveUp", "the chain was given up")
    search.leave_at_depth(branch)
    raise TryEnded("failed", "GaveUp", f"no answer within a depth of {search.depth}")
