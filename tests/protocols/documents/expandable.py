"""Documents as headless services write them: expandable relations, cyclic schemas, every identifier called `id`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.protocols.documents.samples import content

__all__ = ["MUSEUM", "document"]

MUSEUM: Mapping[str, tuple[str, ...]] = {
    "presets": ("curators", "rooms"),
    "curators": ("rooms",),
    "rooms": ("curators",),
    "lenders": (),
    "paintings": ("lenders", "rooms"),
    "loans": ("paintings", "lenders"),
}
"""Collections, and the collections that their things refer to."""
_FILTERS = ("fields", "filter", "limit", "meta", "offset", "search", "sort")


def document(url: str, collections: Mapping[str, tuple[str, ...]] = MUSEUM) -> dict[str, Any]:
    """An OpenAPI document: for each collection a list, one thing, and what makes, changes and removes one."""
    paths: dict[str, Any] = {"/server/specs/oas": {"get": _operation("getDocument", {"type": "object"})}}
    schemas: dict[str, Any] = {}
    for collection, relations in collections.items():
        singular = _one(collection)
        reference = {"$ref": f"#/components/schemas/{singular}"}
        schemas[singular] = _schema(relations)
        many = _wrapped({"type": "array", "items": reference})
        filters = [{"name": name, "in": "query", "schema": {"type": "string"}} for name in _FILTERS]
        place = [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}]
        body = {"oneOf": [{"type": "array", "items": reference}, reference]}
        change = {"type": "object", "properties": _schema(relations)["properties"]}
        paths[f"/items/{collection}"] = {
            "get": {**_operation(f"list{singular}s", many), "parameters": filters},
            "post": {**_operation(f"create{singular}", _wrapped(reference)), "requestBody": content(body)},
        }
        paths[f"/items/{collection}/{{id}}"] = {
            "parameters": place,
            "get": _operation(f"read{singular}", _wrapped(reference)),
            "patch": {**_operation(f"change{singular}", _wrapped(reference)), "requestBody": content(change)},
            "delete": {"operationId": f"remove{singular}", "responses": {"204": {"description": "Gone."}}},
        }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Museum", "version": "1"},
        "servers": [{"url": url}],
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _one(collection: str) -> str:
    return collection.capitalize().removesuffix("s")


def _schema(relations: tuple[str, ...]) -> dict[str, Any]:
    """A thing: its number and name, and each relation as a number or, expanded, as the thing itself."""
    related = {
        collection.removesuffix("s"): {
            "oneOf": [{"type": "integer"}, {"$ref": f"#/components/schemas/{_one(collection)}"}, {"type": "null"}]
        }
        for collection in relations
    }
    properties = {
        "id": {"type": "integer", "readOnly": True},
        "name": {"type": "string"},
        "status": {"type": "string"},
        **related,
    }
    return {"type": "object", "properties": properties, "required": ["name"]}


def _wrapped(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"data": schema}}


def _operation(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"operationId": name, "responses": {"200": {"description": "Good.", **content(schema)}}}
