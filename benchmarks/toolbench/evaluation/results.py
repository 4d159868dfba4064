"""What an evaluation comes to: the figures of `summary.json`, and their table."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.report.stats import estimate
from benchmarks.report.tables import TextTable, percent
from benchmarks.toolbench.evaluation.pass_rate import MISSING, TIE, JudgedQuery
from benchmarks.toolbench.evaluation.win_rate import ComparedQuery

__all__ = ["compared_summary", "judged_summary", "summary_table"]

_COUNTS = {
    "n": "queries",
    "missing": "queries that are missing in the answers",
    "unfinished": "answers that give up, or do not end with Finish",
    "ties": "ties, in number",
    "unsure": "unsure",
    "disagreed": "rounds in which the orders disagree",
    "unparsed": "replies of the judge that cannot be read",
    "hallucinated": "answers that call a function that was not offered",
}
_SHARES = {"win": "wins", "lose": "losses", "tie": "ties"}


def judged_summary(queries: Sequence[JudgedQuery], compat: bool) -> dict[str, Any]:
    """The figures of judged answers; a query without an answer scores 0, and is left out under `compat`, as published.

    `rate` is the mean score with its 95 % interval. `spread` tells how far the repetitions differ: the rate of each,
    their (population) standard deviation, and the share of the answers that got one label in all of them.
    """
    counted = [query for query in queries if query.answer is not None] if compat else list(queries)
    scores = [1.0 if compat and query.label == TIE and query.edition == "2" else query.score for query in counted]
    labels = [query.label for query in counted]
    times = max((len(query.repetitions) for query in counted), default=0)
    rates = [
        statistics.fmean(query.scores[repetition] if query.repetitions else 0.0 for query in counted)
        for repetition in range(times)
    ]
    answers = [query.answer for query in queries if query.answer is not None]
    return {
        **_rate(scores),
        "ties": labels.count(TIE),
        "unsure": labels.count("Unsure"),
        "missing": sum(query.label == MISSING for query in queries),
        "unfinished": sum(not answer.finished or answer.gave_up for answer in answers),
        "unparsed": sum(query.unparsed for query in queries),
        "hallucinated": sum(not answer.invents_no_tool for answer in answers),
        "spread": _spread(rates, [[entry.label for entry in query.repetitions] for query in counted]),
    }


def compared_summary(compared: Sequence[ComparedQuery], compat: bool) -> dict[str, Any]:
    """The figures of a comparison: `rate` is that of the candidate, a tie counting a half; `win`, `lose`, `tie` apart.

    `missing` counts the queries that one side, or both, did not answer; `unsure` the rounds that only an unreadable
    reply left open; `disagreed` those in which the two orders disagree.
    """
    winners = [query.winner for query in compared]
    rules = [entry.rule for query in compared for entry in query.rounds]
    rounds = max((len(query.rounds) for query in compared), default=0)
    value = {"reference": 0.0, "tie": 0.5, "candidate": 1.0}
    rates = [statistics.fmean(value[query.rounds[number].winner] for query in compared) for number in range(rounds)]
    n = max(len(compared), 1)
    shares = {
        "win": winners.count("candidate") / n,
        "lose": winners.count("reference") / n,
        "tie": winners.count("tie") / n,
    }
    return {
        **_rate([query.score for query in compared]),
        **shares,
        "ties": winners.count("tie"),
        "unsure": rules.count("unparsed"),
        "disagreed": rules.count("the orders disagree"),
        "missing": sum(query.reference is None or query.candidate is None for query in compared),
        "unparsed": sum(query.unparsed for query in compared),
        "spread": _spread(rates, [[entry.winner for entry in query.rounds] for query in compared]),
    }


def _rate(scores: Sequence[float]) -> dict[str, Any]:
    around = estimate(scores, share=set(scores) <= {0.0, 1.0})
    error = statistics.pstdev(scores) / math.sqrt(len(scores)) if scores else None
    return {"rate": around.mean, "low": around.low, "high": around.high, "n": around.n, "std_error": error}


def _spread(rates: Sequence[float], labels: Sequence[Sequence[str]]) -> dict[str, Any]:
    answered = [row for row in labels if row]
    return {
        "rates": list(rates),
        "std": statistics.pstdev(rates) if rates else None,
        "unanimous": statistics.fmean(len(set(row)) == 1 for row in answered) if answered else None,
    }


def summary_table(summary: Mapping[str, Any]) -> TextTable:
    """A `summary.json` as a table."""
    title = f"{summary['method']} on {summary['subset']}, edition {summary['edition']}"
    if summary.get("reference"):
        title = (
            f"{summary['method']} against {summary['reference']} on {summary['subset']}, edition {summary['edition']}"
        )
    rows = [("win rate" if summary["measure"] == "WinRate" else "rate", _interval(summary))]
    rows += [(words, percent(summary[name])) for name, words in _SHARES.items() if name in summary]
    rows += [(words, str(summary[name])) for name, words in _COUNTS.items() if name in summary]
    spread = summary["spread"]
    if len(spread["rates"]) > 1:
        rows.append(("rate of each repetition", ", ".join(map(percent, spread["rates"]))))
        rows.append(("their standard deviation", f"{100 * spread['std']:.1f} points"))
        if spread["unanimous"] is not None:
            rows.append(("queries with the same label each time", percent(spread["unanimous"])))
    compat = ", as published with its defects" if summary["compat"] else ""
    remark = f"Judge: {summary['judge']}, {summary['times']} times{compat}. A rate by a judge is that judge's opinion."
    return TextTable(title, ("measure", "value"), tuple(rows), (remark,))


def _interval(summary: Mapping[str, Any]) -> str:
    if summary["rate"] is None:
        return "-"
    low, high = (percent(summary[end]).removesuffix(" %") for end in ("low", "high"))
    return f"{percent(summary['rate'])} [{low}, {high}]"
