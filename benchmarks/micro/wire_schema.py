"""Schemas as a server reads them: references, the types a value may have, and texts in those types."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

__all__ = ["WireSchemas", "cast", "types"]

_COMPOSED = ("allOf", "anyOf", "oneOf")
_SCALARS = frozenset({"string", "integer", "number", "boolean"})


class WireSchemas:
    """The schemas of one document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document

    def deref(self, value: Any) -> Any:
        """What a reference inside the document stands for; everything else as it is."""
        for _ in range(50):
            if not isinstance(value, Mapping) or not isinstance(value.get("$ref"), str):
                return value
            target: Any = self._document
            try:
                for step in value["$ref"].lstrip("#/").split("/"):
                    key = unquote(step).replace("~1", "/").replace("~0", "~")
                    target = target[int(key)] if isinstance(target, list) else target[key]
            except (KeyError, IndexError, TypeError, ValueError):
                return {}  # it leads nowhere
            value = target
        return {}

    def name(self, value: Any) -> str:
        """The name behind a reference, "" for a schema in place."""
        return str(value["$ref"]).rpartition("/")[2] if isinstance(value, Mapping) and "$ref" in value else ""

    def properties(self, schema: Any, depth: int = 0) -> dict[str, Any]:
        """The properties of an object, those of composed schemas included."""
        schema = self.deref(schema)
        found: dict[str, Any] = {}
        if isinstance(schema, Mapping) and depth < 8:
            for word in _COMPOSED:
                for part in schema.get(word) or ():
                    found.update(self.properties(part, depth + 1))
            found.update(schema.get("properties") or {})
        return found

    def additional(self, schema: Any, depth: int = 0) -> Any:
        """The schema of further properties, None where the document has none."""
        schema = self.deref(schema)
        if not isinstance(schema, Mapping) or depth > 8:
            return None
        for word in _COMPOSED:
            for part in schema.get(word) or ():
                free = self.additional(part, depth + 1)
                if free is not None:
                    return free
        free = schema.get("additionalProperties")
        if free is True or (free is None and not self.properties(schema)):
            return {}
        return free if isinstance(free, Mapping) else None

    def items(self, schema: Any, depth: int = 0) -> Any:
        """The schema of the items of an array."""
        schema = self.deref(schema)
        if not isinstance(schema, Mapping) or depth > 8:
            return {}
        if isinstance(schema.get("items"), Mapping):
            return schema["items"]
        parts = [part for word in _COMPOSED for part in schema.get(word) or ()]
        return next((items for part in parts if (items := self.items(part, depth + 1))), {})

    def is_binary(self, schema: Any) -> bool:
        """True for bytes: `format: binary`, or a media type of OpenAPI 3.1."""
        schema = self.deref(schema) or {}
        if schema.get("format") == "binary" or schema.get("type") == "file":
            return True
        return "contentMediaType" in schema and "contentEncoding" not in schema


def types(schema: Any, schemas: WireSchemas, depth: int = 0) -> frozenset[str]:
    """The types that a schema allows; empty where it says nothing."""
    schema = schemas.deref(schema)
    if not isinstance(schema, Mapping) or depth > 8:
        return frozenset()
    named = schema.get("type")
    kinds = {named} if isinstance(named, str) else set(named or ())
    if not kinds:
        for word in _COMPOSED:
            for part in schema.get(word) or ():
                kinds |= types(part, schemas, depth + 1)
        kinds |= {"object"} if schema.get("properties") else set()
        kinds |= {"array"} if schema.get("items") else set()
    return frozenset(kinds | ({"null"} if schema.get("nullable") else set()))


def cast(value: Any, schema: Any, schemas: WireSchemas) -> Any:
    """Texts in the types of a schema. Raises: ValueError: A text is not of its type."""
    schema = schemas.deref(schema)
    kinds = types(schema, schemas)
    if isinstance(value, str) and "object" in kinds and value.startswith("{"):
        return json.loads(value)
    if isinstance(value, str) and kinds & _SCALARS:
        return _scalar(value, kinds)
    if "array" in kinds and not isinstance(value, Mapping):
        items = value if isinstance(value, list) else [value]
        if len(items) == 1 and isinstance(items[0], str) and (listed := _json_list(items[0])) is not None:
            return listed
        return [cast(item, schemas.items(schema), schemas) for item in items]
    if isinstance(value, Mapping):
        properties, free = schemas.properties(schema), schemas.additional(schema) or {}
        return {key: cast(item, properties.get(key, free), schemas) for key, item in value.items()}
    if isinstance(value, list):
        if "object" in kinds:
            return cast({str(index): item for index, item in enumerate(value)}, schema, schemas)
        return [cast(item, {}, schemas) for item in value]
    return _scalar(value, kinds)


def _json_list(text: str) -> list[Any] | None:
    try:
        value = json.loads(text) if text.startswith("[") else None
    except ValueError:
        return None
    return value if isinstance(value, list) else None


def _scalar(text: Any, kinds: frozenset[str]) -> Any:
    if not isinstance(text, str) or not kinds or kinds == {"string"}:
        return text
    if "null" in kinds and "string" not in kinds and text == "null":
        return None
    if "boolean" in kinds and text in ("true", "false"):
        return text == "true"
    for kind, convert in (("integer", int), ("number", float)):
        if kind in kinds:
            try:
                return convert(text)
            except ValueError:
                pass
    if "string" in kinds:
        return text
    raise ValueError(f"{text[:60]!r} is not {' or '.join(sorted(kinds))}")
