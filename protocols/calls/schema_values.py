"""A value by its schema: in the type that is asked for, where that loses nothing, else what is wrong with it.

What is wrong is said in words that help to repair the call.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Iterator, KeysView, Mapping, Sequence, ValuesView
from decimal import Decimal
from functools import lru_cache
from typing import Any

from protocols.bounded import StepLimitReached, count_steps, validator_class
from protocols.calls.serialization import wire_text
from protocols.json_path import subscripts
from protocols.media_types import is_binary
from protocols.model import Schema
from protocols.schema_fields import declared_types

__all__ = ["Doubt", "coerce", "find_violation", "has_bytes", "json_value", "named_files"]
__all__ += ["request_validator_class", "unsendable_part", "violation"]

_INTEGER = re.compile(r"[-+]?\d+")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_SURROGATE = re.compile("[\ud800-\udfff]")
_OF_TIME = ("date", "date-time", "unix-time", "unixtime", "unix_timestamp", "timestamp")
"""Formats of a point in time."""
_SERIES = (list, tuple, set, frozenset, range, KeysView, ValuesView)
_LONGEST_NUMBER = 4000  # Python reads no longer ones

_SOFT = frozenset(
    {"required", "enum", "const", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
)
_SOFT |= {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "multipleOf"}
"""Keywords that documents often have wrong; the service is the judge of them."""

_NO_DEFINITIONS: Mapping[str, Schema] = {}


class NamedFile(bytes):
    """The content of a file with a name of its own."""

    filename: str = ""


def named_files(value: Any, schema: Schema) -> Any:
    """The value with `("name.csv", b"…")`, as `requests` takes it, as one file where the schema asks for files."""
    items = schema.get("items")
    is_named = isinstance(value, list) and [type(part) for part in value] == [str, bytes]
    if isinstance(value, list) and isinstance(items, Mapping) and is_binary(items):
        return named_files(value, items) if is_named else [named_files(item, items) for item in value]
    if not (is_named and is_binary(schema)):
        return value
    file = NamedFile(value[1])
    file.filename = value[0]
    return file


def json_value(value: object) -> object:
    """The value with dates, decimals, sets and the like as the JSON values nearest to them."""
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, Decimal):
        if value == value.to_integral_value():
            return int(value)
        return float(value) if Decimal(repr(float(value))) == value else str(value)
    if isinstance(value, Mapping):
        return {str(key): json_value(inner) for key, inner in value.items()}
    if isinstance(value, _SERIES) or hasattr(value, "__next__"):
        items = [json_value(inner) for inner in value]  # type: ignore[attr-defined]
        return sorted(items, key=str) if isinstance(value, set | frozenset) else items
    return value


def unsendable_part(value: object) -> object | None:
    """The first part of a value that JSON cannot represent."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        return next((part for part in map(unsendable_part, value) if part is not None), None)
    if isinstance(value, float) and not math.isfinite(value):
        return value
    if isinstance(value, str) and not value.isascii() and _SURROGATE.search(value):
        return value
    return None if value is None or isinstance(value, str | int | float | bytes) else value


def coerce(value: Any, schema: object, definitions: Mapping[str, object] | None = None) -> Any:
    """The value in the type that the schema names, where no information is lost; else as it was.

    Args:
        definitions: What a `$ref` in it leads to, by name.
    """
    try:
        return _coerced(value, schema, definitions or {})
    except StepLimitReached:
        return value


def _coerced(value: Any, schema: object, definitions: Mapping[str, object]) -> Any:
    count_steps()
    if value is None or not isinstance(schema, Mapping):
        return value
    if isinstance(reference := schema.get("$ref"), str):
        return _coerced(value, definitions.get(reference.rpartition("/")[2]), definitions)
    branches = schema.get("anyOf")
    if isinstance(branches, list) and "type" not in schema:
        fitting = [branch for branch in branches if find_violation(value, branch, {}) is None]
        if fitting:
            return _coerced(value, fitting[0], definitions)
        changed = [(branch, _coerced(value, branch, definitions)) for branch in branches]
        return next((new for branch, new in changed if find_violation(new, branch, {}) is None), value)
    types = declared_types(schema)
    if isinstance(value, bytes):
        from protocols.calls.text_forms import read_bytes

        return read_bytes(value, schema)
    if isinstance(value, str) and schema.get("format") in _OF_TIME:
        from protocols.calls.text_forms import timestamp

        if (time := timestamp(value, schema, types)) is not None:
            return time
    if not types or (isinstance(value, str) and "string" in types):
        return value
    if isinstance(value, str):
        return _parsed_text(value.strip(), types, value)
    if isinstance(value, list) and "array" in types:
        first = schema.get("prefixItems")
        parts = [*(first if isinstance(first, list) else ()), *[schema.get("items")] * len(value)]
        return [_coerced(item, part, definitions) for item, part in zip(value, parts, strict=False)]
    if isinstance(value, dict) and "object" in types:
        inner = schema.get("properties")
        inner = inner if isinstance(inner, Mapping) else {}
        others = schema.get("additionalProperties")
        return {key: _coerced(item, inner.get(key, others), definitions) for key, item in value.items()}
    if isinstance(value, bool):
        return wire_text(value) if "string" in types and "boolean" not in types else value
    if isinstance(value, float) and "integer" in types and "number" not in types and value.is_integer():
        return int(value)
    if isinstance(value, int | float) and "string" in types and not {"integer", "number"} & set(types):
        return wire_text(value)
    return value


