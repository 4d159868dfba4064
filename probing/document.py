"""Write down what was found out: an OpenAPI 3.1 document with responses, examples, statuses and usage programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from probing.findings import Finding
from protocols.model import Parameter, Protocol, Tool

__all__ = ["documented"]


def documented(protocol: Protocol, found: Mapping[str, Finding]) -> dict[str, Any]:
    """The document of an API.

    Args:
        protocol: The API as it was known before.
        found: By tool, what was found out; what the protocol says of responses stays where nothing was.
    """
    paths: dict[str, dict[str, Any]] = {}
    for tool in protocol.tools:
        paths.setdefault(tool.path, {})[tool.method.lower()] = _operation(tool, found.get(tool.name))
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": protocol.title or "API", "version": protocol.version or "1"},
        "servers": [{"url": server.url} for server in protocol.servers],
        "paths": paths,
    }
    if protocol.description:
        document["info"]["description"] = protocol.description
    if not protocol.servers:
        del document["servers"]
    schemes = {one.name: _scheme(one.kind, one.location, one.parameter) for one in protocol.security_schemes}
    if schemes or protocol.definitions:
        document["components"] = {
            **({"securitySchemes": schemes} if schemes else {}),
            **({"schemas": _moved(dict(protocol.definitions))} if protocol.definitions else {}),
        }
    return document


def _operation(tool: Tool, found: Finding | None) -> dict[str, Any]:
    operation: dict[str, Any] = {"operationId": tool.name}
    for key in ("summary", "description"):
        if getattr(tool, key):
            operation[key] = getattr(tool, key)
    if tool.parameters:
        operation["parameters"] = [_parameter(one) for one in tool.parameters]
    if tool.body is not None:
        content = {tool.body.media_type: {"schema": _moved(dict(tool.body.schema))}}
        operation["requestBody"] = {"required": tool.body.required, "content": content}
    if tool.security:
        operation["security"] = [{name: [] for name in names} for names in tool.security]
    operation["responses"] = _responses(tool, found)
    if found is not None and found.program:
        operation["x-usage"] = {"question": found.question, "program": found.program}
    return operation


def _responses(tool: Tool, found: Finding | None) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for one in tool.responses:
        content = {one.media_type or "application/json": {"schema": _moved(dict(one.schema))}} if one.schema else None
        told = {"description": one.description or "as documented"}
        responses[one.status] = {**told, "content": content} if content else told
    if found is None:
        return responses or {"default": {"description": "not observed"}}
    for status, text in found.statuses.items():
        responses.setdefault(status, {"description": text})
    if found.done and found.status is not None:
        content = responses.get(found.status, {}).get("content")
        if content is None and found.schema is not None:
            content = {"application/json": {"schema": dict(found.schema)}}
        for media in (content or {}).values():
            media["example"] = found.example
        told = {"description": responses.get(found.status, {}).get("description", "as observed")}
        responses[found.status] = {**told, "content": content} if content else told
    return responses or {"default": {"description": "not observed"}}


def _parameter(one: Parameter) -> dict[str, Any]:
    told: dict[str, Any] = {"name": one.name, "in": one.location, "required": one.required or one.location == "path"}
    if one.description:
        told["description"] = one.description
    return {**told, "schema": _moved(dict(one.schema))}


def _scheme(kind: str, location: str, parameter: str) -> dict[str, object]:
    if kind == "apiKey":
        return {"type": "apiKey", "in": location, "name": parameter}
    return {"type": "http", "scheme": "basic" if kind == "basic" else "bearer"}


def _moved(value: Any) -> Any:
    """A schema whose definitions are components of the document."""
    if isinstance(value, list):
        return [_moved(part) for part in value]
    if not isinstance(value, Mapping):
        return value
    told = {key: _moved(part) for key, part in value.items()}
    target = told.get("$ref")
    return {**told, "$ref": f"#/components/schemas/{target.rpartition('/')[2]}"} if isinstance(target, str) else told
