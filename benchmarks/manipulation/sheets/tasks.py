"""Tests and training samples of Google Sheets, made from templates, tables and pools of values."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any, Literal

import yaml

from benchmarks.manipulation.environment import GoalAction, ManipulationTest
from benchmarks.manipulation.function_environment import called_functions
from benchmarks.manipulation.sheets.a1 import Area, label_of

__all__ = ["SEED", "called", "demonstrations", "make_tests", "sample_pairs", "table_text"]

SEED = 29
"""The seed that the tests are made with; another one makes other tests of the same templates."""

_FOLDER = Path(__file__).parent
_ONLY_PROGRAM = frozenset({"print", "len", "str", "int", "float", "range", "sum", "sorted", "SheetCell"})

Share = Literal["tests", "others"]


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A table, and which of its columns holds repeated texts (an index from 0), None if none does."""

    noun: str
    title: str
    rows: tuple[tuple[Any, ...], ...]

    @property
    def numeric(self) -> list[int]:
        """The columns of numbers, from 0."""
        return [col for col, value in enumerate(self.rows[1]) if not isinstance(value, str)]

    @property
    def group(self) -> int | None:
        """The column of repeated texts, from 0."""
        return next((col for col, value in enumerate(self.rows[1]) if col and isinstance(value, str)), None)


@cache
def _data(name: str) -> Any:
    return yaml.safe_load((_FOLDER / f"{name}.yaml").read_text("utf-8"))


def _tables(share: Share) -> list[_Sheet]:
    return [
        _Sheet(table["noun"], table["title"], tuple(map(tuple, [table["header"], *table["rows"]])))
        for table in _data("tables")[share]
    ]


def table_text(rows: Sequence[Sequence[Any]]) -> str:
    """A table as a goal shows it: a row a line, the cells between strokes."""
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)


def called(program: str) -> tuple[str, ...]:
    """The functions of the spreadsheet that a program calls, as often as it has calls of them."""
    return tuple(name for name in called_functions(program) if name not in _ONLY_PROGRAM)


def make_tests() -> tuple[ManipulationTest, ...]:
    """The tests, always the same, with the templates in turn."""
    chance = random.Random(SEED)
    tables = _tables("tests")
    tests: list[ManipulationTest] = []
    for name, template in _data("templates").items():
        usable = [table for table in tables if not template.get("group") or table.group is not None]
        for number, table in enumerate(chance.sample(usable, template["tests"])):
            goal, labels = _filled(template, number, table, "tests", chance)
            state = {"worksheets": {"Sheet1": [list(row) for row in table.rows]}, "check": template.get("check", [])}
            names = tuple(called(label) for label in labels)
            tests.append(ManipulationTest(f"sheets-{name}-{number + 1}", goal, labels, names, state=state))
    return tuple(tests)


def sample_pairs(count: int, seed: int) -> tuple[GoalAction, ...]:
    """Pairs of goal and action from tables and values that no test has; the same for the same seed, none twice."""
    chance = random.Random(seed)
    pairs: dict[str, GoalAction] = {}
    for template, table in _endless(chance):
        if len(pairs) >= count:
            break
        goal, labels = _filled(template, chance.randrange(8), table, "others", chance)
        pairs.setdefault(goal, GoalAction(goal, labels[0], called(labels[0])))
    return tuple(pairs.values())


def _endless(chance: random.Random) -> Iterator[tuple[Mapping[str, Any], _Sheet]]:
    templates, tables = list(_data("templates").values()), _tables("others")
    while True:
        template = chance.choice(templates)
        usable = [table for table in tables if not template.get("group") or table.group is not None]
        yield template, chance.choice(usable)


def demonstrations() -> tuple[GoalAction, ...]:
    """The demonstrations as they are written down, each with its table."""
    tables = {table.title: table for table in _tables("others")}
    return tuple(
        GoalAction(
            f"{table_text(tables[item['table']].rows)}\n{item['goal']}",
            item["action"].strip(),
            called(item["action"]),
        )
        for item in _data("demonstrations")
    )


def _filled(
    template: Mapping[str, Any], wording: int, table: _Sheet, share: Share, chance: random.Random
) -> tuple[str, tuple[str, ...]]:
    """The goal of a template, the table above it, and the labels."""
    values = {**_places(table, chance), **_made(table, share, chance)}
    values |= _formulas(table, values)
    goals = template["goals"]
    goal = Template(goals[wording % len(goals)]).substitute(values)
    labels = tuple(Template(label).substitute(values) for label in template["labels"])
    return f"{table_text(table.rows)}\n{goal}", labels


