"""Plots for the page: points and lines as shapes, which `page.html` draws as SVG with the page's own colours.

Each run has a colour and a shape of its own, and every mark has a title that says its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

__all__ = ["Plot", "Point", "Shape", "mark", "plot"]

WIDTH, HEIGHT = 560, 320
LEFT, RIGHT, TOP, BOTTOM = 56, 28, 14, 64


@dataclass(frozen=True, slots=True)
class Point:
    """A mark; `label` is its title, `spread` the ends of its error bars: left, right, low and high."""

    x: float
    y: float
    label: str
    spread: tuple[float, float, float, float] | None = None


class Shape(NamedTuple):
    """An SVG element of the run with this number; `label` is its title."""

    tag: str
    kind: str
    run: int
    attributes: dict[str, object]
    label: str | None = None


class Plot(NamedTuple):
    """Shapes in a frame: percent upwards; `ticks` (place and text) across."""

    title: str
    x_title: str
    y_title: str
    ticks: list[tuple[float, str]]
    shapes: list[Shape]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM

    def up(self, share: float) -> float:
        """The place of a percentage."""
        return _up(share)


def plot(kind: Literal["points", "lines"], series: Sequence[Sequence[Point]], x_title: str, y_title: str) -> Plot:
    """Draw the points of each run, in percent over `x`: quarters of the axis for points, whole numbers for lines."""
    most = max((point.spread[1] if point.spread else point.x for run in series for point in run), default=1)
    if kind == "points":
        start, end, top = float(LEFT), float(WIDTH - RIGHT), _round_up(most)
        labels = [top * part / 4 for part in range(5)]
    else:
        start, end, top = LEFT + 20, WIDTH - RIGHT - 20, max(most, 1)
        labels = [float(number) for number in range(int(top) + 1)]

    def across(x: float) -> float:
        return start + x / top * (end - start)

    shapes: list[Shape] = []
    for run, own_points in enumerate(series):
        if kind == "lines":
            path = " ".join(f"{across(point.x):.1f},{_up(point.y):.1f}" for point in own_points)
            shapes.append(Shape("polyline", "line", run, {"points": path}))
        for point in own_points:
            x, y = across(point.x), _up(point.y)
            if point.spread:
                x_low, x_high, low, high = point.spread
                shapes += [_error(x, _up(low), x, _up(high), run), _error(across(x_low), y, across(x_high), y, run)]
            shapes.append(mark(x, y, point.label, run))
    ticks = [(across(x), f"{x:,.0f}") for x in labels]
    return Plot(f"{y_title} over {x_title}", x_title, y_title, ticks, shapes)


def mark(x: float, y: float, label: str, run: int) -> Shape:
    """A circle, square, triangle or diamond with a title."""
    outlines = (
        "M{l} {y}a6 6 0 1 0 12 0a6 6 0 1 0 -12 0z",
        "M{l} {t}h12v12h-12z",
        "M{x} {t}L{r} {b}H{l}z",
        "M{x} {t}L{r} {y}L{x} {b}L{l} {y}z",
    )
    ends = {"x": x, "y": y, "l": x - 6, "r": x + 6, "t": y - 6, "b": y + 6}
    path = outlines[run % len(outlines)].format(**{name: round(value, 1) for name, value in ends.items()})
    return Shape("path", "mark", run, {"d": path}, label)


def _error(x1: float, y1: float, x2: float, y2: float, run: int) -> Shape:
    places = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    return Shape("line", "error", run, {name: f"{place:.1f}" for name, place in places.items()})


def _up(share: float) -> float:
    """The place of a percentage."""
    return HEIGHT - BOTTOM - share / 100 * (HEIGHT - BOTTOM - TOP)


def _round_up(value: float) -> float:
    """The next of 1, 2, 4, 6, 8 times a power of ten."""
    size = 1.0
    while size * 10 <= value:
        size *= 10
    return next((size * step for step in (1, 2, 4, 6, 8, 10) if size * step >= value), value)
