"""Filters, orders and cursors over the records of a service, and the reading of a query by its documented schema."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from jsonschema import Draft202012Validator

from protocols.simulator.http.messages import RequestError

__all__ = ["FILTERS", "at", "cursor_of", "nullable", "place_of", "read_query", "sort_key"]


def at(record: Any, path: str) -> Any:
    """The value at a dotted path; of a list, that of each item."""
    if not path:
        return record
    if isinstance(record, list):
        return [at(item, path) for item in record]
    first, _, rest = path.partition(".")
    return at(record.get(first), rest) if isinstance(record, Mapping) else None


def _comparable(value: Any) -> float:
    """A number, or the moment of a date or date-time; without a zone it is in UTC. Raises: ValueError."""
    if isinstance(value, (int, float)):
        return float(value)
    moment = datetime.fromisoformat(value)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


FILTERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "is": lambda value, wanted: wanted in value if isinstance(value, list) else value == wanted,
    "in": lambda value, wanted: value in wanted,
    "from": lambda value, wanted: _comparable(wanted) <= (_comparable(value) if value is not None else float("-inf")),
    "to": lambda value, wanted: _comparable(wanted) >= (_comparable(value) if value is not None else float("inf")),
    "before": lambda value, wanted: _comparable(wanted) > (_comparable(value) if value is not None else float("inf")),
    "contains": lambda value, wanted: wanted.casefold() in str(value or "").casefold(),
}
"""Each is given the value of a record and the argument. Nothing that is null lies within bounds."""


def sort_key(value: Any, falling: bool) -> tuple[bool, Any]:
    """What to sort by; null comes last, whichever way."""
    try:
        return (value is None) is not falling, 0 if value is None else _comparable(value)
    except ValueError:
        return (value is None) is not falling, str(value).casefold()


_READERS: Mapping[str, Callable[[str], Any]] = {
    "boolean": lambda text: {"true": True, "false": False}[text],
    "integer": int,
    "number": float,
    "string": str,
}


def cursor_of(place: int) -> str:
    """An opaque text for a place in a list."""
    return base64.urlsafe_b64encode(f"after:{place}".encode()).decode().rstrip("=")


def place_of(cursor: str) -> int:
    """The place that a cursor stands for. Raises: RequestError: It stands for none."""
    try:
        return int(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().removeprefix("after:"))
    except ValueError:
        raise RequestError(400, "cursor: pass what next_cursor was") from None


def read_query(parameters: Iterable[Mapping[str, Any]], query: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The arguments by their documented types, with defaults. Raises: RequestError: It does not allow them."""
    documented = {parameter["name"]: parameter for parameter in parameters}
    if unknown := query.keys() - documented.keys():
        raise RequestError(400, f"unknown query parameter: {', '.join(sorted(unknown))}")
    arguments = {}
    for name, parameter in documented.items():
        schema = parameter["schema"]
        if name in query:
            arguments[name] = _typed(query[name], schema)
            for error in Draft202012Validator(schema).iter_errors(arguments[name]):
                raise RequestError(400, f"{name}: {error.message}")
        elif parameter.get("required"):
            raise RequestError(400, f"{name} is required")
        elif "default" in schema:
            arguments[name] = schema["default"]
    return arguments


def _typed(texts: Sequence[str], schema: Mapping[str, Any]) -> Any:
    """The value that texts of a query stand for; the text itself where they are not of the type."""
    if schema["type"] == "array":
        return [_typed([item], schema["items"]) for text in texts for item in text.split(",")]
    try:
        return _READERS[schema["type"]](texts[-1])
    except (KeyError, ValueError):
        return texts[-1]


def nullable(node: Any) -> Any:
    """A document whose `nullable: true` of OpenAPI 3.0 is the type null of JSON Schema."""
    if isinstance(node, list):
        return [nullable(item) for item in node]
    if not isinstance(node, dict):
        return node
    members = {name: nullable(value) for name, value in node.items()}
    if members.get("nullable") is True and isinstance(members.get("type"), str):
        members["type"] = [members["type"], "null"]
        members |= {"enum": [*members["enum"], None]} if "enum" in members else {}
    return members
