"""The figures of a run of APIBench, and some of them beside the published ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from benchmarks.apibench.apibench_run import GradedReply
from benchmarks.report.stats import estimate
from benchmarks.report.tables import TextTable

__all__ = ["APIBenchScorer", "apibench_tables"]

_SHARES = {
    "accuracy": "right API",
    "exact": "right API, all arguments right",
    "domain_accuracy": "API of the right domain",
    "wrong": "another API of the catalogue",
    "hallucination": "hallucinated: no API of the catalogue",
    "unparseable": "no call that can be read",
}
_CUTS = (1, 3, 5)
_PUBLISHED = ("domain_accuracy", "hallucination")
"""What the published figures count."""


class APIBenchScorer:
    """The scorer of graded answers."""

    def figures(self, record: Mapping[str, Any], seconds: float) -> GradedReply:
        """Its grade, as it is in its file."""
        return GradedReply(**{field.name: record["grade"][field.name] for field in fields(GradedReply)})

    def line(self, figures: GradedReply) -> str:
        """What became of the call."""
        return figures.outcome

    def progress(self, figures: Sequence[GradedReply]) -> tuple[str, str]:
        """How many are right so far."""
        right = sum(reply.outcome == "correct" for reply in figures)
        return f"right {100 * right / len(figures):.1f} %", ""

    def summary(self, figures: Sequence[GradedReply]) -> dict[str, Any]:
        """As `summarize_replies`."""
        return summarize_replies(figures)


def summarize_replies(replies: Sequence[GradedReply]) -> dict[str, Any]:
    """Shares of all questions in percent, each with its 95 % bootstrap interval; the keys are part of the interface.

    `recall@k` is the share of questions whose API is among the k nearest documents; None where nothing is retrieved.
    """
    shares = {
        "accuracy": [reply.outcome == "correct" for reply in replies],
        "exact": [reply.exact for reply in replies],
        "domain_accuracy": [reply.same_domain for reply in replies],
        "hallucination": [reply.outcome == "hallucinated" for reply in replies],
        "wrong": [reply.outcome == "wrong" for reply in replies],
        "unparseable": [reply.outcome == "unparseable" for reply in replies],
    }
    ranks = [reply.rank for reply in replies if reply.rank is not None]
    recall = {f"recall@{cut}": _interval([rank <= cut for rank in ranks]) if ranks else None for cut in _CUTS}
    tokens = {name: sum(getattr(reply, name) for reply in replies) for name in ("prompt_tokens", "completion_tokens")}
    return {
        "n": len(replies),
        **{name: _interval(hits) for name, hits in shares.items()},
        **recall,
        **tokens,
    }


def _interval(hits: Sequence[bool]) -> dict[str, float | None]:
    result = estimate([float(hit) for hit in hits], share=True)
    bounds = {"rate": result.mean, "low": result.low, "high": result.high}
    return {name: None if bound is None else round(100 * bound, 2) for name, bound in bounds.items()}


def apibench_tables(summary: Mapping[str, Any]) -> list[TextTable]:
    """All figures of a run, and then those that are published for other models beside theirs."""
    recalls = {f"recall@{cut}": f"right API among the {cut} nearest documents" for cut in _CUTS}
    documents = Path(summary["documents"]).name
    if summary["recall@1"] is not None:
        documents += f", top {summary['top_k']}"
    figures = tuple(
        (title, f"{interval['rate']:.1f}", f"{interval['low']:.1f} to {interval['high']:.1f}")
        for name, title in {**_SHARES, **recalls}.items()
        if (interval := summary[name]) is not None and interval["rate"] is not None
    )
    title = f"APIBench, TorchHub: {summary['model']}, documents {documents}, {summary['n']} questions"
    published = yaml.safe_load(files(__package__).joinpath("published.yaml").read_text("utf-8"))
    ours = (f"ours: {summary['model']}", documents, *(_rate(summary[name]["rate"]) for name in _PUBLISHED))
    rows = [(row["method"], row["documents"], *(_rate(row[name]) for name in _PUBLISHED)) for row in published["rows"]]
    remark = (
        "Gorilla's released script counts any API of the right domain as right; the paper does not say that it counted "
        "otherwise."
    )
    return [
        TextTable(title, ("share of the questions", "%", "95 %"), figures),
        TextTable(
            f"Beside {published['source']}",
            ("model", "documents", "right domain, %", "hallucinated, %"),
            (ours, *rows),
            (remark,),
            text_columns=2,
        ),
    ]


def _rate(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
