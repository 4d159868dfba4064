"""The calls of a solution as a tree whose arguments and responses are folded, and read only when they are opened."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from rich.text import Text
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from atc.apps.tui.nodes import TEXT_WIDTH
from atc.apps.tui.parts import call_row
from atc.solution import Attempt
from protocols.quoting import one_line
from sandbox.records import CallRecord

__all__ = ["CallTree"]

MEMBERS_SHOWN = 200
"""Most members of an object or items of a list under one node."""


class CallTree(Tree[object]):
    """All calls of some attempts. The data of a node is the JSON value that it opens."""

    show_root = False
    guide_depth = 2

    def __init__(self, attempts: Sequence[Attempt]) -> None:
        super().__init__(Text("calls"))
        for number, attempt in enumerate(attempts, 1):
            if not attempt.calls:
                continue
            branch = self.root.add(Text(f"program {number}"), expand=True)
            for call in attempt.calls:
                self._add_call(branch, call)
        if not self.root.children:
            self.root.add_leaf(Text("no calls were made"))

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[object]) -> None:
        """Add the members of a value when its node is opened first."""
        node = event.node
        if node.data is not None and not node.children:
            for name, value in _members(node.data):
                _add_value(node, name, value)

    def _add_call(self, branch: TreeNode[object], call: CallRecord) -> None:
        row = call_row(call)
        if call.line is not None:
            row.append(f"  line {call.line}", style="dim")
        node = branch.add(row)
        if call.error is not None and call.status is not None:
            node.add_leaf(Text(f"error: {one_line(call.error, TEXT_WIDTH)}", style="red"))
        if call.simulated or call.replayed or call.refused:
            marks = [name for name in ("simulated", "replayed", "refused") if getattr(call, name)]
            node.add_leaf(Text(", ".join(marks), style="dim"))
        node.add_leaf(Text(one_line(f"{call.method} {call.url}", TEXT_WIDTH), style="dim"))
        _add_value(node, "arguments", call.arguments)
        _add_value(node, "response", call.response)


def _add_value(node: TreeNode[object], name: str, value: object) -> None:
    """A member: folded where it has members itself, else a leaf with its value."""
    label = Text(one_line(name, TEXT_WIDTH), style="bold")
    if isinstance(value, dict | list) and value:
        kind = f"{len(value)} {'members' if isinstance(value, dict) else 'items'}"
        node.add(label.append(f"  {kind}", style="not bold dim"), data=value)
    else:
        text = one_line(json.dumps(value, ensure_ascii=False, default=str), TEXT_WIDTH)
        node.add_leaf(label.append(f": {text}", style="not bold"))


def _members(value: object) -> Iterator[tuple[str, object]]:
    """The members of an object or the items of a list, the first of a long one."""
    entries: Iterable[tuple[str, object]] = ()
    if isinstance(value, dict):
        entries = ((str(name), member) for name, member in value.items())
    elif isinstance(value, list):
        entries = ((f"[{place}]", item) for place, item in enumerate(value))
    yield from islice(entries, MEMBERS_SHOWN)
    if isinstance(value, dict | list) and len(value) > MEMBERS_SHOWN:
        yield "…", f"{len(value) - MEMBERS_SHOWN} more are in the file"
