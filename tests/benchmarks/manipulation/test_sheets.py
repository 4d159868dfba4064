"""Google Sheets of the tool-manipulation suite: its tests, its demonstrations, and what it accepts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
import yaml

from benchmarks.manipulation.environment import ManipulationTest
from benchmarks.manipulation.sheets.sheets_environment import SheetsEnvironment
from tests.benchmarks.manipulation.suite_tasks import judged

pytestmark = pytest.mark.manipulation

DOCUMENTED = set(yaml.safe_load((SheetsEnvironment.folder / "documented.yaml").read_text("utf-8")))
"""The functions that are only documented."""

TABLE = [["Product", "Cost", "Price"], ["beef", 1, 3], ["pork", 5, 4], ["chicken", 10, 11], ["lamb", 3, 15]]


@pytest.fixture(scope="module")
def sheets() -> Iterator[SheetsEnvironment]:
    """The environment, with one sandbox for all tests."""
    environment = SheetsEnvironment()
    yield environment
    environment.close()


@pytest.fixture(scope="module")
def released() -> Iterator[SheetsEnvironment]:
    """The environment that scores as released."""
    environment = SheetsEnvironment(compat=True)
    yield environment
    environment.close()


def test_with(label: str, *check: str, worksheets: Mapping[str, Any] | None = None) -> ManipulationTest:
    """A test on a small table, with one label."""
    state = {"worksheets": worksheets or {"Sheet1": TABLE}, "check": list(check)}
    return ManipulationTest(f"own-{label}-{check}", "Do it.", (label,), ((),), state=state)


test_with.__test__ = False  # type: ignore[attr-defined]


MUTANTS: dict[str, Callable[[str], str]] = {
    "an unknown function": lambda program: re.sub(r"(\w+)\(", r"\1_now(", program, count=1),
    "prose": lambda program: f"Here is the program:\n```\n{program}\n```",
    "a cut": lambda program: program[: len(program) * 2 // 3],
    "a call too many": lambda program: f'{program}\nworksheet.update("A1", "zzz")',
    "another row": lambda program: re.sub(r'(?<=")([A-Z])(\d+)', lambda m: f"{m[1]}{int(m[2]) + 2}", program, count=1),
    "raw text": lambda program: program.replace("raw=False", "raw=True"),
}


@pytest.mark.parametrize("kind", MUTANTS)
def test_no_mutant_of_a_label_solves_its_test(sheets: SheetsEnvironment, kind: str) -> None:
    """Kinds of mistakes, each in every other label that it can be made in: none is accepted."""
    mutants = [(test, MUTANTS[kind](test.labels[0])) for test in sheets.tests]
    changed = [(test, mutant) for test, mutant in mutants if mutant != test.labels[0]][::2]

    assert len(changed) >= 4
    assert [(test.id, mutant) for test, mutant in changed if judged(sheets, test, mutant).value] == []


def test_what_counts_as_equal(sheets: SheetsEnvironment) -> None:
    """Another way to the same values, the size of a new worksheet, a range with empty cells more, a call repeated."""
    update = test_with('worksheet.update("C2", 9)')
    for program in (
        'worksheet.update_cell(2, 3, 9)\nworksheet.update("C2", 9)',
        'worksheet.update("C2", [[9]])',
        'worksheet.update([[9]], "C2")',
        'worksheet.update("C2", "9")',
        'worksheet.update("C2", "=3*3", raw=False)',
    ):
        assert judged(sheets, update, program).value == 1, program
    clear = test_with('worksheet.batch_clear(["C2:C5"])')
    assert judged(sheets, clear, 'worksheet.batch_clear(["C2:E5"])').value == 1
    copy = 'rows = pd.loc(get_as_dataframe("Sheet1"), "Cost", ">", {})\n'
    copy += 'set_with_dataframe(sheet.add_worksheet("A", {}, 9), rows)'
    assert judged(sheets, test_with(copy.format(5, 9)), copy.format(6, 30)).value == 1
    filtered = test_with('worksheet.set_basic_filter("A1:C5")', "layout")
    assert judged(sheets, filtered, "worksheet.set_basic_filter()").value == 1
    bold = test_with('worksheet.format("A1", {"textFormat": {"bold": True}})', "format")
    form = '{"textFormat": {"bold": True, "italic": False}, "backgroundColor": {"red": 1, "green": 1, "blue": 1}}'
    assert judged(sheets, bold, f'worksheet.format("A1", {form})').value == 1


def test_holes_of_the_released_scorer(sheets: SheetsEnvironment, released: SheetsEnvironment) -> None:
    """Wrong places, damaged other worksheets, missing merges and labels that are not run count only under compat."""
    for label, program, check in (
        ('worksheet.update("C7", 9)', 'worksheet.update("C9", 9)', ""),
        ('set_with_dataframe(sheet.add_worksheet("A", 9, 9), get_as_dataframe("Sheet1"))',
         'set_with_dataframe(sheet.add_worksheet("A", 9, 9), get_as_dataframe("Sheet1"))\nworksheet.clear()', ""),
        ('worksheet.update("A7", "x")\nworksheet.merge_cells("A7:B7")', 'worksheet.update("A7", "x")', "layout"),
    ):  # fmt: skip
        test = test_with(label, check)
        assert judged(sheets, test, program).value == 0, label
        assert judged(released, test, program).value == 1, label
    test = test_with('worksheet.update("C2", 9)')
    released.reset(test)
    released.act(f" {test.labels[0]} ")
    assert released.score().value == 1
    assert released.protocol().title  # the label was compared as a text
    assert released._worksheet.get("C2") == [["3"]]


def test_every_function_is_demonstrated(sheets: SheetsEnvironment) -> None:
    """All 108 functions are in one; each demonstration runs and calls what it says, unless one is only documented."""
    demonstrated = Counter(name for demonstration in sheets.demonstrations for name in demonstration.names)
    refused = 0
    goals = {test.goal for test in sheets.tests}
    for demonstration in sheets.demonstrations:
        table = demonstration.goal.splitlines()[:-1]
        rows = [[_number(cell.strip()) for cell in line.strip("|").split("|")] for line in table]
        state = {"worksheets": {"Sheet1": rows}}
        sheets.reset(ManipulationTest("demonstration", demonstration.goal, (), (), state=state))
        result = sheets.act(demonstration.action)
        if DOCUMENTED & set(demonstration.names):
            refused += 1
            assert "is only documented here: no label of our tests calls it" in result.error, demonstration.action
        else:
            assert result.error == "", demonstration.action
            assert Counter(result.names) == Counter(demonstration.names), demonstration.action
        assert demonstration.goal not in goals

    assert set(demonstrated) == {document.name for document in sheets.functions}
    assert not DOCUMENTED & {name for test in sheets.tests for names in test.names for name in names}
    assert refused == 36


def _number(text: str) -> Any:
    return int(text) if text.isdigit() else text


def test_samples_are_no_tests(sheets: SheetsEnvironment) -> None:
    """Samples come from other tables and values than the tests, and run."""
    assert len({sample.goal for sample in sheets.samples}) == 118
    for sample in sheets.samples[::6]:
        table = [[_number(cell.strip()) for cell in line.strip("|").split("|")]
                 for line in sample.goal.splitlines() if line.startswith("|")]  # fmt: skip
        test = ManipulationTest(sample.goal, sample.goal, (sample.action,), (), state={"worksheets": {"Sheet1": table}})
        assert judged(sheets, test, sample.action).value == 1


def test_a_label_that_does_not_run_is_named(sheets: SheetsEnvironment) -> None:
    """A test with a broken label is an error of the test, and says which."""
    with pytest.raises(ValueError, match=r"the label .*delete_rows\(9, 2\).* does not run"):
        sheets.reset(test_with("worksheet.delete_rows(9, 2)"))
