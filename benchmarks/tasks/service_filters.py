"""Filters, orders and cursors over the records of a service."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from protocols.simulator.http.messages import RequestError

__all__ = ["FILTERS", "at", "cursor_of", "place_of", "sort_key"]


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


def cursor_of(place: int) -> str:
    """An opaque text for a place in a list."""
    return base64.urlsafe_b64encode(f"after:{place}".encode()).decode().rstrip("=")


def place_of(cursor: str) -> int:
    """The place that a cursor stands for. Raises: RequestError: It stands for none."""
    try:
        return int(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().removeprefix("after:"))
    except ValueError:
        raise RequestError(400, "cursor: pass what next_cursor was") from None
