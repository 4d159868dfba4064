"""How a question may be solved: the paper's loop, and the methods that it is compared with.

A mode is a function of one Toolbox (atc.modes.toolbox). All modes ask the same model and call the same broker, so that
their tokens, calls and measures can be compared; `MODE@N` is up to N tries of any of them.

Source: the baselines of the ATC paper (arXiv:2405.16533, section 4.1), from its description and those they go back to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from atc.doors import doors, load
from protocols.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from atc.modes.toolbox import Toolbox

__all__ = ["LOOP", "STEPWISE", "mode_function", "modes", "parse"]

LOOP = ("attribute", "naive", "none")
"""The modes that write one program and revise it, by what a revision is told: the functions of atc.modes.revise."""

STEPWISE = ("react", "dfsdt", "dfs")
"""Those that search by single calls (benchmarks.methods.search)."""


def modes() -> tuple[str, ...]:
    """The names of all modes: the loop's, and those that packages add as entry points `atc.modes`."""
    return (*LOOP, *doors("atc.modes"))


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


def mode_function(name: str) -> Callable[[Toolbox], str | None]:
    """The function of a mode, loaded at its first use."""
    if name in LOOP:
        from atc.modes import revise

        return {"attribute": revise.attribute, "naive": revise.naive, "none": revise.none}[name]
    function: Callable[[Toolbox], str | None] = load("atc.modes", name)
    return function
