"""What the model reads: short, complete, and the same every time."""

from __future__ import annotations

import pytest

from protocols import load
from protocols.dataflow.graph import ProtocolGraph
from protocols.quoting import estimate
from protocols.render import render, render_full
from protocols.samples import sample
from tests.protocols.documents.samples import document


@pytest.fixture(scope="module")
def cinema() -> ProtocolGraph:
    return ProtocolGraph(load(sample("cinema")))


def test_a_tool_is_a_signature_a_sentence_hints_and_a_shape(cinema: ProtocolGraph) -> None:
    """Everything a program needs of one tool, and nothing else."""
    text = render([cinema.protocol.tool("GET_people_personId"), cinema.protocol.tool("GET_people")], cinema)

    assert text.splitlines()[:3] == [
        "GET_people_personId(personId: int) — One person",
        '  personId: int — from GET_people(query=…)["people"][0]["personId"]',
        "  -> {personId:int, name, biography, birthday, birthplace, …}",
    ]


def test_where_an_identifier_comes_from_is_told_once_of_tools_in_one_line(cinema: ProtocolGraph) -> None:
    """A described tool tells it each time."""
    hint = '  personId: int — from GET_people(query=…)["people"][0]["personId"]'
    text = render(cinema.protocol.tools, cinema, details=["GET_people_personId"])
    signatures = [line for line in text.splitlines() if line.startswith("GET_") and "(personId: int)" in line]

    assert len(signatures) > 1
    assert text.count(hint) == 1
    assert render(cinema.protocol.tools, cinema).count(hint) == len(signatures)


@pytest.mark.parametrize("budget", [1200, 750, 450])
def test_a_budget_is_kept(cinema: ProtocolGraph, budget: int) -> None:
    """Details go first, signatures never."""
    text = render(cinema.protocol.tools, cinema, budget=budget)

    assert estimate(text) <= budget
    assert all(f"{tool.name}(" in text for tool in cinema.protocol.tools)


def test_a_list_may_hold_itself() -> None:
    """A value that is a text or a list of such values is written down to the list."""
    value = {"oneOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/components/schemas/Value"}}]}
    result = {"type": "object", "properties": {"value": {"$ref": "#/components/schemas/Value"}}}
    protocol = load(document(result, schemas={"Value": value}, place="get /values"))

    assert render(protocol.tools, ProtocolGraph(protocol)) == "GET_values()\n  -> {value:[any]}"


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
    protocol = load(document(parameters=parameters, place="get /clubs"))

    assert '  e.g. kind="verein"\n' in f"{render(protocol.tools, ProtocolGraph(protocol))}\n"


def test_a_schema_that_allows_itself() -> None:
    """A pet is a cat or a dog, and a cat is a pet and more: the usual way to write a base class."""
    pet, cat, dog = ({"$ref": f"#/components/schemas/{name}"} for name in ("Pet", "Cat", "Dog"))
    schemas = {
        "Pet": {"oneOf": [cat, dog]},
        "Cat": {"allOf": [pet, {"properties": {"lives": {"type": "integer"}}}]},
        "Dog": {"type": "object", "properties": {"barks": {"type": "boolean"}}},
    }
    protocol = load(document(pet, schemas=schemas))

    text = render(protocol.tools, ProtocolGraph(protocol))

    assert "lives:int" in text
    assert "barks:bool" in text
