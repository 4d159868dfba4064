"""Paths into JSON values: walked, and spelled as a program subscripts them or as people read them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from protocols.quoting import json_text

__all__ = ["Step", "leaves", "nodes", "readable_path", "subscripts"]

Step = str | int
"""A key of an object, or a place in a list."""
_MAX_NODES = 5_000
"""Values that one walk visits."""


def nodes(value: object) -> Iterator[tuple[tuple[Step, ...], object]]:
    """A value and all that it holds, each with its path, in order; of a large one the first 5,000."""
    pending: list[tuple[tuple[Step, ...], object]] = [((), value)]
    for _ in range(_MAX_NODES):
        if not pending:
            return
        path, node = pending.pop()
        yield path, node
        if isinstance(node, dict):
            pending += [((*path, str(key)), part) for key, part in reversed(node.items())]
        elif isinstance(node, (list, tuple)):
            pending += [((*path, place), part) for place, part in reversed(list(enumerate(node)))]


def leaves(value: object) -> Iterator[tuple[tuple[Step, ...], object]]:
    """The scalars of a value with their paths, in order."""
    return ((path, node) for path, node in nodes(value) if not isinstance(node, (dict, list, tuple)))


def subscripts(path: Sequence[Step]) -> str:
    """A path as program text: `["results"][0]["id"]`."""
    return "".join(f"[{json_text(step)}]" for step in path)


def readable_path(path: Sequence[Step]) -> str:
    """A path in prose: `crew[3].name`; "its response" for an empty one."""
    text = ""
    for step in path:
        plain = isinstance(step, str) and re.fullmatch(r"\w+", step)
        text += f".{step}" if plain else f"[{json_text(step)}]"
    return text.lstrip(".") or "its response"
