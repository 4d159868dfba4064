"""Whole worksheets: what a program is told of one, a copy, and its values as a text."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.manipulation.sheets.a1 import Area, SheetsError
from benchmarks.manipulation.sheets.tab import Tab
from benchmarks.manipulation.sheets.values import filled, get_values
from benchmarks.manipulation.sheets.workbook import Workbook

__all__ = ["WorksheetInfo", "copied_tab", "exported", "worksheet_info"]


@dataclass(frozen=True)
class WorksheetInfo:
    """What a program is told of a worksheet; `index` counts from 0.

    Args:
        id: The id.
        title: The title.
        index: The place among the worksheets.
        row_count: The number of rows.
        col_count: The number of columns.
        frozen_row_count: Rows that stay in sight.
        frozen_col_count: Columns that stay in sight.
        is_hidden: Whether the worksheet is hidden.
    """

    id: int
    title: str
    index: int = 0
    row_count: int = 1000
    col_count: int = 26
    frozen_row_count: int = 0
    frozen_col_count: int = 0
    is_hidden: bool = False


def worksheet_info(book: Workbook, tab: Tab) -> WorksheetInfo:
    """What a program is told of a worksheet."""
    frozen = (tab.frozen["ROWS"], tab.frozen["COLUMNS"])
    return WorksheetInfo(tab.id, tab.title, book.index(tab), tab.rows, tab.cols, *frozen, tab.is_hidden)


def copied_tab(book: Workbook, source: Tab, index: int | None, id: int | None, title: str | None) -> Tab:
    """A new worksheet with all that is in another one, at the first place if there is no index."""
    name, number = title or f"Copy of {source.title}", 1
    while title is None and any(tab.title == name for tab in book.tabs):
        number += 1
        name = f"Copy of {source.title} {number}"
    tab = book.add(name, source.rows, source.cols, 0 if index is None else index, id)
    used = book.used(source)
    if all(used):
        book.copy(source, Area(1, 1, *used), tab, (1, 1))
    tab.formats = {place: dict(form) for place, form in source.formats.items()}
    tab.notes, tab.merges, tab.filter = dict(source.notes), list(source.merges), source.filter
    tab.hidden = {axis: set(lines) for axis, lines in source.hidden.items()}
    tab.groups = {axis: list(spans) for axis, spans in source.groups.items()}
    tab.frozen, tab.color, tab.is_hidden = dict(source.frozen), source.color, source.is_hidden
    return tab


def exported(book: Workbook, tab: Tab, format: str) -> str:
    """The values of a worksheet as comma or tab separated text. Raises: SheetsError: Another format."""
    separator = {"text/csv": ",", "text/tab-separated-values": "\t"}.get(format)
    if separator is None:
        raise SheetsError(f"UnSupportedExportFormat: {format}; use text/csv or text/tab-separated-values")
    rows = filled(get_values(book, tab, Area(1, 1, tab.rows, tab.cols)))
    return "\n".join(separator.join(str(value) for value in row) for row in rows)
