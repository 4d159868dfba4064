"""One HTML page with the whole report: tables, plots, and a matrix of tasks that leads to every solution.

The page is one file that loads nothing and runs no script: a policy in its head forbids both, and a click is a link to
a part of the page that CSS then shows. All text comes through a template that escapes it, since questions, programs,
answers and responses are other people's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from atc.apps.page.environment import page_environment
from benchmarks.report.comparison import BenchmarkReport, ComparedRun
from benchmarks.report.plots import Plot, Point, mark, plot
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
