"""What Xu et al. published of the API-complexity score, and the correlation worked out from their rows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from benchmarks.report.stats import spearman

__all__ = ["complexity_rows", "correlation_rows", "published_complexity", "recomputed"]


@cache
def published_complexity() -> Mapping[str, Any]:
    """The published figures, as they stand in `complexity.yaml`."""
    data: Mapping[str, Any] = yaml.safe_load(files(__package__).joinpath("complexity.yaml").read_text("utf-8"))
    return data


def complexity_rows() -> list[tuple[str, ...]]:
    """The published scores: source, then a figure for each task."""
    return [(name, *map(str, scores)) for name, scores in published_complexity()["scores"].items()]


def recomputed() -> dict[str, float | None]:
    """Spearman's correlation of the published scores with the published error rates, by model."""
    data = published_complexity()
    scores = dict(zip(data["tasks"], next(iter(data["scores"].values())), strict=True))
    first = [scores[task] for task in data["correlated"]]
    return {model: spearman(first, [100 - rate for rate in rates]) for model, rates in data["three_shot"].items()}


def correlation_rows() -> list[tuple[str, ...]]:
    """Spearman's correlation as published and as worked out from the published rows: score, then a model each."""
    data = published_complexity()
    models = list(data["three_shot"])
    rows = [(f"{name}, published", *(str(row[model]) for model in models)) for name, row in data["correlation"].items()]
    figures = recomputed()
    anew = ("-" if (figure := figures[model]) is None else f"{figure:.1f}" for model in models)
    return [*rows, ("complexity, from the published rows", *anew)]
