"""The spreadsheet behind the task Google Sheets: what a program that knows gspread 5 may rely on."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.manipulation.sheets.areas import SheetsError
from benchmarks.manipulation.sheets.frames import RecordFunctions, WorksheetTables
from benchmarks.manipulation.sheets.workbook import Workbook
from benchmarks.manipulation.sheets.worksheet import Spreadsheet, Worksheet

pytestmark = pytest.mark.manipulation

TABLE = [["Product", "Cost", "Price"], ["beef", 1, 3], ["pork", 5, 4], ["chicken", 10, 11], ["lamb", 3, 15]]


@pytest.fixture
def book() -> Workbook:
    return Workbook()


@pytest.fixture
def worksheet(book: Workbook) -> Worksheet:
    """A worksheet with a small table."""
    worksheet = Worksheet(book, 0)
    worksheet.update("A1", TABLE)
    return worksheet


def shown(worksheet: Worksheet, cell: str, render: str = "FORMATTED_VALUE") -> Any:
    """What a cell shows; "" of an empty one."""
    rows = worksheet.get(cell, render)
    return rows[0][0] if rows else ""


def column(worksheet: Worksheet, number: int) -> list[object]:
    """What a column shows."""
    return [row[number - 1] for row in worksheet.get_all_values()]


def test_formulas_are_evaluated_unless_raw(worksheet: Worksheet) -> None:
    """A formula that is typed in is a value; stored raw it is a text; its own text can be asked for."""
    worksheet.update("B6", "=SUM(B2:B5)", raw=False)
    worksheet.update("C6", "=SUM(C2:C5)")
    worksheet.update_acell("D6", "=IF(B6>10, B6/2, 0)")

    assert worksheet.get("6:6")[0] == ["", "19", "=SUM(C2:C5)", "9.5"]
    assert shown(worksheet, "B6", "FORMULA") == "=SUM(B2:B5)"
    assert shown(worksheet, "B6", "UNFORMATTED_VALUE") == 19


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("=SUM(B:B)", "19"),
        ("=COUNTA($2:2)", "3"),
        ('="A:A"', "A:A"),
        ("=ROWS(A:A)", "1000"),
        ("=SUM(B2:B)", "19"),
        ("=SUM($B$2:b)", "19"),
        ("=ROWS(B2:B)", "999"),
        ("=COUNTA(A2:2)", "3"),
        ("=SUM(Sheet1!B2:B)", "19"),
        *((formula, "#") for formula in ("=SUM(B2:B5)x", "=SUM(B2:B5))", "=NOPE(1)", "=B2/0", "=Nowhere!A1")),
    ],
)
def test_what_a_formula_shows(worksheet: Worksheet, formula: str, value: str) -> None:
    """Whole columns end with the worksheet; what is no formula is an error, also where only its end is wrong."""
    worksheet.update("E3", formula, raw=False)

    assert shown(worksheet, "E3").startswith(value)


def test_typed_values_are_read_as_by_a_user(worksheet: Worksheet) -> None:
    """Percent, money and truth values become values; raw texts stay texts, whatever moves them."""
    worksheet.update("E2", [["50%", "=A1", "TRUE", "7"]])
    worksheet.insert_cols([["x"]], 2)
    worksheet.delete_rows(1)
    worksheet.insert_row(["top"])

    assert worksheet.get("F2:I2", value_render_option="UNFORMATTED_VALUE") == [["50%", "=A1", "TRUE", "7"]]
    worksheet.update("F3", [["50%", "$5.00", "TRUE", "'7"]], raw=False)
    assert worksheet.get("F3:I3", value_render_option="UNFORMATTED_VALUE") == [[0.5, 5, True, "7"]]


def test_rows_are_sorted(worksheet: Worksheet) -> None:
    """All below the frozen ones or those of a range, by the first column that decides; formulas and formats move.

    Text comes after numbers, empty cells last both ways.
    """
    worksheet.sort((2, "asc"))
    assert column(worksheet, 1) == ["beef", "lamb", "pork", "chicken", "Product"]
    worksheet.sort((2, "des"))
    worksheet.freeze(rows=1)
    worksheet.update("B4", "")
    worksheet.sort((2, "des"))
    assert column(worksheet, 1) == ["Product", "chicken", "pork", "beef", "lamb"]

    worksheet.update("B2", [[5], [5], [1], [1]])
    worksheet.update("D2", "=C2*2", raw=False)
    worksheet.sort((2, "asc"), (3, "des"), range="A2:D5")
    assert column(worksheet, 1) == ["Product", "lamb", "beef", "chicken", "pork"]
    assert shown(worksheet, "D4", "FORMULA") == "=C4*2"
    with pytest.raises(SheetsError, match="'asc' or 'des'"):
        worksheet.sort((1, "ascending"))


def test_rows_and_columns_come_and_go(worksheet: Worksheet, book: Workbook) -> None:
    """Deletions include both ends and count from 1; formulas, formats, notes and merges move along."""
    worksheet.update("D5", "=B5+C5", raw=False)
    worksheet.insert_note("A5", "fresh")
    worksheet.merge_cells("A7:B7")
    worksheet.format("C5", {"textFormat": {"bold": True}})
    worksheet.delete_rows(3, 4)
    worksheet.insert_cols([["New", 7]], 2)

    assert worksheet.get_all_values() == [["Product", "New", "Cost", "Price", ""], ["beef", "7", "1", "3", ""],
                                          ["lamb", "", "3", "15", "18"]]  # fmt: skip
    assert shown(worksheet, "E3", "FORMULA") == "=C3+D3"
    marks = {mark.kind: (str(mark.area), mark.value) for mark in book.tabs[0].marks}
    assert marks == {
        "note": ("A3", "fresh"), "merge": ("A5:C5", None), "format": ("D3", {"textFormat": {"bold": True}})
    }  # fmt: skip
    worksheet.append_row(["duck", 1, 2, 3])
    assert column(worksheet, 1)[3] == "duck"
    with pytest.raises(SheetsError, match="no rows from 5 to 2"):
        worksheet.delete_rows(5, 2)


def test_merged_cells_keep_the_first_value(worksheet: Worksheet) -> None:
    """The others are emptied and stay empty; a part of a merge cannot be merged."""
    worksheet.merge_cells("A1:C2", "MERGE_ROWS")
    assert worksheet.get("A1:C2") == [["Product"], ["beef"]]
    worksheet.update("B1", "hidden")
    assert shown(worksheet, "B1") == ""
    with pytest.raises(SheetsError, match="all cells in a merged range"):
        worksheet.merge_cells("C1:D3")


def test_formats_are_merged_field_by_field(worksheet: Worksheet, book: Workbook) -> None:
    """A field that is not named stays; a number format changes what a cell shows; unknown fields are refused."""
    percent = {"numberFormat": {"type": "PERCENT", "pattern": "0%"}}
    worksheet.format("B2:B3", {"horizontalAlignment": "CENTER"})
    worksheet.format(["B2", "C2"], percent)

    assert {"horizontalAlignment": "CENTER", **percent} in [mark.value for mark in book.tabs[0].of_kind("format")]
    assert shown(worksheet, "B2") == "100%"
    for form in ({"bold": True}, {"horizontalAlignment": "MIDDLE"}, {"backgroundColor": {"red": 255}}):
        with pytest.raises(SheetsError, match="400 INVALID_ARGUMENT"):
            worksheet.format("A1", form)


@pytest.mark.parametrize("name", ["A0", "ZZ1", "A1:B2000", "beef", "", "A1:", "1", "Other!A1"])
def test_bad_ranges_are_refused(worksheet: Worksheet, name: str) -> None:
    """What is no range, or is outside the worksheet, is an error of the request."""
    with pytest.raises(SheetsError):
        worksheet.update(name, 1)


def test_names_of_ranges_follow_their_cells(worksheet: Worksheet) -> None:
    """A formula may use a name; rows that come move it; a name whose rows all go is no name any more."""
    worksheet.define_named_range("B2:B5", "costs")
    worksheet.insert_row(["top"])
    worksheet.update("F1", "=SUM(costs)", raw=False)

    assert shown(worksheet, "F1") == "19"
    assert worksheet.get("costs") == [["1"], ["5"], ["10"], ["3"]]
    worksheet.delete_rows(3, 6)
    assert shown(worksheet, "F1") == "#NAME?"


def test_worksheets_are_added(book: Workbook, worksheet: Worksheet) -> None:
    """They are added and copied, and their titles are unique."""
    sheet = Spreadsheet(book)
    sheet.add_worksheet("Notes", 5, 3)
    sheet.values_update("Notes!A1", {"valueInputOption": "USER_ENTERED"}, {"values": [["=Sheet1!C2*2"]]})
    worksheet.duplicate(1, new_sheet_name="Twin")

    assert [info.title for info in sheet.worksheets()] == ["Sheet1", "Twin", "Notes"]
    assert shown(Worksheet(book, sheet.worksheet("Notes").id), "A1") == "6"
    assert Worksheet(book, sheet.worksheet("Twin").id).get_all_values() == worksheet.get_all_values()
    with pytest.raises(SheetsError, match="WorksheetNotFound: Other"):
        sheet.worksheet("Other")
    with pytest.raises(SheetsError, match="already exists"):
        sheet.add_worksheet("notes", 1, 1)


def test_tables_of_records(book: Workbook, worksheet: Worksheet) -> None:
    """What data frames are used for: selections, groups, pivots, and the way back into a worksheet."""
    tables, pd, sheet = WorksheetTables(book), RecordFunctions(), Spreadsheet(book)
    rows = tables.get_as_dataframe("Sheet1")
    kinds = [{**row, "Kind": kind} for row, kind in zip(rows, ["red", "red", "white", "red"], strict=True)]

    assert rows[1] == {"Product": "pork", "Cost": 5, "Price": 4}
    assert [row["Product"] for row in pd.loc(rows, "Cost", "<=", 5)] == ["beef", "pork", "lamb"]
    assert pd.groupby(kinds, ["Kind"], "Cost", "mean") == [{"Kind": "red", "Cost": 3}, {"Kind": "white", "Cost": 10}]
    pivot = pd.pivot_table(kinds, "Cost", "Product", "Kind", "sum")
    assert pivot[1] == {"Product": "chicken", "red": None, "white": 10}
    tables.set_with_dataframe(sheet.add_worksheet("Out", 2, 2), pd.drop(kinds, ["Cost"]), row=2)
    out = Worksheet(book, sheet.worksheet("Out").id)
    assert out.get("A2:C3") == [["Product", "Price", "Kind"], ["beef", "3", "red"]]
    with pytest.raises(SheetsError, match="'Weight'; the columns are Product, Cost, Price"):
        pd.loc(rows, "Weight", ">", 1)
    with pytest.raises(SheetsError, match="cannot be compared"):
        pd.loc(rows, "Product", ">", 1)
    with pytest.raises(SheetsError, match="aggfunc 'mode'"):
        pd.groupby(rows, ["Product"], "Cost", "mode")
