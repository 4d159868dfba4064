"""What a spreadsheet is compared by: the values of its worksheets, their formats, and what a test says besides.

`formats.yaml` has what a request may set of a format.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from benchmarks.manipulation.sheets.areas import AreaMark, Json, Tab, invalid
from benchmarks.manipulation.sheets.workbook import Rows, Workbook, numericised

__all__ = ["checked_format", "number_pattern", "snapshot"]

_PATTERNS = {
    "TEXT": "@",
    "NUMBER": "#,##0.00",
    "PERCENT": "0.00%",
    "CURRENCY": "$#,##0.00",
    "DATE": "m/d/yyyy",
    "TIME": "h:mm:ss AM/PM",
    "DATE_TIME": "m/d/yyyy h:mm:ss",
    "SCIENTIFIC": "0.00E+00",
}
"""How a kind of number is shown where a format gives no pattern of its own."""

_DEFAULTS: Json = {
    "backgroundColor": {"red": 1.0, "green": 1.0, "blue": 1.0},
    "foregroundColor": {"red": 0.0, "green": 0.0, "blue": 0.0},
    "bold": False,
    "italic": False,
    "underline": False,
    "strikethrough": False,
    "fontSize": 10,
    "verticalAlignment": "BOTTOM",
    "wrapStrategy": "OVERFLOW_CELL",
}


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8")))


def checked_format(form: object) -> Json:
    """The format as it came. Raises: SheetsError: It has a field or a value that the service does not know."""
    error = best_match(_validator().iter_errors(form))
    if error is not None:
        raise invalid(f"Invalid JSON payload received at format{error.json_path[1:]}: {error.message}")
    assert isinstance(form, Mapping)
    return dict(form)


def number_pattern(form: Json) -> str:
    """How numbers are shown by a format; empty where it does not say so."""
    number = form.get("numberFormat")
    return str(number.get("pattern") or _PATTERNS[number["type"]]) if number else ""


def effective_format(form: Json) -> Json:
    """What differs from a cell without a format; two formats that look alike are equal."""
    flat: Json = {name: value for name, value in form.items() if name != "textFormat"} | form.get("textFormat", {})
    for name in ("backgroundColor", "foregroundColor"):
        if name in flat:
            flat[name] = {part: round(float(flat[name].get(part, 0)), 3) for part in ("red", "green", "blue")}
    if "numberFormat" in flat:
        flat["numberFormat"] = {"type": flat["numberFormat"]["type"], "pattern": number_pattern(form)}
    return {name: value for name, value in flat.items() if value != _DEFAULTS.get(name)}


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
