"""Tool files (`*.tools.json`): the loose lists of endpoints that tool-learning benchmarks come with.

They become OpenAPI 3.0 and are then read like any other document. The given name is the tool's name, `{x}` in a URL is
always a required path parameter, an unknown place means query, and an example gives the schema of a response. Headers
with a key become a security scheme of their name; other headers with a real value are sent with every call, invisible
to programs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard
from urllib.parse import parse_qsl, urlsplit

from protocols.documents.openapi import FIXED, NAME
from protocols.documents.source import METHODS, pointer
from protocols.naming import fold

__all__ = ["upgrade"]

_SECRET = re.compile(r"authorization|api[-_]?key|token|secret|password|[-_]key$", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"<.*>|\{.*\}|your\b.*|.*\byour[-_ ].*|x{3,}|\.{3}|", re.IGNORECASE | re.DOTALL)
_PLACES = ("query", "header", "cookie")
_RESPONSE_KEYS = frozenset({"content", "description", "headers", "links", "$ref"})
_STATUS = re.compile(r"[1-5](\d\d|XX)|default|x-.*", re.IGNORECASE)
_IGNORED_HEADERS = ("content-type", "accept", "host", "content-length")


def upgrade(content: Mapping[str, Any], title: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The tool file as OpenAPI 3.0, and its old JSON pointers by new prefix.

    Args:
        title: Used if the file has neither a title nor a server.
    """
    listed = content.get("servers")
    listed = listed if isinstance(listed, list) else []
    servers = [server for server in listed if isinstance(server, Mapping) and server.get("url")]
    bases = [str(server["url"]).rstrip("/") for server in servers]
    schemes, fixed = _headers(content.get("headers"))
    paths: dict[str, dict[str, Any]] = {}
    places: dict[str, str] = {}
    for index, endpoint in enumerate(content["endpoints"]):
        method = str(endpoint.get("method") or "get").strip().lower() if isinstance(endpoint, Mapping) else ""
        operation: Any
        if method not in METHODS or not endpoint.get("url"):
            key, method, operation = "/", "get", endpoint if isinstance(endpoint, str) else json.dumps(endpoint)
        else:
            key, operation = _operation(endpoint, bases, fixed)
        while method in paths.get(key, ()):  # a tool file may have several operations per path and method
            key += "#"
        paths.setdefault(key, {})[method] = operation
        places[pointer("paths", key, method)] = pointer("endpoints", index)
    host = urlsplit(bases[0]).netloc if bases else ""
    document = {
        "openapi": "3.0.3",
        "info": {
            "title": str(content.get("title") or host or title),
            "version": str(content.get("version") or ""),
            "description": str(content.get("description") or ""),
        },
        "servers": servers,
        "paths": paths,
        "components": {"securitySchemes": schemes},
        "security": [{name: [] for name in schemes}] if schemes else [],
    }
    return document, places


