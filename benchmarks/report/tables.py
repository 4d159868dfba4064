"""A report as tables of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.report.comparison import BenchmarkReport, ComparedRun, gold_rows, group_rows
from benchmarks.report.figures import Unit, measures
from benchmarks.report.manipulation_tables import MANIPULATION, manipulation_tables, published_tables
from benchmarks.report.published import published
from benchmarks.report.render import TextTable
from benchmarks.report.stats import Difference, Estimate

__all__ = ["TextTable", "paper_tables", "percent", "tables"]

_PUBLISHED = ("restbench-tmdb", "restbench-spotify", "toolflow")
"""The benchmarks that papers published Success, Path and Prec for."""

_TOOLBENCH = "toolbench"
"""The benchmark whose papers have tables of their own."""


def percent(share: float, digits: int = 1) -> str:
    """0.8 as `80.0 %`."""
    return f"{100 * share:.{digits}f} %"


def _number(value: float, unit: Unit, currency: str = "") -> str:
    """A value of a measure with its unit, with as many digits as mean something."""
    if unit == "share":
        return percent(value)
    if unit == "money":
        return f"{value:.4f} {currency}" if value else f"0 {currency}"
    if unit == "seconds":
        return f"{value:,.1f} s"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"


def tables(report: BenchmarkReport) -> list[TextTable]:
    """All tables of a report, but for the published figures."""
    suite = manipulation_tables(compared.run for compared in report.runs)
    report_tables = [_settings(report), *suite, _means(report), _totals(report), *_grouped(report)]
    if any(compared.run.config["benchmark"] != MANIPULATION for compared in report.runs):
        report_tables.append(_within(report))
    if report.pairs:
        report_tables += [_pairs(report), _agreement(report)]
    return report_tables


def _published_rows(benchmark: str) -> Iterator[tuple[str, ...]]:
    """The published rows of a benchmark, by its name in `atc bench`, in the order of the tables; often none.

    `toolflow-weather` and the like are parts of `toolflow`, with whose figures they are shown.
    """
    for table in published("paper")["success"]:
        for name in _PUBLISHED:
            if benchmark == name or benchmark.startswith(f"{name}-"):
                for method, figures in table.get(name, {}).items():
                    yield f"published, {table['table']}", method, table["model"], *map(_bare, figures)


def paper_tables(runs: Sequence[ComparedRun]) -> list[TextTable]:
    """The papers' figures, labelled as published, with those of the runs below them. Without runs: all of them."""
    data = published("paper")
    names = dict.fromkeys(str(compared.run.config["benchmark"]) for compared in runs)
    names = names or dict.fromkeys((*_PUBLISHED, MANIPULATION, _TOOLBENCH))
    paper_figures: list[TextTable] = []
    for name in names:
        if name == _TOOLBENCH:
            paper_figures += _toolbench_tables()
            continue
        if name == MANIPULATION:
            paper_figures += [*published_tables(), *_complexity_tables()]
            continue
        rows = tuple(_published_rows(name))
        ours = [_our_row(compared) for compared in runs if compared.run.config["benchmark"] == name]
        remarks = list(data["remarks"]) if rows else [f"Nothing is published for {name}."]
        if ours and rows:
            remarks.append("Ours were measured under the settings above; what is published was not measured by us.")
        columns = ("source", "method", "model", "Success %", "Path %", "Prec %")
        paper_figures.append(
            TextTable(f"Published and ours: {name}", columns, (*rows, *ours), tuple(remarks), text_columns=3)
        )
    if set(names) <= {_TOOLBENCH, MANIPULATION}:
        return paper_figures
    probing = data["probing"]
    paper_figures.append(
        TextTable(
            f"Published: tools learned by probing ({probing['table']})",
            ("", *probing["columns"]),
            tuple((name, *map(str, row)) for name, row in probing["rows"].items()),
            tuple(f"{name}, published as a drawing without values: {text}." for name, text in data["drawings"].items()),
        )
    )
    return paper_figures


def _toolbench_tables() -> list[TextTable]:
    data = published("toolbench")
    toolbench_tables = [
        TextTable(
            f"Published, {table['source']}: {table['title']}",
            ("source", "method", *table["columns"]),
            tuple(("published", str(name), *map(str, cells)) for name, cells in table["rows"].items()),
            tuple(table.get("remarks", ())),
            text_columns=2,
        )
        for table in data["tables"]
    ]
    agreement = tuple(map(str, data["human"]))
    return [*toolbench_tables, TextTable("Published: agreement of evaluator and people, in %", (), (), agreement)]


