"""A spreadsheet and its worksheets as gspread 5 has them: those of 100 methods that tests need, over JSON values.

A worksheet is given as a value with its id and title; where a method takes a worksheet, it takes that value or the
title. The methods of a worksheet act on the first one, the others are written through `values_update` and
`set_with_dataframe`. Rows and columns count from 1 and deletions include both ends, as in gspread; what gspread counts
from 0 (hidden and grouped lines, indexes of worksheets) is counted from 0 here, too, and then the end is not included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.manipulation.sheets.areas import Area, AreaMark, Axis, Json, SheetsError, Tab, invalid, label_of
from benchmarks.manipulation.sheets.formats import checked_format, number_pattern
from benchmarks.manipulation.sheets.workbook import (
    Rows,
    Workbook,
    append_values,
    filled,
    get_values,
    is_raw,
    numericised,
    put_values,
)

__all__ = ["Spreadsheet", "Worksheet", "WorksheetInfo", "tab_of"]


@dataclass(frozen=True)
class WorksheetInfo:
    """What a program is told of a worksheet; `index` counts from 0.

    Args:
        id: The id.
        title: The title.
        index: The place among the worksheets.
        row_count: The number of rows.
        col_count: The number of columns.
    """

    id: int
    title: str
    index: int = 0
    row_count: int = 1000
    col_count: int = 26


def worksheet_info(book: Workbook, tab: Tab) -> WorksheetInfo:
    """What a program is told of a worksheet."""
    return WorksheetInfo(tab.id, tab.title, book.index(tab), tab.rows, tab.cols)


def tab_of(book: Workbook, worksheet: WorksheetInfo | str) -> Tab:
    """The worksheet that a program names by its title or gives back as it got it. Raises: SheetsError."""
    if isinstance(worksheet, str):
        return book.titled(worksheet)
    return book.tab(worksheet.id)


class Spreadsheet:
    """All worksheets of a workbook, and what belongs to none of them."""

    def __init__(self, book: Workbook) -> None:
        self._book = book

    def values_update(self, range: str, params: Json | None = None, body: Json | None = None) -> Json:
        """Set the cells of a range of any worksheet.

        Args:
            range: The range or its first cell, such as "Summary!A1".
            params: An object with valueInputOption, RAW or USER_ENTERED.
            body: An object with "values", a list of rows.
        """
        raw = is_raw((params or {}).get("valueInputOption"))
        return put_values(self._book, range, None, (body or {}).get("values", []), raw)

    def worksheets(self) -> list[WorksheetInfo]:
        """Get all worksheets in their order."""
        return [worksheet_info(self._book, tab) for tab in self._book.tabs]

    def worksheet(self, title: str) -> WorksheetInfo:
        """Get a worksheet by its title.

        Args:
            title: The title.
        """
        return worksheet_info(self._book, self._book.titled(title))

    def add_worksheet(self, title: str, rows: int, cols: int, index: int | None = None) -> WorksheetInfo:
        """Add an empty worksheet, behind the others unless an index is given.

        Args:
            title: Its title.
            rows: How many rows it has.
            cols: How many columns it has.
            index: Its place, from 0.
        """
        return worksheet_info(self._book, self._book.add(title, int(rows), int(cols), index))

    def duplicate_sheet(
        self,
        source_sheet_id: int,
        insert_sheet_index: int | None = None,
        new_sheet_id: int | None = None,
        new_sheet_name: str | None = None,
    ) -> WorksheetInfo:
        """Make a copy of a worksheet.

        Args:
            source_sheet_id: The id of the worksheet.
            insert_sheet_index: The place of the copy, from 0; the first place if left out.
            new_sheet_id: The id of the copy.
            new_sheet_name: The title of the copy.
        """
        source = self._book.tab(source_sheet_id)
        tab = self._book.duplicate(source, insert_sheet_index, new_sheet_id, new_sheet_name)
        return worksheet_info(self._book, tab)

    def share(self, email_address: str, perm_type: str, role: str) -> Json:
        """Share the spreadsheet with somebody.

        Args:
            email_address: The address, or a domain; "" for anyone.
            perm_type: user, group, domain or anyone.
            role: owner, writer or reader.
        """
        if perm_type not in ("user", "group", "domain", "anyone") or role not in ("owner", "writer", "reader"):
            raise invalid(f"no permission of type {perm_type!r} and role {role!r}")
        key = "domain" if perm_type == "domain" else "emailAddress"
        permission = {"id": str(len(self._book.permissions) + 1), "type": perm_type, "role": role, key: email_address}
        self._book.permissions.append(permission)
        return permission


class Worksheet:
    """One worksheet of a workbook: its cells, rows and columns, and what they are marked with."""

    def __init__(self, book: Workbook, id: int) -> None:
        self._book = book
        self._id = id

    @property
    def _tab(self) -> Tab:
        return self._book.tab(self._id)

    def _area(self, name: str) -> Area:
        tab, area = self._book.area(name, self._tab)
        if tab is not self._tab:
            raise invalid(f"{name} is not in the worksheet {self._tab.title}")
        return area

    def _write(self, range_name: str, rows: object, raw: bool) -> Json:
        self._area(range_name)
        return put_values(self._book, range_name, self._tab, rows, raw)

    def get_all_values(self) -> Rows:
        """Get all values of the worksheet as rows of the same length, the header row included."""
        return filled(self.get())

    def get_all_records(self) -> list[Json]:
        """Get the rows below the header as objects, with the header's texts as keys and numbers as numbers."""
        header, *rows = self.get_all_values() or [[]]
        if len(set(header)) != len(header):
            raise SheetsError(f"GSpreadException: the header {header} has repeated names")
        return [{key: numericised(value) for key, value in zip(header, row, strict=True)} for row in rows]

    def get(self, range_name: str | None = None, value_render_option: str = "FORMATTED_VALUE") -> Rows:
        """Get the values of a range; empty cells at the end of a row and empty rows at the end are left out.

        Args:
            range_name: The range, or the name of a named range; the whole worksheet if left out.
            value_render_option: FORMATTED_VALUE, UNFORMATTED_VALUE or FORMULA.
        """
        area = self._area(range_name) if range_name else self._tab.whole()
        return get_values(self._book, self._tab, area, value_render_option)

    def update_acell(self, label: str, value: Any) -> Json:
        """Set one cell by its name, as if the value were typed in; a formula is evaluated.

        Args:
            label: The cell, such as "B1".
            value: The new value.
        """
        return self._write(label, [[value]], raw=False)

    def update_cell(self, row: int, col: int, value: Any) -> Json:
        """Set one cell by its row and column, as if the value were typed in; a formula is evaluated.

        Args:
            row: The row, from 1.
            col: The column, from 1.
            value: The new value.
        """
        return self._write(label_of(row, col), [[value]], raw=False)

    def update(self, range_name: Any, values: Any = None, raw: bool = True) -> Json:
        """Set the cells of a range. With raw=False a text is taken as if it were typed in, so formulas are evaluated.

        Args:
            range_name: The range or its first cell, such as "A1:B2". Left out, the values begin at A1.
            values: A list of rows, or one value for one cell.
            raw: Whether texts are stored as they are; a formula then stays a text.
        """
        if isinstance(range_name, list | tuple):
            range_name, values = values if isinstance(values, str) else "A1", range_name
        return self._write(range_name, values if isinstance(values, list | tuple) else [[values]], raw)

    def batch_update(self, data: list[Json], raw: bool = True) -> Json:
        """Set the cells of several ranges.

        Args:
            data: Objects with "range" and "values", a list of rows.
            raw: Whether texts are stored as they are; a formula then stays a text.
        """
        responses = [self._write(item["range"], item["values"], raw) for item in data]
        return {"spreadsheetId": "spreadsheet", "responses": responses}

    def append_row(self, values: list[Any], value_input_option: str = "RAW") -> Json:
        """Add a row below the last row with data.

        Args:
            values: The values of the row.
            value_input_option: RAW, or USER_ENTERED to evaluate formulas.
        """
        return self.append_rows([values], value_input_option)

    def append_rows(self, values: list[list[Any]], value_input_option: str = "RAW") -> Json:
        """Add several rows below the last row with data.

        Args:
            values: A list of rows.
            value_input_option: RAW, or USER_ENTERED to evaluate formulas.
        """
        return append_values(self._book, self._tab, values, is_raw(value_input_option))

    def clear(self) -> None:
        """Empty all cells; their formats stay."""
        self._book.empty(self._tab, self._tab.whole())

    def batch_clear(self, ranges: list[str]) -> None:
        """Empty the cells of several ranges; their formats stay.

        Args:
            ranges: The ranges.
        """
        for name in ranges:
            self._book.empty(self._tab, self._area(name))

    def format(self, ranges: str | list[str], format: Json) -> None:
        """Set the format of one range or several. Fields that are not named stay as they are.

        Args:
            ranges: The range, such as "A1:B2", or a list of ranges.
            format: Fields such as textFormat {bold, italic, fontSize, foregroundColor}, backgroundColor {red, green,
                blue from 0 to 1}, horizontalAlignment, numberFormat {type, pattern}.
        """
        fields = checked_format(format)
        for name in [ranges] if isinstance(ranges, str) else ranges:
            area = self._area(name)
            formats = {mark.area: mark.value for mark in self._tab.of_kind("format")}
            formats |= {cell: formats.get(cell, {}) | fields for cell in (Area(*p, *p) for p in area.places())}
            others = [mark for mark in self._tab.marks if mark.kind != "format"]
            self._tab.marks = [*others, *(AreaMark("format", cell, form) for cell, form in formats.items())]
            if pattern := number_pattern(fields):
                self._book.number_format(self._tab, area, pattern)

    def update_note(self, cell: str, content: str) -> None:
        """Set the note of a cell, in place of one that it has.

        Args:
            cell: The cell, such as "A1".
            content: The text; "" takes the note away.
        """
        if not isinstance(content, str):
            raise SheetsError("TypeError: Only string allowed as content for a note.")
        area = self._area(cell)
        self._tab.marks = [mark for mark in self._tab.marks if (mark.kind, mark.area) != ("note", area)]
        if content:
            self._tab.marks.append(AreaMark("note", area, content))

    def insert_note(self, cell: str, content: str) -> None:
        """Put a note on a cell.

        Args:
            cell: The cell, such as "A1".
            content: The text.
        """
        self.update_note(cell, content)

    def sort(self, *specs: tuple[int, str], range: str | None = None) -> None:
        """Sort rows by columns. Without a range all rows below the frozen ones are sorted, a header included.

        Args:
            specs: Columns from 1 with their order, such as (2, "asc") or (2, "des"), the most important one first.
            range: The rows and columns to sort, such as "A2:C10".
        """
        tab = self._tab
        area = self._area(range) if range else Area(tab.frozen["ROWS"] + 1, 1, tab.rows, tab.cols)
        for spec in specs:
            if not isinstance(spec, list | tuple) or len(spec) != 2 or spec[1] not in ("asc", "des"):
                raise SheetsError("ValueError: Either 'asc' or 'des' should be specified as sort order: (2, 'asc')")
        if not specs:
            raise invalid("Must specify at least one column to sort by")
        self._book.sort(tab, area, [(spec[0], spec[1] == "des") for spec in specs])

    def update_title(self, title: str) -> None:
        """Rename the worksheet.

        Args:
            title: The new title.
        """
        self._book.rename(self._tab, title)

    def add_rows(self, rows: int) -> None:
        """Add empty rows at the bottom.

        Args:
            rows: How many.
        """
        self._book.insert(self._tab, "ROWS", self._tab.rows + 1, rows)

    def insert_row(self, values: list[Any], index: int = 1, value_input_option: str = "RAW") -> Json:
        """Put a new row with values in; the rows from there on move down.

        Args:
            values: The values of the row.
            index: The number that the new row gets, from 1.
            value_input_option: RAW, or USER_ENTERED to evaluate formulas.
        """
        return self.insert_rows([values], index, value_input_option)

    def insert_rows(self, values: list[list[Any]], row: int = 1, value_input_option: str = "RAW") -> Json:
        """Put new rows with values in; the rows from there on move down.

        Args:
            values: A list of rows.
            row: The number that the first new row gets, from 1.
            value_input_option: RAW, or USER_ENTERED to evaluate formulas.
        """
        self._book.insert(self._tab, "ROWS", row, len(values))
        return self._write(f"A{row}", values, is_raw(value_input_option))

    def insert_cols(self, values: list[list[Any]], col: int = 1, value_input_option: str = "RAW") -> Json:
        """Put new columns with values in; the columns from there on move to the right.

        Args:
            values: A list of columns, each a list of values from the top.
            col: The number that the first new column gets, from 1.
            value_input_option: RAW, or USER_ENTERED to evaluate formulas.
        """
        self._book.insert(self._tab, "COLUMNS", col, len(values))
        rows = [list(row) for row in zip(*filled([list(column) for column in values]), strict=True)]
        return self._write(label_of(1, col), rows, is_raw(value_input_option))

    def delete_row(self, index: int) -> None:
        """Delete one row; an older name of `delete_rows`.

        Args:
            index: The row, from 1.
        """
        self.delete_rows(index)

    def delete_rows(self, start_index: int, end_index: int | None = None) -> None:
        """Delete rows; the rows below move up.

        Args:
            start_index: The first row, from 1.
            end_index: The last row, included; the first one only if left out.
        """
        self._book.delete(self._tab, "ROWS", start_index, start_index if end_index is None else end_index)

    def delete_columns(self, start_index: int, end_index: int | None = None) -> None:
        """Delete columns; the columns on the right move to the left.

        Args:
            start_index: The first column, from 1.
            end_index: The last column, included; the first one only if left out.
        """
        self._book.delete(self._tab, "COLUMNS", start_index, start_index if end_index is None else end_index)

    def add_protected_range(self, name: str, editor_users_emails: list[str]) -> None:
        """Protect a range, so that only some people may edit it.

        Args:
            name: The range, such as "A1:B2".
            editor_users_emails: Who may edit.
        """
        self._tab.marks.append(AreaMark("protection", self._area(name), sorted(editor_users_emails)))

    def freeze(self, rows: int | None = None, cols: int | None = None) -> None:
        """Keep the first rows or columns in sight; they are left out of sorting.

        Args:
            rows: How many rows; 0 ends it.
            cols: How many columns; 0 ends it.
        """
        if rows is None and cols is None:
            raise SheetsError("TypeError: Either 'rows' or 'cols' should be specified.")
        counts: tuple[tuple[Axis, int | None], ...] = (("ROWS", rows), ("COLUMNS", cols))
        for axis, count in counts:
            if count is not None:
                if not 0 <= count < self._tab.size(axis):
                    raise invalid(f"cannot freeze {count} {axis.lower()}")
                self._tab.frozen[axis] = count

    def set_basic_filter(self, name: str | None = None) -> None:
        """Turn the filter on, over a range or all of the worksheet; there is one at most.

        Args:
            name: The range, such as "A1:C10"; the whole worksheet if left out.
        """
        others = [mark for mark in self._tab.marks if mark.kind != "filter"]
        self._tab.marks = [*others, AreaMark("filter", self._area(name) if name else self._tab.whole())]

    def duplicate(
        self, insert_sheet_index: int | None = None, new_sheet_id: int | None = None, new_sheet_name: str | None = None
    ) -> WorksheetInfo:
        """Make a copy of the worksheet in the same spreadsheet.

        Args:
            insert_sheet_index: The place of the copy among the worksheets, from 0.
            new_sheet_id: The id of the copy.
            new_sheet_name: The title of the copy.
        """
        tab = self._book.duplicate(self._tab, insert_sheet_index, new_sheet_id, new_sheet_name)
        return worksheet_info(self._book, tab)

    def merge_cells(self, name: str, merge_type: str = "MERGE_ALL") -> None:
        """Merge the cells of a range; the value at the top left is kept.

        Args:
            name: The range, such as "A1:B2".
            merge_type: MERGE_ALL for one cell, MERGE_ROWS for one in each row, MERGE_COLUMNS for one in each column.
        """
        area = self._area(name)
        parts = {
            "MERGE_ALL": [area],
            "MERGE_ROWS": [Area(row, area.left, row, area.right) for row in range(area.top, area.bottom + 1)],
            "MERGE_COLUMNS": [Area(area.top, col, area.bottom, col) for col in range(area.left, area.right + 1)],
        }.get(merge_type)
        if parts is None:
            raise invalid(f"merge type {merge_type}")
        inside = [mark for mark in self._tab.of_kind("merge") if mark.area.overlaps(area)]
        if any(place not in area for mark in inside for place in mark.area.places()):
            raise invalid("You must select all cells in a merged range to merge")
        merged = [part for part in parts if part.height * part.width > 1]
        for part in merged:
            for place in part.places():
                if place != (part.top, part.left):
                    self._book.empty(self._tab, Area(*place, *place))
        others = [mark for mark in self._tab.marks if mark not in inside]
        self._tab.marks = [*others, *(AreaMark("merge", part) for part in merged)]

    def define_named_range(self, name: str, range_name: str) -> None:
        """Give a range a name that formulas may use.

        Args:
            name: The range, such as "A1:B2".
            range_name: Its new name.
        """
        self._book.define(range_name, self._tab, self._area(name))

    def _lines(self, axis: Axis, start: int, end: int) -> Sequence[int]:
        """Lines given from 0 without the end, as lines from 1."""
        if not 0 <= start < end <= self._tab.size(axis):
            raise invalid(f"no {axis.lower()} from index {start} to {end}")
        return range(start + 1, end + 1)

    def add_dimension_group_rows(self, start: int, end: int) -> None:
        """Group rows, so that they can be folded.

        Args:
            start: The first row, from 0.
            end: The row after the last one.
        """
        rows = self._lines("ROWS", start, end)
        self._tab.marks.append(AreaMark("group", Area(rows[0], 1, rows[-1], self._tab.cols)))

    def hide_columns(self, start: int, end: int) -> None:
        """Hide columns.

        Args:
            start: The first column, from 0.
            end: The column after the last one.
        """
        for col in self._lines("COLUMNS", start, end):
            mark = AreaMark("hidden", Area(1, col, self._tab.rows, col))
            if mark not in self._tab.marks:
                self._tab.marks.append(mark)

    def copy_range(self, source: str, dest: str) -> None:
        """Copy a range to another place. A larger place that is a multiple of the range is filled with copies.

        Args:
            source: The range, such as "A1:B2".
            dest: The place, or its first cell.
        """
        area, goal = self._area(source), self._area(dest)
        fits = goal.height % area.height == goal.width % area.width == 0
        down, right = (goal.height // area.height, goal.width // area.width) if fits else (1, 1)
        target = Area(goal.top, goal.left, goal.top + down * area.height - 1, goal.left + right * area.width - 1)
        self._area(str(target))
        for row in range(target.top, target.bottom + 1, area.height):
            for col in range(target.left, target.right + 1, area.width):
                self._book.copy(self._tab, area, self._tab, (row, col))
