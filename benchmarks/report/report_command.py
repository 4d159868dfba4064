"""`atc report`: compare the runs that `atc bench` left in folders, and write the comparison down."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atc.apps.cli.options import announced
from benchmarks.harness.placed_group import loaded
from benchmarks.harness.registry import benchmarks
from protocols.bounded_files import read_whole
from protocols.errors import UsageError

if TYPE_CHECKING:
    from benchmarks.report.render import TextTable
    from benchmarks.report.runs import RunFolder

__all__ = ["report"]

_file = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path), metavar="DIR...")
@click.option("--paper", "with_paper", is_flag=True, help="Add the papers' figures, labelled as published.")
@click.option("--markdown", "markdown_file", type=_file, metavar="FILE", help="Write the tables as Markdown.")
@click.option(
    "--html", "html_file", type=_file, metavar="FILE", help="Write one page with plots, and every task's solution."
)
@click.option("--json", "as_json", is_flag=True, help="Print all figures as JSON instead of the tables.")
@click.option(
    "--prices",
    "price_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="YAML with the price of a million tokens for each model  [default: the list prices that come with atc]",
)
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="MODEL",
    help="First have MODEL grade each solution's executability and utility, 1 to 3; what it graded before is kept. "
    "Of several the means are shown. Repeatable.",
)
@announced
def report(
    folders: tuple[Path, ...],
    with_paper: bool,
    markdown_file: Path | None,
    html_file: Path | None,
    as_json: bool,
    price_file: Path | None,
    judges: tuple[str, ...],
) -> None:
    """Compare runs of `atc bench` on the tasks that all of them have.

    DIR is what --out named. A folder that `--repeat` filled stands for all runs in it.

    Shown are means with their intervals, cost, successes by gold calls, failures by category, success by number of
    reflections, and for every two runs how they differ task by task. With --paper alone, what the papers published.
    """
    if not folders and not with_paper:
        raise click.UsageError("Missing argument 'DIR...' (or --paper).")
    from atc.costs import read_prices
    from atc.files import to_json, write_text
    from benchmarks.report.comparison import compare
    from benchmarks.report.page import page
    from benchmarks.report.published import published
    from benchmarks.report.render import markdown, show
    from benchmarks.report.runs import read_runs
    from benchmarks.report.tables import paper_tables, tables

    own_tables = [table for folder in folders for table in _own_tables(folder)]
    folders = tuple(folder for folder in folders if not _own_tables(folder))
    if own_tables and (as_json or judges or html_file):
        raise UsageError("--json, --judge and --html are of solutions, and a run has none; see its summary.json")
    for judge in dict.fromkeys(judges):
        _grade(read_runs(folders), judge)
    comparison = compare(read_runs(folders), read_prices(price_file))
    papers = paper_tables(comparison.runs) if with_paper else []
    compared_tables = tables(comparison) if folders else []
    report_tables = [*own_tables, *compared_tables, *papers]
    if as_json:
        data = comparison.to_json()
        if with_paper:
            others = {name: published(name) for name in ("toolbench", "complexity", "manipulation")}
            data["published"] = {**published("paper"), **others}
        click.echo(to_json(data), nl=False)
    else:
        show(report_tables, comparison.notes)
    if markdown_file:
        write_text(markdown_file, markdown(report_tables, comparison.notes))
    if html_file:
        write_text(html_file, page(comparison, report_tables))


def _own_tables(folder: Path) -> list[TextTable]:
    """The tables of a run whose benchmark makes its own from `summary.json`; none of another run."""
    try:
        summary = json.loads(read_whole(folder / "summary.json"))
        benchmark = benchmarks().get(summary["benchmark"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []  # what is wrong with it is said where the run is read
    return list(loaded(benchmark.tables)(summary)) if benchmark and benchmark.tables else []


def _grade(runs: Sequence[RunFolder], name: str) -> None:
    """Have a model grade the runs."""
    from atc.models import open_model
    from benchmarks.report.rubric import grade

    with closing(open_model(name)) as model:
        for run in runs:
            grade(run.folder, run.tasks, model)