def _places(table: _Sheet, chance: random.Random) -> dict[str, Any]:
    """Rows, columns and ranges of a table by the names that templates use."""
    height, width = len(table.rows), len(table.rows[0])
    first, second = chance.sample(range(2, height), 2) if height > 3 else (2, 3)
    col, col2 = chance.sample(table.numeric, 2)
    letter = label_of(1, col + 1)[:-1]
    last_col = label_of(1, width)[:-1]
    numbers = sorted(row[col] for row in table.rows[1:])
    corner = Area(height - 1, 1, height, 2)
    group = table.group
    return {
        "noun": table.noun,
        "name": table.rows[first - 1][0],
        "name2": table.rows[second - 1][0],
        "row": first,
        "below": first + 1,
        "num": table.rows[0][col],
        "num2": table.rows[0][col2],
        "num_index": col,
        "num_n": col + 1,
        "num2_n": col2 + 1,
        "num_col": letter,
        "cell": f"{letter}{first}",
        "cell2": f"{letter}{second}",
        "last": height,
        "next": height + 1,
        "after": height + 2,
        "last_col": last_col,
        "next_col": label_of(1, width + 1)[:-1],
        "next_n": width + 1,
        "after_col": label_of(1, width + 2)[:-1],
        "head": f"A1:{last_col}1",
        "body": f"A2:{last_col}{height}",
        "all": f"A1:{last_col}{height}",
        "column": f"{letter}2:{letter}{height}",
        "whole_column": f"{letter}1:{letter}{height}",
        "merge_area": str(corner),
        "threshold": numbers[len(numbers) // 2],
        "group": table.rows[0][group] if group is not None else "",
        "group_n": group + 1 if group is not None else 0,
        "name_cells": json.dumps([[row[0]] for row in table.rows]),
    }


def _made(table: _Sheet, share: Share, chance: random.Random) -> dict[str, Any]:
    """New names, numbers and texts from the pools."""
    pools = _data("pools")[share]
    names = chance.sample(pools["names"], 2)
    present = {value for row in table.rows for value in row}
    value, value2 = chance.sample([number for number in range(3, 100) if number not in present], 2)
    label = chance.choice(pools["labels"])
    groups = [row[table.group] for row in table.rows[1:]] if table.group is not None else []
    rows = [
        [name if col == 0 else chance.randint(3, 99) if col in table.numeric else chance.choice(groups)
         for col in range(len(table.rows[0]))]
        for name in names
    ]  # fmt: skip
    numbers = [chance.randint(1, 50) for _ in table.rows[1:]]
    color = chance.choice(sorted(pools["colors"]))
    return {
        "value": value,
        "value2": value2,
        "new_name": names[0],
        "label": label,
        "title": chance.choice(pools["titles"]),
        "heading": chance.choice(pools["headings"]),
        "remark": chance.choice(pools["remarks"]),
        "email": chance.choice(pools["emails"]),
        "range_name": chance.choice(pools["range_names"]),
        "color_word": color,
        "color": json.dumps(dict(zip(("red", "green", "blue"), pools["colors"][color], strict=True))),
        "count": chance.randint(2, 9),
        "new_row": json.dumps(rows[0]),
        "new_row2": json.dumps(rows[1]),
        "new_words": ", ".join(map(str, rows[0])),
        "new_words2": ", ".join(map(str, rows[1])),
        "new_values": ", ".join(map(str, numbers)),
        "new_column": json.dumps([label, *numbers]),
        "new_cells": json.dumps([[label], *([number] for number in numbers)]),
    }


def _formulas(table: _Sheet, values: Mapping[str, Any]) -> dict[str, str]:
    """Columns of formulas over the two columns that the task is about."""
    rows = range(2, len(table.rows) + 1)
    first = values["num_col"]
    second = label_of(1, values["num2_n"])[:-1]
    columns = {
        "product": [f"={first}{row}*{second}{row}" for row in rows],
        "difference": [f"={first}{row}-{second}{row}" for row in rows],
        "marks": [f'=IF({first}{row}>{values["threshold"]}, "high", "low")' for row in rows],
    }
    return {
        name: json.dumps([[values["label"]], *([formula] for formula in formulas)])
        for name, formulas in columns.items()
    }
