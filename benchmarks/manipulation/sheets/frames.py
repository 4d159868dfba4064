"""Tables as lists of records: the eight functions of pandas and gspread-dataframe that the tool has.

A program in the sandbox has no pandas, so a data frame is a list of objects here, one a row, with the columns as keys.
"""

from __future__ import annotations

import operator
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.manipulation.sheets.areas import Area, Json, SheetsError
from benchmarks.manipulation.sheets.workbook import Workbook, filled, get_values, numericised, put_values
from benchmarks.manipulation.sheets.worksheet import WorksheetInfo, tab_of

__all__ = ["RecordFunctions", "WorksheetTables"]

_AGGREGATES: Mapping[str, Callable[[Sequence[Any]], Any]] = {
    "sum": sum,
    "mean": statistics.fmean,
    "median": statistics.median,
    "min": min,
    "max": max,
    "count": len,
}


class WorksheetTables:
    """The two functions between worksheets and records; in a program they have no namespace."""

    def __init__(self, book: Workbook) -> None:
        self._book = book

    def get_as_dataframe(self, worksheet: WorksheetInfo | str | None = None) -> list[Json]:
        """Get the table of a worksheet as a list of records; empty rows and columns are left out.

        Args:
            worksheet: The worksheet as `sheet.worksheet` gives it, or its title; the first one if left out.
        """
        tab = tab_of(self._book, worksheet) if worksheet is not None else self._book.tabs[0]
        header, *rows = filled(get_values(self._book, tab, tab.whole(), "UNFORMATTED_VALUE")) or [[]]
        columns = [index for index in range(len(header)) if any(row[index] != "" for row in (header, *rows))]
        names = {index: str(header[index]) or f"Unnamed: {index}" for index in columns}
        return [
            {name: None if row[index] == "" else numericised(row[index]) for index, name in names.items()}
            for row in rows
            if any(cell != "" for cell in row)
        ]

    def set_with_dataframe(
        self,
        worksheet: WorksheetInfo | str,
        dataframe: list[Json],
        row: int = 1,
        col: int = 1,
        include_column_header: bool = True,
    ) -> None:
        """Write a list of records into a worksheet, with the names of the columns above.

        Args:
            worksheet: The worksheet as `sheet.worksheet` gives it, or its title.
            dataframe: The records; their keys are the columns.
            row: The first row, from 1.
            col: The first column, from 1.
            include_column_header: Whether the names of the columns are written.
        """
        tab = tab_of(self._book, worksheet)
        names = _columns(dataframe)
        rows = [["" if record.get(name) is None else record[name] for name in names] for record in dataframe]
        if include_column_header:
            rows.insert(0, list(names))
        tab.rows, tab.cols = max(tab.rows, row + len(rows) - 1), max(tab.cols, col + len(names) - 1)
        put_values(self._book, str(Area(row, col, row, col)), tab, rows, raw=False)


class RecordFunctions:
    """What data frames are used for here, over lists of records; in a program they are `pd.loc`, `pd.groupby`, …"""

    def loc(self, dataframe: list[Json], column: str, comparison: str, value: Any) -> list[Json]:
        """Keep the records whose value in a column compares with another value as asked.

        Args:
            dataframe: The records.
            column: The column.
            comparison: ==, !=, <, <=, > or >=.
            value: What is compared with.
        """
        compares = _COMPARISONS.get(comparison)
        if compares is None:
            raise SheetsError(f"ValueError: comparison {comparison!r}; use one of {', '.join(_COMPARISONS)}")
        _require(dataframe, [column])
        try:
            return [record for record in dataframe if record[column] is not None and compares(record[column], value)]
        except TypeError:
            raise SheetsError(f"TypeError: the values of {column} cannot be compared with {value!r}") from None

    def drop(self, dataframe: list[Json], columns: list[str]) -> list[Json]:
        """Leave columns out.

        Args:
            dataframe: The records.
            columns: The columns to leave out.
        """
        _require(dataframe, columns)
        return [{name: value for name, value in record.items() if name not in columns} for record in dataframe]

    def groupby(self, dataframe: list[Json], by: list[str], values: str, aggfunc: str = "sum") -> list[Json]:
        """Get one record for each group of equal values, in the order of these values.

        Args:
            dataframe: The records.
            by: The columns that make a group.
            values: The column that is summed up in each group.
            aggfunc: sum, mean, median, min, max or count.
        """
        names = _names(by)
        _require(dataframe, [*names, values])
        groups = _groups(dataframe, names, values)
        return [
            {**dict(zip(names, key, strict=True)), values: _aggregate(aggfunc, members)}
            for key, members in groups.items()
        ]

    def pivot_table(
        self, dataframe: list[Json], values: str, index: str, columns: str | None = None, aggfunc: str = "mean"
    ) -> list[Json]:
        """Get a table with one record for each value of `index`, and one column for each value of `columns`.

        Args:
            dataframe: The records.
            values: The column that is summed up.
            index: The column whose values become the rows.
            columns: The column whose values become the columns; without it there is one, `values`.
            aggfunc: sum, mean, median, min, max or count.
        """
        if columns is None:
            return self.groupby(dataframe, [index], values, aggfunc)
        _require(dataframe, [index, columns, values])
        groups = _groups(dataframe, [index, columns], values)
        heads = sorted({key[1] for key in groups}, key=_order)
        table = []
        for line in sorted({key[0] for key in groups}, key=_order):
            cells = {
                str(head): _aggregate(aggfunc, groups[line, head]) if (line, head) in groups else None for head in heads
            }
            table.append({index: line, **cells})
        return table


_COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _columns(dataframe: Sequence[Json]) -> list[str]:
    if not isinstance(dataframe, list) or not all(isinstance(record, dict) for record in dataframe):
        raise SheetsError("TypeError: a data frame is a list of objects here, one a row")
    return list(dict.fromkeys(str(name) for record in dataframe for name in record))


def _names(by: list[str] | str) -> list[str]:
    return [by] if isinstance(by, str) else list(by)


def _require(dataframe: Sequence[Json], names: Sequence[str]) -> None:
    columns = _columns(dataframe)
    missing = [name for name in names if name not in columns]
    if missing:
        raise SheetsError(f"KeyError: {missing[0]!r}; the columns are {', '.join(columns)}")


def _order(value: Any) -> tuple[bool, Any]:
    return isinstance(value, str), value


def _groups(dataframe: Sequence[Json], names: Sequence[str], values: str) -> dict[tuple[Any, ...], list[Any]]:
    """The values of each group that are not missing, in the order of the groups."""
    groups: dict[tuple[Any, ...], list[Any]] = {}
    for record in dataframe:
        if record[values] is not None:
            groups.setdefault(tuple(record[name] for name in names), []).append(record[values])
    return dict(sorted(groups.items(), key=lambda item: [_order(part) for part in item[0]]))


def _aggregate(name: str, members: Sequence[Any]) -> Any:
    if name not in _AGGREGATES:
        raise SheetsError(f"ValueError: aggfunc {name!r}; use one of {', '.join(_AGGREGATES)}")
    try:
        return _AGGREGATES[name](members)
    except (TypeError, statistics.StatisticsError):
        raise SheetsError(f"TypeError: no {name} of {list(members)!r}") from None
