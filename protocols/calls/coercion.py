"""A value in the type that its schema asks for, wherever the conversion loses nothing."""

from __future__ import annotations

import base64
import binascii
import datetime
import json
import math
import re
from collections.abc import KeysView, Mapping, Sequence, ValuesView
from decimal import Decimal
from typing import Any

from protocols.bounded import StepLimitReached, count_steps
from protocols.calls.constraints import find_violation
from protocols.calls.serialization import wire_text
from protocols.media_types import is_binary
from protocols.schema_fields import declared_types

__all__ = ["coerce", "has_bytes", "in_json", "json_value", "unsendable_part"]

_INTEGER = re.compile(r"[-+]?\d+")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_POINT_IN_TIME = re.compile(r"\d{4}-\d\d-\d\d($|[T ]\d\d)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
_UNIX = ("unix-time", "unixtime", "unix_timestamp", "timestamp")
_LONGEST_NUMBER = 4000  # Python reads no longer ones


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
    if isinstance(value, list | tuple | set | frozenset | range) or hasattr(value, "__next__"):
        items = [json_value(inner) for inner in value]  # type: ignore[attr-defined]
        return sorted(items, key=str) if isinstance(value, set | frozenset) else items
    if isinstance(value, KeysView | ValuesView):
        return [json_value(inner) for inner in value]
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
        return _read_bytes(value, schema)
    if isinstance(value, str) and (time := _timestamp(value, schema, types)) is not None:
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


def _read_bytes(value: bytes, schema: Mapping[str, Any]) -> object:
    """Bytes for a text: in base64 where the document asks for it, else what they say in UTF-8, if they do."""
    if schema.get("format") in ("byte", "base64") or schema.get("contentEncoding") == "base64":
        return value.decode() if _is_base64(value) else base64.b64encode(value).decode()
    if is_binary(schema) or "contentMediaType" in schema or "string" not in declared_types(schema):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _is_base64(value: bytes) -> bool:
    try:
        return bool(base64.b64decode(value, validate=True)) or not value
    except binascii.Error:
        return False


def in_json(value: Any, schema: object) -> Any:
    """The value with bytes as JSON holds them: base64 for a file, else the text that they are in UTF-8.

    Raises: ValueError: They are no such text.
    """
    described: Mapping[str, Any] = schema if isinstance(schema, Mapping) else {}
    if isinstance(value, Mapping):
        properties = described.get("properties")
        inner = properties if isinstance(properties, Mapping) else {}
        return {name: in_json(item, inner.get(name)) for name, item in value.items()}
    if isinstance(value, list):
        return [in_json(item, described.get("items")) for item in value]
    if not isinstance(value, bytes):
        return value
    return base64.b64encode(value).decode() if is_binary(described) else value.decode()


def has_bytes(value: object) -> bool:
    """True if bytes are in a value, at any depth."""
    if isinstance(value, Mapping):
        value = list(value.values())
    return any(map(has_bytes, value)) if isinstance(value, list) else isinstance(value, bytes)


def _timestamp(text: str, schema: Mapping[str, Any], types: Sequence[str]) -> object | None:
    """A point in time in the documented form: `2024-05-01` of a datetime where a date is asked for.

    None where the text is none, has that form already, or another one fits it, too.
    """
    documented_format = schema.get("format")
    is_number = documented_format in _UNIX and "string" not in types
    if (
        not (documented_format in ("date", "date-time") or is_number)
        or not _POINT_IN_TIME.match(text)
        or "enum" in schema
    ):
        return None
    examples = schema.get("examples")
    if any(_digits_as_zeros(example) == _digits_as_zeros(text) for example in examples or ()):
        return None  # the document's own examples are like it, whatever its format says
    try:
        time = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    utc = time if time.tzinfo else time.replace(tzinfo=datetime.UTC)
    if is_number:
        return int(utc.timestamp()) if "integer" in types else utc.timestamp()
    if documented_format == "date":
        return time.date().isoformat() if len(text) > len("2024-05-01") else None
    if _RFC_3339.fullmatch(text):
        return None
    return time.isoformat() if time.tzinfo else f"{time.isoformat()}Z"


def _digits_as_zeros(value: object) -> str:
    return re.sub(r"\d", "0", value) if isinstance(value, str) else ""


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
