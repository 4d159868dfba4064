"""A worksheet as gspread 5 gives it: those of its 70 methods that tests need, which take and give JSON values.

Rows and columns count from 1 and deletions include both ends, as in gspread; what gspread counts from 0 (hidden and
grouped lines, indexes of worksheets) is counted from 0 here, too, and then the end is not included.
"""

from __future__ import annotations

from typing import Any

from benchmarks.manipulation.sheets.a1 import Area, Place, SheetsError
from benchmarks.manipulation.sheets.tab import Axis, Json
from benchmarks.manipulation.sheets.values import filled, is_raw, put_values
from benchmarks.manipulation.sheets.worksheet_cells import WorksheetCells
from benchmarks.manipulation.sheets.worksheet_info import WorksheetInfo, copied_tab, worksheet_info

__all__ = ["Worksheet"]


class Worksheet(WorksheetCells):
    """One worksheet: its cells, and its rows, columns, merges, filters and names."""

    def resize(self, rows: int | None = None, cols: int | None = None) -> None:
        """Set the number of rows or columns; what is beyond is lost.

        Args:
            rows: The new number of rows.
            cols: The new number of columns.
        """
        if rows is None and cols is None:
            raise SheetsError("TypeError: Either 'rows' or 'cols' should be specified.")
        sizes: tuple[tuple[Axis, int | None], ...] = (("ROWS", rows), ("COLUMNS", cols))
        for axis, size in sizes:
            present = self._tab.size(axis)
            if size is not None and size > present:
                self._book.insert(self._tab, axis, present + 1, size - present)
            elif size is not None and size < present:
                self._book.delete(self._tab, axis, size + 1, present)

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
            raise SheetsError("APIError: 400 INVALID_ARGUMENT: Must specify at least one column to sort by")
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

    def insert_row(
        self, values: list[Any], index: int = 1, value_input_option: str = "RAW", inherit_from_before: bool = False
    ) -> Json:
        """Put a new row with values in; the rows from there on move down.

        Args:
            values: The values of the row.
            index: The number that the new row gets, from 1.
            value_input_option: RAW, or USER_ENTERED to evaluate formulas.
            inherit_from_before: Whether it looks like the row above, not the one below.
        """
        return self.insert_rows([values], index, value_input_option, inherit_from_before)

    def insert_rows(
        self,
        values: list[list[Any]],
        row: int = 1,
        value_input_option: str = "RAW",
        inherit_from_before: bool = False,
    ) -> Json:
        """Put new rows with values in; the rows from there on move down.

        Args:
            values: A list of rows.
            row: The number that the first new row gets, from 1.
            value_input_option: RAW, or USER_ENTERED to evaluate formulas.
            inherit_from_before: Whether they look like the row above, not the one below.
        """
        self._insert("ROWS", row, len(values), inherit_from_before)
        return put_values(self._book, f"A{row}", self._tab, values, is_raw(value_input_option))

    def insert_cols(
        self,
        values: list[list[Any]],
        col: int = 1,
        value_input_option: str = "RAW",
        inherit_from_before: bool = False,
    ) -> Json:
        """Put new columns with values in; the columns from there on move to the right.

        Args:
            values: A list of columns, each a list of values from the top.
            col: The number that the first new column gets, from 1.
            value_input_option: RAW, or USER_ENTERED to evaluate formulas.
            inherit_from_before: Whether they look like the column on the left, not the one on the right.
        """
        self._insert("COLUMNS", col, len(values), inherit_from_before)
        rows = [list(row) for row in zip(*filled([list(column) for column in values]), strict=True)]
        return put_values(self._book, str(Area(1, col, 1, col)), self._tab, rows, is_raw(value_input_option))

    def _insert(self, axis: Axis, start: int, count: int, inherit: bool) -> None:
        if inherit and start == 1:
            raise SheetsError("GSpreadException: inherit_from_before cannot be used at the edge of the worksheet")
        tab = self._tab
        self._book.insert(tab, axis, start, count)
        index = 0 if axis == "ROWS" else 1
        model = start - 1 if inherit else start + count
        alike = [(place, form) for place, form in tab.formats.items() if place[index] == model]
        for place, form in alike if start > 1 or inherit else ():
            for line in range(start, start + count):
                tab.formats[(line, place[1]) if axis == "ROWS" else (place[0], line)] = dict(form)

    def delete_row(self, index: int) -> None:
        """Delete one row; an older name of `delete_rows`.

        Args:
            index: The row, from 1.
        """
        self.delete_rows(index)

    def delete_dimension(self, dimension: str, start_index: int, end_index: int | None = None) -> None:
        """Delete rows or columns.

        Args:
            dimension: ROWS or COLUMNS.
            start_index: The first one, from 1.
            end_index: The last one, included; the first one only if left out.
        """
        axes: dict[str, Axis] = {"ROWS": "ROWS", "COLUMNS": "COLUMNS"}
        if dimension not in axes:
            raise SheetsError(f"APIError: 400 INVALID_ARGUMENT: dimension {dimension}; use ROWS or COLUMNS")
        self._book.delete(self._tab, axes[dimension], start_index, start_index if end_index is None else end_index)

    def delete_rows(self, start_index: int, end_index: int | None = None) -> None:
        """Delete rows; the rows below move up.

        Args:
            start_index: The first row, from 1.
            end_index: The last row, included; the first one only if left out.
        """
        self.delete_dimension("ROWS", start_index, end_index)

    def delete_columns(self, start_index: int, end_index: int | None = None) -> None:
        """Delete columns; the columns on the right move to the left.

        Args:
            start_index: The first column, from 1.
            end_index: The last column, included; the first one only if left out.
        """
        self.delete_dimension("COLUMNS", start_index, end_index)

    def add_protected_range(
        self,
        name: str,
        editor_users_emails: list[str],
        editor_groups_emails: list[str] | None = None,
        description: str | None = None,
        warning_only: bool = False,
    ) -> Json:
        """Protect a range, so that only some people may edit it. The answer holds the id of the protection.

        Args:
            name: The range, such as "A1:B2".
            editor_users_emails: Who may edit.
            editor_groups_emails: Which groups may edit.
            description: What the protection is for.
            warning_only: Whether others are warned and not kept out.
        """
        editors = {"users": list(editor_users_emails), "groups": list(editor_groups_emails or [])}
        details = {"editors": editors, "description": description, "warningOnly": warning_only}
        id = self._book.new_id()
        self._tab.protected[id] = (self._area(name), details)
        return {"replies": [{"addProtectedRange": {"protectedRange": {"protectedRangeId": id, **details}}}]}

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
                    raise SheetsError(f"APIError: 400 INVALID_ARGUMENT: cannot freeze {count} {axis.lower()}")
                self._tab.frozen[axis] = count

    def set_basic_filter(self, name: str | None = None) -> None:
        """Turn the filter on, over a range or all of the worksheet; there is one at most.

        Args:
            name: The range, such as "A1:C10"; the whole worksheet if left out.
        """
        self._tab.filter = self._area(name) if name else self._whole()

    def duplicate(
        self,
        insert_sheet_index: int | None = None,
        new_sheet_id: int | None = None,
        new_sheet_name: str | None = None,
    ) -> WorksheetInfo:
        """Make a copy of the worksheet in the same spreadsheet.

        Args:
            insert_sheet_index: The place of the copy among the worksheets, from 0.
            new_sheet_id: The id of the copy.
            new_sheet_name: The title of the copy.
        """
        tab = copied_tab(self._book, self._tab, insert_sheet_index, new_sheet_id, new_sheet_name)
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
            raise SheetsError(f"APIError: 400 INVALID_ARGUMENT: merge type {merge_type}")
        inside = [merge for merge in self._tab.merges if merge.overlaps(area)]
        if any(place not in area for merge in inside for place in merge.places()):
            raise SheetsError("APIError: 400 INVALID_ARGUMENT: You must select all cells in a merged range to merge")
        merges = [merge for merge in self._tab.merges if merge not in inside]
        for part in (part for part in parts if part.height * part.width > 1):
            for place in part.places():
                if place != (part.top, part.left):
                    self._book.empty(self._tab, Area(*place, *place))
            merges.append(part)
        self._tab.merges = merges

    def define_named_range(self, name: str, range_name: str) -> Json:
        """Give a range a name that formulas may use. The answer holds the id of the named range.

        Args:
            name: The range, such as "A1:B2".
            range_name: Its new name.
        """
        named = self._book.define(range_name, self._tab, self._area(name))
        return {"replies": [{"addNamedRange": {"namedRange": {"namedRangeId": named.id, "name": named.name}}}]}

    def _lines(self, axis: Axis, start: int, end: int) -> set[int]:
        """Lines given from 0 without the end, as lines from 1."""
        if not 0 <= start < end <= self._tab.size(axis):
            raise SheetsError(f"APIError: 400 INVALID_ARGUMENT: no {axis.lower()} from index {start} to {end}")
        return set(range(start + 1, end + 1))

    def _group(self, axis: Axis, start: int, end: int) -> tuple[int, int]:
        lines = self._lines(axis, start, end)
        return min(lines), max(lines)

    def add_dimension_group_rows(self, start: int, end: int) -> None:
        """Group rows, so that they can be folded.

        Args:
            start: The first row, from 0.
            end: The row after the last one.
        """
        self._tab.groups["ROWS"].append(self._group("ROWS", start, end))

    def hide_columns(self, start: int, end: int) -> None:
        """Hide columns.

        Args:
            start: The first column, from 0.
            end: The column after the last one.
        """
        self._tab.hidden["COLUMNS"] |= self._lines("COLUMNS", start, end)

    def copy_range(
        self, source: str, dest: str, paste_type: str = "PASTE_NORMAL", paste_orientation: str = "NORMAL"
    ) -> None:
        """Copy a range to another place. A larger place that is a multiple of the range is filled with copies.

        Args:
            source: The range, such as "A1:B2".
            dest: The place, or its first cell.
            paste_type: PASTE_NORMAL for everything, PASTE_VALUES, PASTE_FORMULA or PASTE_FORMAT for a part.
            paste_orientation: NORMAL, or TRANSPOSE to turn rows into columns.
        """
        area, goal = self._area(source), self._area(dest)
        if paste_type not in ("PASTE_NORMAL", "PASTE_VALUES", "PASTE_FORMULA", "PASTE_FORMAT"):
            raise SheetsError(f"APIError: 400 INVALID_ARGUMENT: paste type {paste_type}")
        if paste_orientation not in ("NORMAL", "TRANSPOSE"):
            raise SheetsError(f"APIError: 400 INVALID_ARGUMENT: paste orientation {paste_orientation}")
        turn = paste_orientation == "TRANSPOSE"
        height, width = (area.width, area.height) if turn else (area.height, area.width)
        down = goal.height // height if goal.height % height == goal.width % width == 0 else 1
        right = goal.width // width if goal.height % height == goal.width % width == 0 else 1
        last = (goal.top + down * height - 1, goal.left + right * width - 1)
        self._area(str(Area(goal.top, goal.left, *last)))
        corners = [(goal.top + i * height, goal.left + j * width) for i in range(down) for j in range(right)]
        for corner in corners:
            if paste_type == "PASTE_NORMAL" and not turn:
                self._book.copy(self._tab, area, self._tab, corner)
            else:
                self._paste_part(area, corner, paste_type, turn)

    def _paste_part(self, area: Area, corner: Place, paste_type: str, turn: bool) -> None:
        tab, render = self._tab, "UNFORMATTED_VALUE" if paste_type == "PASTE_VALUES" else "FORMULA"
        cells = []
        for row, col in area.places():
            down, right = (col - area.left, row - area.top) if turn else (row - area.top, col - area.left)
            value, form = self._book.read(tab, (row, col), render), tab.formats.get((row, col), {})
            cells.append(((row, col), (corner[0] + down, corner[1] + right), value, form))
        for place, goal, value, form in cells:
            if paste_type != "PASTE_FORMAT" and render == "FORMULA" and str(value).startswith("="):
                before = tab.formats.get(goal, {})
                self._book.copy(tab, Area(*place, *place), tab, goal)
                tab.formats[goal] = before
            elif paste_type != "PASTE_FORMAT":
                self._book.write(tab, goal, value, raw=True)
            if paste_type in ("PASTE_NORMAL", "PASTE_FORMAT"):
                tab.formats[goal] = dict(form)
