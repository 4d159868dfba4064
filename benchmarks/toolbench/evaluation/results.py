"""What an evaluation comes to: the figures of `summary.json` with their table, and the published result files.

Those are the files of ToolBench and StableToolBench: the same keys and columns, JSON and TAB-separated.
"""

from __future__ import annotations

import csv
import io
import math
import random
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from atc.files import write_json, write_text
from benchmarks.report.stats import estimate
from benchmarks.report.tables import TextTable, percent
from benchmarks.toolbench.evaluation.judged import JudgedAnswer
from benchmarks.toolbench.evaluation.pass_rate import MISSING, TIE, JudgedQuery
from benchmarks.toolbench.evaluation.win_rate import ComparedQuery

__all__ = [
    "PASS_COLUMNS",
    "STATUS_COLUMNS",
    "WIN_COLUMNS",
    "compared_summary",
    "judged_summary",
    "summary_table",
    "write_comparisons",
    "write_judgements",
]

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

_PASS = """
    query solvable available_tools model_intermediate_steps model_final_step model query_id is_solved pass_rate_label
    reason not_hallucinate
"""
PASS_COLUMNS = tuple(_PASS.split())
"""Of ToolBench's pass rate."""
_STATUS = "query available_tools model_intermediate_steps model_final_step model query_id is_solved"
STATUS_COLUMNS = tuple(_STATUS.split())
"""Of StableToolBench's solvable pass rate."""
_WIN = """
    query available_tools ref_model_intermediate_steps ref_model_final_step output_model_intermediate_steps
    output_model_final_step preference_label query_id ref_model output_model
"""
WIN_COLUMNS = tuple(_WIN.split())
"""Of the win rate; `preference_label` is 1 for the reference, 2 for the candidate, 3 for a tie."""
_LABELS = {"reference": 1, "candidate": 2, "tie": 3}


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


def write_judgements(folder: Path, subset: str, method: str, queries: Sequence[JudgedQuery], compat: bool) -> None:
    """Write `<subset>_<method>.json` and `.csv`; a query without an answer has no entry in either. Raises: UsageError.

    Args:
        compat: The label of a tie is drawn, as published.
    """
    draw = random.Random(42)
    entries: dict[str, Any] = {}
    rows = []
    statuses = any(query.edition in ("sopr", "fac") for query in queries)
    for query in queries:
        if query.answer is None:
            continue
        common = {
            "query": query.answer.query,
            "tool_names": query.answer.tool_names,
            "answer_steps": query.answer.steps_text(),
            "final_step": query.answer.final_step_text(),
        }
        row: dict[str, Any] = {
            "query": query.answer.query,
            "available_tools": str(query.answer.tool_names),
            **_steps("model", query.answer),
            "model": method,
            "query_id": query.query_id,
        }
        if statuses:
            solved = {number: f"AnswerStatus.{entry.solved}" for number, entry in enumerate(query.repetitions)}
            entries[query.query_id] = {**common, "is_solved": {str(number): word for number, word in solved.items()}}
            rows.append(row | {"is_solved": str(solved)})
            continue
        last = query.repetitions[-1]
        labels = [entry.label for entry in query.repetitions]
        label = draw.choice(("Passed", "Failed")) if compat and query.label == TIE else query.label
        details = {
            "is_solved": f"AnswerStatus.{last.solved}",
            "reason": last.reason,
            "not_hallucinate": query.answer.invents_no_tool,
        }
        counts = {"passed": labels.count("Passed"), "failed": labels.count("Failed")}
        task = f"TaskStatus.{last.solvable}"
        entries[query.query_id] = {**counts, "query": query.answer.query, "task_solvable": task, **common, **details}
        rows.append(row | {"solvable": task, "pass_rate_label": label.lower(), **details})
    name = f"{subset}_{method}"
    write_json(folder / f"{name}.json", entries)
    write_text(folder / f"{name}.csv", _table(STATUS_COLUMNS if statuses else PASS_COLUMNS, rows))


def write_comparisons(folder: Path, subset: str, methods: tuple[str, str], compared: Sequence[ComparedQuery]) -> None:
    """Write `<subset>_<reference>_<candidate>.json` and `.csv`. Raises: UsageError."""
    reference, candidate = methods
    entries, rows = {}, []
    for query in compared:
        points = dict(zip(methods, query.points, strict=True))
        entries[query.query_id] = {**points, **{f"round_{number}": "complete" for number in range(len(query.rounds))}}
        answer = query.reference or query.candidate
        rows.append(
            {
                "query": answer.query if answer else "",
                "available_tools": str(answer.tool_names) if answer else "",
                **_steps("ref_model", query.reference),
                **_steps("output_model", query.candidate),
                "preference_label": _LABELS[query.winner],
                "query_id": query.query_id,
                "ref_model": reference,
                "output_model": candidate,
            }
        )
    name = f"{subset}_{reference}_{candidate}"
    write_json(folder / f"{name}.json", entries)
    write_text(folder / f"{name}.csv", _table(WIN_COLUMNS, rows))


def _steps(prefix: str, answer: JudgedAnswer | None) -> dict[str, str]:
    return {
        f"{prefix}_intermediate_steps": answer.steps_text() if answer else "",
        f"{prefix}_final_step": answer.final_step_text() if answer else "",
    }


def _table(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """The rows as text separated by TAB, with the line ends of the published files."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, delimiter="\t")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode("utf-8", "backslashreplace").decode()  # an answer may hold lone surrogates
