"""What a query parameter means for the items of a list: the field that it filters by, and how.

A world that holds what a program looks for, and a list that is filtered, must read a parameter alike.
"""

# ruff: noqa: SIM905 - word lists are read, and split once

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from protocols.simulator.analysis.world_schema import EntityType, label_of
from protocols.text.words import NAMES, singular, words

__all__ = [
    "AFFIXES",
    "FURTHER",
    "LIMITS",
    "OFFSETS",
    "PAGES",
    "PATTERN_WORDS",
    "Filter",
    "conditions_in",
    "filter_of",
    "is_paging",
    "members_of",
]

LIMITS = NAMES["limits"] | {"page_limit"}
OFFSETS = NAMES["offsets"] | {"from", "page_offset"}
"""With `from`, which elsewhere may be a date."""
PAGES = NAMES["pages"]
FURTHER = NAMES["cursors"] | frozenset(
    "scroll_param scroll_id last_seen_id page_token next_page_token next_cursor pagination_token continuation_token "
    "before marker next_marker".split()
)
"""Names of arguments that ask for the items after some others."""
AFFIXES = frozenset(
    "with without exclude not gte lte gt lt min max from to after before since until id ids "
    "in all any exact iexact ie".split()
)
# `ie` and `ic` end filters of one document alone (`name__ie`), and were judged by no unread one.
PATTERN_WORDS = frozenset("pattern prefix like ilike contains icontains ic startswith istartswith".split())
_LEAST_WORDS = frozenset("gte gt min from after since".split())
_MOST_WORDS = frozenset("lte lt max to before until".split())
_STRICT_WORDS = frozenset({"gt", "lt"})
_MOMENT_WORDS = frozenset("at on date time timestamp".split())
_ENDS = {"start": "from", "begin": "from", "end": "to", "stop": "to"}
_KEYS = ("value", "code", "id", "name")
"""What an object is filtered by: `{"value": "active", "label": "Active"}`."""
_STATE_PREFIXES = ("is", "has", "are")
FilterHow = Literal["contains", "prefix", "exact", "from", "to", "above", "below", "other"]
_CONDITION = re.compile(
    r"(?P<field>[A-Za-z_][\w.]*)\s*(?P<how>==?|:|>=|<=|!=|>|<|\beq\b|\bge\b|\ble\b|\bgt\b|\blt\b|\bne\b)\s*"
    r"(?:\"([^\"]*)\"|'([^']*)'|(true\b|false\b|[\w.-]+)(?!\())"
)
_HOW: Mapping[str, FilterHow] = {
    "=": "exact", "==": "exact", ":": "exact", "eq": "exact", ">=": "from", "ge": "from", "<=": "to", "le": "to",
    ">": "above", "gt": "above", "<": "below", "lt": "below", "!=": "other", "ne": "other",
}  # fmt: skip


class Filter(NamedTuple):
    """A field, and how its value compares with the argument; `from` and `to` include the limit."""

    field: str
    how: FilterHow = "exact"


def filter_of(kind: EntityType, name: str, value: object) -> Filter | None:
    """The filter that a parameter is, by its name; None if no field is named like it.

    `min_total` and `total_gte` are limits of `total`, `created_after` one of `created_at`, `since` one of the date by
    which the type is listed.
    """
    parts = list(words(name))
    if not parts:
        return None
    if parts[-1] in PATTERN_WORDS:
        named = next((field for field in kind.fields if list(words(field)) == parts[:-1]), None)
        starts = parts[-1] == "prefix" or parts[-1].endswith("startswith")
        return Filter(named, "prefix" if starts else "contains") if named is not None else None
    least = parts[-1] in _LEAST_WORDS or parts[0] in {"min", "from", "since"}
    most = parts[-1] in _MOST_WORDS or parts[0] in {"max", "until"}
    core = [part for part in parts if part not in AFFIXES]
    ends = set(core) & _ENDS.keys()
    if kind.date and (not core or (ends and set(core) <= _MOMENT_WORDS | ends)):
        if not core and not (least or most):
            return None
        least = least or "from" in {_ENDS[word] for word in ends}
        field: str | None = next((f for f in kind.fields if core and list(words(f)) == core), None)
        field = field or kind.date
        return Filter(field, "from" if least else "to") if _is_moment(value) else None
    if not core:
        return None
    forms = [core, core[1:]] if core[0] == "primary" else [parts, core, [*core[:-1], singular(core[-1])]]
    if least or most:
        forms.insert(1, parts[:-1])
    if isinstance(value, bool):
        forms += [[prefix, *parts] for prefix in _STATE_PREFIXES]
    field = next((f for form in forms for f in kind.fields if list(words(f)) == form), None)
    if field is None and (least or most):
        bare = [part for part in core if part not in _MOMENT_WORDS]
        dated = (f for f in kind.fields if bare and [w for w in words(f) if w not in _MOMENT_WORDS] == bare)
        field = next(dated, None)
    if field is None:
        return None
    key_paths = [path for name in _KEYS if (path := f"{field}.{name}") in kind.nested]
    sent = value[0] if isinstance(value, (list, tuple)) and value else value
    enumerating = (path for path in key_paths if sent in kind.nested[path].enumerated)
    field = next(enumerating, key_paths[0] if key_paths else field)
    if least or most:
        strict = parts[-1] in _STRICT_WORDS
        return Filter(field, ("above" if strict else "from") if least else ("below" if strict else "to"))
    return Filter(field)


def is_paging(name: str) -> bool:
    """True if a parameter chooses a page by its size, its number or its first item."""
    return label_of(name) in LIMITS | OFFSETS | PAGES


def members_of(name: str, value: object) -> list[tuple[str, object]]:
    """The filters within an argument, by name: `{"gte": 3}` of `total` is `total_gte`, `{"state": …}` is `state`."""
    if not isinstance(value, Mapping):
        return [(name, value)]
    limits = AFFIXES | {"eq"}
    return [
        (f"{name}_{key}" if str(key) in limits else str(key), inner)
        for key, inner in value.items()
        if not isinstance(inner, Mapping)
    ]


def conditions_in(expression: str) -> list[tuple[str, FilterHow, str]]:
    """The conditions of a filter such as `Status=="PAID" AND Total>100`: field, comparison and value.

    None of one with an alternative.
    """
    if re.search(r"\bor\b|\|\|", expression, re.IGNORECASE):
        return []
    return [
        (match["field"], _HOW[match["how"].lower()], next(filter(None, match.groups()[2:]), ""))
        for match in _CONDITION.finditer(expression)
    ]


def _is_moment(value: object) -> bool:
    """True for a date, or a number that may be one."""
    return bool(re.match(r"\d{4}-\d\d", str(value))) or (isinstance(value, int) and value > 10**8)
