"""Runs programs: compiled under a policy, executed in a process of its own, with one door to the network."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from sandbox.records import CallRecord, Layer, Limits, ProgramError, Provenance, Resources, Run, Source

if TYPE_CHECKING:
    from sandbox.egress.broker import Broker
    from sandbox.journal.journal import Journal
    from sandbox.sandbox import Sandbox

__all__ = ["Broker", "CallRecord", "Journal", "Layer", "Limits", "ProgramError", "Provenance", "Resources", "Run"]
__all__ += ["Sandbox", "Source"]


_HOMES = {"Broker": "sandbox.egress.broker", "Journal": "sandbox.journal.journal", "Sandbox": "sandbox.sandbox"}
"""Loaded when they are asked for: the policy's compiler and HTTP are for those who run programs."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
