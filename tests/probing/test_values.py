"""What a probe puts into arguments that no answer holds, and what the parts of a path are called."""

from __future__ import annotations

import pytest

from probing.prober.identifiers import name_reference, noun_of_path
from probing.prober.values import item_of, own_name, renumbered, value_of
from protocols import load
from protocols.dataflow.graph import ProtocolGraph
from protocols.dataflow.identifiers import IdentifierReference
from protocols.model import Parameter, Protocol

DEFINITIONS = {
    "Step": {"type": "object", "properties": {"do": {"enum": ["stop", "go"]}, "note": {}}, "required": ["do"]},
    "Plan": {"anyOf": [{"type": "null"}, {"$ref": "#/components/schemas/Step"}]},
}


def protocol(path: str, schema: object = None) -> Protocol:
    """An API with one tool; with a schema it takes an argument `part` like that in its body."""
    names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    parameters = [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]
    operation: dict[str, object] = {"parameters": parameters}
    if schema is not None:
        body = {"type": "object", "properties": {"part": schema}, "required": ["part"]}
        operation["requestBody"] = {"content": {"application/json": {"schema": body}}}
    return load(
        {
            "openapi": "3.1.0",
            "info": {"title": "t", "version": "1"},
            "paths": {path: {"post": operation}},
            "components": {"schemas": DEFINITIONS},
        }
    )


@pytest.mark.parametrize(
    ("path", "noun"),
    [
        ("/films/{id}", "film"),
        ("/films/search", "film"),
        ("/films/name/{name}", "film"),
        ("/films/{id}/reviews/count", "review"),
        ("/search", "search"),
        ("/", ""),
    ],
)
def test_what_a_path_is_about(path: str, noun: str) -> None:
    assert noun_of_path(path) == noun


@pytest.mark.parametrize(
    ("path", "wants"),
    [
        ("/work_pools/{name}", [IdentifierReference("pool", "name")]),
        (
            "/work_pools/{pool_name}/queues/{name}",
            [IdentifierReference("pool", "name"), IdentifierReference("queue", "name")],
        ),
        ("/limits/tag/{tag}", [IdentifierReference("limit", "tag")]),
        ("/limits/{id_or_name}", [IdentifierReference("limit", "name")]),
        ("/films/{film_id}", [None]),
    ],
)
def test_what_a_part_of_a_path_is_called_by(path: str, wants: list[IdentifierReference | None]) -> None:
    """An identifier is the data flow's; a name and the like are taken from things of that kind."""
    api = protocol(path)
    (tool,) = api.tools

    assert [name_reference(tool, argument, ProtocolGraph(api)) for argument in tool.arguments] == wants


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "…"),
        ({"type": "string", "format": "date-time"}, "2024-01-01T00:00:00Z"),
        ({"type": "integer", "minimum": 5}, 5),
        ({"type": "string", "examples": ["blue"]}, "blue"),
        ({"$ref": "#/components/schemas/Step"}, {"do": "stop"}),
        ({"$ref": "#/components/schemas/Plan"}, {"do": "stop"}),
        ({"type": "array", "items": {"type": "string", "format": "date"}}, ["2024-01-01"]),
        ({"type": "array", "items": {"$ref": "#/components/schemas/Step"}}, ["…"]),
    ],
)
def test_an_argument_has_the_least_that_its_schema_asks_for(schema: object, value: object) -> None:
    """A list of objects is left to what was seen; without that it has one such object."""
    api = protocol("/plans", schema)
    (part,) = api.tools[0].arguments

    assert value_of(part, api) == value
    if value == ["…"]:
        assert item_of(part, api) == {"do": "stop"}


def test_what_a_probe_makes_is_called_its_own_way() -> None:
    """The document's example may be somebody's."""
    api = protocol("/plans", {"type": "string"})
    name = Parameter("name", "name", "body", True, {"type": "string", "examples": ["my-plan"]}, "")

    assert value_of(name, api) == "my-plan"
    assert value_of(name, api, 7) == "probe 7"
    assert own_name(7, {"pattern": "^[a-z0-9_]+$"}) == "probe_7"
    assert own_name(7, {"pattern": "^[A-Z]+$"}) is None
    assert renumbered("my probe_7", 8) == "my probe_8"