def has_bytes(value: object) -> bool:
    """True if bytes are in a value, at any depth."""
    if isinstance(value, Mapping):
        value = list(value.values())
    return any(map(has_bytes, value)) if isinstance(value, list) else isinstance(value, bytes)


def _parsed_text(text: str, types: Sequence[str], value: str) -> object:
    if ("integer" in types or "number" in types) and len(text) <= _LONGEST_NUMBER and _INTEGER.fullmatch(text):
        return int(text)
    if "number" in types and len(text) <= _LONGEST_NUMBER and _NUMBER.fullmatch(text):
        number = float(text)
        return number if Decimal(repr(number)) == Decimal(text) else value  # or digits would be lost
    if "boolean" in types and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if "object" in types or "array" in types:
        try:
            return json.loads(text)
        except ValueError:
            return value
    return value


class Doubt(str):
    """A violation that only the document speaks of: the value can be sent, and the service may take it."""

    __slots__ = ()


def violation(value: Any, schema: object, definitions: Mapping[str, Schema]) -> str | None:
    """As `find_violation`, and None as well where the check takes too many steps."""
    try:
        return find_violation(value, schema, definitions)
    except StepLimitReached:  # left to the service
        return None


def find_violation(value: Any, schema: object, definitions: Mapping[str, Schema]) -> str | None:
    """What is wrong with the value, as the end of a sentence that begins with the argument; None if nothing is."""
    count_steps()
    if not isinstance(schema, Mapping):
        return "is not allowed" if schema is False else None
    validator = _validator(_SchemaIdentity(schema, definitions or _NO_DEFINITIONS))  # loads what is imported next
    from jsonschema.exceptions import best_match
    from referencing.exceptions import Unresolvable

    try:
        error = best_match(validator.iter_errors(value))
    except Unresolvable:  # a recursive schema without its definitions
        return None
    if error is None:
        return None
    from protocols.calls.call_errors import violated_keyword

    where = subscripts(tuple(error.absolute_path))
    text = f"{where + ' ' if where else ''}{violated_keyword(error)}"
    is_null = error.validator == "type" and error.instance is None  # documents forget to say what may be null
    return Doubt(text) if error.validator in _SOFT or is_null else text


class _SchemaIdentity:
    """A cache key for a schema, which is unhashable, by identity."""

    def __init__(self, schema: Schema, definitions: Mapping[str, Schema]) -> None:
        self.schema, self.definitions = schema, definitions

    def __hash__(self) -> int:
        return hash((id(self.schema), id(self.definitions)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _SchemaIdentity):
            return NotImplemented
        return self.schema is other.schema and (self.definitions is other.definitions)


@lru_cache(maxsize=512)
def _validator(key: _SchemaIdentity) -> Any:
    schema = {**key.schema, "$defs": dict(key.definitions)} if key.definitions else dict(key.schema)
    return request_validator_class()(schema)


@lru_cache(maxsize=1)
def request_validator_class() -> Any:
    """A validator class for what is sent: bytes are texts, and what only a service sets is not required."""
    base = validator_class()
    from jsonschema.validators import extend

    sent_types = {
        "string": lambda _, value: isinstance(value, str | bytes),
        "number": lambda _, value: type(value) is not bool and isinstance(value, int | float) and math.isfinite(value),
    }
    types = base.TYPE_CHECKER.redefine_many(sent_types)
    return extend(base, {"required": _required_in_request}, type_checker=types)  # type: ignore[no-untyped-call]


def _required_in_request(_: Any, required: Sequence[str], value: Any, schema: Schema) -> Iterator[Any]:
    """`required` for requests: properties that are read-only, or that an object does not describe, may be missing."""
    from jsonschema import ValidationError

    properties = schema.get("properties")
    for name in required if isinstance(value, Mapping) else ():
        described = properties.get(name) if isinstance(properties, Mapping) else {}
        hidden = described is None or (isinstance(described, Mapping) and described.get("readOnly") is True)
        if name not in value and not hidden:
            yield ValidationError(f"{name!r} is a required property")
