"""The number of threads of a local model."""

from __future__ import annotations

import os
from pathlib import Path

from protocols.errors import UsageError

__all__ = ["default_threads"]

_MANY_CORES = 4
"""Cores from which one is left to other work: a thread that waits for its core delays all others."""


def default_threads() -> int:
    """The threads of a local model: `ATC_THREADS`, else one a core, and a core less from four cores on.

    Raises: UsageError: ATC_THREADS is no number from 1.
    """
    if setting := os.environ.get("ATC_THREADS"):
        if not setting.isdecimal() or int(setting) < 1:
            raise UsageError(f"ATC_THREADS is {setting!r}: it must be a number from 1")
        return int(setting)
    cores = _physical_cores()
    return cores - 1 if cores >= _MANY_CORES else cores


def _physical_cores() -> int:
    """Count the processor cores that this process may use; hardware threads of one core share its arithmetic."""
    cores = set()
    for cpu in os.sched_getaffinity(0):
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        cores.add(siblings.read_text() if siblings.exists() else str(cpu))
    return len(cores)
