"""Draw the tree of a search: whole, or as much of it as fits on the terminal while the search goes on.

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
    left_text,
    node_line,
    observed,
    one_line,
    points,
    step_signature,
    stretches,
    trials,
)
from atc.search_tree import NodeOutcome, SearchNode, path_to

__all__ = ["current_tree", "tree_text"]

_STYLES: Mapping[NodeOutcome, str] = {
    "answer": "green",
    "give_up": "yellow",
    "depth": "yellow",
    "limit": "red",
    "error": "red",
    "abandoned": "dim",
}

SHORT_THOUGHT = 32
"""Characters of a thought that shares its line with the calls."""

_LABEL_WIDTH = 40
"""Columns that are left to a message; forks that need more are not indented further."""

Labels = Mapping[int, Sequence[Text]]
"""The lines of each node, by its id."""


def tree_text(nodes: Sequence[SearchNode]) -> RenderableType:
    """All messages of a search, a tree for each try.

    Args:
        nodes: In the order of their messages, as in `Solution.tree`.
    Returns: A text of lines that are never wider than the terminal; empty without nodes.
    """
    by_trial = trials(nodes)
    several = len(by_trial) > 1
    return Group(
        *(
            _Drawn(part, _whole_labels(part), _title(part, trial, several or trial > 1))
            for trial, part in by_trial.items()
        )
    )


def current_tree(nodes: Sequence[SearchNode], changed: int, height: int) -> RenderableType:
    """The path that a search is on in full, and a line for each other branch beside it.

    Where that is too much for the height, messages far from the end of the path shrink to a line, then branches to a
    count, and then the beginning of the path is left out.

    Args:
        nodes: Those of one try, in the order of their messages.
        changed: The id of the node that changed last.
        height: The most lines to draw.
    """
    last = next(node for node in nodes if node.id == changed)
    goes_on = last.outcome not in ("give_up", "depth", "abandoned")
    path = path_to(nodes, last.id if goes_on else last.parent)
    title = _title(nodes, last.trial, last.trial > 1)
    rows = _PathRows(nodes, path[-max(height, 1) :])
    room = max(height - 1, 1)
    labels = next((labels for labels in rows.choices() if _height(labels) <= room), None)
    if labels is None:
        labels = rows.cropped(room)
    dropped = sum(node.id not in labels for node in path)
    if dropped:
        title.append(f" · the first {dropped} of the path are not shown", style="dim")
    return _Drawn([node for node in nodes if node.id in labels], labels, title)


@dataclass(frozen=True)
class _Drawn:
    """A tree that is drawn for the width that it is given."""

    nodes: Sequence[SearchNode]
    labels: Labels
    title: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        levels = max((options.max_width - _LABEL_WIDTH) // 4, 1)
        tree = Tree(_cut([self.title]), guide_style="dim")
        pending = [(tree, stretch) for stretch in stretches(self.nodes, levels)]
        while pending:
            parent, stretch = pending.pop(0)
            added = parent.add(_cut(self._lines(stretch)))
            pending += [(added, fork) for fork in stretch.forks]
        yield tree

    def _lines(self, stretch: Stretch) -> Iterator[Text]:
        """The lines of the messages of a stretch; one that does not follow the one above it names its parent."""
        before = stretch.nodes[0].parent
        for node in stretch.nodes:
            first, *rest = self.labels[node.id]
            if node.parent != before and node.parent in self.labels:
                first = Text.assemble((f"after {node.parent}: ", "dim"), first)
            yield first
            yield from rest
            before = node.id


class _PathRows:
    """The lines of a path and of the branches beside it, in all sizes."""

    def __init__(self, nodes: Sequence[SearchNode], path: Sequence[SearchNode]) -> None:
        self._path = path
        on_path = {node.id for node in path}
        top = path[0].parent if path else 0
        self._parents = [top, *(node.id for node in path)]
        below = _descendants(nodes)
        self._whole = {node.id: _node_lines(node, has_children=bool(below[node.id])) for node in path}
        self._short = {node.id: [_numbered(node, node_line(node, SHORT_THOUGHT))] for node in path}
        self._beside: dict[int, list[SearchNode]] = {parent: [] for parent in self._parents}
        for node in nodes:
            if node.id not in on_path and node.parent in self._beside:
                self._beside[node.parent].append(node)
        self._left = {
            node.id: _numbered(node, left_text(node, below[node.id]))
            for branches in self._beside.values()
            for node in branches
        }

    def choices(self) -> Iterator[Labels]:
        """What may be drawn, the most of it first."""
        count = len(self._path)
        last = max(count - 1, 0)
        yield from (self._labels(shortened, 0, 0) for shortened in range(last + 1))
        yield from (self._labels(last, merged, 0) for merged in range(1, count + 2))
        yield from (self._labels(last, count + 1, dropped) for dropped in range(1, count))

    def cropped(self, room: int) -> Labels:
        """The last message alone, with as many of its lines as there is room for."""
        if not self._path:
            return dict(list(self._labels(0, 1, 0).items())[:room])
        end = self._path[-1].id
        lines = self._whole[end]
        return {end: lines if len(lines) <= room else lines[:room]}

    def _labels(self, shortened: int, merged: int, dropped: int) -> Labels:
        """The lines of the path from a place on, of which the first `shortened` messages have a line each.

        Args:
            merged: At so many places from the top, the branches are a count.
        """
        labels: dict[int, Sequence[Text]] = {}
        for place, node in enumerate(self._path):
            if place >= dropped:
                labels[node.id] = self._short[node.id] if place < shortened else self._whole[node.id]
        for place, parent in enumerate(self._parents):
            branches = self._beside[parent]
            if place < dropped or not branches:
                continue
            if place < merged and len(branches) > 1:
                labels[branches[0].id] = [Text(f"… {len(branches)} branches were left", style="dim")]
            else:
                labels |= {node.id: [self._left[node.id]] for node in branches}
        return labels


def _descendants(nodes: Sequence[SearchNode]) -> dict[int, list[SearchNode]]:
    """For each node those below it, in their order."""
    below: dict[int, list[SearchNode]] = {node.id: [] for node in nodes}
    parents = {node.id: node.parent for node in nodes}
    for node in nodes:
        ancestor = node.parent
        while ancestor in below:
            below[ancestor].append(node)
            ancestor = parents[ancestor]
    return below


def _whole_labels(nodes: Sequence[SearchNode]) -> Labels:
    with_children = {node.parent for node in nodes}
    return {node.id: _node_lines(node, has_children=node.id in with_children) for node in nodes}


def _node_lines(node: SearchNode, *, has_children: bool) -> list[Text]:
    """All lines of a message: thought, calls, what came back, and the end, which a branch below has told already."""
    lines = [Text(one_line(node.thought))] if node.thought.strip() else []
    for step in node.steps:
        if step.code not in (3, 4):
            lines.append(Text(step_signature(step), style="cyan"))
            lines += _quiet(observed(step), "dim" if step.code == 0 else "red")
    lines += _quiet(f"✗ {one_line(node.correction)}" if node.correction else "", "red")
    lines += _quiet(points(node), "magenta")
    if node.outcome != "abandoned" or not has_children:
        lines += _quiet(end_text(node), _STYLES.get(node.outcome, ""))
    first, *rest = lines or [Text("(an empty message)", style="dim")]
    number = _number(node)
    indent = " " * number.cell_len
    if node.outcome == "abandoned" and has_children:
        number.append("abandoned · ", style="dim")
    return [Text.assemble(number, first), *(Text.assemble(indent, line) for line in rest)]


def _quiet(text: str, style: str) -> list[Text]:
    """A line with a style, or none for an empty text."""
    return [Text(text, style=style)] if text else []


def _number(node: SearchNode) -> Text:
    """The number of a message, with the sign of its end."""
    sign, _ = OUTCOMES[node.outcome]
    return Text.assemble((f"{node.id} ", "bold"), (f"{sign} " if sign else "", _STYLES.get(node.outcome, "")))


def _numbered(node: SearchNode, text: str) -> Text:
    """A message or a branch in one line."""
    return Text.assemble((f"{node.id} ", "bold"), (text or "(an empty message)", _STYLES.get(node.outcome, "")))


def _title(nodes: Sequence[SearchNode], trial: int, numbered: bool) -> Text:
    head = f"try {trial}" if numbered else "search"
    count = len(nodes)
    return Text(f"{head} · {count} message{'' if count == 1 else 's'}", style="bold")


def _height(labels: Labels) -> int:
    return sum(map(len, labels.values()))


def _cut(lines: Iterable[Text]) -> RenderableType:
    """Lines that are cut at the edge. (A console joins bare texts that it prints, and loses their line ends.)"""
    texts = list(lines)
    for text in texts:
        text.no_wrap, text.overflow = True, "ellipsis"
    return Group(*texts)
