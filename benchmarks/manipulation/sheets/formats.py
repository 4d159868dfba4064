"""The formats of cells: what a request may set, and what a cell looks like in the end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.manipulation.sheets.a1 import SheetsError
from benchmarks.manipulation.sheets.tab import Json

__all__ = ["PATTERNS", "checked_format", "color_of", "effective_format"]

PATTERNS = {
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

_TEXT = ("bold", "italic", "underline", "strikethrough", "fontSize", "fontFamily", "foregroundColor")
_CHOICES = {
    "horizontalAlignment": ("LEFT", "CENTER", "RIGHT"),
    "verticalAlignment": ("TOP", "MIDDLE", "BOTTOM"),
    "wrapStrategy": ("OVERFLOW_CELL", "LEGACY_WRAP", "CLIP", "WRAP"),
    "textDirection": ("LEFT_TO_RIGHT", "RIGHT_TO_LEFT"),
    "hyperlinkDisplayType": ("LINKED", "PLAIN_TEXT"),
}
_FIELDS = ("numberFormat", "backgroundColor", "borders", "padding", "textFormat", "textRotation", *_CHOICES)
_COLORS = ("red", "green", "blue", "alpha")
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


def checked_format(form: object) -> Json:
    """The format as it came. Raises: SheetsError: It has a field or a value that the service does not know."""
    if not isinstance(form, Mapping):
        raise SheetsError(f"APIError: 400 INVALID_ARGUMENT: a format is an object, not {form!r}")
    _known(form, _FIELDS, "the format")
    for name, choices in _CHOICES.items():
        if name in form and form[name] not in choices:
            raise SheetsError(f"APIError: 400 INVALID_ARGUMENT: {name} is one of {choices}, not {form[name]!r}")
    if "textFormat" in form:
        _known(form["textFormat"], _TEXT, "textFormat")
        if "foregroundColor" in form["textFormat"]:
            color_of(form["textFormat"]["foregroundColor"])
    if "backgroundColor" in form:
        color_of(form["backgroundColor"])
    if "numberFormat" in form:
        _known(form["numberFormat"], ("type", "pattern"), "numberFormat")
        if form["numberFormat"].get("type") not in PATTERNS:
            raise SheetsError(f"APIError: 400 INVALID_ARGUMENT: the type of a numberFormat is one of {list(PATTERNS)}")
    return dict(form)


def color_of(color: object) -> dict[str, float]:
    """Red, green and blue from 0 to 1, 0 where one is left out. Raises: SheetsError."""
    _known(color, _COLORS, "a color")
    parts = {name: color.get(name, 0) for name in _COLORS[:3]} if isinstance(color, Mapping) else {}
    if not all(isinstance(part, int | float) and 0 <= part <= 1 for part in parts.values()):
        raise SheetsError(f"APIError: 400 INVALID_ARGUMENT: the parts of a color are from 0 to 1: {color!r}")
    return {name: round(float(part), 3) for name, part in parts.items()}


def effective_format(form: Json) -> Json:
    """What differs from a cell without a format; two formats that look alike are equal."""
    flat: Json = {name: value for name, value in form.items() if name != "textFormat"} | form.get("textFormat", {})
    for name in ("backgroundColor", "foregroundColor"):
        if name in flat:
            flat[name] = color_of(flat[name])
    if "numberFormat" in flat:
        kind = flat["numberFormat"]["type"]
        flat["numberFormat"] = {"type": kind, "pattern": flat["numberFormat"].get("pattern") or PATTERNS[kind]}
    return {name: value for name, value in flat.items() if value != _DEFAULTS.get(name)}


def _known(fields: Any, names: tuple[str, ...], where: str) -> None:
    if not isinstance(fields, Mapping):
        raise SheetsError(f"APIError: 400 INVALID_ARGUMENT: {where} is an object, not {fields!r}")
    unknown = [name for name in fields if name not in names]
    if unknown:
        message = f"Invalid JSON payload received. Unknown name {unknown[0]!r} in {where}; there are {', '.join(names)}"
        raise SheetsError(f"APIError: 400 INVALID_ARGUMENT: {message}")
