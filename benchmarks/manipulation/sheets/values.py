"""Lists of rows go into a worksheet and come out of it, as in the requests `values.*` of the service."""

from __future__ import annotations

import re
from typing import Any

from benchmarks.manipulation.sheets.a1 import Area, invalid
from benchmarks.manipulation.sheets.tab import Json, Tab
from benchmarks.manipulation.sheets.workbook import Workbook

__all__ = ["Rows", "append_values", "filled", "get_values", "is_raw", "numericised", "put_values"]

Rows = list[list[Any]]
"""Values by row."""

_NUMBER = re.compile(r"[+-]?(\d+(,\d{3})*(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


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
