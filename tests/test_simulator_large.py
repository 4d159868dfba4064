"""What a program may rely on in worlds of large documents: answers in time, and entities that a program can use."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from protocols import load
from protocols.model import Protocol
from protocols.simulator.analysis.api_analysis import analyze_api
from protocols.simulator.http.messages import SimulatedReply, SimulatedRequest
from protocols.simulator.http.routing import Responder
from protocols.simulator.world.question_ids import read_identifiers
from protocols.simulator.world.world import World
from protocols.text.entities import read_entities

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)


def described(paths: Mapping[str, object], schemas: Mapping[str, object]) -> Protocol:
    """A protocol of these paths; a path maps methods to the schema of their response or to an operation."""
    operations = {
        path: {
            method: operation if "responses" in operation else {"responses": {"200": response(operation)}}
            for method, operation in methods.items()  # type: ignore[attr-defined]
        }
        for path, methods in paths.items()
    }
    return load(
        {
            "openapi": "3.0.0",
            "info": {"title": "Test", "version": "1"},
            "paths": operations,
            "components": {"schemas": schemas},
        }
    )


def response(schema: object) -> dict[str, object]:
    return {"description": "OK", "content": {"application/json": {"schema": schema}}}


def world_of(protocol: Protocol, question: str = "") -> Responder:
    named, identifiers = read_entities(question), read_identifiers(question)
    return Responder(World(analyze_api(protocol), "0", NOW, named_entities=named, identifiers=identifiers))


def get(world: Responder, path: str, **query: str) -> SimulatedReply:
    return world.answer(SimulatedRequest("GET", path, tuple(query.items())))


def ref(name: str) -> dict[str, object]:
    return {"$ref": f"#/components/schemas/{name}"}


def test_schemas_that_hold_one_another_stay_small() -> None:
    """Twelve schemas that each show the eleven others would make billions of places."""
    names = [f"Part{letter}" for letter in "ABCDEFGHIJKL"]
    schemas: dict[str, object] = {
        name: {
            "type": "object",
            "required": ["id", "label", "parts"],
            "properties": {
                "id": {"type": "string"},
                "label": {"type": "string"},
                "parts": {"type": "array", "items": ref(name)},
                **{other.lower(): ref(other) for other in names if other != name},
            },
        }
        for name in names
    }

    protocol = described({f"/{name.lower()}s/{{id}}": {"get": ref(name)} for name in names}, schemas)

    schema = analyze_api(protocol)
    sizes = [sum(1 for _ in plan.shape.walk()) for plan in schema.plans if plan.shape]
    assert max(sizes) <= 400
    shown = [set(plan.shape.properties) for plan in schema.plans if plan.shape]
    assert all({"id", "label", "parts"} <= properties for properties in shown)


def test_a_list_that_is_too_deep_is_empty_not_an_object() -> None:
    """A required list below the last level that is followed keeps its type."""
    wide = {f"p{number}": ref("Node") for number in range(30)}
    node = {
        "type": "object",
        "required": ["nodes"],
        "properties": {"name": {"type": "string"}, "nodes": ref("Nodes"), **wide},
    }
    schemas = {"Node": node, "Nodes": {"type": "array", "items": ref("Node")}}
    body = get(world_of(described({"/tree": {"get": ref("Node")}}, schemas)), "/tree").body

    assert isinstance(body, dict)
    assert all(isinstance(place["nodes"], list) for place in (body, *body.values()) if isinstance(place, dict))


def test_identifiers_of_few_values_do_not_stop_a_world() -> None:
    """An identifier with two documented values still tells 48 entities apart."""
    badge = {"type": "object", "properties": {"id": {"type": "string", "enum": ["a", "b"]}, "name": {"type": "string"}}}
    paths = {"/badges": {"get": {"type": "array", "items": ref("Badge")}}, "/badges/{badge_id}": {"get": ref("Badge")}}

    reply = get(world_of(described(paths, {"Badge": badge})), "/badges")

    assert reply.status == 200
    assert isinstance(reply.body, list)
    assert len(reply.body) > 1


def customers_protocol() -> Protocol:
    """Customers with a number by which people know them, listed by cursor."""
    customer = {
        "type": "object",
        "properties": {"id": {"type": "string"}, "name": {"type": "string"}, "customer_number": {"type": "string"}},
    }
    page = {
        "type": "object",
        "properties": {
            "customers": {"type": "array", "items": ref("Customer")},
            "has_more": {"type": "boolean"},
            "pages": {
                "type": "object",
                "properties": {
                    "next": {
                        "type": "object",
                        "nullable": True,
                        "properties": {"per_page": {"type": "integer"}, "starting_after": {"type": "string"}},
                    },
                    "total_pages": {"type": "integer"},
                },
            },
        },
    }
    query = [
        {"name": name, "in": "query", "schema": {"type": kind}}
        for name, kind in {"starting_after": "string", "per_page": "integer"}.items()
    ]
    paths = {
        "/customers": {"get": {"parameters": query, "responses": {"200": response(page)}}},
        "/customers/{customer_id}": {"get": ref("Customer")},
    }
    return described(paths, {"Customer": customer})


def test_an_identifier_of_the_question_is_found() -> None:
    """An identifier that the question tells leads to an entity; any other does not."""
    world = world_of(customers_protocol(), "What is the name of customer cus_81Kx2?")

    reply = get(world, "/customers/cus_81Kx2")

    assert reply.status == 200
    assert isinstance(reply.body, dict)
    assert reply.body["customer_number"] == "cus_81Kx2" or reply.body["id"] == "cus_81Kx2"
    assert get(world, "/customers/cus_81Kx3").status == 404


def test_pages_with_a_cursor_end() -> None:
    """A loop that follows the cursor of the next page sees each customer once."""
    world = world_of(customers_protocol())
    identifiers: list[str] = []
    after: dict[str, str] = {}
    for _ in range(20):
        body = get(world, "/customers", per_page="10", **after).body
        assert isinstance(body, dict)
        identifiers += [customer["id"] for customer in body["customers"]]
        following = body["pages"]["next"]
        assert body["has_more"] is (following is not None)
        if following is None:
            break
        after = {"starting_after": following["starting_after"]}

    assert len(identifiers) == len(set(identifiers)) > 20
