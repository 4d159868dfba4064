"""Schemas that contain themselves or each other have an end when they are walked."""

from __future__ import annotations

from protocols import Protocol, load
from protocols.dataflow.graph import ProtocolGraph
from protocols.render import render


def service(schemas: dict[str, object], **paths: str) -> Protocol:
    """A service that returns an object of a schema at each path."""

    def tool(path: str, name: str) -> dict[str, object]:
        schema = {"$ref": f"#/components/schemas/{name}"}
        answer = {"200": {"description": "ok", "content": {"application/json": {"schema": schema}}}}
        return {"get": {"responses": answer}}

    return load(
        {
            "openapi": "3.0.3",
            "info": {"title": "T", "version": "1"},
            "servers": [{"url": "https://api.test"}],
            "paths": {f"/{path}": tool(path, name) for path, name in paths.items()},
            "components": {"schemas": schemas},
        }
    )


def test_a_schema_that_allows_itself() -> None:
    """A pet is a cat or a dog, and a cat is a pet and more: the usual way to write a base class."""
    api = service(
        {
            "Pet": {"oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}]},
            "Cat": {"allOf": [{"$ref": "#/components/schemas/Pet"}, {"properties": {"lives": {"type": "integer"}}}]},
            "Dog": {"type": "object", "properties": {"barks": {"type": "boolean"}}},
        },
        pet="Pet",
    )

    text = render(api.tools, ProtocolGraph(api))

    assert "lives:int" in text
    assert "barks:bool" in text
