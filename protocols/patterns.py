"""Regular expressions of a document, matched only where that takes bounded time.

A backtracking pattern such as `^(a+)+$` outlasts every limit and holds the interpreter meanwhile. The structure of a
pattern and the length of a text bound the number of attempts. A pattern over the limit is left to the service.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

__all__ = ["is_bounded", "matches"]

_MAX_PATTERN = 1000
"""Characters of a pattern that is analysed."""
_MAX_WAYS = 5_000_000
"""Attempts to match a text: a second of work at the worst."""
_MIN_TEXT = 40
"""A pattern that is too slow for a text of this length is never used."""
_MAX_TEXT = 2000
"""Characters of a text that is matched."""
_MAX_RANGES = 20
"""Character ranges of a case-insensitive pattern; Python expands each to its characters."""
_UNBOUNDED = 10.0**300
_REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})
_CATEGORIES = {"CATEGORY_DIGIT": r"\d", "CATEGORY_SPACE": r"\s", "CATEGORY_WORD": r"\w"}
_CATEGORIES |= {f"CATEGORY_NOT_{name[9:]}": pattern.upper() for name, pattern in _CATEGORIES.items()}


def matches(pattern: str, text: str) -> bool:
    """True if a text matches a pattern; true as well where the match would take too long."""
    compiled = _compiled(pattern)
    length = -(-max(len(text), _MIN_TEXT) // _MIN_TEXT) * _MIN_TEXT  # rounded up, for the cache
    if compiled is None or len(text) > _MAX_TEXT or not is_bounded(pattern, length):
        return True
    return compiled.search(text) is not None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    if not is_bounded(pattern):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(pattern)
    except re.error:  # JavaScript's syntax: left to the server
        return None


@lru_cache(maxsize=4096)
def is_bounded(pattern: str, length: int = _MIN_TEXT) -> bool:
    """True if a pattern matches texts of a length in bounded time; true for invalid patterns, which are never used."""
    if len(pattern) > _MAX_PATTERN:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = re._parser.parse(pattern)  # type: ignore[attr-defined]
        any_case = re.search(r"\(\?[a-z]*i", pattern) is not None
        if any_case and _count_ranges(tree) > _MAX_RANGES:
            return False
        starts = 1 if tree and str(tree[0][0]) == "AT" and str(tree[0][1]).startswith("AT_BEGINNING") else length
        return starts * _count_ways(tree, length, any_case) <= _MAX_WAYS
    except re.error:
        return True
    except (RecursionError, OverflowError, MemoryError):
        return False


def _count_ranges(items: Any) -> int:
    """The number of character ranges."""
    sets = [argument for name, argument in _walk(_flattened(items)) if str(name) == "IN"]
    return sum(str(name) == "RANGE" for char_set in sets for name, _ in char_set)


def _count_ways(items: Any, length: int, any_case: bool) -> float:
    """An upper bound of the ways in which consecutive items match from one position of a text."""
    ways = 1.0
    for name, argument in items:
        if str(name) in _REPEATS:
            ways *= _count_repetition_ways(argument, length, any_case)
        elif str(name) in ("BRANCH", "GROUPREF_EXISTS"):
            ways *= sum(_count_ways(part, length, any_case) for part in _children(str(name), argument)) + (
                str(name) != "BRANCH"
            )
        else:
            for part in _children(str(name), argument):
                ways *= _count_ways(part, length, any_case)
        ways = min(ways, _UNBOUNDED)
    return ways


def _count_repetition_ways(argument: Any, length: int, any_case: bool) -> float:
    fewest, most, inner = argument
    fewest, shortest = int(fewest), int(inner.getwidth()[0])
    inner_ways = _count_ways(inner, length, any_case)
    most = min(int(most), length // max(shortest, 1) + 1)
    spare = max(most - fewest, 0) + 1.0
    if inner_ways == 1:
        return spare
    if not any_case and _has_unique_division(inner):
        return spare + length
    return min(spare * inner_ways ** min(most, 1000), _UNBOUNDED) if inner_ways < 10**4 or most < 50 else _UNBOUNDED


def _children(name: str, argument: Any) -> Iterator[Any]:
    if name in _REPEATS:
        yield argument[2]
    elif name == "SUBPATTERN":
        yield argument[3]
    elif name == "BRANCH":
        yield from argument[1]
    elif name in ("ASSERT", "ASSERT_NOT"):
        yield argument[1]
    elif name == "ATOMIC_GROUP":
        yield argument
    elif name == "GROUPREF_EXISTS":
        yield argument[1]
        if argument[2] is not None:
            yield argument[2]


def _has_unique_division(items: Any) -> bool:
    """True if a text divides into repetitions in only one way.

    True if each repetition starts with a character that occurs nowhere else in it, and has one part of variable length.
    """
    flat = _flattened(items)
    names = [str(name) for name, argument in _walk(flat) if str(name) not in _REPEATS or argument[0] != argument[1]]
    if {"BRANCH", "GROUPREF", "GROUPREF_EXISTS"} & set(names) or sum(name in _REPEATS for name in names) > 1:
        return False
    if not flat or str(flat[0][0]) != "LITERAL":
        return False
    first = flat[0][1]
    return not any(_accepts(str(name), argument, first) for name, argument in _walk(flat[1:]))


def _flattened(items: Any) -> list[Any]:
    """The items, groups replaced by their contents."""
    flattened: list[Any] = []
    for name, argument in items:
        flattened += _flattened(argument[3]) if str(name) == "SUBPATTERN" else [(name, argument)]
    return flattened


def _walk(items: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    for name, argument in items:
        yield name, argument
        for part in _children(str(name), argument):
            yield from _walk(_flattened(part))


def _accepts(name: str, argument: Any, char: int) -> bool:
    """True if an item may match a character."""
    if name == "LITERAL":
        return bool(argument == char)
    if name == "NOT_LITERAL":
        return bool(argument != char)
    if name == "ANY":
        return True
    if name == "CATEGORY":
        return re.match(_CATEGORIES.get(str(argument), "(?s:.)"), chr(char)) is not None
    if name == "RANGE":
        return bool(argument[0] <= char <= argument[1])
    if name == "IN":
        negated = any(str(kind) == "NEGATE" for kind, _ in argument)
        return negated != any(_accepts(str(kind), part, char) for kind, part in argument if str(kind) != "NEGATE")
    return False
