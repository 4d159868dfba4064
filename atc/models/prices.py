"""Prices of tokens, from a small YAML file, ours or the user's."""

from __future__ import annotations

import math
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from protocols.errors import UsageError
from protocols.private_files import read_bounded
from protocols.settings_yaml import parse_settings

__all__ = ["Price", "Prices", "dollars", "read_prices"]

_OWN = ("local:", "openvino:", "hf:")
"""Models that run on the user's machine."""

_PARTS: Mapping[str, Any] = {
    name: {"type": "number", "minimum": 0, "maximum": 1e9} for name in ("prompt", "cached", "completion")
}
_PRICE: Mapping[str, Any] = {
    "type": "object",
    "required": ["prompt", "completion"],
    "properties": {**_PARTS, "source": {"type": "string"}},
    "additionalProperties": False,
}
_TABLE: Mapping[str, Any] = {
    "type": "object",
    "required": ["currency", "date", "source", "models"],
    "properties": {
        "currency": {"type": "string"},
        "source": {"type": "string"},
        "models": {"type": "object", "additionalProperties": _PRICE},
    },
}


class _Tokens(typing.Protocol):
    """Tokens of one or more requests."""

    @property
    def prompt_tokens(self) -> int: ...
    @property
    def cached_tokens(self) -> int: ...
    @property
    def completion_tokens(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Price:
    """Of a million tokens; `cached` are prompt tokens that come from the endpoint's cache."""

    prompt: float
    cached: float
    completion: float
    source: str

    def cost(self, used: _Tokens) -> float:
        """What the tokens cost."""
        fresh = max(used.prompt_tokens - used.cached_tokens, 0)
        cached = used.prompt_tokens - fresh
        return (fresh * self.prompt + cached * self.cached + used.completion_tokens * self.completion) / 1e6

    @property
    def is_free(self) -> bool:
        """True if no token costs anything."""
        return not (self.prompt or self.cached or self.completion)


@dataclass(frozen=True, slots=True)
class Prices:
    """A price table: since when its prices hold, where they are from, and a price for each name of a model."""

    currency: str
    date: str
    source: str
    models: Mapping[str, Price]

    def of(self, model: str) -> Price | None:
        """The price of a model: the entry of its name, or the longest beginning that fits (`openai:*`).

        A recorded model costs what it cost then. One that runs here costs nothing, unless the table says otherwise.
        """
        model = _priced(model)
        if model in self.models:
            return self.models[model]
        fitting = [name for name in self.models if name.endswith("*") and model.startswith(name[:-1])]
        if fitting:
            return self.models[max(fitting, key=len)]
        return Price(0, 0, 0, "runs on your own machine") if model.startswith(_OWN) else None

    def required(self, model: str) -> Price:
        """The price of a model, for a limit of cost. Raises: UsageError: There is none."""
        price = self.of(model)
        if price is None:
            raise UsageError(
                f"{model} has no price, and --max-cost needs one: name a table with --prices FILE that has an entry "
                f'such as "{_priced(model)}": {{prompt: 2.0, completion: 8.0}}, in US dollars for a million tokens'
            )
        return price


def _priced(model: str) -> str:
    """The name that a price is looked up by: of a record that of its model."""
    if not model.startswith("replay:"):
        return model
    from atc.models.replay import recorded_model

    return recorded_model(Path(model.removeprefix("replay:"))) or model


def dollars(amount: float) -> str:
    """An amount for people: at most three digits that count, from a dollar on whole cents."""
    if amount <= 0:
        return "$0"
    if not math.isfinite(amount):  # of a file
        return "$?"
    whole, _, part = f"{amount:,.{max(2, 2 - math.floor(math.log10(amount)))}f}".partition(".")
    return f"${whole}.{part[:2]}{part[2:].rstrip('0')}"


def read_prices(file: Path | None = None) -> Prices:
    """Read a price table, the one we ship where no file is named. Raises: UsageError: Where in the file, and what."""
    return _shipped() if file is None else _prices(_text(file), str(file))


@cache
def _shipped() -> Prices:
    return _prices(files(__package__).joinpath("prices.yaml").read_text("utf-8"), "prices.yaml")


def _text(file: Path) -> str:
    try:
        return read_bounded(file)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise UsageError(f"the price table {file} cannot be read: {reason}") from None


def _prices(text: str, place: str) -> Prices:
    import yaml
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    try:
        data: Any = parse_settings(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        where = f"line {mark.line + 1}: " if mark is not None else ""
        raise UsageError(f"{place}: {where}it is no YAML: {problem or error}") from None
    wrong = best_match(Draft202012Validator(_TABLE).iter_errors(data))
    if wrong is not None:
        raise UsageError(f"{place}: {_where(text, wrong.absolute_path)}{wrong.message[:300]}")
    for name, entry in data["models"].items():
        for part in _PARTS:
            if not math.isfinite(entry.get(part, 0)):  # YAML has .nan and .inf
                raise UsageError(f"{place}: {_where(text, ('models', name, part))}{entry[part]} is no price")
    models = {
        str(name): Price(
            entry["prompt"],
            entry.get("cached", entry["prompt"]),
            entry["completion"],
            entry.get("source", str(data["source"])),
        )
        for name, entry in data["models"].items()
    }
    day = data["date"].isoformat() if isinstance(data["date"], date) else str(data["date"])
    return Prices(str(data["currency"]), day, str(data["source"]), models)


def _where(text: str, path: Iterable[str | int]) -> str:
    """The line of a place in a YAML text, and the place: `line 5: models.openai:small.prompt: `."""
    import yaml

    node, names = yaml.compose(text, yaml.SafeLoader), [str(name) for name in path]
    line = node.start_mark.line if node is not None else 0
    for name in names:
        for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
            if key.value == name:
                node, line = value, key.start_mark.line
                break
    return f"line {line + 1}: {''.join(f'{name}.' for name in names)[:-1] + ': ' if names else ''}"
