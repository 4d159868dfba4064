"""What a spreadsheet is compared by: the values of its worksheets, and what a test says besides."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from benchmarks.manipulation.sheets.a1 import label_of
from benchmarks.manipulation.sheets.formats import effective_format
from benchmarks.manipulation.sheets.tab import Json, Tab
from benchmarks.manipulation.sheets.values import Rows
from benchmarks.manipulation.sheets.workbook import Workbook
from benchmarks.manipulation.sheets.worksheet_cells import numericised

__all__ = ["snapshot"]


def snapshot(book: Workbook, check: Collection[str] = (), *, released: bool = False) -> Json:
    """The titles and values of all worksheets, which two programs with the same effect leave alike.

    Values are those of evaluated formulas. A text that is a number counts as that number, since the original reads the
    cells through a parser of text.

    Args:
        check: What else is compared: `format` the formats of all cells, `layout` merges, notes, hidden and grouped
            lines, filter, protection, frozen lines and names, `size` the rows and columns there are, `workbook` the
            permissions. Formats, layout and size are those of the last worksheet.
        released: Take the values of the last worksheet alone, without empty rows and columns. A value may then be in a
            wrong place, and the other worksheets be damaged.
    """
    tab = book.tabs[-1]
    everything = [(candidate.title, _values(book, candidate)) for candidate in book.tabs]
    state: Json = {"values": _dense(everything[-1][1]) if released else everything}
    if "format" in check:
        formats = {label_of(*place): effective_format(form) for place, form in tab.formats.items()}
        state["format"] = {label: form for label, form in formats.items() if form}
    if "layout" in check:
        state["layout"] = _layout(book, tab)
    if "size" in check:
        state["size"] = [tab.rows, tab.cols]
    if "workbook" in check:
        permissions = [{name: value for name, value in item.items() if name != "id"} for item in book.permissions]
        state["workbook"] = permissions
    return state


def _values(book: Workbook, tab: Tab) -> Rows:
    rows, cols = book.used(tab)
    lines = range(1, rows + 1)
    return [[_value(book.read(tab, (row, col), "UNFORMATTED_VALUE")) for col in range(1, cols + 1)] for row in lines]


def _dense(cells: Rows) -> Rows:
    """The rows and columns with a value."""
    rows = [row for row in cells if any(value != "" for value in row)]
    columns = [column for column in zip(*rows, strict=True) if any(value != "" for value in column)]
    return [list(row) for row in zip(*columns, strict=True)]


def _layout(book: Workbook, tab: Tab) -> Json:
    used = book.used(tab)
    part = tab.filter.within(*used) if tab.filter else None
    protected = sorted((str(area), sorted(details["editors"]["users"])) for area, details in tab.protected.values())
    return {
        "merges": sorted(map(str, tab.merges)),
        "notes": {label_of(*place): note for place, note in tab.notes.items()},
        "hidden": {axis: sorted(lines) for axis, lines in tab.hidden.items()},
        "groups": {axis: sorted(spans) for axis, spans in tab.groups.items()},
        "frozen": dict(tab.frozen),
        "filter": str(part) if part else "",
        "protected": protected,
        "names": {name.name: f"{book.tab(name.tab).title}!{name.area}" for name in book.names},
    }


def _value(value: Any) -> Any:
    """A value in the one form that it is compared in."""
    if isinstance(value, bool):
        return str(value).upper()
    value = numericised(value)
    return float(f"{value:.10g}") if isinstance(value, int | float) else value
