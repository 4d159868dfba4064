"""What a program may rely on in worlds of large documents: answers in time, and entities that a program can use."""

from __future__ import annotations

import json
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


def scalars(**types: str) -> dict[str, object]:
    return {name: {"type": kind} for name, kind in types.items()}


def test_an_envelope_of_one_holds_the_entity_of_its_path() -> None:
    """`GET /Contacts/{ContactID}` answers `{Contacts: […]}` with that contact alone, and the list shows its name."""
    contact = {"type": "object", "properties": scalars(ContactID="string", Name="string", Phone="string")}
    many = {"type": "object", "properties": {"Contacts": {"type": "array", "items": ref("Contact")}}}
    paths = {"/Contacts": {"get": ref("Many")}, "/Contacts/{ContactID}": {"get": ref("Many")}}
    world = world_of(described(paths, {"Contact": contact, "Many": many}), 'Do we know "Bluebell Florists"?')

    listed = get(world, "/Contacts").body["Contacts"]  # type: ignore[index]
    chosen = next(entry for entry in listed if entry["Name"] == "Bluebell Florists")

    assert get(world, f"/Contacts/{chosen['ContactID']}").body["Contacts"] == [chosen]  # type: ignore[index]


def test_a_search_in_a_body_filters_and_pages() -> None:
    """Conditions in the body of a search hold for all that it finds, and its pages end."""
    ticket = {
        "type": "object",
        "properties": {**scalars(id="string", title="string"), "state": {"type": "string", "enum": ["open", "closed"]}},
    }
    pages = {
        "type": "object",
        "properties": {"next": {"type": "object", "properties": scalars(starting_after="string")}},
    }
    found = {"type": "object", "properties": {"tickets": {"type": "array", "items": ref("Ticket")}, "pages": pages}}
    body = {"content": {"application/json": {"schema": {"type": "object"}}}}
    search = {"requestBody": body, "responses": {"200": response(found)}}
    world = world_of(
        described({"/tickets/search": {"post": search}, "/tickets/{id}": {"get": ref("Ticket")}}, {"Ticket": ticket})
    )
    query = {"operator": "AND", "value": [{"field": "state", "operator": "=", "value": "open"}]}
    seen: list[str] = []
    pagination: dict[str, object] = {"per_page": 5}
    for _ in range(30):
        sent = json.dumps({"query": query, "pagination": pagination}).encode()
        headers = {"content-type": "application/json"}
        page = world.answer(SimulatedRequest("POST", "/tickets/search", (), headers, sent)).body
        assert isinstance(page, dict)
        assert {entry["state"] for entry in page["tickets"]} <= {"open"}
        seen += [entry["id"] for entry in page["tickets"]]
        if not page["pages"].get("next"):
            break
        pagination["starting_after"] = page["pages"]["next"]["starting_after"]

    assert len(seen) == len(set(seen)) > 5
    assert "next" not in page["pages"]  # type: ignore[index]


def test_a_filter_takes_the_values_of_a_description() -> None:
    """A field whose description lists its values has one of them, and a filter by it finds some."""
    hook = {
        "type": "object",
        "properties": {
            **scalars(id="string", context_id="string"),
            "context": {"type": "string", "description": 'The value is "PROJECT", "TEAM", or "FILE".'},
        },
    }
    query = [{"name": name, "in": "query", "schema": {"type": "string"}} for name in ("context", "context_id")]
    listed = {"parameters": query, "responses": {"200": response({"type": "array", "items": ref("Hook")})}}
    paths = {"/hooks": {"get": listed}, "/hooks/{hook_id}": {"get": ref("Hook")}}
    world = world_of(described(paths, {"Hook": hook}), "Which hooks has team 7001?")

    every = get(world, "/hooks").body
    hooks = get(world, "/hooks", context="team", context_id="7001").body

    assert isinstance(every, list)
    assert {entry["context"] for entry in every} == {"PROJECT", "TEAM", "FILE"}
    assert isinstance(hooks, list)
    assert {(entry["context"], entry["context_id"]) for entry in hooks} == {("TEAM", "7001")}


def test_the_number_of_an_invoice_is_found_within_its_details() -> None:
    """A number of the question stands where the document nests it, and a filter expression finds it."""
    details = {"type": "object", "properties": {**scalars(invoice_number="string", note="string")}}
    invoice = {
        "type": "object",
        "properties": {"id": {"type": "string"}, "detail": details, **scalars(status="string")},
    }
    items = {"type": "object", "properties": {"items": {"type": "array", "items": ref("Invoice")}}}
    paths = {"/invoices": {"get": items}, "/invoices/{invoice_id}": {"get": ref("Invoice")}}
    world = world_of(described(paths, {"Invoice": invoice}), "Has invoice NBW-0145 been paid?")

    listed = get(world, "/invoices").body["items"]  # type: ignore[index]
    numbers = [entry["detail"]["invoice_number"] for entry in listed]

    assert numbers.count("NBW-0145") == 1
    assert len(set(numbers)) == len(numbers)
    chosen = listed[numbers.index("NBW-0145")]
    assert get(world, f"/invoices/{chosen['id']}").body["detail"] == chosen["detail"]  # type: ignore[index]
