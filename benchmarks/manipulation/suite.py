"""The tasks of the suite by name; an environment is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from benchmarks.manipulation.environment import Environment
from protocols.errors import UsageError

__all__ = ["TASKS", "open_environment"]

TASKS: Mapping[str, str] = {
    "sheets": "benchmarks.manipulation.sheets.environment:SheetsEnvironment",
    "home": "benchmarks.manipulation.home.environment:HomeSearch",
    "trip": "benchmarks.manipulation.trip.environment:TripBooking",
    "virtualhome": "benchmarks.manipulation.virtualhome.environment:VirtualHome",
}
"""Module and class of each task, `module:Class`, in the order of the paper's tables."""


def open_environment(name: str, *, compat: bool = False, tasks: Mapping[str, str] = TASKS) -> Environment:
    """The environment of a task; close it in the end. Raises: UsageError: There is no such task."""
    if name not in tasks:
        raise UsageError(f"there is no task {name!r}; --task takes {', '.join(tasks)}")
    module, _, class_name = tasks[name].partition(":")
    environment = getattr(import_module(module), class_name)(compat=compat)
    if not isinstance(environment, Environment):
        raise TypeError(f"{tasks[name]} is no Environment")
    return environment
