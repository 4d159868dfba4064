"""The papers' published figures, kept apart from ours in `paper.yaml` and never shown without that word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

__all__ = ["BENCHMARKS", "Published", "paper", "published"]

BENCHMARKS = ("restbench-tmdb", "restbench-spotify", "toolflow")


@dataclass(frozen=True, slots=True)
class Published:
    """One row of a published table: Success, Path and Prec in percent, None where it is not reported."""

    table: str
    model: str
    method: str
    figures: tuple[float | None, float | None, float | None]


@cache
def paper() -> Mapping[str, Any]:
    """The whole table of published figures."""
    data: Mapping[str, Any] = yaml.safe_load(files(__package__).joinpath("paper.yaml").read_text("utf-8"))
    return data


def published(benchmark: str) -> Sequence[Published]:
    """The published rows of a benchmark, by its name in `atc bench`, in the order of the tables; often none.

    `toolflow-weather` and the like are parts of `toolflow`, with whose figures they are shown.
    """
    return [
        Published(table["table"], table["model"], method, tuple(row))
        for table in paper()["success"]
        for name in BENCHMARKS
        if benchmark == name or benchmark.startswith(f"{name}-")
        for method, row in table.get(name, {}).items()
    ]
