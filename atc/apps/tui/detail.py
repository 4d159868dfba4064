"""One stored solution on the whole screen: the answer and what it rests on, the attempts, the calls, the search."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Static, TabbedContent, TabPane, Tabs

from atc.apps.tui.attempt import attempt_parts, revision_reason
from atc.apps.tui.parts import call_row, evidence_lines, flow_lines, indented, note_lines, standing_text, summary_line
from atc.apps.tui.response_tree import CallTree
from atc.apps.tui.stored import StoredSolution
from atc.apps.tui.text import format_answer
from atc.apps.tui.tree import tree_text
from atc.solution import Solution
from atc.solution_file import read_solution
from protocols.errors import UsageError
from protocols.quoting import visible

__all__ = ["SolutionScreen"]

FLOWS_SHOWN = 50
"""Most lines of the data flow."""


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
