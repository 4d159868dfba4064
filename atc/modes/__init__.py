"""How a question may be solved: the paper's loop, and the methods that it is compared with.

`attribute`, `naive` and `none` are the loop in atc.loop. Every other mode is a function of one Work (atc.modes.work)
that returns the answer or raises Ended. All of them ask the same model and call the same broker, so that their tokens,
calls and measures can be compared; `MODE@N` is up to N tries of any of them.

Source: the baselines of the ATC paper (arXiv:2405.16533, section 4.1), from its description and those they go back to.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from protocols.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from atc.modes.work import Work

__all__ = ["BASELINES", "LOOP", "MODES", "baseline", "parse"]

LOOP = ("attribute", "naive", "none")
"""The modes of the loop, by what the model is told after a failure."""

BASELINES = ("react", "codeact", "dfsdt", "restgpt", "conagents")
"""Each is the function of that name in the module of that name."""

MODES = (*LOOP, *BASELINES)


def parse(mode: str) -> tuple[str, int]:
    """The name of a mode and how many tries it has: `react@3` is ("react", 3), `react` is ("react", 1).

    Raises: UsageError.
    """
    name, at, tries = mode.partition("@")
    if name not in MODES:
        raise UsageError(f"unknown mode {mode!r}: choose one of {', '.join(MODES)}, or MODE@N for up to N tries")
    if at and not (tries.isascii() and tries.isdecimal() and int(tries) > 0):
        raise UsageError(f"mode {mode!r}: after the @ comes how often to try, from 1, as in {name}@3")
    return name, int(tries) if at else 1


def baseline(name: str) -> Callable[[Work], str]:
    """The function of a baseline mode, loaded at its first use."""
    found: Callable[[Work], str] = getattr(import_module(f"atc.modes.{name}"), name)
    return found
