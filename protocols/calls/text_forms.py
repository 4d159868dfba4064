"""Values that JSON holds as texts: bytes, as base64 or in UTF-8, and points in time, in the documented form."""

from __future__ import annotations

import base64
import binascii
import datetime
import re
from collections.abc import Mapping, Sequence
from typing import Any

from protocols.media_types import is_binary
from protocols.schema_fields import declared_types

__all__ = ["in_json", "read_bytes", "timestamp"]

_POINT_IN_TIME = re.compile(r"\d{4}-\d\d-\d\d($|[T ]\d\d)")
_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
_UNIX = ("unix-time", "unixtime", "unix_timestamp", "timestamp")


def read_bytes(value: bytes, schema: Mapping[str, Any]) -> object:
    """Bytes for a text: in base64 where the document asks for it, else what they say in UTF-8, if they do."""
    if schema.get("format") in ("byte", "base64") or schema.get("contentEncoding") == "base64":
        try:
            base64.b64decode(value, validate=True)
        except binascii.Error:
            return base64.b64encode(value).decode()
        return value.decode()
    if is_binary(schema) or "contentMediaType" in schema or "string" not in declared_types(schema):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


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


def timestamp(text: str, schema: Mapping[str, Any], types: Sequence[str]) -> object | None:
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
