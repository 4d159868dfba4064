"""Requests of the service, as `Spreadsheet.batch_update` takes them: indexes count from 0, and an end is not included.

Those that gspread itself sends are here, and no others; each is what a method of a worksheet does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from benchmarks.manipulation.sheets.a1 import Area, SheetsError
from benchmarks.manipulation.sheets.tab import Json, Tab
from benchmarks.manipulation.sheets.workbook import Workbook
from benchmarks.manipulation.sheets.worksheet import Worksheet
from benchmarks.manipulation.sheets.worksheet_info import copied_tab

__all__ = ["carry_out"]


def carry_out(book: Workbook, request: Json) -> Json:
    """Carry out one request and give its reply. Raises: SheetsError: It is unknown, or a field is missing or wrong."""
    if not isinstance(request, dict) or len(request) != 1:
        raise SheetsError("APIError: 400 INVALID_ARGUMENT: a request is an object with one field, its name")
    (name, body), *_ = request.items()
    if name not in _HANDLERS:
        raise SheetsError(f"APIError: 400 INVALID_ARGUMENT: Unknown name {name!r}; there are {', '.join(_HANDLERS)}")
    try:
        return _HANDLERS[name](book, body) or {}
    except (KeyError, TypeError, AttributeError) as error:
        raise SheetsError(f"APIError: 400 INVALID_ARGUMENT: Invalid {name}: {error}") from None


def _worksheet(book: Workbook, body: Json) -> Worksheet:
    tab = book.tab(body.get("sheetId", book.tabs[0].id))
    return Worksheet(book, tab.id)


def _area(book: Workbook, grid: Json) -> tuple[Worksheet, str]:
    tab = book.tab(grid.get("sheetId", book.tabs[0].id))
    bottom, right = grid.get("endRowIndex", tab.rows), grid.get("endColumnIndex", tab.cols)
    area = Area(grid.get("startRowIndex", 0) + 1, grid.get("startColumnIndex", 0) + 1, bottom, right)
    return Worksheet(book, tab.id), str(area)


def _lines(book: Workbook, body: Json) -> tuple[Worksheet, Tab, str, int, int]:
    lines = body.get("range", body)
    worksheet = _worksheet(book, lines)
    tab = book.tab(lines.get("sheetId", book.tabs[0].id))
    if lines["dimension"] not in ("ROWS", "COLUMNS"):
        raise SheetsError(f"APIError: 400 INVALID_ARGUMENT: dimension {lines['dimension']}; use ROWS or COLUMNS")
    size = tab.rows if lines["dimension"] == "ROWS" else tab.cols
    return worksheet, tab, lines["dimension"], lines.get("startIndex", 0), lines.get("endIndex", size)


def _sort_range(book: Workbook, body: Json) -> None:
    worksheet, area = _area(book, body["range"])
    orders = {"ASCENDING": "asc", "DESCENDING": "des"}
    specs = [(spec["dimensionIndex"] + 1, orders[spec.get("sortOrder", "ASCENDING")]) for spec in body["sortSpecs"]]
    worksheet.sort(*specs, range=area)


def _repeat_cell(book: Workbook, body: Json) -> None:
    worksheet, area = _area(book, body["range"])
    cell = body["cell"]
    if "userEnteredFormat" in cell:
        worksheet.format(area, cell["userEnteredFormat"])
    if "note" in cell:
        worksheet.update_note(area.split(":")[0], cell["note"])


def _merge_cells(book: Workbook, body: Json) -> None:
    worksheet, area = _area(book, body["range"])
    worksheet.merge_cells(area, body.get("mergeType", "MERGE_ALL"))


def _unmerge_cells(book: Workbook, body: Json) -> None:
    worksheet, area = _area(book, body["range"])
    worksheet.unmerge_cells(area)


def _insert_dimension(book: Workbook, body: Json) -> None:
    _, tab, axis, start, end = _lines(book, body)
    book.insert(tab, "ROWS" if axis == "ROWS" else "COLUMNS", start + 1, end - start)


def _append_dimension(book: Workbook, body: Json) -> None:
    worksheet, _, axis, _, _ = _lines(book, body)
    (worksheet.add_rows if axis == "ROWS" else worksheet.add_cols)(body["length"])


def _delete_dimension(book: Workbook, body: Json) -> None:
    worksheet, _, axis, start, end = _lines(book, body)
    worksheet.delete_dimension(axis, start + 1, end)


def _update_dimension(book: Workbook, body: Json) -> None:
    worksheet, _, axis, start, end = _lines(book, body)
    hidden = body["properties"]["hiddenByUser"]
    methods: Mapping[tuple[str, bool], Callable[[int, int], None]] = {
        ("ROWS", True): worksheet.hide_rows,
        ("ROWS", False): worksheet.unhide_rows,
        ("COLUMNS", True): worksheet.hide_columns,
        ("COLUMNS", False): worksheet.unhide_columns,
    }
    methods[axis, hidden](start, end)


def _auto_resize(book: Workbook, body: Json) -> None:
    worksheet, _, axis, start, end = _lines(book, body["dimensions"])
    (worksheet.rows_auto_resize if axis == "ROWS" else worksheet.columns_auto_resize)(start, end)


def _group(book: Workbook, body: Json) -> None:
    worksheet, _, axis, start, end = _lines(book, body)
    (worksheet.add_dimension_group_rows if axis == "ROWS" else worksheet.add_dimension_group_columns)(start, end)


def _ungroup(book: Workbook, body: Json) -> None:
    worksheet, _, axis, start, end = _lines(book, body)
    (worksheet.delete_dimension_group_rows if axis == "ROWS" else worksheet.delete_dimension_group_columns)(start, end)


def _add_sheet(book: Workbook, body: Json) -> Json:
    properties = body["properties"]
    grid = properties.get("gridProperties", {})
    rows, cols = grid.get("rowCount", 1000), grid.get("columnCount", 26)
    tab = book.add(properties["title"], rows, cols, properties.get("index"), properties.get("sheetId"))
    return {"addSheet": {"properties": {"sheetId": tab.id, "title": tab.title}}}


def _duplicate_sheet(book: Workbook, body: Json) -> Json:
    source = book.tab(body["sourceSheetId"])
    details = (body.get("insertSheetIndex"), body.get("newSheetId"), body.get("newSheetName"))
    tab = copied_tab(book, source, *details)
    return {"duplicateSheet": {"properties": {"sheetId": tab.id, "title": tab.title}}}


def _update_sheet(book: Workbook, body: Json) -> None:
    properties = body["properties"]
    worksheet = _worksheet(book, properties)
    grid = properties.get("gridProperties", {})
    if "title" in properties:
        worksheet.update_title(properties["title"])
    if "index" in properties:
        worksheet.update_index(properties["index"])
    if "tabColor" in properties:
        worksheet.update_tab_color(properties["tabColor"])
    if "hidden" in properties:
        (worksheet.hide if properties["hidden"] else worksheet.show)()
    if "frozenRowCount" in grid or "frozenColumnCount" in grid:
        worksheet.freeze(grid.get("frozenRowCount"), grid.get("frozenColumnCount"))
    if "rowCount" in grid or "columnCount" in grid:
        worksheet.resize(grid.get("rowCount"), grid.get("columnCount"))


def _set_filter(book: Workbook, body: Json) -> None:
    worksheet, area = _area(book, body["filter"]["range"])
    worksheet.set_basic_filter(area)


def _copy_paste(book: Workbook, body: Json) -> None:
    worksheet, source = _area(book, body["source"])
    _, goal = _area(book, body["destination"])
    worksheet.copy_range(source, goal, body.get("pasteType", "PASTE_NORMAL"), body.get("pasteOrientation", "NORMAL"))


def _cut_paste(book: Workbook, body: Json) -> None:
    worksheet, source = _area(book, body["source"])
    row, col = body["destination"].get("rowIndex", 0) + 1, body["destination"].get("columnIndex", 0) + 1
    worksheet.cut_range(source, str(Area(row, col, row, col)), body.get("pasteType", "PASTE_NORMAL"))


def _add_named(book: Workbook, body: Json) -> Json:
    worksheet, area = _area(book, body["namedRange"]["range"])
    reply: Json = worksheet.define_named_range(area, body["namedRange"]["name"])["replies"][0]
    return reply


def _add_protected(book: Workbook, body: Json) -> Json:
    protected = body["protectedRange"]
    worksheet, area = _area(book, protected["range"])
    editors = protected.get("editors", {})
    reply: Json = worksheet.add_protected_range(
        area,
        editors.get("users", []),
        editors.get("groups", []),
        protected.get("description"),
        protected.get("warningOnly", False),
    )["replies"][0]
    return reply


def _delete_protected(book: Workbook, body: Json) -> None:
    id = body["protectedRangeId"]
    tab = next((tab for tab in book.tabs if id in tab.protected), book.tabs[0])
    Worksheet(book, tab.id).delete_protected_range(id)


def _update_spreadsheet(book: Workbook, body: Json) -> None:
    book.properties |= {name: body["properties"][name] for name in book.properties if name in body["properties"]}


_HANDLERS: Mapping[str, Callable[[Workbook, Json], Json | None]] = {
    "addDimensionGroup": _group,
    "addNamedRange": _add_named,
    "addProtectedRange": _add_protected,
    "addSheet": _add_sheet,
    "appendDimension": _append_dimension,
    "autoResizeDimensions": _auto_resize,
    "clearBasicFilter": lambda book, body: _worksheet(book, body).clear_basic_filter(),
    "copyPaste": _copy_paste,
    "cutPaste": _cut_paste,
    "deleteDimension": _delete_dimension,
    "deleteDimensionGroup": _ungroup,
    "deleteNamedRange": lambda book, body: _worksheet(book, {}).delete_named_range(body["namedRangeId"]),
    "deleteProtectedRange": _delete_protected,
    "deleteSheet": lambda book, body: book.remove(book.tab(body["sheetId"])),
    "duplicateSheet": _duplicate_sheet,
    "insertDimension": _insert_dimension,
    "mergeCells": _merge_cells,
    "repeatCell": _repeat_cell,
    "setBasicFilter": _set_filter,
    "sortRange": _sort_range,
    "unmergeCells": _unmerge_cells,
    "updateDimensionProperties": _update_dimension,
    "updateSheetProperties": _update_sheet,
    "updateSpreadsheetProperties": _update_spreadsheet,
}
