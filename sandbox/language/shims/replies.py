"""The call that a reply of `requests`, or the error of a call, answers. Loaded in the child only.

A program can make an object of the same class, or with the same attributes; only one that was noted here counts.
"""

from __future__ import annotations

import weakref

__all__ = ["bind_to_call", "call_index"]

_noted: dict[int, tuple[weakref.ref[object], int]] = {}
"""By identity: an own `__eq__` or `__hash__` of the program is never asked."""


def bind_to_call(value: object, call: object) -> None:
    """Remember that an object is the answer to the call of that index."""
    if type(call) is int:
        place = id(value)
        _noted[place] = weakref.ref(value, lambda _: _noted.pop(place, None) and None), call


def call_index(value: object) -> int | None:
    """The index of the call that an object answers; None for what the program made itself."""
    held, call = _noted.get(id(value), (None, None))
    return call if held is not None and held() is value else None
