"""Finds out by a read whether a write was done whose reply never came.

The item that a PUT, PATCH or DELETE writes shows it. Where the read leaves a doubt, nothing is concluded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Literal

from protocols.model import Protocol, Tool

__all__ = ["Outcome", "read_operation", "write_outcome"]

Outcome = Literal["done", "not done", "unknown"]

_VARIABLE = re.compile(r"\{[^{}]*\}")


def read_operation(protocol: Protocol | None, tool: Tool | None) -> Tool | None:
    """The operation that reads the item which a PUT, PATCH or DELETE writes, with no argument but the item's path."""
    if protocol is None or tool is None or tool.method not in ("PUT", "PATCH", "DELETE"):
        return None
    if not tool.path.endswith("}"):
        return None
    path = _VARIABLE.sub("{}", tool.path)
    for candidate in protocol.tools:
        if candidate.method == "GET" and _VARIABLE.sub("{}", candidate.path) == path:
            needs = [p for p in candidate.parameters if p.required and p.location != "path"]
            return None if needs else candidate
    return None


def write_outcome(method: str, sent: bytes | None, status: int, item: object) -> Outcome:
    """Tell whether a write was done.

    Args:
        sent: The body of the write.
        status: What the read of the same path answered. found: Its parsed body.
    """
    if status in (404, 410):
        return "done" if method == "DELETE" else "not done"
    if not 200 <= status < 300:
        return "unknown"
    if method == "DELETE":
        return "not done"
    try:
        expected = json.loads(sent or b"")
    except (ValueError, RecursionError):
        return "unknown"
    if not isinstance(expected, dict) or not any(True for _ in _scalars(expected)):
        return "unknown"
    held = next((candidate for candidate in _objects(item) if expected.keys() <= candidate.keys()), None)
    if held is None:
        return "unknown"
    return "done" if dict(_scalars(expected)).items() <= dict(_scalars(held)).items() else "not done"


def _objects(value: object) -> Iterator[Mapping[str, object]]:
    if isinstance(value, Mapping):
        yield value
        yield from (item for item in value.values() if isinstance(item, Mapping))


def _scalars(value: object, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every scalar with its place, as text: services answer 3 for "3", and 3.0 for 3."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _scalars(item, (*place, str(name)))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _scalars(item, (*place, str(number)))
    else:
        whole = isinstance(value, float) and value.is_integer()
        yield place, str(int(value)) if whole else str(value)  # type: ignore[call-overload]
