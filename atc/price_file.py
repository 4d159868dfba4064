"""A price table of the user's, checked: what is wrong with it is said with its line.

The table that we ship needs no check at each solve: a test holds it to the same one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from protocols.bounded_files import read_bounded
from protocols.errors import UsageError
from protocols.settings_yaml import parse_settings

__all__ = ["checked_table", "text_of"]

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


def text_of(file: Path) -> str:
    """The text of a table. Raises: UsageError: It cannot be read."""
    try:
        return read_bounded(file)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise UsageError(f"the price table {file} cannot be read: {reason}") from None


def checked_table(text: str, place: str) -> Any:
    """The data of a table in YAML. Raises: UsageError: Where in the file at `place`, and what."""
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
    return data


def _where(text: str, path: Iterable[str | int]) -> str:
    """The line of a place in a YAML text, and the place: `line 5: models.openai:small.prompt: `."""
    node, names = yaml.compose(text, yaml.SafeLoader), [str(name) for name in path]
    line = node.start_mark.line if node is not None else 0
    for name in names:
        for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
            if key.value == name:
                node, line = value, key.start_mark.line
                break
    return f"line {line + 1}: {''.join(f'{name}.' for name in names)[:-1] + ': ' if names else ''}"
