"""`atc tui`: the solutions in a folder as a list, from which one is opened. Loads while it is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.widgets import DataTable, Footer, Input, Static
from textual.worker import get_current_worker

from atc.apps.tui.detail import SolutionScreen
from atc.apps.tui.nodes import TEXT_WIDTH
from atc.apps.tui.parts import STANDING_STYLES
from atc.apps.tui.stored import DAMAGED, StoredSolution, stored_solutions
from protocols.quoting import one_line, visible

__all__ = ["SolutionBrowser"]

EMPTY = """No solutions in {folder}.

atc solve "…" --api SPEC --out FILE.json    writes the solution of one question
atc bench tiny --out DIR                    writes one for each task of a benchmark

Then: atc tui {folder}"""

_COLUMNS = {"status": 11, "standing": 11, "tries": 5, "calls": 5, "tokens": 8}
"""The columns after the question, with their widths."""

_ORDERS: Mapping[str, Callable[[StoredSolution], tuple[object, ...]]] = {
    "file": lambda stored: (stored.name,),
    "question": lambda stored: (stored.question.casefold(), stored.name),
    "status": lambda stored: (stored.status, stored.standing, stored.name),
    "standing": lambda stored: (stored.standing, stored.status, stored.name),
    "tries": lambda stored: (-stored.attempts, stored.name),
    "calls": lambda stored: (-stored.calls, stored.name),
    "tokens": lambda stored: (-stored.tokens, stored.name),
}
"""What the list may be sorted by: names from A on, numbers from the largest on."""

_STYLES: Mapping[str, str] = {"answered": "green", **dict(STANDING_STYLES.items()), "": ""}


class _SolutionTable(DataTable[Text]):
    """The list; its key for a row is named at the bottom."""

    BINDINGS = [Binding("enter", "select_cursor", "Open")]  # noqa: RUF012 - as Textual declares it


class _Filter(Input):
    """The words to filter by."""

    BINDINGS = [Binding("escape", "app.end_filter", "End the filter")]  # noqa: RUF012 - as Textual declares it


class SolutionBrowser(App[None]):
    """The list of the solutions in a folder, or of one file.

    Args:
        place: The folder, or the file.

    `loading_files` says whether files are still being read, and `filter_words` are the words that each listed row has.
    """

    TITLE = "atc tui"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS = [  # noqa: RUF012 - as Textual declares it
        Binding("q", "quit", "Quit"),
        Binding("ctrl+c", "quit", "Quit", show=False, priority=True),
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("s", "sort", "Sort"),
    ]
    CSS = """
    #heading { height: 1; padding: 0 1; text-style: bold; }
    #filter { display: none; }
    #filter.open { display: block; }
    #empty { padding: 1 2; display: none; }
    DataTable { height: 1fr; scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0; }
    DataTable:nocolor > .datatable--cursor { text-style: reverse; }
    #place { height: 1; padding: 0 1; color: $text-muted; }
    """

    def __init__(self, place: Path) -> None:
        super().__init__()
        self._place = place
        self._all: list[StoredSolution] = []
        self._listed: list[StoredSolution] = []
        self._left_out = 0
        self.loading_files = True
        self._order = "file"
        self.filter_words = ""

    def compose(self) -> ComposeResult:
        yield Static(id="heading", markup=False)
        yield _Filter(id="filter", placeholder="words of question, status, standing or file", compact=True)
        yield _SolutionTable(cursor_type="row")
        yield Static(id="empty", markup=False)
        yield Static(id="place", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        """Start to read."""
        self._table.focus()
        self._fill()
        self._load()

    @property
    def _table(self) -> DataTable[Text]:
        return self.query_one(DataTable)

    # Reading

    @work(thread=True)
    def _load(self) -> None:
        entries = list(stored_solutions(self._place))
        if not get_current_worker().is_cancelled:
            self.call_from_thread(self._take, entries)

    def _take(self, entries: Sequence[StoredSolution | None]) -> None:
        """List what was read; None stands for a JSON file that is no solution."""
        self._all = [stored for stored in entries if stored is not None]
        self._left_out = len(entries) - len(self._all)
        self.loading_files = False
        self._fill()
        if len(self._all) == 1 and not self._place.is_dir():
            self.push_screen(SolutionScreen(self._all[0]))

    # The list

    def _fill(self) -> None:
        """Make the table anew: for another filter, order or width."""
        table = self._table
        cursor = self._current()
        self._listed = sorted(
            (stored for stored in self._all if stored.has(self.filter_words)), key=_ORDERS[self._order]
        )
        table.clear(columns=True)
        room = self.size.width - sum(_COLUMNS.values()) - 2 * (len(_COLUMNS) + 1) - 1
        table.add_column(Text("question"), width=max(room, 12), key="question")
        for name, width in _COLUMNS.items():
            table.add_column(Text(name), width=width, key=name)
        for stored in self._listed:
            table.add_row(*_cells(stored))
        if cursor in self._listed:
            table.move_cursor(row=self._listed.index(cursor))
        self._describe()

    def _current(self) -> StoredSolution | None:
        row = self._table.cursor_row
        return self._listed[row] if 0 <= row < len(self._listed) else None

    def _describe(self) -> None:
        """The heading, the line below the list, and the text in place of an empty one."""
        damaged = sum(stored.status == DAMAGED for stored in self._all)
        shown = f"{len(self._listed):,} of " if self.filter_words else ""
        parts = [f"{shown}{len(self._all) - (0 if shown else damaged):,} solutions", f"by {self._order}"]
        parts += [f"filter: {self.filter_words}"] if self.filter_words else []
        parts += [f"{damaged:,} damaged"] if damaged else []
        parts += [f"other JSON files: {self._left_out:,}"] if self._left_out else []
        parts += ["reading …"] if self.loading_files else []
        self.query_one("#heading", Static).update(Text(visible(" · ".join(parts)), no_wrap=True, overflow="ellipsis"))
        stored = self._current()
        place = stored.problem or stored.name if stored else str(self._place)
        self.query_one("#place", Static).update(Text(visible(place), no_wrap=True, overflow="ellipsis"))
        empty = self.query_one("#empty", Static)
        empty.display = not self._listed and not self.loading_files
        self._table.display = not empty.display
        folder = visible(str(self._place))
        empty.update(
            Text(EMPTY.format(folder=folder) if not self._all else f"Nothing has the words {self.filter_words!r}.")
        )

    # What the user does

    def on_data_table_row_highlighted(self) -> None:
        """Show the file of the row."""
        self._describe()

    def on_data_table_row_selected(self) -> None:
        """Open the row."""
        stored = self._current()
        if stored is not None:
            self.push_screen(SolutionScreen(stored))

    def on_data_table_header_selected(self, event: DataTable.HeaderSelected) -> None:
        """Sort by the column."""
        self._order = str(event.column_key.value)
        self._fill()

    def action_sort(self) -> None:
        """Sort by the next of the columns."""
        names = list(_ORDERS)
        self._order = names[(names.index(self._order) + 1) % len(names)]
        self._fill()

    def action_filter(self) -> None:
        """Type words that a row must have."""
        field = self.query_one("#filter", Input)
        field.add_class("open")
        field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter by what is typed."""
        self.filter_words = event.value
        self._fill()

    def on_input_submitted(self) -> None:
        """Go back to the list."""
        self._table.focus()

    def action_end_filter(self) -> None:
        """Show all rows again."""
        field = self.query_one("#filter", Input)
        field.value = ""
        field.remove_class("open")
        self._table.focus()

    def on_resize(self) -> None:
        """The question takes the width that the other columns leave."""
        self._fill()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The keys of the list are not those of an opened solution."""
        return action not in ("filter", "sort") or len(self.screen_stack) == 1


def _cells(stored: StoredSolution) -> list[Text]:
    """The row of a solution; of a damaged file the reason."""
    question = Text(one_line(stored.question or stored.problem, TEXT_WIDTH), no_wrap=True, overflow="ellipsis")
    words = [Text(one_line(word), style=_STYLES.get(word, "red")) for word in (stored.status, stored.standing)]
    numbers = ("", "", "") if stored.problem else (stored.attempts, stored.calls, f"{stored.tokens:,}")
    return [question, *words, *(Text(str(number), justify="right") for number in numbers)]
