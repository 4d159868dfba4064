"""What ToolLLM and StableToolBench published, with the figures that `atc eval` left in folders below it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.report.published import published
from protocols.errors import UsageError

__all__ = ["read_evaluations", "toolbench_rows"]

_NEEDED = ("method", "subset", "edition", "measure", "judge", "rate", "n", "compat")


def read_evaluations(folders: Iterable[Path]) -> list[Mapping[str, Any]]:
    """The `summary.json` of each folder that `atc eval` wrote. Raises: UsageError: A folder has none."""
    summaries: list[Mapping[str, Any]] = []
    for folder in folders:
        file = folder / "summary.json"
        try:
            summary = json.loads(file.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(f"{file} cannot be read ({error}); name a folder that `atc eval --out` wrote") from None
        if not isinstance(summary, dict) or any(name not in summary for name in _NEEDED):
            raise UsageError(f"{file} is no summary of `atc eval`; name a folder that it wrote with --out")
        summaries.append(summary)
    return summaries


def toolbench_rows(table: Mapping[str, Any], evaluations: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """The rows of a published table, and below them ours of its editions: source, method, then its columns."""
    rows = [("published", str(name), *map(str, cells)) for name, cells in table["rows"].items()]
    return rows + [_ours(table, summary) for summary in evaluations if summary["edition"] in table.get("editions", ())]


def _ours(table: Mapping[str, Any], summary: Mapping[str, Any]) -> tuple[str, ...]:
    """One evaluation as a row; a subset that has no column stands in the last one, and is named."""
    columns = table["columns"]
    column = published("toolbench")["subsets"].get(summary["subset"])
    place = columns.index(column) if column in columns else len(columns) - 1
    rate = "-" if summary["rate"] is None else f"{100 * summary['rate']:.1f}"
    # The second figure of a cell is a win rate, and FAC beside SoPR.
    second = summary["measure"] == "WinRate" or summary["edition"] == "fac"
    cells = ["-"] * len(columns)
    cells[place] = f"-/{rate}" if second else f"{rate}/-"
    subset = "" if column in columns else f" on {summary['subset']}"
    against = f" against {summary['reference']}" if summary.get("reference") else ""
    compat = ", compat" if summary["compat"] else ""
    name = f"{summary['method']}{subset}{against} (judge {summary['judge']}, {summary['n']} queries{compat})"
    return ("ours", name, *cells)
