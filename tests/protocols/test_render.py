"""What the model reads: short, complete, and the same every time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from protocols import load
from protocols.dataflow.graph import ProtocolGraph
from protocols.render import estimate, render, render_full
from protocols.samples import sample


@pytest.fixture(scope="module")
def cinema() -> ProtocolGraph:
    return ProtocolGraph(load(sample("cinema")))


def test_a_tool_is_a_signature_a_sentence_hints_and_a_shape(cinema: ProtocolGraph) -> None:
    """Everything a program needs of one tool, and nothing else."""
    text = render([cinema.protocol.tool("GET_people_personId"), cinema.protocol.tool("GET_people")], cinema)

    assert text.splitlines()[:3] == [
        "GET_people_personId(personId: int) — One person",
        '  personId: int — from GET_people(query=…)["people"][0]["personId"]',
        "  -> {personId:int, name, photoUrl, biography, birthday, birthplace}",
    ]


def test_objects_returned_by_several_tools_are_written_once(cinema: ProtocolGraph) -> None:
    """A film is described in one line before the tools; the lists of films just name it."""
    tools = [cinema.protocol.tool(name) for name in ("GET_films", "GET_films_top_rated", "GET_me_watchlist")]
    text = render(tools, cinema)

    assert text.startswith("Film = {filmId:int, title,")
    assert text.count("posterUrl") == 1
    assert text.count("films:[Film]") == 3


def test_where_an_identifier_comes_from_is_told_once_of_tools_in_one_line(cinema: ProtocolGraph) -> None:
    """A described tool tells it each time."""
    hint = '  personId: int — from GET_people(query=…)["people"][0]["personId"]'
    text = render(cinema.protocol.tools, cinema, details=["GET_people_personId"], whole=False)
    signatures = [line for line in text.splitlines() if line.startswith("GET_") and "(personId: int)" in line]

    assert len(signatures) > 1
    assert text.count(hint) == 1
    assert render(cinema.protocol.tools, cinema, whole=False).count(hint) == len(signatures)


@pytest.mark.parametrize("budget", [1200, 750, 400])
def test_a_budget_is_kept(cinema: ProtocolGraph, budget: int) -> None:
    """Details go first, signatures never."""
    text = render(cinema.protocol.tools, cinema, budget=budget)

    assert estimate(text) <= budget
    assert all(f"{tool.name}(" in text for tool in cinema.protocol.tools)


def test_every_documented_field_is_there(cinema: ProtocolGraph) -> None:
    """Fields in objects up to three deep are in the text, under the tool or in a named type."""
    text = render(cinema.protocol.tools, cinema)
    words = set(re.findall(r"\w+", text))

    for tool in cinema.protocol.tools:
        if tool.success and tool.success.schema:
            assert _names(tool.success.schema) <= words, tool.name


def _names(schema: object, depth: int = 0) -> set[str]:
    if not isinstance(schema, dict) or depth > 3:
        return set()
    if "items" in schema:
        return _names(schema["items"], depth)
    names = set()
    for name, part in schema.get("properties", {}).items():
        names |= {name} | _names(part, depth + 1)
    return names


@pytest.mark.parametrize(("api", "most"), [("tmdb", 110), ("spotify", 130)])
def test_real_protocols_stay_small(data: Path, api: str, most: int) -> None:
    """About 3.75 characters of this text make a token of the local model; the README has the exact figures."""
    protocol = load(data / "restbench" / f"{api}_oas.json")
    graph = ProtocolGraph(protocol)
    text = render(protocol.tools, graph)

    assert len(text) / 3.6 / len(protocol.tools) <= most
    words = set(re.findall(r"\w+", text))
    for tool in protocol.tools:
        if tool.success and tool.success.schema:
            assert {n for n in _names(tool.success.schema) if n.isidentifier()} <= words, tool.name


def test_the_papers_style_has_the_whole_schema(cinema: ProtocolGraph) -> None:
    text = render_full([cinema.protocol.tool("GET_people")])

    assert "API name: GET_people" in text
    assert '"type": "array"' in text
    assert '"examples"' not in text


def test_a_required_argument_that_no_call_provides_has_its_example() -> None:
    """What the document gives as an example says what form a value has; identifiers come from calls."""
    parameters = [
        {"name": "kind", "in": "query", "required": True, "schema": {"type": "string"}, "example": "verein"},
        {"name": "page", "in": "query", "schema": {"type": "integer", "example": 2}},
        {"name": "text", "in": "query", "required": True, "schema": {"type": "string", "example": "x" * 50}},
    ]
    operation = {"parameters": parameters, "responses": {"200": {"description": ""}}}
    protocol = load(
        {"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": {"/clubs": {"get": operation}}}
    )

    assert '  e.g. kind="verein"\n' in f"{render(protocol.tools, ProtocolGraph(protocol))}\n"
