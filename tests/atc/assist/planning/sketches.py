"""APIs to plan with, and the texts of plans as the tests compare them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache

from atc.assist.language.question import Question
from atc.assist.planning.planner import plans, steps_to
from atc.program.plan import Plan, sketch
from benchmarks.tasks.datasets import open_dataset
from protocols import load
from protocols.dataflow.graph import ProtocolGraph
from protocols.samples import sample

__all__ = ["document", "graph", "lines", "plan_sketch", "plan_sketches"]


def plan_sketch(graph: ProtocolGraph, tool: str, callable_tools: Collection[str], query: str = "") -> list[str]:
    """The lines of the plan that calls a tool."""
    return sketch(Plan(steps_to(graph, tool, callable_tools, Question(query)))).splitlines()


def plan_sketches(
    graph: ProtocolGraph, tools: Sequence[str], callable_tools: Collection[str], query: str, sure: Collection[str] = ()
) -> tuple[str, ...]:
    """The plans that call several tools."""
    return tuple(map(sketch, plans(graph, tools, callable_tools, Question(query), sure)))


@cache
def graph(api: str) -> ProtocolGraph:
    """The data flow of a sample API."""
    return ProtocolGraph(load(sample("cinema")) if api == "cinema" else open_dataset("tiny", None, ()).protocols[api])


def document(title: str, paths: Mapping[str, tuple[Sequence[object], object]]) -> dict[str, object]:
    """An API that reads: by path, the parameters and the schema of the response."""
    return {
        "openapi": "3.0.3",
        "info": {"title": title, "version": "1"},
        "paths": {
            path: {
                "get": {
                    "parameters": parameters,
                    "responses": {"200": {"description": "", "content": {"application/json": {"schema": schema}}}},
                }
            }
            for path, (parameters, schema) in paths.items()
        },
    }


def lines(api: str, tool: str, query: str = "") -> list[str]:
    """The lines of the plan that calls a tool of a sample API."""
    return plan_sketch(graph(api), tool, [callable_tool.name for callable_tool in graph(api).protocol.tools], query)
