"""The tasks of the suite by name; an environment is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from benchmarks.manipulation.environment import Environment
from protocols.errors import UsageError

__all__ = ["TASKS", "open_environment"]

TASKS: Mapping[str, str] = {
    "weather": "benchmarks.manipulation.weather.open_weather:OpenWeather",
    "cat": "benchmarks.manipulation.cat.cat_api:CatAPI",
    "home": "benchmarks.manipulation.home.home_search:HomeSearch",
    "trip": "benchmarks.manipulation.trip.trip_booking:TripBooking",
    "sheets": "benchmarks.manipulation.sheets.sheets_environment:SheetsEnvironment",
    "virtualhome": "benchmarks.manipulation.virtualhome.virtual_home:VirtualHome",
    "webshop": "benchmarks.manipulation.webshop.webshop_environment:WebShop",
    "tabletop": "benchmarks.manipulation.tabletop.tabletop_environment:Tabletop",
}
"""Module and class of each task, `module:Class`, in the order of the paper's tables."""


def open_environment(name: str, *, compat: bool = False) -> Environment:
    """The environment of a task; close it in the end. Raises: UsageError: There is no such task."""
    if name not in TASKS:
        raise UsageError(f"there is no task {name!r}; the tasks are {', '.join(TASKS)}")
    module, _, class_name = TASKS[name].partition(":")
    environment = getattr(import_module(module), class_name)(compat=compat)
    if not isinstance(environment, Environment):
        raise TypeError(f"{TASKS[name]} is no Environment")
    return environment
