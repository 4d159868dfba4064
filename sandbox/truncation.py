"""Cuts texts and data from programs and services to a sane length, depth and number.

A record is printed, compared and turned into JSON later, by code that does not expect a name of a megabyte or six
hundred nested lists.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sandbox.records import CallRecord

__all__ = ["NESTING", "TEXT", "cut", "cut_arguments", "cut_record", "nested", "size_of"]

TEXT = 2000
"""Characters of a URL or an error that a record keeps."""

NESTING = 100
"""Lists and objects in one another, beyond which data is kept as text."""

ENTRIES = 100
"""Arguments of a call that a record keeps when they are cut; characters of the name and of the value of each."""


def cut(text: str, most: int = TEXT) -> str:
    """A text of at most so many characters, every one of which can be written out."""
    shortened = text if len(text) <= most else text[: most - 1] + "…"
    return shortened if shortened.isascii() else shortened.encode("utf-8", "replace").decode()


def nested(value: object, most: int = NESTING) -> bool:
    """True if lists and dicts are nested deeper than `most`; found without recursion."""
    level: list[Any] = [value] if isinstance(value, (dict, list)) else []
    for _ in range(most):
        if not level:
            return False
        insides = (outer if isinstance(outer, list) else outer.values() for outer in level if outer)
        level = [inner for inside in insides for inner in inside if isinstance(inner, (dict, list))]
    return bool(level)


def cut_record(record: CallRecord, reserve: Callable[[int], bool]) -> CallRecord:
    """A record whose texts have a sane length; its arguments are whole if there is room for them."""
    arguments = record.arguments
    if arguments and (nested(arguments) or not reserve(size_of(arguments))):
        arguments = cut_arguments(arguments)
    return replace(
        record,
        tool=record.tool and cut(record.tool, 200),
        method=cut(record.method, 50),
        url=cut(record.url),
        arguments=arguments,
        error=record.error and cut(record.error),
    )


def size_of(arguments: Mapping[str, object]) -> int:
    """Bytes that the text of arguments takes in memory, where one character may take four."""
    return sys.getsizeof(str(arguments))


def cut_arguments(arguments: Mapping[str, object]) -> dict[str, object]:
    """Arguments with their names and large values cut, and no more than `ENTRIES` of them."""
    shortened: dict[str, object] = {}
    for name, value in arguments.items():
        if len(shortened) == ENTRIES:
            shortened["…"] = f"{len(arguments) - ENTRIES} more"
            break
        deep = nested(value)
        text = "…" if deep else str(value)
        size = f" ({len(text)} characters)" if len(text) > ENTRIES + 1 else ""
        shortened[cut(name, ENTRIES)] = value if len(text) < ENTRIES and not deep else cut(text, ENTRIES + 1) + size
    return shortened
