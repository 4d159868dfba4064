"""Print a search: every message in a line, after the one that it follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from atc.apps.tui.nodes import node_line, trials
from atc.search_tree import NodeOutcome, SearchNode

__all__ = ["tree_text"]

_STYLES: Mapping[NodeOutcome, str] = {
    "answer": "green",
    "give_up": "yellow",
    "depth": "yellow",
    "limit": "red",
    "error": "red",
    "abandoned": "dim",
}


def tree_text(nodes: Sequence[SearchNode]) -> RenderableType:
    """All messages of a search in their order, below a heading for each try.

    A message names the one that it follows, unless that is the one above it.

    Args:
        nodes: In the order of their messages, as in `Solution.tree`.
    """
    by_trial = trials(nodes)
    lines = []
    for trial, part in by_trial.items():
        head = f"try {trial}" if len(by_trial) > 1 or trial > 1 else "search"
        lines.append(Text(f"{head} · {len(part)} message{'' if len(part) == 1 else 's'}", style="bold"))
        before = 0
        for node in part:
            after = f"after {node.parent}: " if node.parent != before else ""
            message = node_line(node) or "(an empty message)"
            style = _STYLES.get(node.outcome, "")
            lines.append(Text.assemble((after, "dim"), (f"{node.id} ", "bold"), (message, style)))
            before = node.id
    return Group(*lines)
