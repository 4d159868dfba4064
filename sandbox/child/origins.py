"""Origins: where a value comes from, as sources in the responses of calls. Loaded in the child only.

An origin is a tuple of sources, nearest first: `(call, path, strength)`. `call` is the index of a call, `path` the keys
and indices in its response. EXACT: the value is what lies at that path. MADE: it was made from it. DECIDED: it was set
in a branch or a loop which that value decided about.

Containers, texts and large numbers are known by identity; what has none (None, True, small numbers, single letters) is
followed by the expressions and variables that it passes through. Equal values alone are no evidence.
"""

from __future__ import annotations

from _thread import _local
from types import BuiltinFunctionType, FunctionType

from sandbox.language.guards import shown_as

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["EXACT", "MADE", "MOST", "NO_ORIGIN", "Origin", "OriginStore", "Source"]
__all__ += ["decided", "is_hashable", "is_shared", "made", "merged", "ranked", "weak"]

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


STEPS = 100_000
"""Operations of a program that are followed; they are counted, and not timed, so that the same run ends the same."""

LEAVES = 200_000
"""Values of one response that are known by themselves."""


class _ThreadState(_local):
    def __init__(self) -> None:
        self.origins: dict[int, Origin] = {}
        self.controls: list[Origin] = []
        self.pending: tuple[object, tuple[Origin, ...], dict[str, Origin], Origin] | None = None
        self.calls: list[int] = []
        self.result: tuple[object, Origin] | None = None
        self.yielded: tuple[object, Origin] = (None, NO_ORIGIN)
        self.collected: dict[int, list[Origin]] = {}


class OriginStore:
    """The origins of values; `give_up` ends a run that has taken too many steps."""

    def __init__(self, give_up: Callable[[], object] = lambda: None) -> None:
        self._give_up = give_up
        self._steps = 0
        self._here = _ThreadState()
        self._by_identity: dict[int, tuple[object, Origin]] = {}
        self._parts: dict[int, dict[object, Origin]] = {}
        self._faults: dict[int, tuple[BaseException, list[Origin]]] = {}
        self._direct_arguments: dict[int, dict[str, Origin]] = {}
        self.arguments: dict[int, dict[str, Origin]] = {}
        self.printed: list[Origin] = []

    def explain(self, error: BaseException | None) -> list[Source]:
        """The sources that an exception rests on, nearest first; its causes count before it."""
        chain: list[BaseException] = []
        while error is not None and error not in chain:
            chain.append(error)
            error = error.__cause__ or error.__context__
        for link in reversed(chain):
            fault = self._faults.get(id(link))
            if fault is not None:
                sources = ranked(fault[1])
                if sources or link is chain[0]:
                    return sources
        return []

    def _remember(self, value: object, origin: Origin) -> None:
        if origin and not is_shared(value):
            self._by_identity[id(value)] = (value, origin)  # the value is kept, or another could get its identity

    def _step(self) -> None:
        self._steps += 1
        if self._steps > STEPS:
            self._give_up()

    def _remember_tree(self, root: object, call: int, path: tuple[object, ...]) -> None:
        waiting: list[tuple[object, tuple[object, ...]]] = [(root, path)]
        count = 0
        while waiting and count < LEAVES:
            value, here = waiting.pop()
            count += 1
            self._remember(value, ((call, here, EXACT),))
            kind: object = shown_as.get(type(value), type(value))
            if kind is dict and isinstance(value, dict):
                waiting += [(part, (*here, key)) for key, part in value.items()]
            elif kind is list and isinstance(value, list):
                waiting += [(part, (*here, index)) for index, part in enumerate(value)]

    def _of(self, number: int, value: object) -> Origin:
        return self._identity(value, self._origin(number))

    def _origin(self, number: int) -> Origin:
        """The origin that an expression had when it was evaluated; numbers from 1 are those of the program."""
        return self._here.origins.get(number, NO_ORIGIN) if number > 0 else NO_ORIGIN

    def _identity(self, value: object, otherwise: Origin) -> Origin:
        entry = None if is_shared(value) else self._by_identity.get(id(value))
        return entry[1] if entry is not None else otherwise

    def _note(self, number: int, value: object, origin: Origin) -> Any:
        """The value, whose origin is noted for the expression and, where it has an identity, for itself."""
        self._step()
        if not is_shared(value):
            entry = self._by_identity.get(id(value))
            if entry is None:
                self._remember(value, origin)
            else:
                origin = entry[1]
        self._here.origins[number] = origin
        return value

    def _note_new(self, number: int, value: object, origin: Origin) -> Any:
        """Like `_note` for a container that was made just now; it is kept, so that its identity stays its own."""
        self._by_identity[id(value)] = (value, origin)
        self._here.origins[number] = origin
        return value

    def _part(self, container: object, key: object, origin: Origin) -> Origin:
        """The origin of what a container with that origin holds at a key."""
        own = self._parts.get(id(container))
        if own is not None and is_hashable(key) and key in own:
            return own[key]
        if origin and origin[0][2] == EXACT and isinstance(container, (dict, list, str, type(None))):
            call, path, _ = origin[0]
            if isinstance(key, int) and isinstance(container, list) and key < 0:
                key += len(container)
            if not isinstance(key, slice):
                return ((call, (*path, key), EXACT), *origin[1:])
        return made(origin)

    def _blame(self, error: BaseException, *operands: tuple[Origin, object]) -> None:
        """Note what an exception rests on, unless that is known from deeper inside."""
        if id(error) not in self._faults:
            self._faults[id(error)] = (error, [origin for origin, _ in operands if origin])
