"""One stored solution on the whole screen: the answer and what it rests on, the attempts, the calls, the search."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Static, TabbedContent, TabPane, Tabs, Tree
from textual.widgets.tree import TreeNode

from atc.apps.tui.attempt import attempt_parts, revision_reason
from atc.apps.tui.nodes import TEXT_WIDTH
from atc.apps.tui.parts import (
    call_row,
    evidence_lines,
    flow_lines,
    indented,
    note_lines,
    standing_text,
    summary_line,
    tree_text,
)
from atc.apps.tui.stored import StoredSolution
from atc.apps.tui.text import format_answer
from atc.solution import Attempt, Solution
from atc.solution_file import read_solution
from protocols.errors import UsageError
from protocols.quoting import one_line, visible
from sandbox.records import CallRecord

__all__ = ["CallTree", "SolutionScreen"]

FLOWS_SHOWN = 50
"""Most lines of the data flow."""

MEMBERS_SHOWN = 200
"""Most members of an object or items of a list under one node."""


class SolutionScreen(Screen[None]):
    """A stored solution; a file that cannot be read shows why."""

    BINDINGS = [  # noqa: RUF012 - as Textual declares it
        Binding("escape", "app.pop_screen", "Back"),
        Binding("1", "show('answer')", "Answer"),
        Binding("2", "show('attempts')", "Attempts"),
        Binding("3", "show('calls')", "Calls"),
        Binding("4", "show('search')", "Search"),
    ]
    CSS = """
    #question { height: auto; max-height: 3; text-style: bold; padding: 0 1; }
    TabbedContent { height: 1fr; }
    #state { padding: 1; }
    VerticalScroll { padding: 0 1; scrollbar-size-vertical: 1; }
    TabPane { padding: 0; }
    CallTree { padding: 0 1; scrollbar-size-vertical: 1; scrollbar-size-horizontal: 1; }
    """

    def __init__(self, stored: StoredSolution) -> None:
        super().__init__()
        self._stored = stored

    def compose(self) -> ComposeResult:
        yield Static(Text(visible(self._stored.question or self._stored.name)), id="question")
        yield Static(Text("reading …", style="dim"), id="state")
        yield Footer()

    async def on_mount(self) -> None:
        """Read the file."""
        state = self.query_one("#state", Static)
        try:
            solution = await asyncio.to_thread(read_solution, self._stored.file)
        except UsageError as error:
            state.update(Text(f"{visible(str(error))}\n\nWrite the file anew, or move it away."))
            return
        tabs = TabbedContent(initial="answer")
        for name, content in _panes(solution):
            tabs.compose_add_child(TabPane(name.capitalize(), content, id=name))
        await self.mount(tabs, before=state)
        await state.remove()
        self._focus_pane()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The footer names only the panes that this solution has."""
        if action != "show":
            return True
        return any(pane.id == parameters[0] for pane in self.query(TabPane))

    def action_show(self, pane: str) -> None:
        """Bring a pane to the front."""
        self.query_one(TabbedContent).active = pane
        self._focus_pane()

    def on_tabbed_content_tab_activated(self) -> None:
        """The keys that scroll belong to the pane that is shown."""
        if not isinstance(self.focused, Tabs):
            self._focus_pane()

    def _focus_pane(self) -> None:
        pane = self.query_one(TabbedContent).active_pane
        if pane is not None and pane.children:
            pane.children[0].focus()
        self.refresh_bindings()


def _panes(solution: Solution) -> Iterator[tuple[str, VerticalScroll | CallTree]]:
    yield "answer", _page(Group(*_answer_parts(solution)))
    yield "attempts", _page(Group(*_all_attempts(solution)))
    yield "calls", CallTree(solution.attempts)
    if solution.tree:
        yield "search", _page(tree_text(solution.tree))


def _page(content: RenderableType) -> VerticalScroll:
    return VerticalScroll(Static(content))


def _answer_parts(solution: Solution) -> Iterator[RenderableType]:
    """The answer, how far it can be relied on, and what speaks for and against it."""
    if solution.answer is not None:
        yield Text(visible(format_answer(solution.answer)), style="bold")
    else:
        yield Text(f"{solution.status}: {visible(solution.message) or 'there is no answer'}", style="bold red")
    yield from (Text(line, style="italic") for line in note_lines(solution))
    yield Text()
    if (standing := standing_text(solution)) is not None:
        yield standing
    for finding in solution.findings:
        place = f"line {finding.line}: " if finding.line else ""
        yield indented(f"{finding.kind}: {place}{visible(finding.message)}", "yellow")
    yield from map(indented, evidence_lines(solution))
    yield from map(indented, flow_lines(solution, FLOWS_SHOWN))
    if solution.abandoned:
        yield Rule(Text("writes of earlier programs"), style="dim", align="left")
        yield from map(call_row, solution.abandoned)
    if solution.warnings:
        yield Rule(Text("warnings"), style="dim", align="left")
        yield from (Text(visible(warning), style="yellow") for warning in solution.warnings)
    yield Rule(style="dim")
    yield Text(summary_line(solution), style="dim")
    versions = ", ".join(f"{name} {version}" for name, version in solution.versions.items() if name != "protocol")
    yield Text(visible(versions), style="dim")


def _all_attempts(solution: Solution) -> Iterator[RenderableType]:
    """The attempts in their order, each revision as a diff to the one before."""
    before, reason = "", ""
    for number, attempt in enumerate(solution.attempts, 1):
        yield from attempt_parts(
            number,
            attempt.program,
            attempt.calls,
            attempt.run.stdout if attempt.run else "",
            attempt.fault,
            attempt.attribution,
            before=before,
            reason="changed without the model" if attempt.mended else reason,
        )
        yield Text()
        before, reason = attempt.program, revision_reason(attempt.attribution)
    if not solution.attempts:
        yield Text("the model wrote no program")


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
