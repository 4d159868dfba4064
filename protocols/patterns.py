"""Patterns of a document, as far as they can be matched in bounded time.

Python tries ways to divide a text one after another and holds the interpreter meanwhile, so that a pattern such as
`^(a+)+$` would outlast every limit. Such patterns are told by their structure and are left out: the service checks
them.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

__all__ = ["is_bounded", "matches"]

_LONGEST = 1000
"""Characters of a pattern that is looked at."""
_OFTEN = 20
"""Repetitions from which on the ways to divide a text count."""
_REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})
_MOST = 3
"""Endless repetitions in a pattern: the work grows by a power of the text for each."""
_TEXT = 2000
"""Characters of a text that is matched."""
_CATEGORIES = {"CATEGORY_DIGIT": r"\d", "CATEGORY_SPACE": r"\s", "CATEGORY_WORD": r"\w"}
_CATEGORIES |= {f"CATEGORY_NOT_{name[9:]}": pattern.upper() for name, pattern in _CATEGORIES.items()}


def matches(pattern: str, text: str) -> bool:
    """Whether a text has a match of a pattern; true, too, where that cannot be told in bounded time."""
    compiled = _compiled(pattern)
    return compiled is None or len(text) > _TEXT or compiled.search(text) is not None


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
def is_bounded(pattern: str) -> bool:
    """Whether a pattern is matched in bounded time: no endless repetition of what can be divided in several ways.

    One that Python does not know is bounded: it is not matched at all.
    """
    if len(pattern) > _LONGEST:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = re._parser.parse(pattern)  # type: ignore[attr-defined]
        often = list(_repeated_often(tree))
        return sum(is_open for is_open, _ in often) <= _MOST and all(_is_divided_once(items) for _, items in often)
    except re.error:
        return True
    except (RecursionError, OverflowError, MemoryError):
        return False


def _repeated_often(items: Any) -> Iterator[tuple[bool, Any]]:
    """What is repeated often, the outer before the inner, each with whether it is not said how often."""
    for name, given in items:
        if str(name) in _REPEATS and given[1] > _OFTEN:
            yield given[1] - given[0] > _OFTEN, given[2]
        for part in _inside(str(name), given):
            yield from _repeated_often(part)


def _inside(name: str, given: Any) -> Iterator[Any]:
    if name in _REPEATS:
        yield given[2]
    elif name == "SUBPATTERN":
        yield given[3]
    elif name == "BRANCH":
        yield from given[1]
    elif name in ("ASSERT", "ASSERT_NOT"):
        yield given[1]
    elif name == "ATOMIC_GROUP":
        yield given
    elif name == "GROUPREF_EXISTS":
        yield given[1]
        if given[2] is not None:
            yield given[2]


def _is_divided_once(items: Any) -> bool:
    """Whether a text can be divided into repetitions in one way only: they are of one length, or each begins with a
    character that none of them has further on."""
    flat = _flat(items)
    names = {str(name) for name, given in _all(flat) if str(name) not in _REPEATS or given[0] != given[1]}
    branching = names & {"BRANCH", "GROUPREF", "GROUPREF_EXISTS"}
    if not branching and not names & _REPEATS:
        return True
    if not flat or str(flat[0][0]) != "LITERAL" or branching:
        return False
    first = flat[0][1]
    return not any(_takes(str(name), given, first) for name, given in _all(flat[1:]))


def _flat(items: Any) -> list[Any]:
    """The items with those of groups in their place."""
    found: list[Any] = []
    for name, given in items:
        found += _flat(given[3]) if str(name) == "SUBPATTERN" else [(name, given)]
    return found


def _all(items: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    for name, given in items:
        yield name, given
        for part in _inside(str(name), given):
            yield from _all(_flat(part))


def _takes(name: str, given: Any, char: int) -> bool:
    """Whether an item may take a character."""
    if name == "LITERAL":
        return bool(given == char)
    if name == "NOT_LITERAL":
        return bool(given != char)
    if name == "ANY":
        return True
    if name == "CATEGORY":
        return re.match(_CATEGORIES.get(str(given), "(?s:.)"), chr(char)) is not None
    if name == "RANGE":
        return bool(given[0] <= char <= given[1])
    if name == "IN":
        negated = any(str(kind) == "NEGATE" for kind, _ in given)
        return negated != any(_takes(str(kind), part, char) for kind, part in given if str(kind) != "NEGATE")
    return False
