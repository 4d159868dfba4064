"""A spreadsheet in memory: worksheets whose cells and formulas a spreadsheet engine holds, IronCalc.

The engine parses what a user types, evaluates formulas and rewrites their references when rows or columns come, go or
are copied. What gspread knows beyond that (formats, notes, merges, …) are marks of a `Tab`. Formulas are those of
Excel: the functions that only Google Sheets has (`SPLIT`, `ARRAYFORMULA`, `QUERY`) give `#NAME?`.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.manipulation.sheets.areas import (
    Area,
    AreaMark,
    Axis,
    Json,
    Place,
    SheetsError,
    Tab,
    area_of,
    invalid,
    label_of,
    moved_area,
    split_title,
)
from protocols.errors import UsageError
from protocols.extras import needs_extra

__all__ = ["Rows", "Workbook", "append_values", "filled", "get_values", "is_raw", "numericised", "put_values"]

MOST_CELLS = 200_000
"""Of a workbook; Google's have ten million, which no test needs, and which would take minutes to go through."""

_RENDERS = ("FORMATTED_VALUE", "UNFORMATTED_VALUE", "FORMULA")

_OPEN = re.compile(
    r"(?<![\w$!:])(?:\$?([A-Z]{1,3}):\$?([A-Z]{1,3})|\$?(\d+):\$?(\d+))(?![\w$(:])"
    r"|(?<![\w$:])(\$?[A-Z]{1,3}\$?\d+):(?:\$?([A-Z]{1,3})|\$?(\d+))(?![\w$(:])",
    re.IGNORECASE,
)
"""Whole columns or rows, and ranges such as `A2:A` and `A2:2`, which end with the worksheet."""
Rows = list[list[Any]]
"""Values by row."""
_NUMBER = re.compile(r"[+-]?(\d+(,\d{3})*(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class _Clip:
    """An area as it was when it was copied: the engine's clipboard, and the formats and notes of its cells."""

    area: Area
    clipboard: Any
    marks: Sequence[AreaMark]


class Workbook:
    """A spreadsheet with one empty worksheet `Sheet1` of 1000 rows and 26 columns.

    Attributes:
        tabs: The worksheets in their order.
        permissions: Whom the spreadsheet is shared with; the first is its owner.
    Raises: UsageError: The extra `manipulation` is not installed.
    """

    def __init__(self) -> None:
        if importlib.util.find_spec("ironcalc") is None:
            raise UsageError(needs_extra("a spreadsheet", "manipulation"))
        self.clear()

    def clear(self) -> None:
        """Start anew, as after construction."""
        import ironcalc

        self._error = ironcalc.WorkbookError
        self._engine = ironcalc.create_user_model("spreadsheet", "en", "UTC", "en")
        self._engine.pause_evaluation()
        self._stale = False
        self._ids = 0
        self.tabs = [Tab(0, "Sheet1")]
        owner = {"id": "1", "type": "user", "role": "owner", "emailAddress": "owner@example.com"}
        self.permissions: list[Json] = [owner]

    # worksheets

    def index(self, tab: Tab) -> int:
        """The place of a worksheet, from 0."""
        return next(index for index, candidate in enumerate(self.tabs) if candidate is tab)

    def tab(self, id: int) -> Tab:
        """The worksheet of that id. Raises: SheetsError."""
        for tab in self.tabs:
            if tab.id == id:
                return tab
        raise SheetsError(f"WorksheetNotFound: id {id} not found")

    def titled(self, title: str) -> Tab:
        """The worksheet of that title. Raises: SheetsError."""
        for tab in self.tabs:
            if tab.title == title:
                return tab
        raise SheetsError(f"WorksheetNotFound: {title}")

    def add(self, title: str, rows: int, cols: int, index: int | None = None, id: int | None = None) -> Tab:
        """Add an empty worksheet, at the end if there is no index. Raises: SheetsError."""
        if rows < 1 or cols < 1:
            raise invalid("a worksheet has at least one row and one column")
        self._check_room(rows * cols)
        last = len(self.tabs)
        if index is not None and not 0 <= index <= last:
            raise invalid(f"index {index} is out of range")
        if id is not None and any(tab.id == id for tab in self.tabs):
            raise invalid(f"Sheet id {id} already exists")
        self._engine.new_sheet()
        self._ids += 1
        tab = Tab(self._ids if id is None else id, "", rows, cols)
        self.tabs.append(tab)
        try:
            self.rename(tab, title)
        except SheetsError:
            self._engine.delete_sheet(last)
            self.tabs.remove(tab)
            raise
        if index is not None:
            self._engine.move_sheet(last, min(index, last))
            self.tabs.insert(index, self.tabs.pop())
        return tab

    def duplicate(self, source: Tab, index: int | None, id: int | None, title: str | None) -> Tab:
        """A new worksheet with all that is in another one, at the first place if there is no index."""
        tab = self.add(title or f"Copy of {source.title}", source.rows, source.cols, index or 0, id)
        used = self.used(source)
        if all(used):
            self.copy(source, Area(1, 1, *used), tab, (1, 1))
        tab.marks = [mark for mark in source.marks if mark.kind not in ("name", "protection")]
        tab.frozen = dict(source.frozen)
        return tab

    def rename(self, tab: Tab, title: str) -> None:
        """Give a worksheet another title. Raises: SheetsError: It is taken or no title."""
        if any(other.title.casefold() == title.casefold() for other in self.tabs if other is not tab):
            raise invalid(f'A sheet with the name "{title}" already exists. Please enter another name.')
        try:
            self._engine.rename_sheet(self.index(tab), title)
        except self._error as error:
            raise invalid(str(error)) from None
        tab.title = title

    # cells

    def area(self, text: str, tab: Tab | None = None) -> tuple[Tab, Area]:
        """The worksheet and the area that a range or a name stands for; without a title the given one, or the first.

        Raises: SheetsError: There is none such.
        """
        for owner in self.tabs:
            for mark in owner.of_kind("name"):
                if mark.value == text:
                    return owner, mark.area
        title, rest = split_title(text)
        if title is None and any(candidate.title == text for candidate in self.tabs):
            tab = self.titled(text)
            return tab, tab.whole()
        tab = (tab or self.tabs[0]) if title is None else self.titled(title)
        return tab, area_of(rest, tab.rows, tab.cols)

    def used(self, tab: Tab) -> Place:
        """The last row and the last column with a value; (0, 0) where nothing is."""
        self._evaluate()
        index = self.index(tab)
        value = self._engine.get_cell_value
        places = [place for place in Area(1, 1, *self._extent(tab)).places() if value(index, *place) not in (None, "")]
        return max((row for row, _ in places), default=0), max((col for _, col in places), default=0)

    def read(self, tab: Tab, place: Place, render: str = "FORMATTED_VALUE") -> Any:
        """What a cell shows, its value, or its formula; "" for an empty one.

        Raises: SheetsError: `render` is none of the three.
        """
        if render not in _RENDERS:
            raise invalid(f"value render option {render}; use {_RENDERS}")
        self._evaluate()
        index = self.index(tab)
        if render == "FORMULA":
            formula = self._engine.get_cell_formula(index, *place)
            if formula is not None:
                return formula
        value = self._engine.get_cell_value(index, *place)
        if value is None:
            return ""
        if render == "FORMATTED_VALUE":
            return self._engine.get_formatted_cell_value(index, *place)
        return int(value) if isinstance(value, float) and value.is_integer() else value

    def write(self, tab: Tab, place: Place, value: object, raw: bool) -> None:
        """Put a value into a cell: as it is, or as if it were typed in. None leaves the cell, "" empties it.

        A cell that a merge hides stays empty.

        Raises: SheetsError: No such cell, or neither text, number nor truth value.
        """
        row, col = place
        if place not in tab.whole():
            raise invalid(f"Range ({row}, {col}) exceeds grid limits. Max rows: {tab.rows}, max columns: {tab.cols}")
        if value is not None and not isinstance(value, str | int | float):
            raise invalid(f"Invalid value of a cell: {value!r}")
        merge = tab.merge_of(place)
        if value is None or (merge is not None and place != (merge.top, merge.left)):
            return
        self._stale = True
        if value == "":
            self.empty(tab, Area(row, col, row, col))
        elif isinstance(value, str):
            self._engine.set_user_input(self.index(tab), row, col, f"'{value}" if raw else _typed(value, tab))
        else:
            text = str(value).upper() if isinstance(value, bool) else repr(value)
            self._engine.set_user_input(self.index(tab), row, col, text)

    def empty(self, tab: Tab, area: Area) -> None:
        """Empty the cells of an area; formats and notes stay."""
        part = area.within(*self._extent(tab))
        if part is not None:
            self._engine.range_clear_contents(self.index(tab), part.top, part.left, part.bottom, part.right)
            self._stale = True

    def number_format(self, tab: Tab, area: Area, pattern: str) -> None:
        """Show the numbers of an area by a pattern such as `0.00%`."""
        corners = (area.top, area.left, area.bottom, area.right)
        self._engine.update_range_style(self.index(tab), *corners, "num_fmt", pattern)

    def _extent(self, tab: Tab) -> Place:
        """The last row and column that the engine has anything in."""
        _, bottom, _, right = self._engine.get_sheet_dimensions(self.index(tab))
        return bottom, right

    def _evaluate(self) -> None:
        if self._stale:
            self._engine.evaluate()
            self._stale = False

    # rows, columns and areas

    def _check_room(self, cells: int) -> None:
        """See that a workbook can have so many more cells. Raises: SheetsError."""
        if cells + sum(tab.rows * tab.cols for tab in self.tabs) > MOST_CELLS:
            raise invalid(
                f"This action would increase the number of cells in the workbook above the limit of {MOST_CELLS} cells."
            )

    def insert(self, tab: Tab, axis: Axis, start: int, count: int) -> None:
        """Put empty rows or columns before the line `start`. Raises: SheetsError."""
        if count < 1 or not 1 <= start <= tab.size(axis) + 1:
            raise invalid(f"cannot insert {count} {axis.lower()} at {start}")
        self._check_room(count * (tab.cols if axis == "ROWS" else tab.rows))
        if start <= max(self._extent(tab)):
            texts = self._texts(tab)
            insert = self._engine.insert_rows if axis == "ROWS" else self._engine.insert_columns
            insert(self.index(tab), start, count)
            self._restore(tab, texts, axis, start, count)
        self._move(tab, axis, start, count)

    def delete(self, tab: Tab, axis: Axis, start: int, end: int) -> None:
        """Take the rows or columns from `start` to `end` away, both included. Raises: SheetsError."""
        size = tab.size(axis)
        if not 1 <= start <= end <= size:
            raise invalid(f"no {axis.lower()} from {start} to {end}: the worksheet has {size}")
        count = end - start + 1
        if count == size:
            raise invalid(f"You can't delete all the {axis.lower()} on the sheet.")
        texts = self._texts(tab)
        delete = self._engine.delete_rows if axis == "ROWS" else self._engine.delete_columns
        delete(self.index(tab), start, count)
        self._restore(tab, texts, axis, start, -count)
        self._move(tab, axis, start, -count)

    def _texts(self, tab: Tab) -> dict[Place, str]:
        """The cells that hold a text as it was given; the engine parses them again when it moves their line."""
        index = self.index(tab)
        content = self._engine.get_cell_content
        cells = {place: content(index, *place) for place in Area(1, 1, *self._extent(tab)).places()}
        return {place: text for place, text in cells.items() if text.startswith("'")}

    def _restore(self, tab: Tab, texts: Mapping[Place, str], axis: Axis, start: int, count: int) -> None:
        for (row, col), text in texts.items():
            if area := moved_area(Area(row, col, row, col), axis, start, count):
                self._engine.set_user_input(self.index(tab), area.top, area.left, text)
        self._stale = True

    def _move(self, tab: Tab, axis: Axis, start: int, count: int) -> None:
        """Move the marks of a worksheet; the engine does not move the areas of names by itself."""
        before = {mark.value for mark in tab.of_kind("name")}
        tab.move(axis, start, count)
        references = {mark.value: _reference(tab, mark.area) for mark in tab.of_kind("name")}
        for name in before:
            if name in references:
                self._engine.update_defined_name(name, None, name, None, references[name])
            else:
                self._engine.delete_defined_name(name, None)

    def sort(self, tab: Tab, area: Area, keys: Sequence[tuple[int, bool]]) -> None:
        """Sort the rows of an area by columns, each with whether it descends; formulas and formats move with them.

        Numbers come before text, text (whatever its case) before truth values; empty cells come last both ways.

        Raises: SheetsError: A column is not in the area, or a merged cell is only partly.
        """
        if any(not area.left <= col <= area.right for col, _ in keys):
            raise invalid("a column to sort by is outside the range")
        if any(mark.area.overlaps(area) and mark.area.height > 1 for mark in tab.of_kind("merge")):
            raise invalid("You can't sort a range with vertical merges")
        part = area.within(*self._extent(tab))
        if part is None:
            return
        rows = list(range(part.top, part.bottom + 1))
        for col, descends in reversed(keys):
            values = {row: self.read(tab, (row, col), "UNFORMATTED_VALUE") for row in rows}
            ranks = {row: _rank(value) for row, value in values.items() if value != ""}
            filled = sorted((row for row in rows if row in ranks), key=ranks.__getitem__, reverse=descends)
            rows = filled + [row for row in rows if row not in ranks]
        clips = [self._copied(tab, Area(row, part.left, row, part.right)) for row in rows]
        self._forget(tab, part)
        for row, clip in enumerate(clips, part.top):
            self._paste(clip, tab, row, part.left)

    def copy(self, tab: Tab, area: Area, target: Tab, place: Place) -> None:
        """Copy an area with its formulas, which refer to the same cells beside them, its formats and its notes."""
        clip = self._copied(tab, area)
        self._forget(target, area.shifted(place[0] - area.top, place[1] - area.left))
        self._paste(clip, target, *place)

    def _copied(self, tab: Tab, area: Area) -> _Clip:
        self._engine.set_selected_sheet(self.index(tab))
        self._engine.set_selected_cell(area.top, area.left)
        self._engine.set_selected_range(area.top, area.left, area.bottom, area.right)
        return _Clip(area, self._engine.copy_to_clipboard(), [mark for mark in tab.marks if _is_within(mark, area)])

    def _paste(self, clip: _Clip, tab: Tab, row: int, col: int) -> None:
        self._engine.set_selected_sheet(self.index(tab))
        self._engine.set_selected_cell(row, col)
        clipboard = clip.clipboard
        self._engine.paste_from_clipboard(clipboard["sheet"], clipboard["range"], clipboard["data"], False)
        down, right = row - clip.area.top, col - clip.area.left
        tab.marks += [replace(mark, area=mark.area.shifted(down, right)) for mark in clip.marks]
        self._stale = True

    def _forget(self, tab: Tab, area: Area) -> None:
        """Empty an area, formats and notes included."""
        self._engine.range_clear_all(self.index(tab), area.top, area.left, area.bottom, area.right)
        tab.marks = [mark for mark in tab.marks if not _is_within(mark, area)]
        self._stale = True

    def define(self, name: str, tab: Tab, area: Area) -> None:
        """Name an area. Raises: SheetsError: The name is taken, or none that a formula could use."""
        if any(mark.value.casefold() == name.casefold() for owner in self.tabs for mark in owner.of_kind("name")):
            raise invalid(f"a range with the name {name} exists")
        try:
            self._engine.new_defined_name(name, None, _reference(tab, area))
        except self._error as error:
            raise invalid(str(error)) from None
        tab.marks.append(AreaMark("name", area, name))
        self._stale = True


def _is_within(mark: AreaMark, area: Area) -> bool:
    """True for a format or a note of a cell in an area."""
    return mark.kind in ("format", "note") and (mark.area.top, mark.area.left) in area


def _reference(tab: Tab, area: Area) -> str:
    title = tab.title.replace("'", "''")
    first, last = (f"${label_of(1, col)[:-1]}${row}" for row, col in ((area.top, area.left), (area.bottom, area.right)))
    return f"'{title}'!{first}:{last}"


def _typed(text: str, tab: Tab) -> str:
    """A text as the engine has to read it.

    It ignores what follows a complete formula, unless that is in brackets. Its worksheets have a million rows, so
    whole columns and rows end where those of the worksheet do; else an array of them may take minutes.
    """
    if not text.startswith("=") or len(text) == 1:
        return text
    depth, quoted = 0, False
    for character in text:
        quoted ^= character == '"'
        depth += 0 if quoted else (character == "(") - (character == ")")
        if depth < 0:
            return "#ERROR!"
    parts = text[1:].split('"')
    parts[::2] = [_OPEN.sub(lambda match: _closed(match, tab), part) for part in parts[::2]]
    return "=(" + '"'.join(parts) + ")"


def _closed(match: re.Match[str], tab: Tab) -> str:
    first_col, last_col, first_row, last_row, first_cell, open_col, open_row = match.groups()
    if first_cell:
        return f"{first_cell}:{f'{open_col}{tab.rows}' if open_col else label_of(int(open_row), tab.cols)}"
    if first_col:
        return f"{first_col}1:{last_col}{tab.rows}"
    return f"A{first_row}:{label_of(int(last_row), tab.cols)}"


def _rank(value: object) -> tuple[int, float, str]:
    """What a value is sorted by."""
    if isinstance(value, bool):
        return 2, float(value), ""
    if isinstance(value, int | float):
        return 0, float(value), ""
    return 1, 0.0, str(value).casefold()


def numericised(value: Any) -> Any:
    """A text that is a number as that number; anything else as it is."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        number = float(value.replace(",", ""))
        return int(number) if number.is_integer() and not re.search(r"[.eE]", value) else number
    return value


def is_raw(option: str | None) -> bool:
    """True if values are stored as they are, and not as if they were typed in. Raises: SheetsError."""
    if option not in ("RAW", "USER_ENTERED"):
        raise invalid(f"value input option {option}; use RAW or USER_ENTERED")
    return option == "RAW"


def filled(rows: Rows) -> Rows:
    """Rows of one length, filled up with ""."""
    width = max(map(len, rows), default=0)
    return [row + [""] * (width - len(row)) for row in rows]


def get_values(book: Workbook, tab: Tab, area: Area, render: str = "FORMATTED_VALUE") -> Rows:
    """The rows of an area without empty ones at its end, and without empty cells at the end of each row."""
    part = area.within(*book.used(tab))
    if part is None:
        return []
    rows = [
        [book.read(tab, (row, col), render) for col in range(part.left, part.right + 1)]
        for row in range(part.top, part.bottom + 1)
    ]
    for row in rows:
        while row and row[-1] == "":
            row.pop()
    while rows and not rows[-1]:
        rows.pop()
    return rows


def put_values(book: Workbook, range_name: str, tab: Tab | None, rows: object, raw: bool) -> Json:
    """Write rows from the first cell of a range on. Raises: SheetsError: They are no rows, or do not fit into it."""
    values = _checked(rows)
    tab, area = book.area(range_name, tab)
    height, width = len(values), max(map(len, values), default=0)
    open_ended = area.height == area.width == 1
    if not open_ended and (height > area.height or width > area.width):
        message = f"Requested writing within range [{area}], but tried writing to {height} rows and {width} columns"
        raise invalid(message)
    return _write(book, tab, Area(area.top, area.left, area.top + height - 1, area.left + width - 1), values, raw)


def append_values(book: Workbook, tab: Tab, rows: object, raw: bool) -> Json:
    """Write rows below all there is, from the first column with anything on; the worksheet grows as needed."""
    values = _checked(rows)
    used = book.used(tab)
    row, col = used[0] + 1, 1
    while used[0] and not any(book.read(tab, (line, col)) != "" for line in range(1, used[0] + 1)):
        col += 1
    area = Area(row, col, row + len(values) - 1, col + max(map(len, values), default=0) - 1)
    tab.rows, tab.cols = max(tab.rows, area.bottom), max(tab.cols, area.right)
    return {"spreadsheetId": "spreadsheet", "updates": _write(book, tab, area, values, raw)}


def _write(book: Workbook, tab: Tab, area: Area, values: Rows, raw: bool) -> Json:
    for row, line in enumerate(values, area.top):
        for col, value in enumerate(line, area.left):
            book.write(tab, (row, col), value, raw)
    cells = sum(map(len, values))
    counts = {"updatedRows": len(values), "updatedColumns": area.width, "updatedCells": cells}
    return {"spreadsheetId": "spreadsheet", "updatedRange": f"{tab.title}!{area}", **counts}


def _checked(rows: object) -> Rows:
    if not isinstance(rows, list | tuple) or not all(isinstance(row, list | tuple) for row in rows):
        raise invalid(f"values are a list of rows, not {rows!r}")
    return [list(row) for row in rows]
