"""Values for arguments without an observed one: from the document, from its schemas, and names of the probe's own.

The text `…` stands for a search term to be filled in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast

from protocols.bounded import matches
from protocols.model import Parameter, Protocol, Schema
from protocols.schema_fields import items_of, properties_of, resolve, type_of
from protocols.text.words import noun_of

__all__ = ["OWN_NAME", "documented_value", "is_free_text", "item_of", "own_name", "renumbered", "value_of"]

_SHORT_TEXTS = ("0", "1", "0,0", "a", "A", "abc", "1.0", "00", "0000", "a-b", "a_b", "2024-01-01")
"""Short texts that match many patterns."""
OWN_NAME = re.compile(r"\bprobe([ _-]?)\d+\b")
"""The names of created objects: see `own_name`."""
_SIGNS = (" ", "-", "_", "")
_NAME_WORDS = frozenset({"key", "label", "name", "slug", "subject", "title", "username"})
"""Last words of arguments for the name of a new object."""
_MAX_CHOICES = 8
"""Values of an enumeration in a list argument."""
_DEPTH = 6
_FORMATS = {
    "date-time": "2024-01-01T00:00:00Z",
    "date": "2024-01-01",
    "time": "12:00:00Z",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "email": "probe@example.com",
    "uri": "https://example.com/",
}
"""An arbitrary text of each format."""


def own_name(number: int, schema: Schema | None = None) -> str | None:
    """The name of a created object, different for each number; None if the schema forbids it."""
    pattern, most = (schema or {}).get("pattern"), (schema or {}).get("maxLength")
    for sign in _SIGNS:
        text = f"probe{sign}{number}"
        if (not isinstance(most, int) or len(text) <= most) and _fits(text, pattern):
            return text
    return None


def is_free_text(schema: Schema, protocol: Protocol) -> bool:
    """True if a schema takes any text, such as a name of the probe's own."""
    schema = resolve(schema, protocol)
    kinds = schema.get("type")
    text = "string" in kinds if isinstance(kinds, list) else kinds == "string"
    closed = schema.keys() & {"enum", "const"} or schema.get("readOnly") or schema.get("format") in _FORMATS
    return text and not closed and own_name(1000, schema) is not None


def renumbered(text: str, number: int, sign: str | None = None) -> str:
    """A text with another number, and another separator, in the names of the probe's own."""
    return OWN_NAME.sub(lambda match: f"probe{match[1] if sign is None else sign}{number}", text)


def item_of(parameter: Parameter, protocol: Protocol) -> object:
    """An item of a list argument."""
    items = items_of(resolve(parameter.schema, protocol), protocol)
    return _minimal_value(items, protocol, _DEPTH) if items is not None else "…"


def value_of(parameter: Parameter, protocol: Protocol, number: int | None = None) -> object:
    """A value of an argument.

    Args:
        number: The number in the name of a created object: the document's own example may be taken.
    """
    schema = resolve(parameter.schema, protocol)
    if number is not None and "enum" not in schema and type_of(schema) in ("string", ""):
        name = own_name(number, schema) if noun_of(parameter.name) in _NAME_WORDS else None
        if name is not None:
            return name
    documented = documented_value(parameter)
    if documented is not None:
        return documented
    if type_of(schema) == "array":
        items = items_of(schema, protocol)
        simple = items is not None and not properties_of(items, protocol)
        return [item_of(parameter, protocol) if simple else "…"]
    sample = _minimal_value(schema, protocol, _DEPTH)
    pattern = schema.get("pattern")
    if isinstance(sample, str) and not _fits(sample, pattern):
        sample = next((text for text in _SHORT_TEXTS if _fits(text, pattern)), sample)
    return sample


def documented_value(parameter: Parameter) -> object:
    """A value from the document: of an enumeration, a default, an example."""
    schema = parameter.schema
    items = schema.get("items")
    if isinstance(items, Mapping) and isinstance(values := items.get("enum"), list):
        return values[:_MAX_CHOICES]  # all values at once return the most
    return _example_of(schema)


def _example_of(schema: Schema) -> object:
    for key in ("enum", "examples"):
        values = schema.get(key)
        if isinstance(values, list) and values:
            return values[0]
    return next((schema[key] for key in ("default", "example", "const") if schema.get(key) is not None), None)


def _minimal_value(schema: Schema, protocol: Protocol, depth: int) -> object:
    """The smallest value that satisfies a schema."""
    schema = resolve(schema, protocol)
    if (documented := _example_of(schema)) is not None:
        return documented
    for key in ("anyOf", "oneOf"):
        parts = [part for part in _parts(schema, key, protocol) if part.get("type") != "null"]
        parts.sort(key=lambda part: type_of(part) == "object")  # an object may create another entity
        if parts and depth:
            return _minimal_value(parts[0], protocol, depth - 1)
    kind = type_of(schema)
    properties = properties_of(schema, protocol)
    if kind == "object" or properties:
        wholes = [schema, *_parts(schema, "allOf", protocol)]
        required = [key for part in wholes for key in cast("list[str]", part.get("required") or [])]
        return {
            key: _minimal_value(properties[key], protocol, depth - 1) for key in required if key in properties and depth
        }
    if kind == "array":
        items = items_of(schema, protocol)
        return (
            [_minimal_value(items, protocol, depth - 1)]
            if items is not None and schema.get("minItems") and depth
            else []
        )
    if kind in ("integer", "number"):
        least = schema.get("minimum")
        return max(1, least) if isinstance(least, int) else 1
    if kind == "boolean":
        return True
    return _FORMATS.get(str(schema.get("format")), "…")


def _parts(schema: Schema, key: str, protocol: Protocol) -> list[Schema]:
    parts = schema.get(key)
    return [resolve(part, protocol) for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []


def _fits(text: str, pattern: object) -> bool:
    return not isinstance(pattern, str) or matches(pattern, text)
