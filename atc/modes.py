"""How a question may be solved: the paper's loop, and the methods that others add as entry points `atc.modes`.

A mode declares by itself what the core has to know of it. All modes ask the same model and call the same broker, so
that their tokens, calls and measures can be compared; `MODE@N` is up to N tries of any of them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from atc.doors import doors, load
from protocols.errors import UsageError

if TYPE_CHECKING:
    from atc.prompting import Offer
    from atc.query import Query
    from atc.session import SolveSession

__all__ = ["LOOP", "Mode", "modes", "open_mode", "parse"]

_OWN = {name: f"atc.revise:{name.upper()}" for name in ("attribute", "naive", "none")}
"""The loop, by what a revision is told."""
LOOP = tuple(_OWN)
"""The names of its modes."""


@dataclass(frozen=True, slots=True)
class Mode:
    """A method, and what it needs.

    Args:
        run: Answers; returns the answer, or None where the output of the last run is it. Raises: TryEnded.
        revises: It writes one program and revises it, whose writes can be planned and whose values can be traced.
        helped: A help may review, doubt and prompt; else it adds sections to the first prompt alone.
        reflections: Whether a program is revised at all.
        reruns: It runs programs again on what the journal has.
        single_calls: It makes one call at a time, so that it may need more of them than a program.
    """

    run: Callable[[Query, Offer, SolveSession], str | None]
    revises: bool = False
    helped: bool = False
    reflections: bool = True
    reruns: bool = False
    single_calls: bool = False


def modes() -> tuple[str, ...]:
    """The names of all modes: the loop's, and those that packages add."""
    return (*_OWN, *doors("atc.modes"))


def parse(mode: str) -> tuple[str, int]:
    """The name of a mode and its number of tries: `react@3` is ("react", 3), `react` is ("react", 1).

    Raises: UsageError.
    """
    name, at, tries = mode.partition("@")
    if name not in modes():
        raise UsageError(f"unknown mode {mode!r}: choose one of {', '.join(modes())}, or MODE@N for up to N tries")
    if at and not (tries.isascii() and tries.isdecimal() and int(tries) > 0):
        raise UsageError(f"mode {mode!r}: after the @ comes how often to try, from 1, as in {name}@3")
    return name, int(tries) if at else 1


def open_mode(name: str) -> Mode:
    """The mode of a name, loaded at its first use."""
    if name in _OWN:
        module, _, attribute = _OWN[name].partition(":")
        own: Mode = getattr(importlib.import_module(module), attribute)
        return own
    mode: Mode = load("atc.modes", name)
    return mode
