"""Reading, writing and looking for cells: half of the methods of a worksheet."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from benchmarks.manipulation.sheets.a1 import Area, SheetsError, label_of, place_of
from benchmarks.manipulation.sheets.formats import PATTERNS, checked_format
from benchmarks.manipulation.sheets.tab import Json, Tab
from benchmarks.manipulation.sheets.values import Rows, append_values, filled, get_values, is_raw, put_values, turned
from benchmarks.manipulation.sheets.workbook import Workbook

__all__ = ["SheetCell", "WorksheetCells", "numericised"]

_NUMBER = re.compile(r"[+-]?(\d+(,\d{3})*(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


@dataclass
class SheetCell:
    """A cell with its row and column, both from 1, and its value.

    Args:
        row: The row.
        col: The column.
        value: What the cell holds, or is to hold.
    """

    row: int
    col: int
    value: Any = ""


def numericised(value: Any) -> Any:
    """A text that is a number as that number; anything else as it is."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        number = float(value.replace(",", ""))
        return int(number) if number.is_integer() and not re.search(r"[.eE]", value) else number
    return value


class WorksheetCells:
    """The cells of one worksheet of a workbook."""

    def __init__(self, book: Workbook, id: int) -> None:
        self._book = book
        self._id = id

    @property
    def _tab(self) -> Tab:
        return self._book.tab(self._id)

    def _area(self, name: str) -> Area:
        tab, area = self._book.area(name, self._tab)
        if tab is not self._tab:
            raise SheetsError(f"APIError: 400 INVALID_ARGUMENT: {name} is not in the worksheet {self._tab.title}")
        return area

    def _cell(self, row: int, col: int, render: str | None = None) -> SheetCell:
        return SheetCell(row, col, self._book.read(self._tab, (row, col), render))

    def _whole(self) -> Area:
        return Area(1, 1, self._tab.rows, self._tab.cols)

    def _write(self, range_name: str, rows: object, raw: bool) -> Json:
        self._area(range_name)
        return put_values(self._book, range_name, self._tab, rows, raw)

    def acell(self, label: str, value_render_option: str = "FORMATTED_VALUE") -> SheetCell:
        """Get one cell by its name.

        Args:
            label: The cell, such as "B1".
            value_render_option: FORMATTED_VALUE, UNFORMATTED_VALUE or FORMULA.
        """
        self._area(label)
        return self._cell(*place_of(label), value_render_option)

    def cell(self, row: int, col: int, value_render_option: str = "FORMATTED_VALUE") -> SheetCell:
        """Get one cell by its row and column.

        Args:
            row: The row, from 1.
            col: The column, from 1.
            value_render_option: FORMATTED_VALUE, UNFORMATTED_VALUE or FORMULA.
        """
        self._area(label_of(row, col))
        return self._cell(row, col, value_render_option)

    def range(self, name: str = "") -> list[SheetCell]:
        """Get the cells of a range, row by row.

        Args:
            name: The range, such as "A1:B5", or the name of a named range; all cells if empty.
        """
        area = self._area(name) if name else self._whole()
        return [self._cell(*place) for place in area.places()]

    def get_values(
        self, range_name: str | None = None, major_dimension: str = "ROWS", value_render_option: str = "FORMATTED_VALUE"
    ) -> Rows:
        """Get the values of a range as rows of the same length.

        Args:
            range_name: The range; the whole worksheet if left out.
            major_dimension: ROWS, or COLUMNS for a list of columns.
            value_render_option: FORMATTED_VALUE, UNFORMATTED_VALUE or FORMULA.
        """
        return filled(self.get(range_name, major_dimension, value_render_option))

    def get_all_values(self, major_dimension: str = "ROWS", value_render_option: str = "FORMATTED_VALUE") -> Rows:
        """Get all values of the worksheet as rows of the same length, the header row included.

        Args:
            major_dimension: ROWS, or COLUMNS for a list of columns.
            value_render_option: FORMATTED_VALUE, UNFORMATTED_VALUE or FORMULA.
        """
        return self.get_values(None, major_dimension, value_render_option)

    def get_all_records(
        self,
        empty2zero: bool = False,
        head: int = 1,
        default_blank: str = "",
        value_render_option: str = "FORMATTED_VALUE",
        expected_headers: list[str] | None = None,
    ) -> list[Json]:
        """Get the rows below the header as objects, with the header's texts as keys and numbers as numbers.

        Args:
            empty2zero: Whether an empty cell counts as 0.
            head: The row that holds the header.
            default_blank: What an empty cell counts as.
            value_render_option: FORMATTED_VALUE, UNFORMATTED_VALUE or FORMULA.
            expected_headers: Header texts that must exist, each of them once.
        """
        rows = self.get_all_values(value_render_option=value_render_option)
        if len(rows) < head:
            return []
        keys = [str(key) for key in rows[head - 1]]
        expected = keys if expected_headers is None else expected_headers
        if len(set(expected)) != len(expected) or not set(expected) <= set(keys):
            raise SheetsError(f"GSpreadException: the header {keys} has missing or repeated names")
        blank = 0 if empty2zero else default_blank
        return [
            {key: blank if value == "" else numericised(value) for key, value in zip(keys, row, strict=True)}
            for row in rows[head:]
        ]

    def row_values(self, row: int, value_render_option: str = "FORMATTED_VALUE") -> list[Any]:
        """Get the values of a row up to its last filled cell.

        Args:
            row: The row, from 1.
            value_render_option: FORMATTED_VALUE, UNFORMATTED_VALUE or FORMULA.
        """
        rows = self.get(f"A{row}:{label_of(row, self._tab.cols)}", "ROWS", value_render_option)
        return rows[0] if rows else []

    def col_values(self, col: int, value_render_option: str = "FORMATTED_VALUE") -> list[Any]:
        """Get the values of a column down to its last filled cell.

        Args:
            col: The column, from 1.
            value_render_option: FORMATTED_VALUE, UNFORMATTED_VALUE or FORMULA.
        """
        name = f"{label_of(1, col)}:{label_of(self._tab.rows, col)}"
        columns = self.get(name, "COLUMNS", value_render_option)
        return columns[0] if columns else []

    def update_acell(self, label: str, value: Any) -> Json:
        """Set one cell by its name, as if the value were typed in; a formula is evaluated.

        Args:
            label: The cell, such as "B1".
            value: The new value.
        """
        place_of(label)
        return self._write(label, [[value]], raw=False)

    def update_cell(self, row: int, col: int, value: Any) -> Json:
        """Set one cell by its row and column, as if the value were typed in; a formula is evaluated.

        Args:
            row: The row, from 1.
            col: The column, from 1.
            value: The new value.
        """
        return self._write(label_of(row, col), [[value]], raw=False)

    def update_cells(self, cell_list: list[SheetCell], value_input_option: str = "RAW") -> Json:
        """Set several cells at once.

        Args:
            cell_list: Cells such as SheetCell(2, 1, "new"): row, column and value.
            value_input_option: RAW, or USER_ENTERED to evaluate formulas.
        """
        raw = is_raw(value_input_option)
        for cell in cell_list:
            self._write(label_of(cell.row, cell.col), [[cell.value]], raw)
        return {"spreadsheetId": "spreadsheet", "updatedCells": len(cell_list)}

    def get(
        self, range_name: str | None = None, major_dimension: str = "ROWS", value_render_option: str = "FORMATTED_VALUE"
    ) -> Rows:
        """Get the values of a range; empty cells at the end of a row and empty rows at the end are left out.

        Args:
            range_name: The range, or the name of a named range; the whole worksheet if left out.
            major_dimension: ROWS, or COLUMNS for a list of columns.
            value_render_option: FORMATTED_VALUE, UNFORMATTED_VALUE or FORMULA.
        """
        area = self._area(range_name) if range_name else self._whole()
        return turned(get_values(self._book, self._tab, area, value_render_option), major_dimension)

    def update(
        self,
        range_name: Any,
        values: Any = None,
        raw: bool = True,
        major_dimension: str = "ROWS",
        value_input_option: str | None = None,
    ) -> Json:
        """Set the cells of a range. With raw=False a text is taken as if it were typed in, so formulas are evaluated.

        Args:
            range_name: The range or its first cell, such as "A1:B2". Left out, the values begin at A1.
            values: A list of rows, or one value for one cell.
            raw: Whether texts are stored as they are; a formula then stays a text.
            major_dimension: ROWS, or COLUMNS if the values are a list of columns.
            value_input_option: RAW or USER_ENTERED, instead of `raw`.
        """
        if isinstance(range_name, list | tuple):
            range_name, values = values if isinstance(values, str) else "A1", range_name
        if not isinstance(values, list | tuple):
            values = [[values]]
        plain = is_raw(value_input_option) if value_input_option else raw
        return self._write(range_name, turned(values, major_dimension), plain)

    def batch_update(self, data: list[Json], raw: bool = True, value_input_option: str | None = None) -> Json:
        """Set the cells of several ranges.

        Args:
            data: Objects with "range" and "values", a list of rows.
            raw: Whether texts are stored as they are; a formula then stays a text.
            value_input_option: RAW or USER_ENTERED, instead of `raw`.
        """
        plain = is_raw(value_input_option) if value_input_option else raw
        responses = [self._write(item["range"], item["values"], plain) for item in data]
        return {"spreadsheetId": "spreadsheet", "responses": responses}

    def batch_format(self, formats: list[Json]) -> None:
        """Set the formats of several ranges.

        Args:
            formats: Objects with "range" and "format"; see `format`.
        """
        for item in formats:
            self.format(item["range"], item["format"])

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
            for place in area.places():
                self._tab.formats[place] = self._tab.formats.get(place, {}) | fields
            if "numberFormat" in fields:
                number = fields["numberFormat"]
                self._book.number_format(self._tab, area, number.get("pattern") or PATTERNS[number["type"]])

    def append_row(
        self,
        values: list[Any],
        value_input_option: str = "RAW",
        insert_data_option: str | None = None,
        table_range: str | None = None,
    ) -> Json:
        """Add a row below the last row with data.

        Args:
            values: The values of the row.
            value_input_option: RAW, or USER_ENTERED to evaluate formulas.
            insert_data_option: INSERT_ROWS to put new rows in, OVERWRITE to fill those that are there.
            table_range: Where the table is that gets the row; the whole worksheet if left out.
        """
        return self.append_rows([values], value_input_option, insert_data_option, table_range)

    def append_rows(
        self,
        values: list[list[Any]],
        value_input_option: str = "RAW",
        insert_data_option: str | None = None,
        table_range: str | None = None,
    ) -> Json:
        """Add several rows below the last row with data.

        Args:
            values: A list of rows.
            value_input_option: RAW, or USER_ENTERED to evaluate formulas.
            insert_data_option: INSERT_ROWS to put new rows in, OVERWRITE to fill those that are there.
            table_range: Where the table is that gets the rows; the whole worksheet if left out.
        """
        area = self._area(table_range) if table_range else None
        insert = insert_data_option == "INSERT_ROWS"
        return {
            "spreadsheetId": "spreadsheet",
            "updates": append_values(self._book, self._tab, area, values, is_raw(value_input_option), insert),
        }

    def clear(self) -> None:
        """Empty all cells; their formats stay."""
        self._book.empty(self._tab, self._whole())

    def batch_clear(self, ranges: list[str]) -> None:
        """Empty the cells of several ranges; their formats stay.

        Args:
            ranges: The ranges.
        """
        for name in ranges:
            self._book.empty(self._tab, self._area(name))

    def find(
        self, query: str, in_row: int | None = None, in_column: int | None = None, case_sensitive: bool = True
    ) -> SheetCell | None:
        """Find the first cell that shows exactly this text, row by row; nothing is given if there is none.

        Args:
            query: The text.
            in_row: The only row to look in.
            in_column: The only column to look in.
            case_sensitive: Whether upper and lower case differ.
        """
        cells = self.findall(query, in_row, in_column, case_sensitive)
        return cells[0] if cells else None

    def findall(
        self, query: str, in_row: int | None = None, in_column: int | None = None, case_sensitive: bool = True
    ) -> list[SheetCell]:
        """Find all cells that show exactly this text, row by row.

        Args:
            query: The text.
            in_row: The only row to look in.
            in_column: The only column to look in.
            case_sensitive: Whether upper and lower case differ.
        """
        if in_row and in_column:
            raise SheetsError("TypeError: give in_row or in_column, not both")
        if not isinstance(query, str):
            raise SheetsError(f"TypeError: what to find is a text, not {query!r}")
        rows, cols = self._book.used(self._tab)
        cells = [
            self._cell(row, col)
            for row in ([in_row] if in_row else range(1, rows + 1))
            for col in ([in_column] if in_column else range(1, cols + 1))
        ]
        if case_sensitive:
            return [cell for cell in cells if cell.value == query]
        return [cell for cell in cells if str(cell.value).casefold() == query.casefold()]

    def update_note(self, cell: str, content: str) -> None:
        """Set the note of a cell, in place of one that it has.

        Args:
            cell: The cell, such as "A1".
            content: The text; "" takes the note away.
        """
        if not isinstance(content, str):
            raise SheetsError("TypeError: Only string allowed as content for a note.")
        self._area(cell)
        self._tab.notes.pop(place_of(cell), None)
        if content:
            self._tab.notes[place_of(cell)] = content

    def insert_note(self, cell: str, content: str) -> None:
        """Put a note on a cell.

        Args:
            cell: The cell, such as "A1".
            content: The text.
        """
        self.update_note(cell, content)
