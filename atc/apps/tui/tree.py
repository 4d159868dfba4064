"""Draw the tree of a search.

A chain of messages stands in one column, and only a fork indents. So a long search stays as wide as the terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text
from rich.tree import Tree

from atc.apps.tui.nodes import (
    OUTCOMES,
    Stretch,
    end_text,
    observed,
    one_line,
    step_signature,
    stretches,
    trials,
)
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

_LABEL_WIDTH = 40
"""Columns that are left to a message; forks that need more are not indented further."""


def tree_text(nodes: Sequence[SearchNode]) -> RenderableType:
    """All messages of a search, a tree for each try.

    Args:
        nodes: In the order of their messages, as in `Solution.tree`.
    Returns: A text of lines that are never wider than the terminal; empty without nodes.
    """
    by_trial = trials(nodes)
    several = len(by_trial) > 1
    return Group(*(_Drawn(part, _title(part, trial, several or trial > 1)) for trial, part in by_trial.items()))


@dataclass(frozen=True)
class _Drawn:
    """A tree that is drawn for the width that it is given."""

    nodes: Sequence[SearchNode]
    title: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        with_children = {node.parent for node in self.nodes}
        tree = Tree(_cut([self.title]), guide_style="dim")
        levels = max((options.max_width - _LABEL_WIDTH) // 4, 1)
        pending = [(tree, stretch) for stretch in stretches(self.nodes, levels)]
        while pending:
            parent, stretch = pending.pop(0)
            added = parent.add(_cut(_stretch_lines(stretch, with_children)))
            pending += [(added, fork) for fork in stretch.forks]
        yield tree


def _stretch_lines(stretch: Stretch, with_children: set[int]) -> Iterator[Text]:
    """The lines of the messages of a stretch; one that does not follow the one above it names its parent."""
    before = stretch.nodes[0].parent
    for node in stretch.nodes:
        first, *rest = _node_lines(node, has_children=node.id in with_children)
        yield Text.assemble((f"after {node.parent}: ", "dim"), first) if node.parent != before else first
        yield from rest
        before = node.id


def _node_lines(node: SearchNode, *, has_children: bool) -> list[Text]:
    """All lines of a message: thought, calls, what came back, and the end, which a branch below has told already."""
    lines = [Text(one_line(node.thought))] if node.thought.strip() else []
    for step in node.steps:
        if step.code not in (3, 4):
            lines.append(Text(step_signature(step), style="cyan"))
            lines += _quiet(observed(step), "dim" if step.code == 0 else "red")
    lines += _quiet(f"✗ {one_line(node.correction)}" if node.correction else "", "red")
    if node.outcome != "abandoned" or not has_children:
        lines += _quiet(end_text(node), _STYLES.get(node.outcome, ""))
    first, *rest = lines or [Text("(an empty message)", style="dim")]
    sign, _ = OUTCOMES[node.outcome]
    number = Text.assemble((f"{node.id} ", "bold"), (f"{sign} " if sign else "", _STYLES.get(node.outcome, "")))
    indent = " " * number.cell_len
    if node.outcome == "abandoned" and has_children:
        number.append("abandoned · ", style="dim")
    return [Text.assemble(number, first), *(Text.assemble(indent, line) for line in rest)]


def _quiet(text: str, style: str) -> list[Text]:
    """A line with a style, or none for an empty text."""
    return [Text(text, style=style)] if text else []


def _title(nodes: Sequence[SearchNode], trial: int, numbered: bool) -> Text:
    head = f"try {trial}" if numbered else "search"
    count = len(nodes)
    return Text(f"{head} · {count} message{'' if count == 1 else 's'}", style="bold")


def _cut(lines: Iterable[Text]) -> RenderableType:
    """Lines that are cut at the edge. (A console joins bare texts that it prints, and loses their line ends.)"""
    texts = list(lines)
    for text in texts:
        text.no_wrap, text.overflow = True, "ellipsis"
    return Group(*texts)