def _complexity_tables() -> list[TextTable]:
    data = published("complexity")
    scores = tuple(
        (f"{data[examples]['table']}, {examples}", *map(str, data[examples]["scores"]))
        for examples in ("demonstrations", "samples")
    )
    correlation = tuple((f"{name}, published", *map(str, row.values())) for name, row in data["correlation"].items())
    models = tuple(data["correlation"]["complexity"])
    spread = f"Spearman's correlation with error rates ({', '.join(data['correlated'])})"
    return [
        TextTable(f"Published, {data['source']}: API complexity", ("", *data["tasks"]), scores),
        TextTable(f"Published, {data['source']}: {spread}", ("score", *models), correlation, (*data["remarks"],)),
    ]


def _our_row(compared: ComparedRun) -> tuple[str, ...]:
    shares = [compared.figures.means[name].mean for name in ("success", "path", "precision")]
    run = compared.run
    return (
        "ours",
        f"{run.name}{'' if run.name == run.mode else f' ({run.mode})'}, {len(compared.tasks)} tasks, tools "
        f"{run.config.get('candidates', 'all')}",
        run.model,
        *(_bare(None if share is None else 100 * share) for share in shares),
    )


def _bare(figure: float | None) -> str:
    return "-" if figure is None else f"{figure:.2f}"


def _names(report: BenchmarkReport) -> tuple[str, ...]:
    return tuple(compared.run.name for compared in report.runs)


def _settings(report: BenchmarkReport) -> TextTable:
    """The settings that differ between the runs; below them, the common ones."""
    rows = [(name, *map(_setting, _apart(values))) for name, values in report.settings.items()]
    common = {name: value for name, value in report.runs[0].run.config.items() if name not in report.settings}
    text = "; ".join(f"{name} {_setting(value)}" for name, value in common.items())
    return TextTable("Settings", ("setting", *_names(report)), tuple(rows), (f"All runs: {text}.",) if text else ())


def _apart(values: Sequence[Any]) -> Sequence[Any]:
    """The values of a setting; of mappings that have some entries in common, the others."""
    if not all(isinstance(value, Mapping) for value in values):
        return values
    common = {name for name in values[0] if all(value.get(name) == values[0][name] for value in values)}
    return [{name: entry for name, entry in value.items() if name not in common} for value in values]


def _setting(value: object) -> str:
    """A setting in short: of a file its name and the first digits of its hash."""
    if isinstance(value, dict):
        if set(value) == {"file", "sha256"}:
            return f"{value['file']} ({str(value['sha256'])[:8]})"
        return ", ".join(f"{name}: {_setting(item)}" for name, item in value.items())
    return "-" if value is None else str(value)


def _means(report: BenchmarkReport) -> TextTable:
    currency = report.prices.currency
    rows = [("tasks", *(f"{compared.figures.tasks}" for compared in report.runs))]
    for measure in measures(None):
        title = f"{measure.title} (ours)" if measure.ours else measure.title
        estimates = [compared.figures.means[measure.name] for compared in report.runs]
        if any(interval.n for interval in estimates):
            rows.append((title, *(_estimate(interval, measure.unit, currency) for interval in estimates)))
    remarks = [
        "Means over the tasks, with 95 % intervals (bootstrap; exact where all tasks are alike). Success: every gold "
        "call was answered in the final attempt, and there is an answer. Path and Prec: recall and precision of the "
        "calls. False success: of the answers whose truth is known, the share that is wrong."
    ]
    remarks += [
        f"Price of {model}: {price.prompt:g} {currency} a million prompt tokens, {price.completion:g} completion "
        f"tokens ({price.source}; {report.prices.date})."
        for model in dict.fromkeys(compared.run.model for compared in report.runs)
        if (price := report.prices.of(model))
    ]
    return TextTable("Figures", ("measure", *_names(report)), tuple(rows), tuple(remarks))


def _estimate(interval: Estimate, unit: Unit, currency: str) -> str:
    if interval.mean is None or interval.low is None or interval.high is None:
        return "-"
    text = _number(interval.mean, unit, currency)
    if interval.low == interval.high:
        return text
    low, high = (
        _number(end, unit).removesuffix(" %").removesuffix(" s").strip() for end in (interval.low, interval.high)
    )
    return f"{text}\n[{low}, {high}]"


