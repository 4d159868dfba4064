"""What a spreadsheet is compared by: the values of its worksheets, and what a test says besides."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from benchmarks.manipulation.sheets.formats import effective_format
from benchmarks.manipulation.sheets.tab import AreaMark, Json, Tab
from benchmarks.manipulation.sheets.values import Rows, numericised
from benchmarks.manipulation.sheets.workbook import Workbook

__all__ = ["snapshot"]


def snapshot(book: Workbook, check: Collection[str] = (), *, released: bool = False) -> Json:
    """The titles and values of all worksheets, which two programs with the same effect leave alike.

    Values are those of evaluated formulas. A text that is a number counts as that number, since the original reads the
    cells through a parser of text.

    Args:
        check: What else is compared: `format` the formats of all cells, `layout` all other marks and frozen lines,
            `size` the rows and columns there are, `workbook` the permissions. Formats, layout and size are those of
            the last worksheet.
        released: Take the values of the last worksheet alone, without empty rows and columns. A value may then be in a
            wrong place, and the other worksheets be damaged.
    """
    tab = book.tabs[-1]
    everything = [(candidate.title, _values(book, candidate)) for candidate in book.tabs]
    state: Json = {"values": _dense(everything[-1][1]) if released else everything}
    if "format" in check:
        formats = {str(mark.area): effective_format(mark.value) for mark in tab.of_kind("format")}
        state["format"] = {label: form for label, form in formats.items() if form}
    if "layout" in check:
        used = book.used(tab)
        marks = sorted(_text(mark, used) for mark in tab.marks if mark.kind != "format")
        state["layout"] = {"marks": marks, "frozen": dict(tab.frozen)}
    if "size" in check:
        state["size"] = [tab.rows, tab.cols]
    if "workbook" in check:
        state["workbook"] = list(book.permissions)
    return state


def _text(mark: AreaMark, used: tuple[int, int]) -> str:
    area = mark.area.within(*used) if mark.kind == "filter" else mark.area  # empty cells are filtered like none
    return f"{mark.kind} {area} {mark.value}"


def _values(book: Workbook, tab: Tab) -> Rows:
    rows, cols = book.used(tab)
    lines = range(1, rows + 1)
    return [[_value(book.read(tab, (row, col), "UNFORMATTED_VALUE")) for col in range(1, cols + 1)] for row in lines]


def _dense(cells: Rows) -> Rows:
    """The rows and columns with a value."""
    rows = [row for row in cells if any(value != "" for value in row)]
    columns = [column for column in zip(*rows, strict=True) if any(value != "" for value in column)]
    return [list(row) for row in zip(*columns, strict=True)]


def _value(value: Any) -> Any:
    """A value in the one form that it is compared in."""
    if isinstance(value, bool):
        return str(value).upper()
    value = numericised(value)
    return float(f"{value:.10g}") if isinstance(value, int | float) else value
