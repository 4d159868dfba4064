"""Patterns of a document, as far as they can be matched in bounded time.

Python tries ways to divide a text one after another and holds the interpreter meanwhile, so that a pattern such as
`^(a+)+$` would outlast every limit. How many ways there can be is reckoned from the structure of a pattern and the
length of a text. Where they are too many, the pattern is left out: the service checks it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

__all__ = ["is_bounded", "matches"]

_MAX_PATTERN = 1000
"""Characters of a pattern that is looked at."""
_MAX_WAYS = 5_000_000
"""Ways to match a text that may be tried, which takes a second at the worst."""
_MIN_TEXT = 40
"""Characters of a text that must be matched in time, or a pattern is of no use."""
_MAX_TEXT = 2000
"""Characters of a text that is matched."""
_MAX_RANGES = 20
"""Ranges of a pattern without regard to case, of which Python looks at each character."""
_UNBOUNDED = 10.0**300
_REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})
_CATEGORIES = {"CATEGORY_DIGIT": r"\d", "CATEGORY_SPACE": r"\s", "CATEGORY_WORD": r"\w"}
_CATEGORIES |= {f"CATEGORY_NOT_{name[9:]}": pattern.upper() for name, pattern in _CATEGORIES.items()}


def matches(pattern: str, text: str) -> bool:
    """Whether a text has a match of a pattern; true, too, where that cannot be told in bounded time."""
    compiled = _compiled(pattern)
    length = -(-max(len(text), _MIN_TEXT) // _MIN_TEXT) * _MIN_TEXT  # in steps, so that few lengths are remembered
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
    except re.error:  # patterns are JavaScript's; the few that Python does not know are the server's to check
        return None


@lru_cache(maxsize=4096)
def is_bounded(pattern: str, length: int = _MIN_TEXT) -> bool:
    """Whether texts of a length are matched with a pattern in bounded time.

    One that Python does not know is bounded: it is not matched at all.
    """
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
    """How many ranges of characters there are."""
    sets = [argument for name, argument in _walk(_flattened(items)) if str(name) == "IN"]
    return sum(str(name) == "RANGE" for char_set in sets for name, _ in char_set)


def _count_ways(items: Any, length: int, any_case: bool) -> float:
    """At most so many ways there are for items to match from one place of a text, one after the other."""
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
    """Whether a text can be divided into repetitions in one way only: each begins with a character that none of them
    has further on, and only one part of it has no fixed length."""
    flat = _flattened(items)
    names = [str(name) for name, argument in _walk(flat) if str(name) not in _REPEATS or argument[0] != argument[1]]
    if {"BRANCH", "GROUPREF", "GROUPREF_EXISTS"} & set(names) or sum(name in _REPEATS for name in names) > 1:
        return False
    if not flat or str(flat[0][0]) != "LITERAL":
        return False
    first = flat[0][1]
    return not any(_accepts(str(name), argument, first) for name, argument in _walk(flat[1:]))


def _flattened(items: Any) -> list[Any]:
    """The items with those of groups in their place."""
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
    """Whether an item may take a character."""
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
