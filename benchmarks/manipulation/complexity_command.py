"""`atc complexity`: how far the calls of a task's tests are from those of its demonstrations."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atc.apps.cli import print_json
from atc.apps.cli.options import argument, json_option, option, takes
from protocols.errors import UsageError

if TYPE_CHECKING:
    from benchmarks.manipulation.complexity import Complexity
    from benchmarks.report.runs import RunFolder
    from benchmarks.report.tables import TextTable

__all__ = ["complexity"]

_LONGEST = 60
"""Characters of a demonstration's name in the table."""


@dataclass(frozen=True, slots=True)
class RunCorrelation:
    """Spearman's correlation of both scores with the error of a run, over tasks or over the tests of one task.

    `errors` are means in percent, by name of the task; a correlation is None where one side does not vary.
    """

    run: str
    over: str
    points: int
    score: float | None
    reversed_f1: float | None
    errors: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class _ComplexityOptions:
    """The command line of `atc complexity`."""

    names: tuple[str, ...] = argument(nargs=-1, metavar="[NAME...]")
    files: Path | None = option(
        "--files",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="With one manipulation-TASK: functions, examples and test.jsonl of the original release in place of ours.",
    )
    against: tuple[Path, ...] = option(
        "--against",
        multiple=True,
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="RUN",
        help="Compare with the errors of a run that `atc bench --out` wrote: Spearman's correlation over the NAMEs, "
        "or over the tests of a single NAME. Repeatable.",
    )
    as_json: bool = json_option("Print all figures as JSON instead of the tables.")


@click.command()
@takes(_ComplexityOptions)
def complexity(options: _ComplexityOptions) -> None:
    """Compute the API complexity of each NAME.

    It tells how far tests are from demonstrations, by their calls alone. NAME is manipulation-TASK. Printed are the
    score (natural logarithm; each call of the nearest demonstration adds 0.69, each call that it lacks the logarithm of
    the number of functions) and the reversed F1, which is 0 where the calls are the same.
    """
    if not options.names:
        raise click.UsageError("Name a task (NAME...).")
    if options.files and len(options.names) != 1:
        raise click.UsageError("--files has the files of one tool: say which with one manipulation-TASK")
    from benchmarks.manipulation.complexity import named_complexity
    from benchmarks.report.render import show
    from benchmarks.report.runs import read_runs

    runs = read_runs(options.against)
    scored = [named_complexity(name, options.files) for name in dict.fromkeys(options.names)]
    correlations = [_correlation(run, scored) for run in runs]
    if options.as_json:
        print_json({"tasks": list(map(asdict, scored)), "against": list(map(asdict, correlations))})
        return
    show(_tables(scored, correlations))


def _correlation(run: RunFolder, scored: Sequence[Complexity]) -> RunCorrelation:
    """Raises: UsageError: The run has no test of any task."""
    from benchmarks.manipulation.complexity import run_errors
    from benchmarks.report.stats import spearman

    errors = {task.name: errors for task in scored if (errors := run_errors(run, task))}
    if not errors:
        raise UsageError(
            f"{run.folder} has no test of {', '.join(task.name for task in scored)} on these files; name another run, "
            "or with --files the files that it was made with"
        )
    means = {name: statistics.fmean(by_test.values()) for name, by_test in errors.items()}
    if len(scored) == 1:
        by_test = errors[scored[0].name]
        tests = [near for near in scored[0].nearest if near.test in by_test]
        over, wrong = "tests", [by_test[near.test] for near in tests]
        scores, reversed_f1s = [near.distance for near in tests], [near.reversed_f1 for near in tests]
    else:
        tasks = [task for task in scored if task.name in means]
        over, wrong = "tasks", [means[task.name] for task in tasks]
        scores, reversed_f1s = [task.score for task in tasks], [task.reversed_f1 for task in tasks]
    return RunCorrelation(run.name, over, len(wrong), spearman(scores, wrong), spearman(reversed_f1s, wrong), means)


def _tables(scored: Sequence[Complexity], correlations: Sequence[RunCorrelation]) -> list[TextTable]:
    from benchmarks.manipulation.complexity import PREFIX
    from benchmarks.report.published import published
    from benchmarks.report.tables import TextTable
    from protocols.quoting import shorten

    data = published("complexity")
    scores = dict(zip(data["tasks"], data["demonstrations"]["scores"], strict=True))
    columns = ("task", "score", "r-F1", "|D|", "demonstrations", "tests", "published")
    rows = [
        (
            task.name,
            f"{task.score:.2f}",
            f"{task.reversed_f1:.1f}",
            str(task.functions),
            str(task.demonstrations),
            str(len(task.nearest)),
            str(scores.get(task.name.removeprefix(PREFIX), "-")),
        )
        for task in scored
    ]
    tables = [TextTable("API complexity", columns, tuple(rows))]
    if len(scored) == 1:
        nearest = tuple(
            (near.test, shorten(near.demonstration, _LONGEST), f"{near.distance:.2f}", f"{near.reversed_f1:.1f}")
            for near in scored[0].nearest
        )
        nearest_columns = ("test", "nearest of the demonstrations", "distance", "r-F1")
        tables.append(TextTable("Nearest demonstrations", nearest_columns, nearest, text_columns=2))
    if correlations:
        against = tuple(
            (
                entry.run,
                *(f"{entry.errors[task.name]:.1f} %" if task.name in entry.errors else "-" for task in scored),
                f"{entry.points} {entry.over}",
                *("-" if figure is None else f"{figure:.2f}" for figure in (entry.score, entry.reversed_f1)),
            )
            for entry in correlations
        )
        against_columns = ("run", *(f"error, {task.name}" for task in scored), "over", "score", "r-F1")
        tables.append(TextTable("Spearman's correlation with the errors of runs", against_columns, against))
    return tables
