"""What a worksheet holds besides the contents of its cells: marks on areas, which move with rows and columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from benchmarks.manipulation.sheets.a1 import Area, Place

__all__ = ["AreaMark", "Axis", "Json", "MarkKind", "Tab", "moved_area"]

Axis = Literal["ROWS", "COLUMNS"]
Json = dict[str, Any]
MarkKind = Literal["filter", "format", "group", "hidden", "merge", "name", "note", "protection"]


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
