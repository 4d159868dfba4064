"""A report as tables of text: what the terminal, the Markdown file and the HTML page show alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.report.comparison import Compared, Report
from benchmarks.report.figures import Unit, measures
from benchmarks.report.paper import BENCHMARKS, paper, published
from benchmarks.report.stats import Difference, Estimate

__all__ = ["TextTable", "number", "paper_tables", "percent", "tables"]


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table ready to be shown; the first `left` columns are text, the others figures. `remarks` stand below it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...] = ()
    left: int = 1


def percent(share: float, digits: int = 1) -> str:
    """0.8 as `80.0 %`."""
    return f"{100 * share:.{digits}f} %"


def number(value: float, unit: Unit, currency: str = "") -> str:
    """A value of a measure with its unit, with as many digits as mean something."""
    if unit == "share":
        return percent(value)
    if unit == "money":
        return f"{value:.4f} {currency}" if value else f"0 {currency}"
    if unit == "seconds":
        return f"{value:,.1f} s"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"


def tables(report: Report) -> list[TextTable]:
    """All tables of a report, but for the published figures."""
    found = [_settings(report), _means(report), _totals(report), *_grouped(report), _within(report)]
    if report.pairs:
        found += [_pairs(report), _agreement(report)]
    return found


def paper_tables(runs: Sequence[Compared]) -> list[TextTable]:
    """The papers' figures, labelled as published, with those of the runs below them. Without runs: all of them."""
    data = paper()
    names = dict.fromkeys(str(one.run.config["benchmark"]) for one in runs) or dict.fromkeys(BENCHMARKS)
    found = []
    for name in names:
        rows = [
            (f"published, {row.table}", row.method, row.model, *(_bare(figure) for figure in row.figures))
            for row in published(name)
        ]
        ours = [_our_row(one) for one in runs if one.run.config["benchmark"] == name]
        remarks = list(data["remarks"]) if rows else [f"Nothing is published for {name}."]
        if ours and rows:
            remarks.append("Ours were measured under the settings above; what is published was not measured by us.")
        columns = ("source", "method", "model", "Success %", "Path %", "Prec %")
        found.append(TextTable(f"Published and ours: {name}", columns, (*rows, *ours), tuple(remarks), left=3))
    probing = data["probing"]
    found.append(
        TextTable(
            f"Published: tools learned by probing ({probing['table']})",
            ("", *probing["columns"]),
            tuple((name, *map(str, row)) for name, row in probing["rows"].items()),
            tuple(f"{name}, published as a drawing without values: {text}." for name, text in data["drawings"].items()),
        )
    )
    return found


def _our_row(one: Compared) -> tuple[str, ...]:
    shares = [one.figures.means[name].mean for name in ("success", "path", "precision")]
    run = one.run
    return (
        "ours",
        f"{run.name}{'' if run.name == run.mode else f' ({run.mode})'}, {len(one.tasks)} tasks",
        run.model,
        *(_bare(None if share is None else 100 * share) for share in shares),
    )


def _bare(figure: float | None) -> str:
    return "-" if figure is None else f"{figure:.2f}"


def _names(report: Report) -> tuple[str, ...]:
    return tuple(one.run.name for one in report.runs)


def _settings(report: Report) -> TextTable:
    """What the runs differ in, and below it what they have in common."""
    rows = [(name, *(_setting(value) for value in values)) for name, values in report.settings.items()]
    common = {name: value for name, value in report.runs[0].run.config.items() if name not in report.settings}
    same = "; ".join(f"{name} {_setting(value)}" for name, value in common.items())
    return TextTable("Settings", ("setting", *_names(report)), tuple(rows), (f"All runs: {same}.",) if same else ())


def _setting(value: object) -> str:
    """A setting in short: of a file its name and the first digits of its hash."""
    if isinstance(value, dict):
        if set(value) == {"file", "sha256"}:
            return f"{value['file']} ({str(value['sha256'])[:8]})"
        return ", ".join(f"{name}: {_setting(one)}" for name, one in value.items())
    return "-" if value is None else str(value)


def _means(report: Report) -> TextTable:
    currency = report.prices.currency
    rows = [("tasks", *(f"{one.figures.tasks}" for one in report.runs))]
    for measure in measures(None):
        title = f"{measure.title} (ours)" if measure.ours else measure.title
        estimates = [one.figures.means[measure.name] for one in report.runs]
        if any(one.n for one in estimates):
            rows.append((title, *(_estimate(one, measure.unit, currency) for one in estimates)))
    remarks = [
        "Means over the tasks, with 95 % intervals (bootstrap; exact where all tasks are alike). Success: every gold "
        "call was answered in the final attempt, and there is an answer. Path and Prec: recall and precision of the "
        "calls. False success: of the answers whose truth is known, the share that is wrong."
    ]
    for model in dict.fromkeys(one.run.model for one in report.runs):
        if price := report.prices.of(model):
            each = f"{price.prompt:g} {currency} a million prompt tokens, {price.completion:g} completion tokens"
            remarks.append(f"Price of {model}: {each} ({price.source}; {report.prices.date}).")
    return TextTable("Figures", ("measure", *_names(report)), tuple(rows), tuple(remarks))


