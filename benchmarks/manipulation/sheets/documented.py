"""The functions of gspread and pandas that prompts document and no test needs: a call of one is refused.

Names, signatures and descriptions are in `documented.yaml`, so that a prompt has all 108 functions to choose from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import yaml

from benchmarks.manipulation.sheets.a1 import SheetsError
from benchmarks.manipulation.sheets.spreadsheet import WorksheetInfo
from benchmarks.manipulation.sheets.tab import Json
from benchmarks.manipulation.sheets.values import Rows

__all__ = ["with_documented"]


@dataclass
class SheetCell:
    """A cell with its row and column, both from 1, and its value."""

    row: int
    col: int
    value: Any = ""


_HINTS = {"Any": Any, "Json": Json, "Rows": Rows, "SheetCell": SheetCell, "WorksheetInfo": WorksheetInfo}
Owner = TypeVar("Owner")


@cache
def _functions() -> dict[str, dict[str, str]]:
    content: dict[str, dict[str, str]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
    return content


def with_documented(owner: type[Owner], prefix: str) -> type[Owner]:
    """The class with its documented functions as further methods; `prefix` is the name of its object in programs."""
    methods = {
        name.partition(".")[2]: _refusing(name, function["signature"], function["description"])
        for name, function in _functions().items()
        if name.startswith(f"{prefix}.")
    }
    return type(owner.__name__, (owner,), methods)


def _refusing(name: str, signature: str, description: str) -> Callable[..., Any]:
    """A method with this signature that refuses a call."""

    def refuse() -> None:
        raise SheetsError(f"NotImplementedError: {name} is not carried out here, since no test needs it")

    scope: dict[str, Any] = {**_HINTS, "refuse": refuse}
    method = name.partition(".")[2]
    exec(f"def {method}{signature}: refuse()", scope)
    scope[method].__doc__ = description
    function: Callable[..., Any] = scope[method]
    return function
