"""Runs programs: compiled under a policy, executed in a process of its own, with one door to the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandbox.records import CallRecord, Layer, Limits, ProgramError, Provenance, Resources, Run, Source

if TYPE_CHECKING:
    from sandbox.egress.broker import Broker
    from sandbox.journal.journal import Journal
    from sandbox.sandbox import Sandbox

__all__ = [
    "Broker",
    "CallRecord",
    "Journal",
    "Layer",
    "Limits",
    "ProgramError",
    "Provenance",
    "Resources",
    "Run",
    "Sandbox",
    "Source",
]


def __getattr__(name: str) -> object:
    if name == "Sandbox":  # the policy's compiler and HTTP are loaded by those who run programs
        from sandbox.sandbox import Sandbox

        return Sandbox
    if name == "Journal":
        from sandbox.journal.journal import Journal

        return Journal
    if name == "Broker":
        from sandbox.egress.broker import Broker

        return Broker
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
