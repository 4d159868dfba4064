"""Depth-first search with ranked siblings: all children of a node are requested, compared in pairs, the best is first.

The model compares each pair twice, in both orders; a pair that it judges alike in both gives a point, else half a point
goes to each. A comparison costs a completion of the budget. A child that is an answer ends the search at once.

Source: ToolLLM (arXiv:2307.16789), appendix A, Algorithm 1: the search that its DFSDT leaves the ranking out of.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from atc.models import Message
from atc.prompting import templates
from atc.search_tree import SearchNode, path_to
from atc.session import TryEnded
from benchmarks.methods.dfsdt import BUDGET, DEPTH, LEFT, summarize, tried_text
from benchmarks.methods.search import Branch, Search
from benchmarks.methods.trial import MethodTry, method

__all__ = ["dfs"]


@method(calls=True)
def dfs(trial: MethodTry) -> str:
    """Answer by a depth-first search, best children first. Raises: TryEnded, ModelError."""
    search = Search(trial, "dfsdt", give_up=True, depth=DEPTH, budget=BUDGET)
    _expand(search, search.root())
    if search.answer is None:
        raise TryEnded("failed", "GaveUp", "every branch was given up, or grew too long")
    return search.answer


def _expand(search: Search, branch: Branch) -> None:
    """Search below a branch; `search.answer` is then the answer, if there is one."""
    children: list[tuple[SearchNode, Branch]] = []
    siblings: list[SearchNode] = []
    for _ in range(search.width):
        node, child = search.grow(branch, tried_text(siblings))
        if search.answer is not None:
            return
        siblings.append(node)
        search.leave(branch, node, "depth" if search.ended(child) else "abandoned", LEFT)
        if node.outcome != "give_up" and not search.ended(child):
            children.append((node, child))
    for node, child in _best_first(search, children):
        entered = search.enter(node)
        _expand(search, child)
        if search.answer is not None:
            return
        search.leave(branch, entered, "abandoned", LEFT)


def _best_first(search: Search, children: Sequence[tuple[SearchNode, Branch]]) -> list[tuple[SearchNode, Branch]]:
    """The children by their points in all comparisons; equal ones in the order of their requests."""
    points = [0.0] * len(children)
    for first, second in combinations(range(len(children)), 2):
        wins = [
            _is_first_better(search, children[first][0], children[second][0]),
            not _is_first_better(search, children[second][0], children[first][0]),
        ]
        points[first] += sum(wins) / 2
        points[second] += 1 - sum(wins) / 2
    ranked = sorted(range(len(children)), key=lambda place: -points[place])
    if len(children) == 1:
        return list(children)
    return [(search.rank(children[place][0], points[place]), children[place][1]) for place in ranked]


def _is_first_better(search: Search, first: SearchNode, second: SearchNode) -> bool:
    """The model's choice between two siblings; one that is unreadable counts for the first."""
    trial = search.trial
    before = [line for node in path_to(trial.session.state.tree, first.parent) for line in summarize(node)]
    prompt = templates.render(
        "dfs_rank",
        query=trial.query.text,
        path="\n".join(before) or "nothing",
        first="\n".join([first.thought, *summarize(first)]).strip(),
        second="\n".join([second.thought, *summarize(second)]).strip(),
    )
    reply = trial.ask([Message("user", prompt.strip())], max_tokens=8)
    return not reply.strip().upper().startswith("B")
