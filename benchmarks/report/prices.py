"""Prices of tokens, from a small YAML file, ours or the user's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

from benchmarks.report.runs import check, object_schema
from benchmarks.tasks.metrics import Metrics
from protocols.errors import UsageError

__all__ = ["Price", "Prices", "read_prices"]

_PRICE = object_schema(
    ("prompt", "completion"),
    **{name: {"type": "number", "minimum": 0} for name in ("prompt", "cached", "completion")},
    source={"type": "string"},
) | {"additionalProperties": False}
_TABLE = Draft202012Validator(
    object_schema(("currency", "date", "source", "models"), models={"type": "object", "additionalProperties": _PRICE})
)


@dataclass(frozen=True, slots=True)
class Price:
    """Of a million tokens; `cached` are prompt tokens that come from the endpoint's cache."""

    prompt: float
    cached: float
    completion: float
    source: str

    def cost(self, used: Metrics) -> float:
        """The cost of one task."""
        fresh = max(used.prompt_tokens - used.cached_tokens, 0)
        cached = used.prompt_tokens - fresh
        return (fresh * self.prompt + cached * self.cached + used.completion_tokens * self.completion) / 1e6


@dataclass(frozen=True, slots=True)
class Prices:
    """A price table: since when its prices hold, where they are from, and a price for each name of a model."""

    currency: str
    date: str
    source: str
    models: Mapping[str, Price]

    def of(self, model: str) -> Price | None:
        """The price of a model: the entry of its name, or the longest beginning that fits (`local:*`)."""
        if model in self.models:
            return self.models[model]
        fitting = [name for name in self.models if name.endswith("*") and model.startswith(name[:-1])]
        return self.models[max(fitting, key=len)] if fitting else None


def read_prices(file: Path | None = None) -> Prices:
    """Read a price table, the one we ship where no file is named. Raises: UsageError."""
    place = file or "prices.yaml"
    try:
        text = file.read_text("utf-8") if file else files(__package__).joinpath("prices.yaml").read_text("utf-8")
        data: Any = yaml.safe_load(text)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UsageError(f"{place} cannot be read: {error}") from None
    check(data, _TABLE, str(place))
    models = {
        name: Price(
            entry["prompt"],
            entry.get("cached", entry["prompt"]),
            entry["completion"],
            entry.get("source", str(data["source"])),
        )
        for name, entry in data["models"].items()
    }
    day = data["date"].isoformat() if isinstance(data["date"], date) else str(data["date"])
    return Prices(str(data["currency"]), day, str(data["source"]), models)
