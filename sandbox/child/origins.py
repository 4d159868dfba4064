"""Origins: where a value comes from, as sources in the responses of calls. Loaded in the child only.

An origin is a tuple of sources, nearest first: `(call, path, strength)`. `call` is the index of a call, `path` the keys
and indices in its response. EXACT: the value is what lies at that path. MADE: it was made from it. DECIDED: it was set
in a branch or a loop which that value decided about.
"""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType

__all__ = [
    "DECIDED",
    "EXACT",
    "MADE",
    "MOST",
    "NO_ORIGIN",
    "Origin",
    "Source",
    "decided",
    "is_hashable",
    "is_shared",
    "made",
    "merged",
    "ranked",
    "weak",
]

Source = tuple[int, tuple[object, ...], int]
Origin = tuple[Source, ...]

EXACT, MADE, DECIDED = 2, 1, 0
MOST = 8
"""Sources that an origin keeps."""

NO_ORIGIN: Origin = ()


def is_shared(value: object) -> bool:
    """True if equal values may be one and the same object."""
    kind = type(value)
    if kind is int:
        return -6 < value < 257  # type: ignore[operator]
    if kind is str or kind is bytes:
        return len(value) < 2  # type: ignore[arg-type]
    if kind is tuple or kind is frozenset:
        return not value
    return value is None or kind is bool or kind in (type, FunctionType, BuiltinFunctionType, type(...))


def is_hashable(key: object) -> bool:
    """True for a key whose hash needs no code of the program."""
    return type(key) in (str, int, bool, float, type(None), tuple)


def merged(*origins: Origin) -> Origin:
    """The sources of several origins, at most `MOST`, each place once."""
    by_place: dict[tuple[int, tuple[object, ...]], Source] = {}
    for origin in origins:
        for source in origin:
            place = source[:2]
            if place not in by_place or by_place[place][2] < source[2]:
                by_place.setdefault(place, source)
    return tuple(by_place.values())[:MOST]


def made(origin: Origin) -> Origin:
    """The origin of a value that was made from one with this origin."""
    return tuple((call, path, min(strength, MADE)) for call, path, strength in origin)


def weak(origin: Origin) -> Origin:
    """The origin of a value that one with this origin decided about."""
    return tuple((call, path, DECIDED) for call, path, _ in origin)


def decided(controls: list[Origin]) -> Origin:
    """The origin of a value that branches and loops decided about, the innermost first."""
    return weak(merged(*reversed(controls)))


def ranked(origins: list[Origin]) -> list[Source]:
    """All sources: those of the first operand first, in it what decided last."""
    by_place: dict[tuple[int, tuple[object, ...]], Source] = {}
    for is_weak in (False, True):
        for origin in origins:
            for source in origin:
                if (source[2] == DECIDED) is is_weak:
                    by_place.setdefault(source[:2], source)
    return list(by_place.values())
