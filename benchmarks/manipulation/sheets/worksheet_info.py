"""Whole worksheets: what a program is told of one, and a copy."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.manipulation.sheets.a1 import Area
from benchmarks.manipulation.sheets.tab import Tab
from benchmarks.manipulation.sheets.workbook import Workbook

__all__ = ["WorksheetInfo", "copied_tab", "worksheet_info"]


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
    return WorksheetInfo(tab.id, tab.title, book.index(tab), tab.rows, tab.cols, *frozen)


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
    tab.frozen = dict(source.frozen)
    return tab
