"""Plots for the page: points, lines and bars as shapes, which `page.html` draws as SVG with the page's own colours.

Each run has a colour and a shape of its own, and every mark has a title that says its value.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Bar", "Plot", "Point", "Shape", "bars", "lines", "mark", "scatter"]

WIDTH, HEIGHT = 560, 320
LEFT, RIGHT, TOP, BOTTOM = 56, 28, 14, 64
LETTER = 6.6
"""Width of a letter of the labels, about."""


@dataclass(frozen=True, slots=True)
class Point:
    """A mark; `label` is its title, `spread` the ends of its error bars: left, right, low and high."""

    x: float
    y: float
    label: str
    spread: tuple[float, float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar; None for a run that has no value there."""

    height: float | None
    label: str


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


def scatter(points: Sequence[Point], x_title: str, y_title: str) -> Plot:
    """One point for each run, in percent over a number."""
    most = _round_up(max((point.spread[1] if point.spread else point.x for point in points), default=1))
    across = _scale(0, most, LEFT, WIDTH - RIGHT)
    shapes = []
    for run, point in enumerate(points):
        x, y = across(point.x), _up(point.y)
        if point.spread:
            x_low, x_high, low, high = point.spread
            shapes += [_error(x, _up(low), x, _up(high), run), _error(across(x_low), y, across(x_high), y, run)]
        shapes.append(mark(x, y, point.label, run))
    ticks = [(across(most * part / 4), f"{most * part / 4:,.0f}") for part in range(5)]
    return Plot(f"{y_title} over {x_title}", x_title, y_title, _wrapped(ticks), shapes)


def lines(series: Sequence[Sequence[Point]], x_title: str, y_title: str, most: float | None = None) -> Plot:
    """A line for each run, in percent over whole numbers from 0, or from 0 to `most` with a tick at each quarter."""
    quarters = [round(most * part / 4) for part in range(5)] if most is not None else []
    most = most or max((point.x for points in series for point in points), default=1)
    across = _scale(0, max(most, 1), LEFT + 20, WIDTH - RIGHT - 20)
    shapes = []
    for run, points in enumerate(series):
        path = " ".join(f"{across(point.x):.1f},{_up(point.y):.1f}" for point in points)
        shapes.append(Shape("polyline", "line", run, {"points": path}))
        shapes += [mark(across(point.x), _up(point.y), point.label, run) for point in points]
    ticks = [(across(k), str(k)) for k in quarters or range(int(max(most, 1)) + 1)]
    return Plot(f"{y_title} over {x_title}", x_title, y_title, _wrapped(ticks), shapes)


def bars(groups: Sequence[tuple[str, Sequence[Bar]]], x_title: str, y_title: str) -> Plot:
    """A group of bars for each name, a bar for each run, in percent."""
    step = (WIDTH - LEFT - RIGHT) / max(len(groups), 1)
    shapes, ticks = [], []
    for position, (name, group) in enumerate(groups):
        middle = LEFT + step * (position + 0.5)
        ticks.append((middle, name))
        width = min(step * 0.8 / max(len(group), 1), 36)
        for run, bar in enumerate(group):
            if bar.height is not None:
                corner = {"x": middle + (run - len(group) / 2) * width + 1, "y": _up(bar.height)}
                size = {"width": max(width - 2, 1), "height": max(HEIGHT - BOTTOM - corner["y"], 1)}
                shapes.append(Shape("rect", "bar", run, _rounded(corner | size), bar.label))
    return Plot(f"{y_title} by {x_title}", x_title, y_title, _wrapped(ticks), shapes)


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


def _wrapped(ticks: Sequence[tuple[float, str]]) -> list[tuple[float, list[str]]]:
    """Ticks whose texts find room between their neighbours."""
    room = int((WIDTH - LEFT - RIGHT) / max(len(ticks), 1) / LETTER)
    return [(x, textwrap.wrap(text, max(room, 1), break_long_words=False)) for x, text in ticks]


def _error(x1: float, y1: float, x2: float, y2: float, run: int) -> Shape:
    return Shape("line", "error", run, _rounded({"x1": x1, "y1": y1, "x2": x2, "y2": y2}))


def _rounded(places: dict[str, float]) -> dict[str, object]:
    return {name: f"{place:.1f}" for name, place in places.items()}


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """A value between low and high as a place between start and end."""
    return lambda value: start + (value - low) / ((high - low) or 1) * (end - start)


_up = _scale(0, 100, HEIGHT - BOTTOM, TOP)


def _round_up(value: float) -> float:
    """The next of 1, 2, 4, 6, 8 times a power of ten."""
    size = 1.0
    while size * 10 <= value:
        size *= 10
    return next((size * step for step in (1, 2, 4, 6, 8, 10) if size * step >= value), value)
