"""The agent of a household as an object with methods: its calls are kept as lines, and judged like written ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.manipulation.virtualhome.grounding import (
    AGENT,
    AgentFunction,
    GroundedLine,
    agent_functions,
    call_error,
    line_of,
)

__all__ = ["make_agent"]


def make_agent(lines: list[GroundedLine]) -> object:
    """An agent with a method for each function; each call is appended to the lines, also one that raises ValueError."""
    methods = {name: _method(function, lines) for name, function in agent_functions().items()}
    return type(AGENT, (), {"__doc__": "Acts in a household.", **methods})()


def _method(function: AgentFunction, lines: list[GroundedLine]) -> Callable[..., None]:
    def call(objects: Sequence[str]) -> None:
        error = call_error(function.name, objects)
        lines.append(GroundedLine(line_of(function.name, objects), f"{AGENT}.{function.name}", error))
        if error:
            raise ValueError(error)

    def on_nothing(self: Any) -> None:
        call(())

    def on_one(self: Any, object: str) -> None:
        call((object,))

    def on_two(self: Any, object1: str, object2: str) -> None:
        call((object1, object2))

    method: Callable[..., None] = (on_nothing, on_one, on_two)[len(function.objects)]
    method.__name__, method.__qualname__ = function.name, f"{AGENT}.{function.name}"
    method.__doc__ = _docstring(function)
    return method


def _docstring(function: AgentFunction) -> str:
    """What it does, and of each argument some of the objects."""
    arguments = [
        f"    {argument}: Name of an object, such as {', '.join(objects[:3])}."
        for argument, objects in function.objects.items()
    ]
    return "\n".join([function.description, *(["", "Args:", *arguments] if arguments else [])])
