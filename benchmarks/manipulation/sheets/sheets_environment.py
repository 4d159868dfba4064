"""Google Sheets as a task: programs over a spreadsheet, judged by the worksheet that they leave behind.

In a program `sheet` is the spreadsheet and `worksheet` its first worksheet; the functions on records are
`get_as_dataframe`, `set_with_dataframe` and those of `pd`. The sandbox has no pandas: a data frame is a list of records
(objects with the columns as keys), and cells and worksheets come back as values with attributes (`cell.value`,
`info.title`). `documented.yaml` has the functions of gspread and pandas that prompts document and no label of our tests
calls, so that a prompt has all 108 functions to choose from: a call of one is refused, also in a test of `--files`.

Source: Xu et al. (arXiv:2305.16504), section 5 and appendix B.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar

import yaml

from benchmarks.manipulation.environment import (
    ActionResult,
    FunctionDocument,
    ManipulationTest,
    TestScore,
    failure_of,
)
from benchmarks.manipulation.function_environment import FunctionEnvironment
from benchmarks.manipulation.sheets.areas import Json, SheetsError
from benchmarks.manipulation.sheets.formats import snapshot
from benchmarks.manipulation.sheets.frames import RecordFunctions, WorksheetTables
from benchmarks.manipulation.sheets.workbook import Rows, Workbook, put_values
from benchmarks.manipulation.sheets.worksheet import Spreadsheet, Worksheet, WorksheetInfo

__all__ = ["SheetsEnvironment"]

Owner = TypeVar("Owner")
READS = """
    acell cell range get_values get_all_values get_all_records get_all_cells row_values col_values get batch_get find
    findall worksheet.export sheet.export get_note list_dimension_group_columns list_dimension_group_rows values_get
    values_batch_get fetch_sheet_metadata get_worksheet get_worksheet_by_id worksheets worksheet list_permissions
    named_range list_named_ranges list_protected_ranges get_as_dataframe loc drop sort_values groupby pivot_table insert
"""
"""The functions that change nothing."""


@dataclass
class SheetCell:
    """A cell with its row and column, both from 1, and its value."""

    row: int
    col: int
    value: Any = ""


_HINTS = {"Any": Any, "Json": Json, "Rows": Rows, "SheetCell": SheetCell, "WorksheetInfo": WorksheetInfo}


@cache
def _functions() -> dict[str, dict[str, str]]:
    content: dict[str, dict[str, str]] = yaml.safe_load(Path(__file__).with_name("documented.yaml").read_text("utf-8"))
    return content


def _with_documented(owner: type[Owner], prefix: str) -> type[Owner]:
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
        raise SheetsError(f"NotImplementedError: {name} is only documented here: no label of our tests calls it")

    scope: dict[str, Any] = {**_HINTS, "refuse": refuse}
    method = name.partition(".")[2]
    exec(f"def {method}{signature}: refuse()", scope)
    scope[method].__doc__ = description
    function: Callable[..., Any] = scope[method]
    return function


class SheetsEnvironment(FunctionEnvironment):
    """A spreadsheet in memory; a test brings its table, and what is left is compared with what a label leaves.

    By default the values of all worksheets are compared in their places, and whatever else a test is about (formats,
    merges, notes, …). Under `compat` it is as released: a text that is a label succeeds without being run, the values
    are those of the last worksheet without empty rows and columns, and besides them only formats are compared, where a
    test says so.
    """

    name = "sheets"
    folder = Path(__file__).parent
    max_tokens = 256
    documents_shown = 10
    reads: Collection[str] = tuple(READS.split())

    def __init__(self, *, compat: bool = False) -> None:
        super().__init__(compat=compat)
        self._book = Workbook()
        self._sheet = _with_documented(Spreadsheet, "sheet")(self._book)
        self._worksheet = _with_documented(Worksheet, "worksheet")(self._book, 0)
        self._tables = WorksheetTables(self._book)
        self._records = _with_documented(RecordFunctions, "pd")()
        self._results: dict[tuple[str, str], Json] = {}
        self._called: tuple[str, ...] = ()
        self._is_label = False

    def objects(self) -> Any:
        """The spreadsheet, its first worksheet, and the functions on records."""
        return {"worksheet": self._worksheet, "sheet": self._sheet, "": self._tables, "pd": self._records}

    @cached_property
    def functions(self) -> Sequence[FunctionDocument]:
        """The 108 functions, those of worksheets first; constructors of values are none of them."""
        return tuple(document for document in super().functions if document.name not in self._makers)

    @cached_property
    def _makers(self) -> frozenset[str]:
        return self.protocol().value_classes

    def reset(self, test: ManipulationTest, seed: int = 0) -> str:
        """As every environment; what the labels of a test lead to is found out first.

        Raises: ValueError: A label does not run.
        """
        for label in test.labels:
            if (test.id, label) not in self._results:
                super().reset(test, seed)
                self.run_label(test, label)
                self._results[test.id, label] = self._state(test)
        return super().reset(test, seed)

    def restore(self, test: ManipulationTest, seed: int) -> None:
        """Load the table of a test; nothing depends on the seed."""
        self._called, self._is_label = (), False
        self._book.clear()
        for title, rows in test.state["worksheets"].items():
            if title != "Sheet1":
                self._book.add(title, 1000, 26)
            put_values(self._book, "A1", self._book.titled(title), rows, raw=False)

    def _state(self, test: ManipulationTest) -> Json:
        check: Sequence[str] = test.state.get("check", ())
        aspects = [name for name in check if name == "format"] if self.compat else check
        return snapshot(self._book, aspects, released=self.compat)

    def act(self, text: str) -> ActionResult:
        """Run the text as a program; under `compat` a text that is a label is not run."""
        if self.compat and text.strip() in self.test.labels:
            self._is_label = True
            return ActionResult(self.test.names[self.test.labels.index(text.strip())])
        result = super().act(text)
        self.note_calls(result.names)
        return replace(result, names=self._called)

    def note_calls(self, names: Sequence[str]) -> None:
        """Keep those that are no constructors."""
        self._called = tuple(name for name in names if name not in self._makers)

    def score(self) -> TestScore:
        """1 if the program ran to its end and left the worksheet as a label does, else 0."""
        test = self.test
        goals = [self._results[test.id, label] for label in test.labels]
        if self._is_label or (not self.error and self._state(test) in goals):
            return TestScore(1.0)
        return TestScore(0.0, failure_of(not self.error, self._called, test))
