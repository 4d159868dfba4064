"""What a worksheet holds besides the contents of its cells, and how rows and columns that come and go move it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from benchmarks.manipulation.sheets.a1 import Area, Place

__all__ = ["Axis", "Json", "Tab", "moved_area", "moved_cells"]

Axis = Literal["ROWS", "COLUMNS"]
Json = dict[str, Any]

_Value = TypeVar("_Value")


def _moved(line: int, start: int, count: int) -> int | None:
    """Where a line is after `count` lines came before line `start`, or went from there on if it is negative."""
    if line < start:
        return line
    return line + count if count > 0 or line >= start - count else None


def _moved_span(first: int, last: int, start: int, count: int) -> tuple[int, int] | None:
    """The same of a span of lines, which grows and shrinks with lines inside it; None when all of it went."""
    if count > 0:
        return first + count * (first >= start), last + count * (last >= start)
    lines = [line for line in (_moved(line, start, count) for line in range(first, last + 1)) if line is not None]
    return (lines[0], lines[-1]) if lines else None


def moved_area(area: Area, axis: Axis, start: int, count: int) -> Area | None:
    """An area after lines came (`count` > 0) or went; None when all of it went."""
    if axis == "ROWS":
        span = _moved_span(area.top, area.bottom, start, count)
        return Area(span[0], area.left, span[1], area.right) if span else None
    span = _moved_span(area.left, area.right, start, count)
    return Area(area.top, span[0], area.bottom, span[1]) if span else None


def moved_cells(cells: Mapping[Place, _Value], axis: Axis, start: int, count: int) -> dict[Place, _Value]:
    """What is kept by cell after lines came (`count` > 0) or went, without the cells that went."""
    index = 0 if axis == "ROWS" else 1
    moved: dict[Place, _Value] = {}
    for place, value in cells.items():
        line = _moved(place[index], start, count)
        if line is not None:
            moved[(line, place[1]) if axis == "ROWS" else (place[0], line)] = value
    return moved


@dataclass
class Tab:
    """A worksheet without the contents of its cells, which the engine holds.

    `formats` and `notes` are by cell, `hidden` and `groups` by axis, and a group is its first and last line.
    """

    id: int
    title: str
    rows: int = 1000
    cols: int = 26
    formats: dict[Place, Json] = field(default_factory=dict)
    notes: dict[Place, str] = field(default_factory=dict)
    merges: list[Area] = field(default_factory=list)
    hidden: dict[Axis, set[int]] = field(default_factory=lambda: {"ROWS": set(), "COLUMNS": set()})
    groups: dict[Axis, list[tuple[int, int]]] = field(default_factory=lambda: {"ROWS": [], "COLUMNS": []})
    protected: dict[int, tuple[Area, Json]] = field(default_factory=dict)
    filter: Area | None = None
    frozen: dict[Axis, int] = field(default_factory=lambda: {"ROWS": 0, "COLUMNS": 0})

    def size(self, axis: Axis) -> int:
        """The number of rows or columns."""
        return self.rows if axis == "ROWS" else self.cols

    def move(self, axis: Axis, start: int, count: int) -> None:
        """Move everything after `count` lines came before line `start`, or went from there on if it is negative."""
        if axis == "ROWS":
            self.rows += count
        else:
            self.cols += count
        self.formats = moved_cells(self.formats, axis, start, count)
        self.notes = moved_cells(self.notes, axis, start, count)
        merges = [moved_area(area, axis, start, count) for area in self.merges]
        self.merges = [area for area in merges if area is not None and area.height * area.width > 1]
        lines = [_moved(line, start, count) for line in self.hidden[axis]]
        self.hidden[axis] = {line for line in lines if line is not None}
        spans = [_moved_span(*span, start, count) for span in self.groups[axis]]
        self.groups[axis] = [span for span in spans if span is not None]
        areas = {key: (moved_area(area, axis, start, count), rest) for key, (area, rest) in self.protected.items()}
        self.protected = {key: (area, rest) for key, (area, rest) in areas.items() if area is not None}
        self.filter = moved_area(self.filter, axis, start, count) if self.filter else None
        if count < 0:
            gone = max(0, min(self.frozen[axis], start - 1 - count) - start + 1)
            self.frozen[axis] -= gone
        elif start <= self.frozen[axis]:
            self.frozen[axis] += count

    def merge_of(self, place: Place) -> Area | None:
        """The merged area that a cell is in; None if it is in none."""
        return next((area for area in self.merges if place in area), None)
