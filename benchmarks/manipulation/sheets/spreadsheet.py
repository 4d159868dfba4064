"""A spreadsheet as gspread 5 gives it: those of its 30 methods that tests need, which take and give JSON values.

A worksheet is given as a value with its id and title; where a method takes a worksheet, it takes that value or the
title. The methods of a worksheet act on the first one, the others are written through `values_update` and
`set_with_dataframe`.
"""

from __future__ import annotations

from benchmarks.manipulation.sheets.a1 import SheetsError
from benchmarks.manipulation.sheets.tab import Json, Tab
from benchmarks.manipulation.sheets.values import is_raw, put_values, turned
from benchmarks.manipulation.sheets.workbook import Workbook
from benchmarks.manipulation.sheets.worksheet_info import WorksheetInfo, copied_tab, worksheet_info

__all__ = ["Spreadsheet", "tab_of"]


def tab_of(book: Workbook, worksheet: WorksheetInfo | str) -> Tab:
    """The worksheet that a program names by its title or gives back as it got it. Raises: SheetsError."""
    if isinstance(worksheet, str):
        return book.titled(worksheet)
    return book.tab(worksheet.id)


class Spreadsheet:
    """All worksheets of a workbook, and what belongs to none of them."""

    def __init__(self, book: Workbook) -> None:
        self._book = book

    def values_clear(self, range: str) -> Json:
        """Empty the cells of a range; their formats stay.

        Args:
            range: The range, such as "Sheet1!A1:B2", or the title of a worksheet.
        """
        tab, area = self._book.area(range)
        self._book.empty(tab, area)
        return {"spreadsheetId": "spreadsheet", "clearedRange": f"{tab.title}!{area}"}

    def values_update(self, range: str, params: Json | None = None, body: Json | None = None) -> Json:
        """Set the cells of a range of any worksheet.

        Args:
            range: The range or its first cell, such as "Summary!A1".
            params: An object with valueInputOption, RAW or USER_ENTERED.
            body: An object with "values", a list of rows, and perhaps "majorDimension".
        """
        rows = turned((body or {}).get("values", []), (body or {}).get("majorDimension"))
        return put_values(self._book, range, None, rows, is_raw((params or {}).get("valueInputOption")))

    def worksheets(self) -> list[WorksheetInfo]:
        """Get all worksheets in their order."""
        return [worksheet_info(self._book, tab) for tab in self._book.tabs]

    def worksheet(self, title: str) -> WorksheetInfo:
        """Get a worksheet by its title.

        Args:
            title: The title.
        """
        return worksheet_info(self._book, self._book.titled(title))

    def add_worksheet(self, title: str, rows: int | str, cols: int | str, index: int | None = None) -> WorksheetInfo:
        """Add an empty worksheet, behind the others unless an index is given.

        Args:
            title: Its title.
            rows: How many rows it has.
            cols: How many columns it has.
            index: Its place, from 0.
        """
        try:
            size = int(rows), int(cols)
        except ValueError:
            raise SheetsError(f"APIError: 400 INVALID_ARGUMENT: {rows!r} rows and {cols!r} columns") from None
        return worksheet_info(self._book, self._book.add(title, *size, index))

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
        tab = copied_tab(self._book, source, insert_sheet_index, new_sheet_id, new_sheet_name)
        return worksheet_info(self._book, tab)

    def share(
        self,
        email_address: str,
        perm_type: str,
        role: str,
        notify: bool = True,
        email_message: str | None = None,
        with_link: bool = False,
    ) -> Json:
        """Share the spreadsheet with somebody.

        Args:
            email_address: The address, or a domain; "" for anyone.
            perm_type: user, group, domain or anyone.
            role: owner, writer or reader.
            notify: Whether a message is sent.
            email_message: Its text.
            with_link: Whether the link is needed.
        """
        if perm_type not in ("user", "group", "domain", "anyone") or role not in ("owner", "writer", "reader"):
            raise SheetsError(f"APIError: 400 INVALID_ARGUMENT: no permission of type {perm_type!r} and role {role!r}")
        key = "domain" if perm_type == "domain" else "emailAddress"
        permission = {"id": str(self._book.new_id() + 1), "type": perm_type, "role": role, key: email_address}
        self._book.permissions.append(permission)
        return permission
