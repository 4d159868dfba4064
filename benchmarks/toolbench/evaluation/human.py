"""How far a judge agrees with people, and how far either agrees with itself.

Source: ToolLLM (arXiv:2307.16789), appendix B.1, for agreement; its sources for bias and variance.
"""

from __future__ import annotations

import csv
import json
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.report.stats import cohens_kappa, estimate
from protocols.errors import UsageError

__all__ = ["Agreement", "agreement", "read_labels"]

_PASS = {"passed": "Passed", "pass": "Passed", "solved": "Passed", "failed": "Failed", "fail": "Failed"}
_WORDS: Mapping[str, Mapping[str, str]] = {
    "pass": {**_PASS, "unsolved": "Failed", "unsure": "Unsure"},
    "win": {"reference": "reference", "1": "reference", "candidate": "candidate", "2": "candidate", "3": "tie"}
    | {"tie": "tie"},
}
_COLUMNS = ("pass_rate_label", "preference_label", "label")


@dataclass(frozen=True, slots=True)
class Agreement:
    """A judge beside people, on the `n` queries that both labelled; None where it is not defined.

    `agreement` (shares, with `low` and `high`): each repetition of the judge scores 1/m if its label is one of the m
    labels that most people chose, else 0. `people` is the same for each person's label. `bias`: 1 minus that score of
    the judge's own majority. `variance`: of the scores within a query, averaged over the queries. `kappa` compares the
    majorities, without the queries where either has none.
    """

    n: int
    agreement: float | None
    low: float | None
    high: float | None
    people: float | None
    bias: float | None
    variance: float | None
    people_variance: float | None
    kappa: float | None


def read_labels(file: Path, kind: Literal["pass", "win"]) -> dict[str, list[str]]:
    """People's labels by query id.

    The file is JSON, an object from each query id to a label or a list of them; or a table separated by TAB or comma
    with the columns `query_id` and one of `pass_rate_label`, `preference_label` (1 reference, 2 candidate, 3 tie) and
    `label`, a row for each person.
    Raises: UsageError: It cannot be read, or a label is none.
    """
    try:
        text = file.read_text("utf-8-sig")
        rows = list(_from_json(text) if text.lstrip().startswith("{") else _from_table(text))
    except (OSError, ValueError, csv.Error) as error:
        raise UsageError(f"{file} holds no labels: {error}") from None
    labels: dict[str, list[str]] = defaultdict(list)
    for query_id, word in rows:
        label = _WORDS[kind].get(word.strip().lower())
        if label is None:
            words = ", ".join(dict.fromkeys(_WORDS[kind]))
            raise UsageError(f"{file}, query {query_id}: {word!r} is no label; write one of {words}")
        labels[query_id].append(label)
    return dict(labels)


def _from_json(text: str) -> Iterable[tuple[str, str]]:
    for query_id, entry in json.loads(text).items():
        yield from ((query_id, str(label)) for label in (entry if isinstance(entry, list) else [entry]))


def _from_table(text: str) -> Iterable[tuple[str, str]]:
    lines = text.splitlines()
    reader = csv.DictReader(lines, delimiter="\t" if lines and "\t" in lines[0] else ",")
    columns = reader.fieldnames or ()
    column = next((name for name in _COLUMNS if name in columns), None)
    if column is None or "query_id" not in columns:
        raise ValueError(f"a table needs the columns query_id and one of {', '.join(_COLUMNS)}")
    for row in reader:
        yield str(row["query_id"]), str(row[column])


def agreement(judged: Mapping[str, Sequence[str]], people: Mapping[str, Sequence[str]]) -> Agreement:
    """Compare the labels that a judge's repetitions gave with people's, both by query id."""
    ids = [query_id for query_id in judged if judged[query_id] and people.get(query_id)]
    if not ids:
        return Agreement(0, *(None,) * 8)
    ours = [[_score(label, people[query_id]) for label in judged[query_id]] for query_id in ids]
    theirs = [[_score(label, people[query_id]) for label in people[query_id]] for query_id in ids]
    bias = [1 - max(_score(label, people[query_id]) for label in _most(judged[query_id])) for query_id in ids]
    around = estimate([statistics.fmean(scores) for scores in ours])
    majorities = [(_most(judged[query_id]), _most(people[query_id])) for query_id in ids]
    return Agreement(
        n=len(ids),
        agreement=around.mean,
        low=around.low,
        high=around.high,
        people=statistics.fmean(map(statistics.fmean, theirs)),
        bias=statistics.fmean(bias),
        variance=statistics.fmean(map(statistics.pvariance, ours)),
        people_variance=statistics.fmean(map(statistics.pvariance, theirs)),
        kappa=cohens_kappa([(mine[0], yours[0]) for mine, yours in majorities if len(mine) == len(yours) == 1]),
    )


def _most(labels: Sequence[str]) -> list[str]:
    counts = Counter(labels)
    return [label for label, count in counts.items() if count == max(counts.values())]


def _score(label: str, people: Sequence[str]) -> float:
    most = _most(people)
    return 1 / len(most) if label in most else 0.0