def _headers(raw: object) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Security schemes for headers with a key, and the headers with a constant value."""
    schemes: dict[str, Any] = {}
    fixed = []
    for name, value in raw.items() if isinstance(raw, Mapping) else ():
        text = str(value).strip()
        if name.lower() == "authorization":
            schemes[name] = {"type": "http", "scheme": "basic" if text.lower().startswith("basic") else "bearer"}
        elif _SECRET.search(name):
            schemes[name] = {"type": "apiKey", "in": "header", "name": name}
        elif name.lower() not in _IGNORED_HEADERS and not _PLACEHOLDER.fullmatch(text):
            fixed.append(_fixed(name, "header", text))
    return schemes, fixed


def _fixed(name: str, place: str, value: str) -> dict[str, Any]:
    return {"name": name, "in": place, "required": True, "schema": {"type": "string"}, FIXED: value}


def _operation(
    endpoint: Mapping[str, Any], bases: list[str], fixed: list[dict[str, Any]]
) -> tuple[str, dict[str, Any]]:
    """The path within its server, and the operation."""
    url, _, query = str(endpoint["url"]).strip().partition("?")
    base = next((base for base in bases if url == base or url.startswith(base + "/")), None)
    if base is None and "://" in url:
        split = urlsplit(url)
        base, path = f"{split.scheme}://{split.netloc}", split.path
    else:
        path = url[len(base or "") :]
    path = path if path.startswith("/") else f"/{path}"
    variables = re.findall(r"\{([^{}]+)\}", path)
    parameters, inside = _parameters(endpoint.get("parameters"), variables)
    for name, value in parse_qsl(query):
        placeholder = re.fullmatch(r"\{([^{}]+)\}", value)
        if placeholder is not None:
            described = next((parameter for parameter in parameters if parameter["name"] in (placeholder[1], name)), {})
            parameters = [parameter for parameter in parameters if parameter is not described]
            schema = described.get("schema") or {"type": "string"}
            parameters.append({**described, "name": name, "in": "query", "required": True, "schema": schema})
        elif not any(parameter["name"] == name for parameter in parameters):
            parameters.append(_fixed(name, "query", value))
    operation: dict[str, Any] = {
        "description": str(endpoint.get("description") or ""),
        "parameters": [*parameters, *fixed],
        "responses": dict(_responses(endpoint)),
    }
    if endpoint.get("name"):
        name = str(endpoint["name"]).strip()
        operation[NAME] = name if name.isidentifier() else fold(name)
    body = endpoint.get("requestBody") or _object_body(inside)
    if body:
        operation["requestBody"] = body
    if base not in bases:
        operation["servers"] = [{"url": base}] if base else []
    return path, operation


def _parameters(raw: object, variables: list[str]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Parameters, first all those of the path, and the fields of the body."""
    parameters: dict[str, dict[str, Any]] = {
        name: {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in variables
    }
    body_fields = []
    for raw_parameter in raw if isinstance(raw, list) else []:
        if not isinstance(raw_parameter, Mapping) or not raw_parameter.get("name"):
            continue
        name, place = str(raw_parameter["name"]), str(raw_parameter.get("in") or "").strip().lower()
        described = raw_parameter.get("schema")
        schema = dict(described) if isinstance(described, Mapping) else {}
        if "type" in raw_parameter and "type" not in schema:
            schema["type"] = raw_parameter["type"]
        for key in ("enum", "default", "example"):
            if key in raw_parameter:
                schema.setdefault(key, raw_parameter[key])
        new = {key: raw_parameter[key] for key in ("style", "explode", "allowEmptyValue") if key in raw_parameter}
        new |= {"name": name, "description": str(raw_parameter.get("description") or ""), "schema": schema}
        required = str(raw_parameter.get("required", "")).lower() == "true" or place == "required"
        if name in variables:
            parameters[name] = {**new, "in": "path", "required": True}
        elif place in ("body", "formdata"):
            body_fields.append({**new, "in": place, "required": required})
        else:
            parameters[name] = {**new, "in": place if place in _PLACES else "query", "required": required}
    return list(parameters.values()), body_fields


def _object_body(fields: list[dict[str, Any]]) -> dict[str, Any] | None:
    if not fields:
        return None
    form = any(field["in"] == "formdata" for field in fields)
    required = [field["name"] for field in fields if field["required"]]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {field["name"]: {"description": field["description"], **field["schema"]} for field in fields},
    }
    if required:
        schema["required"] = required
    kind = "application/x-www-form-urlencoded" if form else "application/json"
    return {"required": bool(required), "content": {kind: {"schema": schema}}}


def _responses(endpoint: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The responses by status: those described, one for all, or one with the schema of an example value."""
    described = endpoint.get("responses")
    if isinstance(described, Mapping) and described:
        if described.keys() <= _RESPONSE_KEYS and isinstance(described.get("content", {}), Mapping):
            yield "200", {"description": "", **described}
            return
        if all(_STATUS.fullmatch(str(status)) for status in described):
            for status, response in described.items():
                yield str(status), response
            return
    example = described or endpoint.get("response")
    if _is_response(example):
        yield "200", {"description": "", **example}
        return
    if example is None:
        yield "default", {"description": ""}
        return
    media = {"schema": _schema_of(example), "example": example}
    yield (
        "200",
        {"description": "", "content": {"text/plain" if isinstance(example, str) else "application/json": media}},
    )


def _is_response(example: object) -> TypeGuard[Mapping[str, Any]]:
    """True of a response object, whose content is by media type; an example value has no such keys inside."""
    if not isinstance(example, Mapping) or not example.keys() <= _RESPONSE_KEYS:
        return False
    content = example.get("content")
    return isinstance(content, Mapping) and bool(content) and all("/" in str(kind) for kind in content)


def _schema_of(example: object) -> Any:
    """The schema of an example, without required keys and types of which nothing is known."""
    from genson import SchemaBuilder

    builder = SchemaBuilder(schema_uri=None)
    builder.add_object(json.loads(json.dumps(example)))
    return _loosened(builder.to_schema())


def _loosened(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return [_loosened(part) for part in schema] if isinstance(schema, list) else schema
    if schema.get("type") == "null":
        return {}  # other values are unknown
    new = {key: _loosened(value) for key, value in schema.items() if key not in ("required", "properties")}
    if "properties" in schema:
        new["properties"] = {name: _loosened(part) for name, part in schema["properties"].items()}
    return new
