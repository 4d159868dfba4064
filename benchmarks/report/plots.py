"""Plots as SVG for the page: points, lines and bars, drawn with the page's own colours and readable without them.

Each run has a colour and a shape of its own, and every mark has a title that says its value. Nothing is loaded.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

__all__ = ["Bar", "Point", "bars", "legend", "lines", "scatter"]

WIDTH, HEIGHT = 560, 320
LEFT, RIGHT, TOP, BOTTOM = 56, 28, 14, 64
LETTER = 6.6
"""Width of a letter of the labels, about."""
COLOURS = 6


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


def scatter(points: Sequence[Point], x_title: str, y_title: str) -> Markup:
    """One point for each run, in percent over a number."""
    most = _round_up(max((point.spread[1] if point.spread else point.x for point in points), default=1))
    across, up = _scale(0, most, LEFT, WIDTH - RIGHT), _percent_scale()
    drawn = []
    for n, point in enumerate(points):
        x, y = across(point.x), up(point.y)
        if point.spread:
            x_low, x_high, low, high = point.spread
            drawn += [_error(x, up(low), x, up(high), n), _error(across(x_low), y, across(x_high), y, n)]
        drawn.append(_mark(x, y, point.label, n))
    ticks = [(across(most * part / 4), f"{most * part / 4:,.0f}") for part in range(5)]
    return _svg(f"{y_title} over {x_title}", _frame(ticks, x_title, y_title), *drawn)


def lines(series: Sequence[Sequence[Point]], x_title: str, y_title: str) -> Markup:
    """A line for each run, in percent over whole numbers from 0."""
    most = max((point.x for points in series for point in points), default=1)
    across, up = _scale(0, max(most, 1), LEFT + 20, WIDTH - RIGHT - 20), _percent_scale()
    drawn = []
    for n, points in enumerate(series):
        path = " ".join(f"{across(point.x):.1f},{up(point.y):.1f}" for point in points)
        drawn.append(Markup('<polyline class="line s{}" points="{}"/>').format(n % COLOURS, path))
        drawn += [_mark(across(point.x), up(point.y), point.label, n) for point in points]
    ticks = [(across(k), str(k)) for k in range(int(max(most, 1)) + 1)]
    return _svg(f"{y_title} over {x_title}", _frame(ticks, x_title, y_title), *drawn)


def bars(groups: Sequence[tuple[str, Sequence[Bar]]], x_title: str, y_title: str) -> Markup:
    """A group of bars for each name, a bar for each run, in percent."""
    up, step = _percent_scale(), (WIDTH - LEFT - RIGHT) / max(len(groups), 1)
    drawn, ticks = [], []
    for position, (name, group) in enumerate(groups):
        middle = LEFT + step * (position + 0.5)
        ticks.append((middle, name))
        width = min(step * 0.8 / max(len(group), 1), 36)
        for n, bar in enumerate(group):
            if bar.height is not None:
                x, y = middle + (n - len(group) / 2) * width, up(bar.height)
                drawn.append(
                    Markup(
                        '<rect class="bar s{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}">'
                        "<title>{}</title></rect>"
                    ).format(n % COLOURS, x + 1, y, max(width - 2, 1), max(HEIGHT - BOTTOM - y, 1), bar.label)
                )
    return _svg(f"{y_title} by {x_title}", _frame(ticks, x_title, y_title), *drawn)


def legend(names: Iterable[str]) -> Markup:
    """Which colour and shape is which run."""
    entries = [
        Markup('<li><svg width="18" height="18" aria-hidden="true">{}</svg>{}</li>').format(_mark(9, 9, "", n), name)
        for n, name in enumerate(names)
    ]
    return Markup('<ul class="legend">{}</ul>').format(Markup("").join(entries))


def _svg(title: str, *parts: Markup) -> Markup:
    return Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        WIDTH, HEIGHT, title, Markup("").join(parts)
    )


def _frame(ticks: Sequence[tuple[float, str]], x_title: str, y_title: str) -> Markup:
    """Grid and axes: percent upwards, `ticks` (place and text) across."""
    up = _percent_scale()
    parts = [
        Markup(
            '<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/><text x="{}" y="{:.1f}" class="end">{}</text>'
        ).format(LEFT, WIDTH - RIGHT, up(share), up(share), LEFT - 8, up(share) + 4, share)
        for share in (0, 25, 50, 75, 100)
    ]
    room = int((WIDTH - LEFT - RIGHT) / max(len(ticks), 1) / LETTER)
    for x, text in ticks:
        for n, line in enumerate(textwrap.wrap(text, max(room, 1), break_long_words=False)):
            y = HEIGHT - BOTTOM + 18 + 14 * n
            parts.append(Markup('<text x="{:.1f}" y="{}" class="middle">{}</text>').format(x, y, line))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(
        Markup('<text x="{}" y="{}" class="middle title">{}</text>').format(
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, x_title
        )
    )
    parts.append(
        Markup('<text transform="translate(14 {}) rotate(-90)" class="middle title">{}</text>').format(middle, y_title)
    )
    return Markup("").join(parts)


def _mark(x: float, y: float, label: str, n: int) -> Markup:
    """A circle, square, triangle or diamond with a title."""
    shapes = (
        "M{l} {y}a6 6 0 1 0 12 0a6 6 0 1 0 -12 0z",
        "M{l} {t}h12v12h-12z",
        "M{x} {t}L{r} {b}H{l}z",
        "M{x} {t}L{r} {y}L{x} {b}L{l} {y}z",
    )
    ends = {"x": x, "y": y, "l": x - 6, "r": x + 6, "t": y - 6, "b": y + 6}
    path = shapes[n % len(shapes)].format(**{name: round(value, 1) for name, value in ends.items()})
    return Markup('<path class="mark s{}" d="{}"><title>{}</title></path>').format(n % COLOURS, path, label)


def _error(x1: float, y1: float, x2: float, y2: float, n: int) -> Markup:
    return Markup('<line class="error s{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>').format(
        n % COLOURS, x1, y1, x2, y2
    )


def _percent_scale() -> Callable[[float], float]:
    return _scale(0, 100, HEIGHT - BOTTOM, TOP)


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """A value between low and high as a place between start and end."""
    return lambda value: start + (value - low) / ((high - low) or 1) * (end - start)


def _round_up(value: float) -> float:
    """The next of 1, 2, 4, 6, 8 times a power of ten."""
    size = 1.0
    while size * 10 <= value:
        size *= 10
    return next((size * step for step in (1, 2, 4, 6, 8, 10) if size * step >= value), value)
