"""A spreadsheet as gspread 5 gives it: 30 methods, which take and give JSON values.

A worksheet is given as a value with its id and title; where a method takes a worksheet, it takes that value or the
title. The methods of a worksheet act on the first one, the others are written through `values_update`, `batch_update`
and `set_with_dataframe`.
"""

from __future__ import annotations

from benchmarks.manipulation.sheets.a1 import SheetsError
from benchmarks.manipulation.sheets.requests import carry_out
from benchmarks.manipulation.sheets.tab import Json, Tab
from benchmarks.manipulation.sheets.values import append_values, get_values, is_raw, put_values, turned
from benchmarks.manipulation.sheets.workbook import Workbook
from benchmarks.manipulation.sheets.worksheet_cells import SheetCell
from benchmarks.manipulation.sheets.worksheet_info import WorksheetInfo, copied_tab, exported, worksheet_info

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

    def batch_update(self, body: Json) -> Json:
        """Carry out requests of the service one after the other, such as sortRange, mergeCells or addSheet.

        Args:
            body: An object with "requests", a list of objects with one request each; indexes count from 0.
        """
        if not isinstance(body, dict) or not isinstance(body.get("requests"), list) or not body["requests"]:
            raise SheetsError("APIError: 400 INVALID_ARGUMENT: Must specify at least one request.")
        return {"spreadsheetId": "spreadsheet", "replies": [carry_out(self._book, item) for item in body["requests"]]}

    def values_append(self, range: str, params: Json, body: Json) -> Json:
        """Add rows below the table that a range begins in.

        Args:
            range: The range, such as "Sheet1!A1".
            params: An object with valueInputOption, RAW or USER_ENTERED, and perhaps insertDataOption.
            body: An object with "values", a list of rows, and perhaps "majorDimension".
        """
        tab, area = self._book.area(range)
        rows = turned(body.get("values", []), body.get("majorDimension"))
        insert = params.get("insertDataOption") == "INSERT_ROWS"
        updates = append_values(self._book, tab, area, rows, is_raw(params.get("valueInputOption")), insert)
        return {"spreadsheetId": "spreadsheet", "updates": updates}

    def values_clear(self, range: str) -> Json:
        """Empty the cells of a range; their formats stay.

        Args:
            range: The range, such as "Sheet1!A1:B2", or the title of a worksheet.
        """
        tab, area = self._book.area(range)
        self._book.empty(tab, area)
        return {"spreadsheetId": "spreadsheet", "clearedRange": f"{tab.title}!{area}"}

    def values_batch_clear(self, params: Json | None = None, body: Json | None = None) -> Json:
        """Empty the cells of several ranges.

        Args:
            params: Not needed.
            body: An object with "ranges".
        """
        ranges = (body or {}).get("ranges", [])
        return {"spreadsheetId": "spreadsheet", "clearedRanges": [self.values_clear(name) for name in ranges]}

    def values_get(self, range: str, params: Json | None = None) -> Json:
        """Get the values of a range.

        Args:
            range: The range, such as "Sheet1!A1:B2", or the title of a worksheet.
            params: An object that may hold majorDimension and valueRenderOption.
        """
        tab, area = self._book.area(range)
        options = params or {}
        rows = get_values(self._book, tab, area, options.get("valueRenderOption"))
        dimension = options.get("majorDimension", "ROWS")
        return {"range": f"{tab.title}!{area}", "majorDimension": dimension, "values": turned(rows, dimension)}

    def values_batch_get(self, ranges: list[str], params: Json | None = None) -> Json:
        """Get the values of several ranges.

        Args:
            ranges: The ranges.
            params: An object that may hold majorDimension and valueRenderOption.
        """
        answers = [self.values_get(name, params) for name in ranges]
        return {"spreadsheetId": "spreadsheet", "valueRanges": answers}

    def values_update(self, range: str, params: Json | None = None, body: Json | None = None) -> Json:
        """Set the cells of a range of any worksheet.

        Args:
            range: The range or its first cell, such as "Summary!A1".
            params: An object with valueInputOption, RAW or USER_ENTERED.
            body: An object with "values", a list of rows, and perhaps "majorDimension".
        """
        rows = turned((body or {}).get("values", []), (body or {}).get("majorDimension"))
        return put_values(self._book, range, None, rows, is_raw((params or {}).get("valueInputOption")))

    def values_batch_update(self, params: Json | None = None, body: Json | None = None) -> Json:
        """Set the cells of several ranges of any worksheets.

        Args:
            params: Not needed.
            body: An object with valueInputOption and "data", a list of objects with "range" and "values".
        """
        details = body or {}
        option = {"valueInputOption": details.get("valueInputOption")}
        answers = [self.values_update(item["range"], option, item) for item in details.get("data", [])]
        return {"spreadsheetId": "spreadsheet", "responses": answers}

    def fetch_sheet_metadata(self, params: Json | None = None) -> Json:
        """Get the properties of the spreadsheet, its worksheets and its named ranges.

        Args:
            params: Not needed.
        """
        sheets = [
            {
                "properties": {
                    "sheetId": tab.id,
                    "title": tab.title,
                    "index": index,
                    "hidden": tab.is_hidden,
                    "gridProperties": {
                        "rowCount": tab.rows,
                        "columnCount": tab.cols,
                        "frozenRowCount": tab.frozen["ROWS"],
                        "frozenColumnCount": tab.frozen["COLUMNS"],
                    },
                },
                "merges": [str(area) for area in tab.merges],
            }
            for index, tab in enumerate(self._book.tabs)
        ]
        properties = dict(self._book.properties)
        names = self.list_named_ranges()
        return {"spreadsheetId": "spreadsheet", "properties": properties, "sheets": sheets, "namedRanges": names}

    def get_worksheet(self, index: int) -> WorksheetInfo:
        """Get a worksheet by its place.

        Args:
            index: The place, from 0.
        """
        if not -len(self._book.tabs) <= index < len(self._book.tabs):
            raise SheetsError(f"WorksheetNotFound: index {index} not found")
        return worksheet_info(self._book, self._book.tabs[index])

    def get_worksheet_by_id(self, id: int) -> WorksheetInfo:
        """Get a worksheet by its id.

        Args:
            id: The id.
        """
        return worksheet_info(self._book, self._book.tab(id))

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

    def del_worksheet(self, worksheet: WorksheetInfo | str) -> None:
        """Delete a worksheet.

        Args:
            worksheet: The worksheet as another method gave it, or its title.
        """
        self._book.remove(tab_of(self._book, worksheet))

    def del_worksheet_by_id(self, worksheet_id: int) -> None:
        """Delete a worksheet by its id.

        Args:
            worksheet_id: The id.
        """
        self._book.remove(self._book.tab(int(worksheet_id)))

    def reorder_worksheets(self, worksheets_in_desired_order: list[WorksheetInfo | str]) -> None:
        """Put the worksheets into another order; those left out come last.

        Args:
            worksheets_in_desired_order: Worksheets as other methods gave them, or their titles.
        """
        for index, worksheet in enumerate(worksheets_in_desired_order):
            self._book.reorder(tab_of(self._book, worksheet), index)

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

    def export(self, format: str = "text/csv") -> str:
        """Get the values of the first worksheet as text.

        Args:
            format: text/csv or text/tab-separated-values.
        """
        return exported(self._book, self._book.tabs[0], format)

    def list_permissions(self) -> list[Json]:
        """Get whom the spreadsheet is shared with."""
        return [dict(permission) for permission in self._book.permissions]

    def remove_permissions(self, value: str, role: str = "any") -> list[str]:
        """Stop sharing the spreadsheet with somebody, and get the ids of the permissions that ended.

        Args:
            value: The address or the domain.
            role: The only role to end; any ends all.
        """
        ended = [
            permission
            for permission in self._book.permissions
            if value in (permission.get("emailAddress"), permission.get("domain"))
            and role in ("any", permission["role"])
        ]
        self._book.permissions = [permission for permission in self._book.permissions if permission not in ended]
        return [permission["id"] for permission in ended]

    def _permission(self, id: str) -> Json:
        permission = next((item for item in self._book.permissions if item["id"] == id), None)
        if permission is None:
            raise SheetsError(f"APIError: 404 NOT_FOUND: Permission not found: {id}.")
        return permission

    def transfer_ownership(self, permission_id: str) -> Json:
        """Offer the spreadsheet to somebody whom it is shared with.

        Args:
            permission_id: The id of the permission.
        """
        permission = self._permission(permission_id)
        permission |= {"role": "writer", "pendingOwner": True}
        return dict(permission)

    def accept_ownership(self, permission_id: str) -> Json:
        """Accept the spreadsheet that was offered.

        Args:
            permission_id: The id of the permission.
        """
        permission = self._permission(permission_id)
        if not permission.pop("pendingOwner", False):
            raise SheetsError("APIError: 403 PERMISSION_DENIED: the ownership was not offered")
        for item in self._book.permissions:
            item["role"] = "writer" if item["role"] == "owner" else item["role"]
        permission["role"] = "owner"
        return dict(permission)

    def named_range(self, named_range: str) -> list[SheetCell]:
        """Get the cells of a named range, row by row.

        Args:
            named_range: The name.
        """
        tab, area = self._book.area(named_range)
        return [SheetCell(*place, self._book.read(tab, place)) for place in area.places()]

    def list_named_ranges(self) -> list[Json]:
        """Get all named ranges with their ids."""
        return [
            {"namedRangeId": name.id, "name": name.name, "range": f"{self._book.tab(name.tab).title}!{name.area}"}
            for name in self._book.names
        ]

    def update_title(self, title: str) -> None:
        """Rename the spreadsheet.

        Args:
            title: The new title.
        """
        self._book.properties["title"] = title

    def update_timezone(self, timezone: str) -> None:
        """Set the time zone of the spreadsheet.

        Args:
            timezone: The zone, such as "America/New_York".
        """
        self._book.properties["timeZone"] = timezone

    def update_locale(self, locale: str) -> None:
        """Set the locale of the spreadsheet. How numbers are read and shown here stays as in English.

        Args:
            locale: The locale, such as "en_US".
        """
        self._book.properties["locale"] = locale

    def list_protected_ranges(self, sheetid: int) -> list[Json]:
        """Get the protected ranges of a worksheet with their ids.

        Args:
            sheetid: The id of the worksheet.
        """
        protected = self._book.tab(sheetid).protected
        return [{"protectedRangeId": id, "range": str(area), **details} for id, (area, details) in protected.items()]
