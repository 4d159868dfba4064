"""Thousands of arguments of a tool cost a time that goes with their number: 6,000 cost a minute in all its texts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from protocols import Protocol, load
from protocols.dataflow.graph import ProtocolGraph
from protocols.documentation import documentation
from protocols.render import render, render_full


def function(arguments: int) -> Protocol:
    """A tool of a Python function."""
    signature = ", ".join(f"a{number}: int = 0" for number in range(arguments))
    lines = "".join(f"        a{number}: The number of rooms on floor {number}\n" for number in range(arguments))
    names: dict[str, object] = {}
    exec(f"def f({signature}) -> int:\n    '''Count.\n\n    Args:\n{lines}    '''\n", names)
    return Protocol.from_functions(names["f"])


def operation(arguments: int) -> Protocol:
    """A tool of an API document."""
    parameters = [
        {"name": f"a{number}", "in": "query", "description": f"Rooms {number}", "schema": {"type": "integer"}}
        for number in range(arguments)
    ]
    responses = {"200": {"description": "", "content": {"application/json": {"schema": {"type": "object"}}}}}
    paths = {"/notes": {"get": {"parameters": parameters, "responses": responses}}}
    return load({"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": paths})


def steps(protocol: Protocol) -> int:
    """The lines of Python that run for all texts of a protocol's tools."""
    graph, count = ProtocolGraph(protocol), 0

    def trace(*event: object) -> Any:
        nonlocal count
        count += 1
        return trace

    sys.settrace(trace)
    try:
        render_full(protocol.tools)
        render(protocol.tools, graph)
        documentation(protocol.tools, graph)
    finally:
        sys.settrace(None)
    return count


@pytest.mark.parametrize("tool", [function, operation])
def test_the_texts_of_a_tool_are_linear_in_its_arguments(tool: Callable[[int], Protocol]) -> None:
    few, many = (steps(tool(number)) for number in (100, 800))

    assert many < 8.5 * few
