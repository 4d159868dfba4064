"""A summary as a table of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.report.tables import TextTable, percent

__all__ = ["summary_table"]

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
