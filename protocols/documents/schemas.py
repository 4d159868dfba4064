"""Schemas of every dialect become JSON Schema 2020-12 without references.

Readers of a schema (prompts, hints, checks, the simulator) need `type` and `properties` at once. So `$ref` is replaced
by its target, the same Python object at every use, `allOf` is merged, and alternatives are simplified. A `$ref` to
`#/$defs/NAME` remains only in recursive schemas and behind more than 24 nested references.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeGuard

from protocols.documents.source import DocumentSet
from protocols.documents.spec_fixes import JSON_TYPES, repaired, retyped
from protocols.errors import ProtocolError
from protocols.model import Schema
from protocols.naming import fold
from protocols.schema_fields import declared_types

__all__ = ["SchemaReader", "merge", "object_properties"]

_MAPS = frozenset({"properties", "dependentSchemas"})
_LISTS = frozenset({"anyOf", "oneOf", "prefixItems"})
_SINGLE = frozenset({"items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"})
_SINGLE |= {"unevaluatedItems", "unevaluatedProperties"}
_HANDLED_ELSEWHERE = frozenset({"allOf", "nullable", "example"})
"""Read on their own; so is all that begins with `$`."""
_HANDLED_ELSEWHERE |= {"definitions", "dependencies", "contentSchema", "externalDocs", "collectionFormat"}
_LOWER_BOUNDS = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_UPPER_BOUNDS = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})
_CONJOINED = frozenset({"anyOf", "not", "pattern", "if"})
_MAX_REFERENCE_DEPTH = 24
_MAX_DEPTH = 150
_NULL = {"type": "null"}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_count(value: object) -> bool:
    return _is_number(value) and value == int(value) >= 0  # type: ignore[call-overload]


_VALID: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("title", "description", "format", "pattern"), lambda value: isinstance(value, str)),
    **dict.fromkeys(("contentEncoding", "contentMediaType"), lambda value: isinstance(value, str)),
    **dict.fromkeys(("readOnly", "writeOnly", "deprecated", "uniqueItems"), lambda value: isinstance(value, bool)),
    **dict.fromkeys(("minimum", "maximum"), _is_number),
    **dict.fromkeys(
        ("exclusiveMinimum", "exclusiveMaximum"), lambda value: isinstance(value, bool) or _is_number(value)
    ),
    "multipleOf": lambda value: _is_number(value) and value > 0,
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _is_count),
    **dict.fromkeys(("minContains", "maxContains"), _is_count),
    **dict.fromkeys(("required", "enum"), lambda value: isinstance(value, list)),
    "xml": lambda value: isinstance(value, Mapping),
    "discriminator": lambda value: isinstance(value, Mapping) and isinstance(value.get("propertyName"), str),
    "dependentRequired": lambda value: isinstance(value, Mapping) and all(map(_is_list_of_names, value.values())),
    **dict.fromkeys(_MAPS, lambda value: isinstance(value, Mapping)),
    **dict.fromkeys(_LISTS, lambda value: isinstance(value, list) and bool(value)),
    **dict.fromkeys(_SINGLE, lambda value: isinstance(value, bool | Mapping)),
    "items": lambda value: isinstance(value, bool | Mapping) or (isinstance(value, list) and bool(value)),
    "type": lambda value: (
        (isinstance(value, str) and value in JSON_TYPES)
        or (_is_list_of_names(value) and bool(value) and JSON_TYPES.issuperset(value))
    ),
}
"""By keyword, whether JSON Schema 2020-12 (or OpenAPI 3.0, for exclusive limits) allows a value."""


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str)


def _is_list_of_names(value: object) -> bool:
    """True for a list of distinct strings."""
    return isinstance(value, list) and all(isinstance(name, str) for name in value) and len(set(value)) == len(value)


class SchemaReader:
    """Reads the schemas of one document; `definitions` fills with the recursive ones.

    A keyword with a value that JSON Schema does not allow is left out, and a reference into nothing allows any value.

    Args:
        notes: Counts these.
    """

    def __init__(self, documents: DocumentSet, notes: Counter[str]) -> None:
        self._documents = documents
        self._notes = notes
        self._resolved: dict[str, Schema] = {}
        self._in_progress: set[str] = set()
        self._deferred: list[tuple[str, str]] = []
        self._depth = 0
        self._names: dict[str, str] = {}
        self.definitions: dict[str, Schema] = {}
        self.is_nameless = False
        """True once a property with an empty name was read."""

    def read(self, raw: object, base: str) -> Schema:
        """The schema `raw` of the document at `base`. Raises: ProtocolError: It is invalid."""
        before = dict(self._resolved)
        try:
            schema = self._read(raw, base)
            while self._deferred:
                self._resolve(*self._deferred.pop())
        except (ProtocolError, RecursionError):
            self._resolved = before  # newer schemas may refer to the failed one
            self._deferred.clear()
            raise
        return schema

    @property
    def components(self) -> dict[str, Schema]:
        """The targets of references, by name."""
        return {self._name(key): schema for key, schema in self._resolved.items()}

    def _read(self, raw: object, base: str) -> Schema:
        if raw is False:
            return {"not": {}}
        if not isinstance(raw, Mapping):
            if raw is not True:
                self._notes[f"a schema that is no object was read as any value: {str(raw)[:60]!r}"] += 1
            return {}
        if "$ref" in raw and all(key == "$ref" or key.startswith("x-") for key in raw):
            return self._resolve(str(raw["$ref"]), base)
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise ProtocolError("its schemas are nested too deeply")
        try:
            return self._read_object(raw, base)
        finally:
            self._depth -= 1

    def _read_object(self, raw: Mapping[str, Any], base: str) -> Schema:
        raw = repaired(raw, self._notes)
        all_of = raw.get("allOf")
        parts = [self._resolve(str(raw["$ref"]), base)] if "$ref" in raw else []
        parts += [self._read(part, base) for part in all_of] if isinstance(all_of, list) else []
        own = self._own_keywords(raw, base)
        if len(parts) + bool(own.get("properties")) > 1:  # an example of a part is not one of the whole
            parts = [{key: value for key, value in part.items() if key != "examples"} for part in parts]
        merged: Schema = {}
        for part in (*parts, own):
            merged = merge(merged, part)
        return self._finished(merged, raw)

    def _resolve(self, ref: str, base: str) -> Schema:
        try:
            content, uri, key = self._documents.lookup(ref, base)
        except ProtocolError as error:
            self._notes[f"{error}, and was read as any value"] += 1
            return {}
        if key in self._resolved:
            return self._resolved[key]
        if key in self._in_progress:
            return {"$ref": f"#/$defs/{self._name(key)}"}
        if len(self._in_progress) >= _MAX_REFERENCE_DEPTH:
            self._deferred.append((ref, base))
            return {"$ref": f"#/$defs/{self._name(key)}"}
        self._in_progress.add(key)
        try:
            schema = self._read(content, uri)
        finally:
            self._in_progress.discard(key)
        if key in self._names:
            name = self._names[key]
            # A reference to itself allows any value.
            self.definitions[name] = {} if schema == {"$ref": f"#/$defs/{name}"} else schema
        self._resolved[key] = schema
        return schema

    def _name(self, key: str) -> str:
        if key not in self._names:
            stem = fold(key.rpartition("/")[2]) or "schema"
            name, number = stem, 2
            while name in self._names.values():
                name, number = f"{stem}_{number}", number + 1
            self._names[key] = name
        return self._names[key]

    def _own_keywords(self, raw: Mapping[str, Any], base: str) -> dict[str, object]:
        """The keywords beside `$ref` and `allOf`, translated."""
        out: dict[str, object] = {}
        open_ended = False
        for key, value in raw.items():
            if key in _HANDLED_ELSEWHERE or key.startswith(("x-", "$")):
                continue
            if key in _VALID and not _VALID[key](value):
                self._notes[f"`{key}: {str(value)[:60]}` is not valid in a schema and was ignored"] += 1
            elif key == "patternProperties":  # names are matched with no pattern: any other property may come
                open_ended = True
            elif key in _MAPS:
                self.is_nameless |= "" in value
                out[key] = {name: self._read(part, base) for name, part in value.items()}
            elif key == "items" and isinstance(value, list):
                out["prefixItems"] = [self._read(part, base) for part in value]
            elif key == "oneOf":  # its branches overlap in most documents, and exclude nothing
                branches = {"anyOf": [self._read(part, base) for part in value]}
                out = {**out, **({"allOf": [branches]} if "anyOf" in raw else branches)}
            elif key in _LISTS:
                out[key] = [self._read(part, base) for part in value]
            elif key in _SINGLE:
                out[key] = value if isinstance(value, bool) else self._read(value, base)
            elif key == "discriminator":
                out[key] = {"propertyName": value["propertyName"]}
            elif key == "required":
                out |= {key: names} if (names := list(dict.fromkeys(filter(_is_text, value)))) else {}
            else:
                out[key] = value
        if open_ended:
            out["additionalProperties"] = True
        for limit in ("Minimum", "Maximum"):  # OpenAPI 3.0 and Swagger 2.0: a switch beside `minimum`
            exclusive = out.get(f"exclusive{limit}")
            if isinstance(exclusive, bool):
                del out[f"exclusive{limit}"]
                if exclusive and limit.lower() in out:
                    out[f"exclusive{limit}"] = out.pop(limit.lower())
        if "example" in raw:
            examples = out.get("examples")
            out["examples"] = [raw["example"], *(examples if isinstance(examples, list) else [])]
        elif "examples" in out and not isinstance(out["examples"], list):
            del out["examples"]
        return out

    def _finished(self, schema: Schema, raw: Mapping[str, Any]) -> Schema:
        out = _simplified(dict(schema))
        if "type" not in out and not out.keys() & {"$ref", "anyOf", "allOf", "enum", "const", "not"}:
            if "properties" in out:
                out["type"] = "object"
            elif "items" in out or "prefixItems" in out:
                out["type"] = "array"
        if "examples" in out:
            out["examples"] = retyped(out["examples"], {"items": out}, self.definitions, self._notes)
        if raw.get("nullable") is True or raw.get("x-nullable") is True:
            out = _nullable(out)
        return out


def object_properties(schema: Schema) -> tuple[dict[str, Schema], frozenset[str]]:
    """The properties of an object schema, and the names of required ones.

    Includes properties of alternatives, required if all alternatives require them. Empty if a value may be neither an
    object nor a list of such objects.
    """
    if not {"object", "null"}.issuperset(declared_types(schema)) or schema.keys() & {"$ref"}:
        return {}, frozenset()
    own, listed = schema.get("properties"), schema.get("required")
    properties: dict[str, Schema] = dict(own) if isinstance(own, Mapping) else {}
    required = frozenset(listed if isinstance(listed, list) else ())
    for part in _subschemas(schema, "allOf"):
        inner, needed = object_properties(part)
        properties = {**inner, **properties}
        required |= needed
    alternatives = [branch for branch in _subschemas(schema, "anyOf") if not _is_null(branch)]
    objects = [branch for branch in alternatives if declared_types(branch) != ("array",)]
    branches = [object_properties(branch) for branch in objects or alternatives]
    if not branches:
        return properties, required
    if not all(inner for inner, _ in branches) and not properties:
        return {}, frozenset()
    for inner, _ in branches:
        for name, property_schema in inner.items():
            earlier = properties.setdefault(name, property_schema)
            if earlier is not property_schema and earlier != property_schema:
                properties[name] = {"anyOf": [earlier, property_schema]}
    return properties, required | frozenset.intersection(*(needed for _, needed in branches))


def _subschemas(schema: Schema, key: str) -> list[Schema]:
    parts = schema.get(key)
    return [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []


def _is_null(schema: Schema) -> bool:
    return declared_types(schema) == ("null",) or schema.get("enum") == [None]


def _type_keyword(names: Iterable[str]) -> object:
    unique = list(dict.fromkeys(names))
    if "number" in unique:
        unique = [name for name in unique if name != "integer"]
    return unique[0] if len(unique) == 1 else unique


def _nullable(schema: Schema) -> dict[str, object]:
    """The schema, extended by null."""
    out = dict(schema)
    if "type" in out:
        out["type"] = _type_keyword([*declared_types(out), "null"])
        return _with_null(out)
    branches = out.get("anyOf")
    if isinstance(branches, list):
        out["anyOf"] = branches if _NULL in branches else [*branches, _NULL]
        return out
    if "$ref" in out or "allOf" in out:
        return {"anyOf": [out, _NULL]}
    return _with_null(out)


def _with_null(out: dict[str, object]) -> dict[str, object]:
    """Add null to the enumeration, if there is one."""
    enum = out.get("enum", [out.pop("const")] if "const" in out else None)
    if isinstance(enum, list):
        out["enum"] = enum if None in enum else [*enum, None]
    return out


def _simplified(schema: dict[str, object]) -> dict[str, object]:
    """Equivalent shorter alternatives: a single branch, a value or null, bare types, constants."""
    branches = schema.get("anyOf")
    if not isinstance(branches, list) or not branches:
        return schema
    rest = {name: value for name, value in schema.items() if name not in ("anyOf", "discriminator")}
    values = [branch for branch in branches if not _is_null(branch)]
    if len(values) == 1 and not {"$ref", "allOf"} & values[0].keys():
        if rest.get("type") == "object" and "null" in declared_types(values[0]):
            del rest["type"]
        simplified = dict(merge(values[0], rest)) if rest else dict(values[0])
        return _nullable(simplified) if len(values) < len(branches) else simplified
    types = _type_keyword([name for branch in branches for name in declared_types(branch)])
    if all(branch.keys() <= {"type", "title", "description"} and declared_types(branch) for branch in branches):
        return rest if "type" in rest else {"type": types, **rest}
    if all("const" in branch and branch.keys() <= {"const", "title", "description", "type"} for branch in branches):
        return {**({"type": types} if types else {}), "enum": [branch["const"] for branch in branches], **rest}
    return schema


def merge(first: Schema, second: Schema) -> Schema:
    """The conjunction of two schemas; of annotations (title, description …) and contradicting types the second wins.

    Properties and `required` are united. An extended object is closed only if both are: documents write
    `additionalProperties: false` in a base and mean the whole.
    """
    if first is second or not second:
        return first
    if not first:
        return second
    if "$ref" in first or "$ref" in second:
        if ("$ref" in first and "$ref" in second) or "properties" in first or "properties" in second:
            return {"allOf": [*_conjuncts(first), *_conjuncts(second)]}
        return {**first, **second}
    out: dict[str, object] = dict(first)
    extra: list[object] = []
    for key, new in second.items():
        if key not in out or out[key] == new:
            out[key] = new
            continue
        old = out[key]
        if key in _MAPS and isinstance(old, Mapping) and isinstance(new, Mapping):
            out[key] = {**old, **{name: merge(old[name], part) if name in old else part for name, part in new.items()}}
        elif key == "required" and isinstance(old, list) and isinstance(new, list):
            out[key] = list(dict.fromkeys([*old, *new]))
        elif key == "type":
            out[key] = _common_types(declared_types(first), declared_types(second))
        elif key == "enum" and isinstance(old, list) and isinstance(new, list):
            out[key] = [value for value in old if value in new] or new
        elif key == "examples" and isinstance(old, list) and isinstance(new, list):
            out[key] = [*new, *(value for value in old if value not in new)]
        elif key in _LOWER_BOUNDS | _UPPER_BOUNDS and isinstance(old, int | float) and isinstance(new, int | float):
            out[key] = max(old, new) if key in _LOWER_BOUNDS else min(old, new)
        elif key == "items" and isinstance(old, Mapping) and isinstance(new, Mapping):
            out[key] = merge(old, new)
        elif key == "additionalProperties":
            out[key] = new if old is False else old
        elif key == "allOf" and isinstance(old, list) and isinstance(new, list):
            out[key] = [*old, *new]
        elif key in _CONJOINED:
            extra.append({key: new})
        else:
            out[key] = new
    if out.get("additionalProperties") is False and "properties" in first and "properties" in second:
        closed = (first.get("additionalProperties"), second.get("additionalProperties"))
        if closed != (False, False) and first["properties"] != second["properties"]:
            del out["additionalProperties"]
    if extra:
        existing = out.get("allOf")
        out["allOf"] = [*(existing if isinstance(existing, list) else []), *extra]
    return out


def _conjuncts(schema: Schema) -> list[object]:
    parts = schema.get("allOf")
    return list(parts) if isinstance(parts, list) and schema.keys() == {"allOf"} else [schema]


def _common_types(first: tuple[str, ...], second: tuple[str, ...]) -> object:
    common = [name for name in second if name in first or (name == "integer" and "number" in first)]
    if "integer" in first and "number" in second:
        common.append("integer")
    return _type_keyword(common or second)