def _totals(report: BenchmarkReport) -> TextTable:
    currency = report.prices.currency
    all_figures = [compared.figures for compared in report.runs]
    rows = [
        ("tokens in all", *(f"{figures.tokens:,}" for figures in all_figures)),
        ("solved tasks", *(f"{figures.solved}" for figures in all_figures)),
        ("tokens for each solved task", *(_or_dash(figures.tokens_per_solved, "number") for figures in all_figures)),
        ("cost in all", *(_or_dash(figures.cost, "money", currency) for figures in all_figures)),
        ("seconds, median", *(_or_dash(figures.seconds_median, "seconds") for figures in all_figures)),
    ]
    return TextTable("Tokens, cost and time (ours, as in Figure 7)", ("", *_names(report)), tuple(rows))


def _or_dash(value: float | None, unit: Unit, currency: str = "") -> str:
    return "-" if value is None else _number(value, unit, currency)


def _grouped(report: BenchmarkReport) -> list[TextTable]:
    solved = tuple(
        (name, *(f"{g.solved} of {g.tasks} ({percent(g.solved / g.tasks, 0)})" if g else "-" for g in row))
        for name, row in gold_rows(report.runs)
    )
    totals = [sum(group.tasks for group in compared.figures.by_error) for compared in report.runs]
    failed = tuple(
        (
            name,
            *(f"{g.tasks} ({percent(g.tasks / total, 0)})" if g else "0" for g, total in zip(row, totals, strict=True)),
        )
        for name, row in group_rows(report.runs, lambda figures: figures.by_error)
    )
    names = _names(report)
    grouped = [TextTable("Solved by number of gold calls (as in Figure 6a)", ("gold calls", *names), solved)]
    if failed:
        grouped.append(TextTable("Failed tasks by category (ours, as in Figure 6b)", ("category", *names), failed))
    return grouped


def _within(report: BenchmarkReport) -> TextTable:
    shares = [compared.figures.by_reflections for compared in report.runs]
    most = max(map(len, shares))  # none for modes that do not reflect
    rows = [(str(k), *(percent(share[k]) if k < len(share) else "-" for share in shares)) for k in range(most)]
    remark = (
        "Success had each solution been cut off after so many reflections, from the attempts of these runs; a program "
        "that a check held back was not run and counts as unsolved."
    )
    return TextTable("Success by reflections (as in Figure 5)", ("at most", *_names(report)), tuple(rows), (remark,))


def _pairs(report: BenchmarkReport) -> TextTable:
    rows = []
    for pair in report.pairs:
        name = f"{pair.second} - {pair.first}"
        for measure in measures(None):
            gap = pair.differences.get(measure.name)
            if gap is None or (not gap.more and not gap.fewer and measure.name != "success"):
                continue
            rows.append(
                (
                    name,
                    measure.title,
                    _difference(gap, measure.unit),
                    f"{gap.more} / {gap.fewer} of {gap.n}",
                    f"{gap.p:.3f}" if gap.p >= 0.001 else "< 0.001",
                )
            )
            name = ""
    columns = ("runs", "measure", "difference", "more / fewer", "p")
    remark = (
        "Second minus first on the same tasks, with how many have more and fewer; measures without any difference are "
        "left out. p: two-sided paired sign-flip test, not corrected for the number of tests."
    )
    return TextTable("Paired differences (ours)", columns, tuple(rows), (remark,), text_columns=2)


def _difference(gap: Difference, unit: Unit) -> str:
    if unit == "share":
        mean, low, high = (f"{100 * value:+.1f}" for value in (gap.mean, gap.low, gap.high))
        return f"{mean} points\n[{low}, {high}]"
    digits = {"money": 4, "seconds": 1, "number": 0}[unit]
    mean, low, high = (f"{value:+,.{digits}f}" for value in (gap.mean, gap.low, gap.high))
    return f"{mean}\n[{low}, {high}]"


def _agreement(report: BenchmarkReport) -> TextTable:
    rows = [(f"{pair.first} and {pair.second}", *map(percent, pair.consistency.values())) for pair in report.pairs]
    columns = ("runs", "same success", "same answer", "same calls", "same program")
    remark = "Share of tasks on which two runs agree; of two runs with the same settings it is their consistency."
    return TextTable("Agreement of two runs (ours)", columns, tuple(rows), (remark,))
