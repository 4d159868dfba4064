"""The result files of ToolBench and StableToolBench: the same keys and columns, JSON and TAB-separated."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from atc.files import write_json, write_text
from benchmarks.toolbench.evaluation.judged import JudgedAnswer
from benchmarks.toolbench.evaluation.pass_rate import TIE, JudgedQuery
from benchmarks.toolbench.evaluation.win_rate import ComparedQuery

__all__ = ["PASS_COLUMNS", "STATUS_COLUMNS", "WIN_COLUMNS", "write_comparisons", "write_judgements"]

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
        row = _row(query.answer) | {"model": method, "query_id": query.query_id}
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
        shown = query.reference or query.candidate
        rows.append(
            {
                "query": shown.query if shown else "",
                "available_tools": str(shown.tool_names) if shown else "",
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


def _row(answer: JudgedAnswer) -> dict[str, Any]:
    return {"query": answer.query, "available_tools": str(answer.tool_names), **_steps("model", answer)}


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
