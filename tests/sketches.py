"""The texts of plans, as the tests compare them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from atc.language.question import Question
from atc.planning.plan import Plan
from atc.planning.planner import plans, steps_to
from atc.planning.sketch import sketch
from protocols.dataflow.graph import ProtocolGraph

__all__ = ["plan_sketch", "plan_sketches"]


def plan_sketch(graph: ProtocolGraph, tool: str, callable_tools: Collection[str], query: str = "") -> list[str]:
    """The lines of the plan that calls a tool."""
    return sketch(Plan(steps_to(graph, tool, callable_tools, Question(query)))).splitlines()


def plan_sketches(
    graph: ProtocolGraph, tools: Sequence[str], callable_tools: Collection[str], query: str, sure: Collection[str] = ()
) -> tuple[str, ...]:
    """The plans that call several tools."""
    return tuple(map(sketch, plans(graph, tools, callable_tools, Question(query), sure)))
