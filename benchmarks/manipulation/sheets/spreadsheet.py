"""A spreadsheet as gspread 5 gives it: those of its 30 methods that tests need, which take and give JSON values.

A worksheet is given as a value with its id and title; where a method takes a worksheet, it takes that value or the
title. The methods of a worksheet act on the first one, the others are written through `values_update` and
`set_with_dataframe`.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.manipulation.sheets.a1 import invalid
from benchmarks.manipulation.sheets.tab import Json, Tab
from benchmarks.manipulation.sheets.values import is_raw, put_values
from benchmarks.manipulation.sheets.workbook import Workbook

__all__ = ["Spreadsheet", "WorksheetInfo", "tab_of", "worksheet_info"]


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
