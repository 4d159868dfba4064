"""Repairs of common defects in API documents, each where it is read, with one note that counts its kind.

What cannot be repaired is left to the reader, which leaves out a keyword, a response or an operation.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from protocols.documents.source import mapping_or_empty
from protocols.schema_fields import type_of

__all__ = [
    "JSON_TYPES",
    "is_true",
    "named_properties",
    "parameter_schema",
    "repaired",
    "retyped",
    "spelled_type",
    "with_described_enum",
]

_SWITCHES = frozenset({"nullable", "readOnly", "writeOnly", "deprecated", "uniqueItems", "additionalProperties"})
_NUMBERS = frozenset({"minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems"})
_NUMBERS |= {"minProperties", "maxProperties"}
_EITHER = frozenset({"exclusiveMinimum", "exclusiveMaximum"})  # switches in OpenAPI 3.0, numbers in 3.1
JSON_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_SPELLINGS: dict[str, dict[str, str]] = {
    spelling: schema
    for spellings, schema in (
        ("int int32 int64 long short", {"type": "integer"}),
        ("float double decimal", {"type": "number"}),
        ("bool", {"type": "boolean"}),
        ("str text char enum", {"type": "string"}),
        ("dict map hash", {"type": "object"}),
        ("list tuple set", {"type": "array"}),
        ("date", {"type": "string", "format": "date"}),
        ("datetime date-time timestamp", {"type": "string", "format": "date-time"}),
        ("uuid", {"type": "string", "format": "uuid"}),
        ("file binary", {"type": "string", "format": "binary"}),
        ("any mixed none", {}),
    )
    for spelling in spellings.split()
}
_SPELLINGS[""] = {}
_PARAMETER_KEYS = frozenset({"name", "in", "required", "description", "deprecated", "allowEmptyValue", "style"})
_PARAMETER_KEYS |= {"explode", "allowReserved", "example", "examples", "content"}

_STRINGLY_TYPED = "repaired a boolean or number written as a string"
_SPELLING = "repaired a type in another spelling"
_EMPTY_NAME = "repaired an empty property name: the example shows the real one"
_UNEXPLAINED_NAME = "dropped a property with an empty name that no example explains"
_REQUIRED_ON_PROPERTY = "repaired a `required` on a property: it was moved to its object"
_ENUM_ON_ARRAY = "repaired an `enum` of an array whose values are no arrays: it was moved to the items"
_ENUM_WITHOUT_FORMAT = "dropped an `enum` beside a date format that none of its values has"
_FORBIDDEN_DEFAULT = "dropped a default that its own schema forbids"
_INLINE_SCHEMA = "repaired a parameter with a type and no schema"
_MARKED_WORD = r"(?:\*\*|`|\"|')([A-Za-z][\w-]*)(?:\*\*|`|\"|')"
_VALUES_ONLY = re.compile(
    rf"(?:one of:?\s*|either\s+)?{_MARKED_WORD}(?:,?\s+or\s+{_MARKED_WORD}|\s*,\s*{_MARKED_WORD})+\s*(?:[.;<\n]|$)",
    re.I,
)
"""A description that starts with only the values."""
_LIST_INTRODUCTION = re.compile(
    r"\b(?:accepted|allowed|permitted|possible|supported|valid)\s+(?:choices|options|types|values)(?:\s+are)?\s*:?",
    re.I,
)
_LIST_END = re.compile(r"\bdefaults?\b|\be\.g\.|\bexamples?\b|\bsuch as\b|\n\s*\n", re.I)
"""The start of further text about the values."""
_JOINED_LIST = re.compile(r"\b(?:comma|pipe|space)[\s-]*separated\b|\bseparated by\b|\blist of\b", re.I)

Notes = Counter[str]
"""How often each thing was met that is worth a warning."""


def repaired(raw: Mapping[str, Any], notes: Notes) -> Mapping[str, Any]:
    """The keywords of one schema, repaired; those of the schemas in it are left to their own turn."""
    node: dict[str, Any] = {key: _read_text(key, value, notes) for key, value in raw.items()}
    _spell_type(node, notes)
    if isinstance(_boolean(node.get("required")), bool):  # it is the object's
        del node["required"]
    _lift_required(node, notes)
    declared = node.get("type")
    if declared == "array" and not node.keys() & {"items", "prefixItems"}:
        node["items"] = {}
    for key in ("default", "example"):
        if key in node:
            node[key] = _parsed(node[key], declared, notes)
    if isinstance(node.get("enum"), list):
        node["enum"] = [_parsed(value, declared, notes) for value in node["enum"]]
        _repair_enum(node, notes)
    if "default" in node and not _fits(node, node["default"]):
        del node["default"]
        notes[_FORBIDDEN_DEFAULT] += 1
    return node


def _boolean(value: Any) -> Any:
    return {"true": True, "false": False}.get(value.strip().lower(), value) if isinstance(value, str) else value


def _number(value: Any, integer: bool = False) -> Any:
    """The number in a string, else the value unchanged."""
    if not isinstance(value, str) or not re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?", value.strip()):
        return value
    number = json.loads(value)
    return value if integer and not isinstance(number, int) else number


def _read_text(key: str, value: Any, notes: Notes) -> Any:
    """The value of a keyword; a switch or a number out of its text."""
    new = _boolean(value) if key in _SWITCHES | _EITHER else value
    new = _number(new) if key in _NUMBERS | _EITHER else new
    notes.update([_STRINGLY_TYPED] if new is not value else [])
    return new


def _parsed(value: Any, declared: object, notes: Notes) -> Any:
    """A value of a declared type, out of its text."""
    new = _boolean(value) if declared == "boolean" else value
    new = _number(new, declared == "integer") if declared in ("integer", "number") else new
    notes.update([_STRINGLY_TYPED] if new is not value else [])
    return new


def is_true(raw: Mapping[str, Any], switch: str, notes: Notes) -> bool:
    """Whether a switch of a parameter or the like is on; its text counts, too."""
    value = _boolean(raw.get(switch))
    notes.update([_STRINGLY_TYPED] if value is not raw.get(switch) else [])
    return value is True


def parameter_schema(raw: Mapping[str, Any], notes: Notes) -> Any:
    """The schema of a parameter or header; of one without any, that of a text."""
    if raw.get("schema") is not None or raw.get("content"):
        return raw.get("schema")
    if "type" not in raw:
        return {"type": "string"}
    notes[_INLINE_SCHEMA] += 1
    return {key: value for key, value in raw.items() if key not in _PARAMETER_KEYS}


def spelled_type(word: str) -> dict[str, str] | None:
    """The schema that a word for a type means, in whatever spelling; None for any other word."""
    spelled = word.strip().lower()
    return {"type": spelled} if spelled in JSON_TYPES else _SPELLINGS.get(spelled)


def _spell_type(node: dict[str, Any], notes: Notes) -> None:
    declared = node.get("type", "string")
    replacement = spelled_type(declared or "") if isinstance(declared, str) or declared is None else None
    if replacement is not None and declared not in JSON_TYPES:
        del node["type"]
        node.update({key: value for key, value in replacement.items() if key == "type" or key not in node})
        notes[_SPELLING] += 1


def _lift_required(node: dict[str, Any], notes: Notes) -> None:
    """Take the names of properties that say themselves that they are required."""
    switches = {
        name: _boolean(part.get("required"))
        for name, part in mapping_or_empty(node.get("properties")).items()
        if isinstance(part, Mapping) and isinstance(_boolean(part.get("required")), bool)
    }
    required = node.get("required")
    listed: list[Any] = required if isinstance(required, list) else []
    if switches:
        node["required"] = [*listed, *(name for name, needed in switches.items() if needed and name not in listed)]
        notes[_REQUIRED_ON_PROPERTY] += len(switches)


def _repair_enum(node: dict[str, Any], notes: Notes) -> None:
    """Move or drop an enumeration that no value could be in."""
    items = node.get("items", {})
    inside = isinstance(items, Mapping) and not items.keys() & {"$ref", "enum", "const"}
    is_array = node.get("type") == "array" and bool(node["enum"])
    if is_array and inside and not any(isinstance(value, list) for value in node["enum"]):
        node["items"] = {**items, "enum": node.pop("enum")}
        notes[_ENUM_ON_ARRAY] += 1
        return
    is_date = node.get("format") in ("date", "date-time")
    if is_date and not any(re.match(r"\d{4}-", str(value)) for value in node["enum"]):  # `now`, besides any date
        del node["enum"]
        notes[_ENUM_WITHOUT_FORMAT] += 1


def _fits(node: Mapping[str, Any], value: Any) -> bool:
    """True if a value fits `type` and `enum` of a schema; other constraints are ignored."""
    if value is None:
        return True
    types: dict[object, Callable[[Any], bool]] = {
        "string": lambda v: isinstance(v, str),
        "boolean": lambda v: isinstance(v, bool),
        "integer": lambda v: isinstance(v, int | float) and not isinstance(v, bool) and v == int(v),
        "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
        "array": lambda v: isinstance(v, list),
        "object": lambda v: isinstance(v, Mapping),
    }
    fits = types.get(node["type"]) if isinstance(node.get("type"), str) else None
    if fits is not None and not fits(value):
        return False
    return not isinstance(node.get("enum"), list) or value in node["enum"]


def retyped(value: Any, schema: object, definitions: Mapping[str, Any], notes: Notes) -> Any:
    """An example with texts converted to the types of its schema, as it was read."""
    described = mapping_or_empty(schema)
    if isinstance(reference := described.get("$ref"), str):
        described = mapping_or_empty(definitions.get(reference.rpartition("/")[2]))
    if isinstance(value, str):
        return _parsed(value, type_of(described), notes)
    if isinstance(value, list):
        return [retyped(item, described.get("items"), definitions, notes) for item in value]
    if isinstance(value, Mapping):
        properties = mapping_or_empty(described.get("properties"))
        return {name: retyped(item, properties.get(name), definitions, notes) for name, item in value.items()}
    return value


def named_properties(schema: Mapping[str, Any], examples: Sequence[Any], notes: Notes) -> Mapping[str, Any]:
    """A schema, as it was read, whose properties with an empty name have the one in an example; or are dropped."""
    if isinstance(items := schema.get("items"), Mapping):
        inner = [item for example in examples if isinstance(example, list) for item in example[:3]]
        schema = {**schema, "items": named_properties(items, inner, notes)}
    if not isinstance(properties := schema.get("properties"), Mapping):
        return schema
    objects = [example for example in examples if isinstance(example, Mapping)]
    named: dict[str, Any] = {}
    for name, part in properties.items():
        if name:
            values = [example[name] for example in objects if name in example]
            named[name] = named_properties(part, values, notes) if isinstance(part, Mapping) else part
            continue
        fitting = {
            key: fitted
            for example in objects
            for key, value in example.items()
            if key not in properties and (fitted := _fitted(part, value)) is not None
        }
        notes[_EMPTY_NAME if len(fitting) == 1 else _UNEXPLAINED_NAME] += 1
        named |= fitting if len(fitting) == 1 else {}
    return {**schema, "properties": named}


def _fitted(schema: Mapping[str, Any], value: Any) -> Mapping[str, Any] | None:
    """The schema if it fits the value, an array of it if it fits all items of a list; else None."""
    if _fits(schema, value):
        return schema
    if isinstance(value, list) and value and all(_fits(schema, item) for item in value):
        return {"type": "array", "items": schema}
    return None


def with_described_enum(schema: Mapping[str, Any], description: str) -> Mapping[str, Any]:
    """The schema of a string argument, with the values in its description as `enum`.

    Unchanged if the schema constrains the values itself, or if an example or the default is not among them.
    """
    if type_of(schema) != "string" or not {"const", "enum", "format", "pattern"}.isdisjoint(schema):
        return schema
    values = _listed_values(description)
    sample_values = [schema[key] for key in ("default", "example") if key in schema] + list(
        schema.get("examples") or ()
    )
    if len(values) < 2 or not set(values).issuperset(map(str, sample_values)):
        return schema
    return {**schema, "enum": values}


def _listed_values(description: str) -> list[str]:
    if _JOINED_LIST.search(description):
        return []
    if alone := _VALUES_ONLY.match(description):
        listed = alone[0]
    elif valid := _LIST_INTRODUCTION.search(description):
        listed = _LIST_END.split(description[valid.end() :])[0]
    else:
        return []
    return list(dict.fromkeys(re.findall(_MARKED_WORD, listed)))
