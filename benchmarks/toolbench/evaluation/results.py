"""What an evaluation comes to: `summary.json`, a line of `leaderboard.csv`, and the manifest of how it was made."""

from __future__ import annotations

import csv
import hashlib
import io
import math
import platform
import statistics
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from atc.files import write_json, write_text
from benchmarks.report.stats import estimate
from benchmarks.toolbench.evaluation.pass_rate import MISSING, TIE, JudgedQuery
from benchmarks.toolbench.evaluation.questions import prompt_hashes
from benchmarks.toolbench.evaluation.win_rate import ComparedQuery
from protocols.errors import UsageError

__all__ = ["compared_summary", "judged_summary", "versions", "write_leaderboard", "write_manifest"]

_KEYS = ("Method", "Judge", "Edition", "Reference")
"""The columns that tell the lines of a leaderboard apart."""


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
    rates = [statistics.fmean(value[query.rounds[place].winner] for query in compared) for place in range(rounds)]
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


def write_manifest(folder: Path, settings: Mapping[str, Any], prompts: Sequence[str]) -> str:
    """Write `manifest.json`: the settings, the hash of each template, versions. Gives the prompts' common hash."""
    hashes = prompt_hashes(prompts)
    write_json(folder / "manifest.json", {**settings, "prompts": hashes, "versions": versions()})
    return hashlib.sha256("".join(hashes.values()).encode()).hexdigest() if hashes else ""


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that a figure rests on."""
    package_versions = {"python": platform.python_version()}
    for package in ("atc-toolchain", "openai"):
        try:
            package_versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return package_versions


def write_leaderboard(file: Path, summary: Mapping[str, Any], kind: str) -> None:
    """Write the line of a method into a leaderboard, in the published columns; its other lines and subsets stay.

    Args:
        summary: With method, subset, judge, edition, compat, rate, std_error and, of a comparison, reference.
        kind: `WinRate` or `PassRate`: the columns are KIND and StdError, the means of SUBSET_KIND and SUBSET_StdError.
    Raises: UsageError: The file is no leaderboard, or cannot be written.
    """
    rows = _read_rows(file)
    subset = str(summary["subset"])
    edition = f"{summary['edition']}{' compat' if summary['compat'] else ''}"
    names = (summary["method"], summary["judge"], edition, summary.get("reference", ""))
    key = {name: str(value) for name, value in zip(_KEYS, names, strict=True)}
    row = next((row for row in rows if all(row.get(name) == value for name, value in key.items())), None)
    if row is None:
        row = dict(key)
        rows.append(row)
    row[f"{subset}_{kind}"] = f"{summary['rate'] or 0:.4f}"
    row[f"{subset}_StdError"] = f"{summary['std_error'] or 0:.4f}"
    shares = [float(value) for name, value in row.items() if value and name.endswith(f"_{kind}")]
    errors = [float(value) for name, value in row.items() if value and name.endswith("_StdError")]
    row[kind] = f"{statistics.fmean(shares):.4f}"
    # The subsets are independent samples, so their mean has the root of the summed squares, divided by their number.
    row["StdError"] = f"{math.sqrt(sum(error**2 for error in errors)) / len(errors):.4f}"
    columns = list(dict.fromkeys(["Method", kind, "StdError", *(name for row in rows for name in row), *_KEYS[1:]]))
    columns = [name for name in columns if name not in _KEYS[1:]] + list(_KEYS[1:])
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(file, text.getvalue())


def _read_rows(file: Path) -> list[dict[str, str]]:
    try:
        text = file.read_text("utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from None
    reader = csv.DictReader(io.StringIO(text))
    if "Method" not in (reader.fieldnames or ()):
        raise UsageError(f"{file} is no leaderboard: it has no column Method; move it away")
    return [{name: value for name, value in row.items() if name and value is not None} for row in reader]
