"""The sample documents, small documents with one operation, and what is read from documents like them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from protocols import Tool
from protocols.calls.serialization import BoundCall

SAMPLES = Path(__file__).parents[2] / "samples"
INFO = {"title": "t", "version": "1"}


def content(schema: object) -> dict[str, Any]:
    """What a response or a body with JSON of a schema has."""
    return {"content": {"application/json": {"schema": schema}}}


def query(name: str, schema: object, **more: Any) -> dict[str, Any]:
    """What an operation with one query parameter has."""
    return {"parameters": [{"name": name, "in": "query", "schema": schema, **more}]}


def document(
    schema: object = None, *, body: object = None, schemas: object = None, place: str = "get /a", **operation: Any
) -> dict[str, Any]:
    """A document with one operation: the schemas of its good response and its body, and what else it says."""
    method, path = place.split()
    response = {"description": "", **(content(schema) if schema is not None else {})}
    described = {"responses": {"200": response}, **({"requestBody": content(body)} if body is not None else {})}
    return {
        "openapi": "3.1.0",
        "info": INFO,
        "servers": [{"url": "http://h.example"}],
        "paths": {path: {method: described | operation}},
        "components": {"schemas": schemas or {}},
    }


def answer_schema(tool: Tool) -> dict[str, object]:
    assert tool.success is not None
    assert tool.success.schema is not None
    return dict(tool.success.schema)


def properties(schema: object) -> dict[str, dict[str, object]]:
    assert isinstance(schema, dict)
    by_name = schema["properties"]
    assert isinstance(by_name, dict)
    return by_name


def sent_json(call: BoundCall) -> object:
    """The JSON that a call sends."""
    assert call.content is not None
    return json.loads(call.content[0])
