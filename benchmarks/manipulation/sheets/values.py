"""Lists of rows go into a worksheet and come out of it, as in the requests `values.*` of the service."""

from __future__ import annotations

from typing import Any

from benchmarks.manipulation.sheets.a1 import Area, SheetsError
from benchmarks.manipulation.sheets.tab import Json, Tab
from benchmarks.manipulation.sheets.workbook import Workbook

__all__ = ["Rows", "append_values", "filled", "get_values", "is_raw", "put_values", "turned"]

Rows = list[list[Any]]
"""Values by row, or by column where a request says so."""


def is_raw(option: str | None) -> bool:
    """True if values are stored as they are, and not as if they were typed in. Raises: SheetsError."""
    if option not in ("RAW", "USER_ENTERED"):
        raise SheetsError(f"APIError: 400 INVALID_ARGUMENT: value input option {option}; use RAW or USER_ENTERED")
    return option == "RAW"


def turned(rows: Rows, dimension: str | None) -> Rows:
    """Rows as columns, or columns as rows, if the dimension is COLUMNS. Raises: SheetsError."""
    if dimension not in (None, "ROWS", "COLUMNS"):
        raise SheetsError(f"APIError: 400 INVALID_ARGUMENT: dimension {dimension}; use ROWS or COLUMNS")
    if dimension != "COLUMNS":
        return rows
    return _trimmed([list(column) for column in zip(*filled(rows), strict=True)])


def filled(rows: Rows) -> Rows:
    """Rows of one length, filled up with ""."""
    width = max(map(len, rows), default=0)
    return [row + [""] * (width - len(row)) for row in rows]


def get_values(book: Workbook, tab: Tab, area: Area, render: str | None = None) -> Rows:
    """The rows of an area without empty ones at its end, and without empty cells at the end of each row."""
    part = area.within(*book.used(tab))
    if part is None:
        return []
    cells = [
        [book.read(tab, (row, col), render) for col in range(part.left, part.right + 1)]
        for row in range(part.top, part.bottom + 1)
    ]
    return _trimmed(cells)


def put_values(book: Workbook, range_name: str, tab: Tab | None, rows: object, raw: bool) -> Json:
    """Write rows from the first cell of a range on. Raises: SheetsError: They are no rows, or do not fit into it."""
    values = _checked(rows)
    tab, area = book.area(range_name, tab)
    height, width = len(values), max(map(len, values), default=0)
    open_ended = area.height == area.width == 1
    if not open_ended and (height > area.height or width > area.width):
        message = f"Requested writing within range [{area}], but tried writing to {height} rows and {width} columns"
        raise SheetsError(f"APIError: 400 INVALID_ARGUMENT: {message}")
    return _write(book, tab, Area(area.top, area.left, area.top + height - 1, area.left + width - 1), values, raw)


def append_values(book: Workbook, tab: Tab, area: Area | None, rows: object, raw: bool, insert: bool) -> Json:
    """Write rows below the table that an area begins in, or below all there is; the worksheet grows as needed."""
    values = _checked(rows)
    used = book.used(tab)
    if area is None or area == Area(1, 1, tab.rows, tab.cols):
        row, col = used[0] + 1, 1
        while used[0] and not any(book.read(tab, (line, col)) != "" for line in range(1, used[0] + 1)):
            col += 1
    else:
        row, col = area.top, area.left
        while any(book.read(tab, (row, column)) != "" for column in range(col, used[1] + 1)):
            row += 1
    height, width = len(values), max(map(len, values), default=0)
    if insert and row <= tab.rows:
        book.insert(tab, "ROWS", row, height)
    tab.rows, tab.cols = max(tab.rows, row + height - 1), max(tab.cols, col + width - 1)
    return _write(book, tab, Area(row, col, row + height - 1, col + width - 1), values, raw)


def _write(book: Workbook, tab: Tab, area: Area, values: Rows, raw: bool) -> Json:
    cells = 0
    for row, line in enumerate(values, area.top):
        for col, value in enumerate(line, area.left):
            book.write(tab, (row, col), value, raw)
            cells += 1
    updated = f"{tab.title}!{area}"
    counts = {"updatedRows": len(values), "updatedColumns": area.width, "updatedCells": cells}
    return {"spreadsheetId": "spreadsheet", "updatedRange": updated, **counts}


def _checked(rows: object) -> Rows:
    if not isinstance(rows, list | tuple) or not all(isinstance(row, list | tuple) for row in rows):
        raise SheetsError(f"APIError: 400 INVALID_ARGUMENT: values are a list of rows, not {rows!r}")
    return [list(row) for row in rows]


def _trimmed(rows: Rows) -> Rows:
    trimmed = [list(row) for row in rows]
    for row in trimmed:
        while row and row[-1] == "":
            row.pop()
    while trimmed and not trimmed[-1]:
        trimmed.pop()
    return trimmed