def _estimate(one: Estimate, unit: Unit, currency: str) -> str:
    if one.mean is None or one.low is None or one.high is None:
        return "-"
    shown = number(one.mean, unit, currency)
    if one.low == one.high:
        return shown
    low, high = (number(end, unit).removesuffix(" %").removesuffix(" s").strip() for end in (one.low, one.high))
    return f"{shown}\n[{low}, {high}]"


def _totals(report: Report) -> TextTable:
    currency = report.prices.currency
    all_figures = [one.figures for one in report.runs]
    rows = [
        ("tokens in all", *(f"{one.tokens:,}" for one in all_figures)),
        ("solved tasks", *(f"{one.solved}" for one in all_figures)),
        ("tokens for each solved task", *(_or_dash(one.tokens_per_solved, "number") for one in all_figures)),
        ("cost in all", *(_or_dash(one.cost, "money", currency) for one in all_figures)),
        ("seconds, median", *(_or_dash(one.seconds_median, "seconds") for one in all_figures)),
    ]
    return TextTable("Tokens, cost and time (ours, as in Figure 7)", ("", *_names(report)), tuple(rows))


def _or_dash(value: float | None, unit: Unit, currency: str = "") -> str:
    return "-" if value is None else number(value, unit, currency)


def _grouped(report: Report) -> list[TextTable]:
    gold = [{group.name: group for group in one.figures.by_gold} for one in report.runs]
    numbers = sorted({name for groups in gold for name in groups}, key=lambda name: int(name.split()[0]))
    solved = [
        (name, *(f"{g.solved} of {g.tasks} ({percent(g.solved / g.tasks, 0)})" if g else "-" for g in row))
        for name in numbers
        for row in [[groups.get(name) for groups in gold]]
    ]
    errors = [{group.name: group.tasks for group in one.figures.by_error} for one in report.runs]
    names = dict.fromkeys(name for groups in errors for name in groups)
    failed = [
        (
            name,
            *(
                f"{groups[name]} ({percent(groups[name] / sum(groups.values()), 0)})" if name in groups else "0"
                for groups in errors
            ),
        )
        for name in names
    ]
    found = [
        TextTable("Solved by number of gold calls (as in Figure 6a)", ("gold calls", *_names(report)), tuple(solved))
    ]
    if failed:
        title = "Failed tasks by category (ours, as in Figure 6b)"
        found.append(TextTable(title, ("category", *_names(report)), tuple(failed)))
    return found


def _within(report: Report) -> TextTable:
    most = max(len(one.figures.by_reflections) for one in report.runs)  # none for modes that do not reflect
    rows = [
        (str(k), *(percent(some[k]) if k < len(some) else "-" for some in shares))
        for shares in [[one.figures.by_reflections for one in report.runs]]
        for k in range(most)
    ]
    remark = (
        "Success had each solution been cut off after so many reflections, from the attempts of these runs; a program "
        "that a check held back was not run and counts as unsolved."
    )
    return TextTable("Success by reflections (as in Figure 5)", ("at most", *_names(report)), tuple(rows), (remark,))


def _pairs(report: Report) -> TextTable:
    rows = []
    for pair in report.pairs:
        name = f"{pair.second} - {pair.first}"
        for measure in measures(None):
            found = pair.differences.get(measure.name)
            if found is None or (not found.more and not found.fewer and measure.name != "success"):
                continue
            rows.append(
                (
                    name,
                    measure.title,
                    _difference(found, measure.unit),
                    f"{found.more} / {found.fewer} of {found.n}",
                    f"{found.p:.3f}" if found.p >= 0.001 else "< 0.001",
                )
            )
            name = ""
    columns = ("runs", "measure", "difference", "more / fewer", "p")
    remark = (
        "Second minus first on the same tasks, with how many have more and fewer; measures without any difference are "
        "left out. p: two-sided paired sign-flip test, not corrected for the number of tests."
    )
    return TextTable("Paired differences (ours)", columns, tuple(rows), (remark,), left=2)


def _difference(found: Difference, unit: Unit) -> str:
    if unit == "share":
        mean, low, high = (f"{100 * value:+.1f}" for value in (found.mean, found.low, found.high))
        return f"{mean} points\n[{low}, {high}]"
    digits = {"money": 4, "seconds": 1, "number": 0}[unit]
    mean, low, high = (f"{value:+,.{digits}f}" for value in (found.mean, found.low, found.high))
    return f"{mean}\n[{low}, {high}]"


def _agreement(report: Report) -> TextTable:
    rows = [
        (
            f"{pair.first} and {pair.second}",
            *(
                percent(share)
                for share in (
                    pair.consistency.success,
                    pair.consistency.answer,
                    pair.consistency.calls,
                    pair.consistency.program,
                )
            ),
        )
        for pair in report.pairs
    ]
    columns = ("runs", "same success", "same answer", "same calls", "same program")
    remark = "Share of tasks on which two runs agree; of two runs with the same settings it is their consistency."
    return TextTable("Agreement of two runs (ours)", columns, tuple(rows), (remark,))
