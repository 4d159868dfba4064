"""DFSDT: ReAct as a depth-first tree search, so that a wrong step can be taken back.

A node is a message of the model with the responses to its calls. Its first child is explored to the end before a second
one is requested, which has to differ from the first (pre-order, without ranking). Giving up takes back the last step.
A call cannot be undone: writes of an abandoned branch stay.

Source: ToolLLM (arXiv:2307.16789), section 2.3 and appendix A. We depart from its released code in these points, which
`compat` takes back:
- The depth counts messages; there it counts the nodes for a thought, an action and its input.
- Giving up at once requests another first step; there it ends the search.
- A message without a usable call is corrected once, and its correction is no alternative that was tried.
- A call names its function exactly; there the first function whose name ends with the given text is called.
- Observations are cut inside values; there the text is cut at 1,024 characters.
- A prompt has a worked example, and says where identifiers come from.
- A call that its path has already made is answered with that, and an equal one on another branch from the journal.
- The last message that a path or the budget allows is told to be the last, and is an answer without a call, too.
- The budget is in completions and tokens; there 200 completions, the reply to the last of which is lost.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from atc.prompting import fill
from atc.search_tree import SearchNode
from atc.session import TryEnded
from benchmarks.methods.method_try import MethodTry, method
from benchmarks.methods.observations import truncate
from benchmarks.methods.search import Branch, Search

__all__ = ["DEPTH", "LEFT", "dfsdt", "summarize", "tried_text"]

DEPTH = 20
"""Messages on a path: half of the budget, so that a second path has room after one that went to its end."""

LEFT = "the branch led to no answer"

_SIBLING_TOKENS = 60
"""Tokens of an observation in the summary of an earlier sibling."""

_ANSWERED, _NEXT, _SKIP = 10_000, 1, 2
"""Results of the published recursion: an answer, go on with the next sibling, leave the siblings."""


@method(calls=True)
def dfsdt(trial: MethodTry) -> str:
    """Answer by a depth-first search. Raises: TryEnded, ModelError."""
    search = Search(trial, "dfsdt", give_up=True, depth=DEPTH)
    if search.compat:
        _expand_as_published(search, search.root())
    else:
        _expand(search, search.root())
    if search.answer is None:
        raise TryEnded("failed", "GaveUp", "every branch was given up, or grew too long")
    return search.answer


def _expand(search: Search, branch: Branch) -> None:
    """Search below a branch; `search.answer` is then the answer, if there is one."""
    tried: list[SearchNode] = []
    while len(tried) < search.width:
        node, child = search.grow(branch, tried_text(tried))
        if search.answer is not None or (node.outcome == "give_up" and branch.node):
            return
        if search.ended(child):
            search.leave(branch, node, "depth", "the path grew too long")
        elif node.outcome != "give_up":
            _expand(search, child)
            if search.answer is not None:
                return
            search.leave(branch, node, "abandoned", LEFT)
        tried.append(node)


def tried_text(siblings: Sequence[SearchNode]) -> str:
    """What the model reads of earlier siblings; empty without any."""
    lines = [line for node in siblings for line in summarize(node)]
    return fill("dfsdt_otherwise", tried="\n".join(lines)).strip() if lines else ""


def summarize(node: SearchNode) -> list[str]:
    """The calls of a node with their observations, a line each; of a message without one, that it called nothing."""
    lines = [] if node.steps else ["a message that called nothing"]
    for step in node.steps:
        arguments = ", ".join(f"{name}={value!r}" for name, value in step.arguments.items())
        observation = f" -> {truncate(step.observation, _SIBLING_TOKENS)}" if step.observation else ""
        lines.append(f"{step.name}({arguments}){observation}")
    return lines


def _expand_as_published(search: Search, branch: Branch) -> int:
    """The published recursion; returns one of its results."""
    if search.ended(branch):
        return _NEXT
    siblings: list[SearchNode] = []
    for _ in range(search.width):
        node, child = search.grow(branch, _published_text(branch, siblings))
        siblings.append(node)
        if search.answer is not None:
            return _ANSWERED
        result = _SKIP if node.outcome == "give_up" else _expand_as_published(search, child)
        if search.answer is not None:
            return _ANSWERED
        search.leave(branch, node, "depth" if search.ended(child) else "abandoned", LEFT)
        if result > _NEXT:
            return result - 1
    return _NEXT


def _published_text(branch: Branch, siblings: Sequence[SearchNode]) -> str:
    """The earlier siblings as JSON objects, with the last observation of their parent; empty where none made a call."""
    calls = [
        {
            "name": step.name,
            "arguments": step.text,
            "function_output": step.observation,
            "mento-carlo-action-value": 0.0,
        }
        for node in siblings
        for step in node.steps
    ]
    if not calls:
        return ""
    last = branch.messages[-1].content if branch.node else ""
    tried = "\n".join(json.dumps(call, ensure_ascii=False) for call in calls)
    return fill("dfsdt_otherwise_compat", tried=tried, last=last).strip()
