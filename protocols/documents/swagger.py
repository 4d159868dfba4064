"""Swagger 2.0 documents become OpenAPI 3.0, so that later steps read one dialect.

Only the parts that a call needs are kept. Bodies and forms leave the parameters, types move into schemas, and
references are adapted. Parameters in other files stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from protocols.documents.openapi import READS
from protocols.documents.source import METHODS, mapping_or_empty

__all__ = ["upgrade"]

_NEW_PLACES = {"#/definitions/": "#/components/schemas/", "#/responses/": "#/components/responses/"}
_PARAMETER_KEYS = frozenset(
    {"name", "in", "required", "description", "collectionFormat", "allowEmptyValue", "schema", "x-example"}
)
_STYLES = {"ssv": "spaceDelimited", "tsv": "tabDelimited", "pipes": "pipeDelimited"}
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


def upgrade(document: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The document as OpenAPI 3.0, and its old JSON pointers by new prefix."""
    paths = mapping_or_empty(document.get("paths"))
    new = {
        "openapi": "3.0.3",
        "info": document.get("info") or {"title": "API", "version": ""},
        "servers": list(_servers(document)),
        "paths": {path: _path(document, item) if isinstance(item, Mapping) else item for path, item in paths.items()},
        "components": {
            "schemas": _converted(mapping_or_empty(document.get("definitions"))),
            "responses": {
                name: _response(document, document, raw)
                for name, raw in mapping_or_empty(document.get("responses")).items()
            },
            "securitySchemes": {
                name: _scheme(mapping_or_empty(raw))
                for name, raw in mapping_or_empty(document.get("securityDefinitions")).items()
            },
        },
    }
    if "security" in document:
        new["security"] = document["security"]
    return new, {
        "#/components/schemas": "#/definitions",
        "#/components/responses": "#/responses",
        "#/components/securitySchemes": "#/securityDefinitions",
    }


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _converted(node: Any) -> Any:
    """A copy with references and discriminators in the form of OpenAPI 3."""
    if isinstance(node, list):
        return [_converted(part) for part in node]
    if not isinstance(node, Mapping):
        return node
    copy = {
        str(key): value if key in ("example", "default", "enum") else _converted(value) for key, value in node.items()
    }
    ref, discriminator = copy.get("$ref"), copy.get("discriminator")
    if isinstance(ref, str):
        for old, new in _NEW_PLACES.items():
            if ref.startswith(old):
                copy["$ref"] = new + ref[len(old) :]
    if isinstance(discriminator, str):
        copy["discriminator"] = {"propertyName": discriminator}
    if copy.get("type") == "file":
        copy.update(type="string", format="binary")
    return copy


