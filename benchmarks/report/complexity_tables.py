"""What Xu et al. published of the API-complexity score, and the correlation worked out from their rows."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.report.published import published
from benchmarks.report.stats import spearman

__all__ = ["complexity_rows", "correlation_rows", "published_scores", "recomputed"]


def published_scores(examples: str = "demonstrations") -> Mapping[str, float]:
    """The published scores by task, by the calls of `demonstrations` or of training `samples`."""
    data = published("complexity")
    return dict(zip(data["tasks"], data[examples]["scores"], strict=True))


def complexity_rows() -> list[tuple[str, ...]]:
    """The published scores: source, then a figure for each task."""
    data = published("complexity")
    return [
        (f"{data[examples]['table']}, {examples}", *map(str, data[examples]["scores"]))
        for examples in ("demonstrations", "samples")
    ]


def recomputed() -> dict[str, float | None]:
    """Spearman's correlation of the published scores with the published error rates, by model."""
    data = published("complexity")
    scores = published_scores()
    first = [scores[task] for task in data["correlated"]]
    return {model: spearman(first, [100 - rate for rate in rates]) for model, rates in data["three_shot"].items()}


def correlation_rows() -> list[tuple[str, ...]]:
    """Spearman's correlation as published and as worked out from the published rows: score, then a model each."""
    data = published("complexity")
    models = list(data["three_shot"])
    rows = [(f"{name}, published", *(str(row[model]) for model in models)) for name, row in data["correlation"].items()]
    figures = recomputed()
    anew = ("-" if (figure := figures[model]) is None else f"{figure:.1f}" for model in models)
    return [*rows, ("complexity, from the published rows", *anew)]
