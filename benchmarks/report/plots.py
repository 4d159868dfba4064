"""Plots for the page: points, lines and bars as shapes, which `page.html` draws as SVG with the page's own colours.

Each run has a colour and a shape of its own, and every mark has a title that says its value.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

__all__ = ["Plot", "Point", "Shape", "mark", "plot"]

WIDTH, HEIGHT = 560, 320
LEFT, RIGHT, TOP, BOTTOM = 56, 28, 14, 64
LETTER = 6.6
"""Width of a letter of the labels, about."""


@dataclass(frozen=True, slots=True)
class Point:
    """A mark or a bar; `label` is its title, `spread` the ends of its error bars: left, right, low and high."""

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
    """Shapes in a frame: percent upwards; `ticks` (place, and lines of text) across."""

    title: str
    x_title: str
    y_title: str
    ticks: list[tuple[float, list[str]]]
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


def plot(
    kind: Literal["points", "lines", "bars"],
    series: Sequence[Sequence[Point]],
    x_title: str,
    y_title: str,
    names: Sequence[str] = (),
) -> Plot:
    """Draw the points of each run, in percent over `x`.

    Args:
        names: What stands below the whole numbers from 0, one for each group of bars; by default the numbers of lines,
            and quarters of the axis of points.
    """
    points = [point for run in series for point in run]
    most = max((point.spread[1] if point.spread else point.x for point in points), default=1)
    if kind == "points":
        start, end, top = float(LEFT), float(WIDTH - RIGHT), _round_up(most)
        labels = [(top * part / 4, f"{top * part / 4:,.0f}") for part in range(5)]
    elif kind == "lines":
        start, end, top = LEFT + 20, WIDTH - RIGHT - 20, max(most, 1)
        labels = [(float(number), str(number)) for number in range(int(top) + 1)]
    else:
        step = (WIDTH - LEFT - RIGHT) / max(len(names), 1)
        start, end, top = LEFT + step / 2, WIDTH - RIGHT - step / 2, max(len(names) - 1, 1)
        labels = [(float(place), name) for place, name in enumerate(names)]

    def across(x: float) -> float:
        return start + x / top * (end - start)

    shapes: list[Shape] = []
    for run, own_points in enumerate(series):
        if kind == "lines":
            path = " ".join(f"{across(point.x):.1f},{_up(point.y):.1f}" for point in own_points)
            shapes.append(Shape("polyline", "line", run, {"points": path}))
        for point in own_points:
            x, y = across(point.x), _up(point.y)
            if kind == "bars":
                shapes.append(_bar(x, y, run, len(series), step, point.label))
                continue
            if point.spread:
                x_low, x_high, low, high = point.spread
                shapes += [_error(x, _up(low), x, _up(high), run), _error(across(x_low), y, across(x_high), y, run)]
            shapes.append(mark(x, y, point.label, run))
    word = "by" if kind == "bars" else "over"
    ticks = _wrapped([(across(x), text) for x, text in labels])
    return Plot(f"{y_title} {word} {x_title}", x_title, y_title, ticks, shapes)


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


def _bar(middle: float, y: float, run: int, runs: int, step: float, label: str) -> Shape:
    width = min(step * 0.8 / max(runs, 1), 36)
    corner = {"x": middle + (run - runs / 2) * width + 1, "y": y}
    size = {"width": max(width - 2, 1), "height": max(HEIGHT - BOTTOM - y, 1)}
    return Shape("rect", "bar", run, _rounded(corner | size), label)


def _error(x1: float, y1: float, x2: float, y2: float, run: int) -> Shape:
    return Shape("line", "error", run, _rounded({"x1": x1, "y1": y1, "x2": x2, "y2": y2}))


def _wrapped(ticks: Sequence[tuple[float, str]]) -> list[tuple[float, list[str]]]:
    """Ticks whose texts find room between their neighbours."""
    room = int((WIDTH - LEFT - RIGHT) / max(len(ticks), 1) / LETTER)
    return [(x, textwrap.wrap(text, max(room, 1), break_long_words=False)) for x, text in ticks]


def _rounded(places: dict[str, float]) -> dict[str, object]:
    return {name: f"{place:.1f}" for name, place in places.items()}


def _up(share: float) -> float:
    """The place of a percentage."""
    return HEIGHT - BOTTOM - share / 100 * (HEIGHT - BOTTOM - TOP)


def _round_up(value: float) -> float:
    """The next of 1, 2, 4, 6, 8 times a power of ten."""
    size = 1.0
    while size * 10 <= value:
        size *= 10
    return next((size * step for step in (1, 2, 4, 6, 8, 10) if size * step >= value), value)
