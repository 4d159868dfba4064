"""A1 notation, the areas of cells that it names, and the marks of a worksheet on them, which move with its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

__all__ = [
    "Area",
    "AreaMark",
    "Axis",
    "Json",
    "Place",
    "SheetsError",
    "Tab",
    "area_of",
    "invalid",
    "label_of",
    "moved_area",
    "split_title",
]

Place = tuple[int, int]
"""A cell: its row and its column, both from 1."""

_AREA = re.compile(r"\$?([A-Za-z]*)\$?(\d*)(?::\$?([A-Za-z]*)\$?(\d*))?")

Axis = Literal["ROWS", "COLUMNS"]
Json = dict[str, Any]
MarkKind = Literal["filter", "format", "group", "hidden", "merge", "name", "note", "protection"]


class SheetsError(Exception):
    """The service would refuse this request; the message is in its words where programs are known to read them."""


def invalid(message: str) -> SheetsError:
    """What the service says of a request that it does not take."""
    return SheetsError(f"APIError: 400 INVALID_ARGUMENT: {message}")


@dataclass(frozen=True, slots=True, order=True)
class Area:
    """A rectangle of cells; all four sides belong to it and count from 1."""

    top: int
    left: int
    bottom: int
    right: int

    def __contains__(self, place: Place) -> bool:
        return self.top <= place[0] <= self.bottom and self.left <= place[1] <= self.right

    @property
    def height(self) -> int:
        return self.bottom - self.top + 1

    @property
    def width(self) -> int:
        return self.right - self.left + 1

    def places(self) -> Iterator[Place]:
        """The cells, row by row."""
        for row in range(self.top, self.bottom + 1):
            for col in range(self.left, self.right + 1):
                yield row, col

    def overlaps(self, area: Area) -> bool:
        """True if the two have a cell in common."""
        return (
            self.top <= area.bottom and area.top <= self.bottom and self.left <= area.right and area.left <= self.right
        )

    def within(self, rows: int, cols: int) -> Area | None:
        """The part inside the first `rows` and `cols`; None if there is none."""
        if self.top > rows or self.left > cols:
            return None
        return Area(self.top, self.left, min(self.bottom, rows), min(self.right, cols))

    def shifted(self, down: int, right: int) -> Area:
        """The same size at another place."""
        return Area(self.top + down, self.left + right, self.bottom + down, self.right + right)

    def __str__(self) -> str:
        first, last = label_of(self.top, self.left), label_of(self.bottom, self.right)
        return first if first == last else f"{first}:{last}"


def _column_of(letters: str) -> int:
    """The number of a column: A is 1, AA is 27."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def label_of(row: int, col: int) -> str:
    """The name of a cell: (2, 3) is C2."""
    letters = ""
    while col:
        col, rest = divmod(col - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return f"{letters}{row}"


def split_title(text: str) -> tuple[str | None, str]:
    """The title of a worksheet before `!`, None without one, and the range after it."""
    title, mark, rest = text.rpartition("!")
    if not mark:
        return None, text
    if len(title) > 1 and title[0] == title[-1] == "'":
        title = title[1:-1].replace("''", "'")
    return title, rest


def area_of(text: str, rows: int, cols: int) -> Area:
    """The area that A1 notation names; open sides (`A:C`, `2:5`, `B2:B`) end where the worksheet does.

    Raises: SheetsError: It cannot be read, or is not inside a worksheet of `rows` and `cols`.
    """
    match = _AREA.fullmatch(text) if isinstance(text, str) else None
    if match is None or not text or (":" in text and not ((match[1] or match[2]) and (match[3] or match[4]))):
        raise invalid(f"Unable to parse range: {text}")
    if ":" not in text and not (match[1] and match[2]):
        raise invalid(f"Unable to parse range: {text}")
    first_row, first_col = int(match[2] or 1), _column_of(match[1]) or 1
    if ":" in text:
        last_row, last_col = int(match[4] or rows), _column_of(match[3]) or cols
    else:
        last_row, last_col = first_row, first_col
    top, bottom = sorted((first_row, last_row))
    left, right = sorted((first_col, last_col))
    if not 1 <= top <= bottom <= rows or not 1 <= left <= right <= cols:
        raise invalid(f"Range ({text}) exceeds grid limits. Max rows: {rows}, max columns: {cols}")
    return Area(top, left, bottom, right)


@dataclass(frozen=True, slots=True)
class AreaMark:
    """Something that an area has; `value` are the fields of a format, the text of a note or a name, the editors."""

    kind: MarkKind
    area: Area
    value: Any = None


def _moved_span(first: int, last: int, start: int, count: int) -> tuple[int, int] | None:
    """A span of lines after `count` lines came before line `start`, or went from there on; None if all of it went."""
    if count > 0:
        return first + count * (first >= start), last + count * (last >= start)
    lines = [
        line if line < start else line + count for line in range(first, last + 1) if not start <= line < start - count
    ]
    return (lines[0], lines[-1]) if lines else None


def moved_area(area: Area, axis: Axis, start: int, count: int) -> Area | None:
    """An area after lines came (`count` > 0) or went; None when all of it went."""
    if axis == "ROWS":
        span = _moved_span(area.top, area.bottom, start, count)
        return Area(span[0], area.left, span[1], area.right) if span else None
    span = _moved_span(area.left, area.right, start, count)
    return Area(area.top, span[0], area.bottom, span[1]) if span else None


@dataclass
class Tab:
    """A worksheet without the contents of its cells, which the engine holds. A format or a note is of one cell."""

    id: int
    title: str
    rows: int = 1000
    cols: int = 26
    marks: list[AreaMark] = field(default_factory=list)
    frozen: dict[Axis, int] = field(default_factory=lambda: {"ROWS": 0, "COLUMNS": 0})

    def size(self, axis: Axis) -> int:
        """The number of rows or columns."""
        return self.rows if axis == "ROWS" else self.cols

    def whole(self) -> Area:
        """All cells."""
        return Area(1, 1, self.rows, self.cols)

    def of_kind(self, kind: MarkKind) -> Iterator[AreaMark]:
        """The marks of a kind, the oldest first."""
        return (mark for mark in self.marks if mark.kind == kind)

    def move(self, axis: Axis, start: int, count: int) -> None:
        """Move everything after `count` lines came before line `start`, or went from there on if it is negative."""
        if axis == "ROWS":
            self.rows += count
        else:
            self.cols += count
        moved = [(mark, moved_area(mark.area, axis, start, count)) for mark in self.marks]
        self.marks = [replace(mark, area=area) for mark, area in moved if area is not None]
        if count < 0:
            self.frozen[axis] -= max(0, min(self.frozen[axis], start - 1 - count) - start + 1)
        elif start <= self.frozen[axis]:
            self.frozen[axis] += count

    def merge_of(self, place: Place) -> Area | None:
        """The merged area that a cell is in; None if it is in none."""
        return next((mark.area for mark in self.of_kind("merge") if place in mark.area), None)
