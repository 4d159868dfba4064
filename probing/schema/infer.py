"""Infer a schema from observed responses: what they have in common, and no more than they are evidence for.

`genson` merges the instances: the union of keys, required if always present, nullable. Maps with data as keys are told
from objects with field names, and texts of one format get it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from protocols.contracts.contract import infer_schema
from protocols.model import Schema
from protocols.text.words import is_identifier, words

__all__ = ["MIN_SAMPLES", "infer", "is_trivial"]

MIN_SAMPLES = 3
"""Minimum of values for a common format, and of objects for a required key."""
_MEASURES = frozenset(
    {"amount", "average", "height", "lat", "lon", "percent", "popularity", "price", "rate", "rating", "ratio", "score"}
    | {"size", "temperature", "value", "weight", "width"}
)
"""Last words of names of real numbers, even if all observed ones are whole."""
_COUNTS = frozenset(
    {"code", "count", "day", "index", "limit", "month", "number", "offset", "order", "page", "pages", "position"}
    | {"results", "status", "total", "type", "votes", "year"}
)
"""Words in names of whole numbers, however few were observed."""
_MIN_CODE_SAMPLES = 12
"""Minimum of observations for few different numbers to be whole codes."""
_PLAIN_KEYS = frozenset({"additionalProperties", "description", "items", "nullable", "properties", "title", "type"})
"""Keys of a schema that may say nothing but that there is an object or a list."""
_MIN_DATA_KEYS = 6
"""Minimum of keys of a map."""
_MIN_ALIKE_KEYS = 20
"""Minimum of keys of a map of similar objects, whatever the keys look like."""
_DATA_KEY = re.compile(r"[A-Z]{2}|[a-z]{2}(-[A-Z]{2})?|\d[\d./:-]*|\d{4}-\d\d(-\d\d)?|[0-9a-f-]{8,}")
"""Keys that are data: country and language codes, numbers, days, hashes."""
_NON_NAME_KEY = re.compile(r"\d[\d./:-]*|(?=\D*\d)[0-9a-f-]{8,}")
"""Keys that are never field names, however few they are: numbers, days, hashes."""
_FORMATS: dict[str, re.Pattern[str]] = {
    "date-time": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.IGNORECASE),
    "date": re.compile(r"\d{4}-\d\d-\d\d"),
    "uuid": re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE),
    "uri": re.compile(r"[a-z][a-z0-9+.-]*://\S+"),
    "email": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"),
}


def infer(bodies: Sequence[object]) -> Schema:
    """The JSON schema (2020-12) that all bodies satisfy; at least one body."""
    return _refine(dict(infer_schema(bodies)), list(bodies))


def is_trivial(schema: Schema | None) -> bool:
    """True if a schema only says that there is an object or a list, as document generators write it.

    That includes objects without properties that allow no others: any response contradicts that.
    """
    if schema is None:
        return True
    other_keys = schema.keys() - _PLAIN_KEYS
    plain = schema.get("type") in (None, "object", "array") and not schema.get("properties")
    plain = plain and schema.get("additionalProperties") in (None, True, False)
    items = schema.get("items")
    return plain and not other_keys and (items is None or (isinstance(items, Mapping) and is_trivial(items)))


def _refine(schema: dict[str, Any], values: Sequence[object], name: str = "") -> dict[str, Any]:
    """A merged schema with maps, formats and number types from its values; `name` is that of the field."""
    schema = {key: part for key, part in schema.items() if key != "$schema"}
    objects = [value for value in values if isinstance(value, Mapping)]
    lists = [value for value in values if isinstance(value, list)]
    texts = [value for value in values if isinstance(value, str)]
    if "anyOf" in schema:
        variants = [
            (part, [value for value in values if _has_type(value, part.get("type"))]) for part in schema["anyOf"]
        ]
        return {**schema, "anyOf": [_refine(part, typed) for part, typed in variants]}
    if objects and schema.get("properties"):
        properties: dict[str, Any] = schema["properties"]
        if _is_map(objects):
            inside = [part for item in objects for part in item.values()]
            schema.pop("required", None)
            del schema["properties"]
            schema["additionalProperties"] = _refine(dict(infer_schema(inside)), inside)
        else:
            if len(objects) < MIN_SAMPLES:  # too few to tell which keys are always present
                schema.pop("required", None)
            inner = {key: [item[key] for item in objects if key in item] for key in properties}
            schema["properties"] = {key: _refine(part, inner[key], key) for key, part in properties.items()}
    if lists and isinstance(schema.get("items"), dict):
        schema["items"] = _refine(schema["items"], [item for items in lists for item in items], name)
    declared = schema.get("type")
    kinds: list[str] = declared if isinstance(declared, list) else [str(declared)]
    if "integer" in kinds and not is_identifier(name):
        integers = [value for value in values if isinstance(value, int)]
        few = len(set(integers)) < MIN_SAMPLES and len(integers) < _MIN_CODE_SAMPLES and _COUNTS.isdisjoint(words(name))
        if few or _MEASURES.intersection(words(name)[-1:]):
            wider = sorted({"number" if kind == "integer" else kind for kind in kinds})
            schema["type"] = wider if isinstance(declared, list) else "number"
    if texts and schema.get("type") in ("string", ["null", "string"]) and (text_format := _format(texts)):
        schema["format"] = text_format
    return schema


def _has_type(value: object, kind: object) -> bool:
    types = kind if isinstance(kind, list) else [kind]
    own = _json_type(value)
    return own in types or (own == "number" and "integer" in types)


def _is_map(objects: Sequence[Mapping[str, object]]) -> bool:
    """True if the keys of objects are data: they look like it, or they are many, and the values are alike."""
    keys = {key for item in objects for key in item}
    if len(keys) < _MIN_DATA_KEYS and not all(_NON_NAME_KEY.fullmatch(key) for key in keys):
        return False
    if not all(_DATA_KEY.fullmatch(key) for key in keys):
        return len(keys) >= _MIN_ALIKE_KEYS and _are_alike([value for item in objects for value in item.values()])
    return len({_json_type(value) for item in objects for value in item.values()} - {"null"}) <= 1


def _are_alike(values: Sequence[object]) -> bool:
    """True if values are objects that share most of their keys."""
    objects = [value for value in values if isinstance(value, Mapping) and value]
    if len(objects) < len(values):
        return False
    everywhere = set.intersection(*(set(value) for value in objects))
    return len(everywhere) * 2 > max(len(value) for value in objects)


def _json_type(value: object) -> str:
    if isinstance(value, Mapping):
        return "object"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number"
    return {list: "array", str: "string", bool: "boolean", type(None): "null"}.get(type(value), "other")


def _format(texts: Sequence[str]) -> str | None:
    """The format that several different texts share."""
    if len(set(texts)) < MIN_SAMPLES:
        return None
    formats = _FORMATS.items()
    return next(
        (name for name, form in formats if all(form.fullmatch(text) and _valid(name, text) for text in texts)), None
    )


def _valid(name: str, text: str) -> bool:
    """True if a text that looks like a date or time is one."""
    try:
        if name in ("date", "date-time"):
            datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
