"""How a question may be solved: the paper's loop, and the methods that it is compared with.

A mode is a function of one Toolbox (atc.modes.toolbox). All modes ask the same model and call the same broker, so that
their tokens, calls and measures can be compared; `MODE@N` is up to N tries of any of them.

Source: the baselines of the ATC paper (arXiv:2405.16533, section 4.1), from its description and those they go back to.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from protocols.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from atc.modes.toolbox import Toolbox

__all__ = ["BASELINES", "LOOP", "MODES", "STEPWISE", "mode_function", "parse"]

LOOP = ("attribute", "naive", "none")
"""The modes that write one program and revise it, by what a revision is told: the functions of atc.modes.revise."""

BASELINES = ("react", "codeact", "dfsdt", "dfs", "restgpt", "conagents")
"""Each is the function of that name in the module of that name."""

STEPWISE = ("react", "dfsdt", "dfs")
"""Those that search by single calls (atc.modes.search)."""

MODES = (*LOOP, *BASELINES, "plan")
"""`plan` asks no model: it runs the plan that the others are shown."""


def parse(mode: str) -> tuple[str, int]:
    """The name of a mode and its number of tries: `react@3` is ("react", 3), `react` is ("react", 1).

    Raises: UsageError.
    """
    name, at, tries = mode.partition("@")
    if name not in MODES:
        raise UsageError(f"unknown mode {mode!r}: choose one of {', '.join(MODES)}, or MODE@N for up to N tries")
    if at and not (tries.isascii() and tries.isdecimal() and int(tries) > 0):
        raise UsageError(f"mode {mode!r}: after the @ comes how often to try, from 1, as in {name}@3")
    return name, int(tries) if at else 1


def mode_function(name: str) -> Callable[[Toolbox], str | None]:
    """The function of a mode, loaded at its first use."""
    module = import_module(f"atc.modes.{'revise' if name in LOOP else name}")
    function: Callable[[Toolbox], str | None] = getattr(module, name)
    return function
