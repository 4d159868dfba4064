"""One HTML page with the whole report: tables, plots, and a matrix of tasks that leads to every solution.

The page is one file that loads nothing and runs no script: a policy in its head forbids both, and a click is a link to
a part of the page that CSS then shows. All text comes through a template that escapes it, since questions, programs,
answers and responses are other people's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from atc.apps.page.environment import page_environment
from benchmarks.report.comparison import BenchmarkReport, ComparedRun, gold_rows, group_rows
from benchmarks.report.figures import Group
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
    gold = gold_rows(runs)
    plots = [
        ("Tokens against success", plot("points", costs, "tokens a task", "Success %")),
        ("Success by reflections (as in Figure 5)", plot("lines", reflections, "reflections, at most", "Success %")),
        (
            "Solved by number of gold calls (as in Figure 6a)",
            plot("bars", _bars(runs, gold, _gold_share), "gold calls", "solved %", [name for name, _ in gold]),
        ),
    ]
    if errors := group_rows(runs, lambda figures: figures.by_error):
        bars = plot(
            "bars", _bars(runs, errors, _error_share), "category", "of the failed %", [row[0] for row in errors]
        )
        plots.append(("Failed tasks by category (ours, as in Figure 6b)", bars))
    return plots


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


def _gold_share(compared: ComparedRun, group: Group | None) -> tuple[int, int, str]:
    return (group.solved, group.tasks, "") if group else (0, 0, "")


def _error_share(compared: ComparedRun, group: Group | None) -> tuple[int, int, str]:
    return group.tasks if group else 0, sum(other.tasks for other in compared.figures.by_error), " failed"


def _bars(
    runs: Sequence[ComparedRun],
    rows: Sequence[tuple[str, list[Group | None]]],
    share: Callable[[ComparedRun, Group | None], tuple[int, int, str]],
) -> list[list[Point]]:
    """A bar of each run in each row, for a number of a total; none where the total is 0."""
    return [
        [
            Point(place, 100 * number / total, f"{compared.run.name}, {name}: {number} of {total}{word}")
            for place, (name, groups) in enumerate(rows)
            for number, total, word in [share(compared, groups[column])]
            if total
        ]
        for column, compared in enumerate(runs)
    ]
