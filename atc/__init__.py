"""Automatic Tool Chain: a language model answers a question with one program that chains the calls of an API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from atc import _siblings

_siblings.check()

if TYPE_CHECKING:
    from atc.agent import Agent
    from atc.faults import Attribution, Fault
    from atc.solution import Attempt, Solution

__all__ = ["Agent", "Attempt", "Attribution", "Fault", "Solution"]

_HOMES = {
    "Agent": "atc.agent",
    "Attempt": "atc.solution",
    "Attribution": "atc.faults",
    "Fault": "atc.faults",
    "Solution": "atc.solution",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:  # loaded at their first use, so that `import atc` stays quick
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
