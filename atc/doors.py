"""Doors for others: a mode, an engine, a help or a command is an entry point, which is loaded at its first use.

`pyproject.toml` lists ours; a package of somebody else lists its own in the same groups:

atc.modes     a Mode (`atc.modes`)
atc.engines   a function that opens a model by the rest of its name (`atc.models`)
atc.help      a class of help for a model (`atc.help`)
atc.commands  a click command
atc.facts     a fact about a run (`atc.evidence.facts`)
atc.benchmarks  a benchmark (`benchmarks.harness.registry`)
atc.auth      an auth scheme, read by `protocols.calls.auth`
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from atc._siblings import SIBLINGS, claim

__all__ = ["Door", "doors", "load"]

Door = Literal["atc.modes", "atc.engines", "atc.help", "atc.commands", "atc.benchmarks", "atc.facts"]


@cache
def doors(group: Door) -> dict[str, EntryPoint]:
    """What is registered in a group, by its name."""
    return {entry.name: entry for entry in entry_points(group=group)}


def load(group: Door, name: str) -> Any:
    """What is registered under a name. Raises: KeyError: Nothing is. ImportError: Its module cannot be imported."""
    entry = doors(group)[name]
    if entry.module.partition(".")[0] in SIBLINGS:
        claim()
    return entry.load()
