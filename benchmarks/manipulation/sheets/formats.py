"""The formats of cells: what a request may set (`formats.yaml`), and what a cell looks like in the end."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from benchmarks.manipulation.sheets.a1 import invalid
from benchmarks.manipulation.sheets.tab import Json

__all__ = ["checked_format", "effective_format", "number_pattern"]

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
