"""One HTML page with the whole report: tables, plots, and a matrix of tasks that leads to every solution.

The page is one file that loads nothing and runs no script: a policy in its head forbids both, and a click is a link to
a part of the page that CSS then shows. All text comes through a template that escapes it, since questions, programs,
answers and responses are other people's. Plots are shapes, which the template draws as SVG with the page's own colours:
each run has a colour and a shape of its own, and every mark has a title that says its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from markupsafe import Markup

from atc.apps.page.environment import page_environment
from benchmarks.report.comparison import BenchmarkReport, ComparedRun
from benchmarks.report.runs import TaskRecord
from benchmarks.report.stats import estimate
from benchmarks.report.tables import TextTable, percent

__all__ = ["page"]

OUTCOMES = {
    "solved": ("✓", "solved"),
    "wrong": ("≠", "answered, and the answer is wrong"),
    "answered": ("✗", "answered without all gold calls"),
    "failed": ("∅", "no answer"),
}
"""The outcomes of a task, with a sign and words, so that no colour is needed to tell them apart."""


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


@dataclass(frozen=True, slots=True)
class Cell:
    """One task in one run; `id` names its part of the page, `kind` is one of OUTCOMES."""

    id: str
    run: str
    mode: str
    model: str
    task: TaskRecord
    kind: str


@dataclass(frozen=True, slots=True)
class Row:
    """One task: a cell for each run, None where the run lacks it. `agrees`: all runs solved it, or none did."""

    id: str
    task: TaskRecord
    cells: tuple[Cell | None, ...]
    agrees: bool


def page(report: BenchmarkReport, tables: Sequence[TextTable]) -> str:
    """The page as text; `tables` are shown first, the papers' among them where they are asked for."""
    here = Path(__file__).parent
    environment = page_environment(here)
    environment.filters["percent"] = percent
    return environment.get_template("page.html").render(
        style=Markup((here / "page.css").read_text("utf-8")),
        report=report,
        tables=tables,
        plots=_plots(report.runs) if report.runs else [],
        mark=mark,
        up=_up,
        rows=_rows(report.runs),
        sign={kind: sign for kind, (sign, _) in OUTCOMES.items()},
        word={kind: word for kind, (_, word) in OUTCOMES.items()},
    )


def _rows(runs: Sequence[ComparedRun]) -> list[Row]:
    """The tasks of all runs, in the order of the first run that has them."""
    tasks_by_key = [{task.key: task for task in compared.tasks} for compared in runs]
    tasks: dict[tuple[str, str, str], TaskRecord] = {}
    for compared in runs:
        for task in compared.tasks:
            tasks.setdefault(task.key, task)
    rows = []
    for number, (key, task) in enumerate(tasks.items()):
        cells = tuple(
            _cell(f"t{number}-r{column}", compared, run_task) if (run_task := by_key.get(key)) else None
            for column, (compared, by_key) in enumerate(zip(runs, tasks_by_key, strict=True))
        )
        rows.append(Row(f"t{number}", task, cells, len({cell.task.metrics.success for cell in cells if cell}) < 2))
    return rows


def _cell(name: str, compared: ComparedRun, task: TaskRecord) -> Cell:
    metrics = task.metrics
    kind = "solved" if metrics.success == 1 else "answered" if metrics.answered else "failed"
    if metrics.answered and metrics.correct is False:
        kind = "wrong"
    return Cell(name, compared.run.name, compared.run.mode, compared.run.model, task, kind)


def _plots(runs: Sequence[ComparedRun]) -> list[tuple[str, Plot]]:
    costs = [[_cost_point(compared)] for compared in runs]
    reflections = [_reflection_points(compared) for compared in runs]
    return [
        ("Tokens against success", plot("points", costs, "tokens a task", "Success %")),
        ("Success by reflections (as in Figure 5)", plot("lines", reflections, "reflections, at most", "Success %")),
    ]


def _cost_point(compared: ComparedRun) -> Point:
    tokens, success = estimate([task.metrics.tokens for task in compared.tasks]), compared.figures.means["success"]
    x, x_low, x_high = (end or 0 for end in (tokens.mean, tokens.low, tokens.high))
    y, y_low, y_high = (100 * (end or 0) for end in (success.mean, success.low, success.high))
    label = f"{compared.run.name}: {x:,.0f} tokens a task, success {y:.1f} % [{y_low:.1f}, {y_high:.1f}]"
    return Point(x, y, label, (x_low, x_high, y_low, y_high))


def _reflection_points(compared: ComparedRun) -> list[Point]:
    return [
        Point(k, 100 * share, f"{compared.run.name}: {percent(share)} with at most {k} reflections")
        for k, share in enumerate(compared.figures.by_reflections)
    ]


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