def _servers(document: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    host, base = document.get("host"), str(document.get("basePath") or "")
    schemes = [scheme for scheme in _list(document.get("schemes")) if scheme in ("https", "http")] or ["https"]
    if host:
        for scheme in sorted(schemes, key=("https", "http").index):
            yield {"url": f"{scheme}://{host}{base}"}
    elif base:
        yield {"url": base}


def _scheme(raw: Mapping[str, Any]) -> dict[str, Any]:
    if raw.get("type") == "basic":
        return {"type": "http", "scheme": "basic"}
    return {key: value for key, value in raw.items() if key in ("type", "name", "in", "description")}


def _path(document: Mapping[str, Any], item: Mapping[str, Any]) -> dict[str, Any]:
    new: dict[str, Any] = {key: value for key, value in item.items() if key != "parameters"}
    shared = [_resolved(document, raw) for raw in _list(item.get("parameters"))]
    for method, operation in item.items():
        if str(method).strip().lower() in METHODS:
            new[method] = _operation(document, operation, shared) if isinstance(operation, Mapping) else operation
    return new


def _resolved(document: Mapping[str, Any], raw: Any) -> Mapping[str, Any]:
    """A parameter after a reference to the document's own; external references are kept."""
    ref = mapping_or_empty(raw).get("$ref")
    if isinstance(ref, str) and ref.startswith("#/parameters/"):
        return mapping_or_empty(mapping_or_empty(document.get("parameters")).get(ref.removeprefix("#/parameters/")))
    return mapping_or_empty(raw)


def _operation(
    document: Mapping[str, Any], operation: Mapping[str, Any], shared: list[Mapping[str, Any]]
) -> dict[str, Any]:
    merged: dict[tuple[str, str], Mapping[str, Any]] = {}
    for raw in [*shared, *(_resolved(document, raw) for raw in _list(operation.get("parameters")))]:
        merged[str(raw.get("in")), str(raw.get("name", raw.get("$ref")))] = raw
    copied_keys = ("summary", "description", "deprecated", "security", "operationId", "tags", READS)
    new = {key: operation[key] for key in copied_keys if key in operation}
    new["parameters"] = [_parameter(raw) for raw in merged.values() if raw.get("in") not in ("body", "formData")]
    body = _body(document, operation, list(merged.values()))
    if body is not None:
        new["requestBody"] = body
    new["responses"] = {
        str(status): _response(document, operation, raw)
        for status, raw in mapping_or_empty(operation.get("responses")).items()
    }
    return new


def _parameter(raw: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" in raw:
        return {"$ref": raw["$ref"]}
    new = {key: raw[key] for key in ("name", "in", "required", "description") if key in raw}
    new["schema"] = _schema(raw)
    if "x-example" in raw:
        new["example"] = raw["x-example"]
    if raw.get("type") == "array":
        form = str(raw.get("collectionFormat"))
        new["explode"] = form == "multi"
        if form in _STYLES:
            new["style"] = _STYLES[form]
    return new


def _schema(raw: Mapping[str, Any]) -> Any:
    """The schema of a parameter or header, which Swagger has inline."""
    return _converted({key: value for key, value in raw.items() if key not in _PARAMETER_KEYS})


def _body(
    document: Mapping[str, Any], operation: Mapping[str, Any], parameters: list[Mapping[str, Any]]
) -> dict[str, Any] | None:
    consumes = [str(kind) for kind in _list(operation.get("consumes", document.get("consumes")))]
    for raw in parameters:
        if raw.get("in") == "body":
            kinds = consumes or ["application/json"]
            content = {kind: {"schema": _converted(raw.get("schema") or {})} for kind in kinds}
            return {
                "description": raw.get("description") or "",
                "required": raw.get("required", False),
                "content": content,
            }
    fields = [raw for raw in parameters if raw.get("in") == "formData" and raw.get("name")]
    if not fields:
        return None
    files = any(raw.get("type") == "file" for raw in fields)
    kind = next((kind for kind in consumes if kind in _FORMS), _FORMS[files])
    required = [str(raw["name"]) for raw in fields if raw.get("required") in (True, "true")]
    schema = {
        "type": "object",
        "properties": {
            str(raw["name"]): {**_schema(raw), **({"description": raw["description"]} if "description" in raw else {})}
            for raw in fields
        },
        **({"required": required} if required else {}),
    }
    joined = {
        str(raw["name"]): {"style": _STYLES.get(str(raw.get("collectionFormat")), "form"), "explode": False}
        for raw in fields
        if raw.get("type") == "array" and raw.get("collectionFormat") != "multi"
    }
    media = {"schema": schema, **({"encoding": joined} if joined else {})}
    return {"required": bool(required), "content": {kind: media}}


def _response(document: Mapping[str, Any], operation: Mapping[str, Any], raw: Any) -> dict[str, Any]:
    raw = mapping_or_empty(raw)
    if "$ref" in raw:
        moved: dict[str, Any] = _converted({"$ref": raw["$ref"]})
        return moved
    new: dict[str, Any] = {"description": raw.get("description", "")}
    if mapping_or_empty(raw.get("headers")):
        new["headers"] = {
            name: {"schema": _schema(mapping_or_empty(header))} for name, header in raw["headers"].items()
        }
    examples = mapping_or_empty(raw.get("examples"))
    if "schema" in raw or examples:
        kinds = _list(operation.get("produces", document.get("produces"))) or list(examples) or ["application/json"]
        media = {"schema": _converted(raw.get("schema") or {})}
        new["content"] = {
            kind: {**media, "example": examples[kind]} if kind in examples else dict(media) for kind in map(str, kinds)
        }
    return new
