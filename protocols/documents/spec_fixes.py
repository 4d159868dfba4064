"""Repairs of common defects in API documents.

Each kind of defect is repaired on a copy, before all other steps, and gives one warning with its count and first place.
What cannot be repaired is left to the reader, which leaves out a keyword, a response or an operation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from protocols.documents.source import METHODS, at_pointer, pointer, pointer_keys

__all__ = ["repair"]

Node = dict[str, Any]

_SCHEMAS = ("items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else")
_GRAMMAR: dict[str, dict[str, tuple[str, str]]] = {
    # kind of node: key -> (form of the value, kind of the nodes in it)
    "document": {"paths": ("map", "path"), "components": ("one", "components")},
    "components": {
        "schemas": ("map", "schema"),
        "parameters": ("map", "parameter"),
        "responses": ("map", "response"),
        "requestBodies": ("map", "body"),
        "headers": ("map", "header"),
        "examples": ("map", "example"),
    },
    "path": {"parameters": ("list", "parameter"), **dict.fromkeys(METHODS, ("one", "operation"))},
    "operation": {
        "parameters": ("list", "parameter"),
        "requestBody": ("one", "body"),
        "responses": ("map", "response"),
    },
    "parameter": {"schema": ("one", "schema"), "content": ("map", "media"), "examples": ("map", "example")},
    "header": {"schema": ("one", "schema"), "content": ("map", "media")},
    "body": {"content": ("map", "media")},
    "response": {"content": ("map", "media"), "headers": ("map", "header")},
    "media": {"schema": ("one", "schema"), "examples": ("map", "example")},
    "example": {},
    "schema": {
        **dict.fromkeys(("properties", "patternProperties", "$defs", "definitions"), ("map", "schema")),
        **dict.fromkeys(("allOf", "oneOf", "anyOf", "prefixItems"), ("list", "schema")),
        **dict.fromkeys(_SCHEMAS, ("one", "schema")),
    },
}
_EXCLUSIVE = ("exclusiveMinimum", "exclusiveMaximum")  # switches in OpenAPI 3.0, numbers in 3.1
_SWITCHES = {
    "schema": ("nullable", "readOnly", "writeOnly", "deprecated", "uniqueItems", "additionalProperties", *_EXCLUSIVE),
    "parameter": ("required", "deprecated", "allowEmptyValue", "explode", "allowReserved"),
    "header": ("required", "deprecated", "explode"),
    "body": ("required",),
    "operation": ("deprecated",),
}
_NUMBERS = (
    *("minimum", "maximum", "multipleOf", "minLength", "maxLength"),
    *("minItems", "maxItems", "minProperties", "maxProperties", *_EXCLUSIVE),
)
_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
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
_PARAMETER_KEYS = frozenset(
    {"name", "in", "required", "description", "deprecated", "allowEmptyValue", "style", "explode"}
)
_PARAMETER_KEYS |= {"allowReserved", "example", "examples", "content"}
_STRINGLY_TYPED = "booleans or numbers written as strings"
_SPELLING = "types in another spelling"
_REF_SIBLINGS = "keys beside a `$ref` (merged with its target)"
_OVERLAPPING_ONE_OF = "`oneOf` with overlapping primitive types (read as `anyOf`)"
_EMPTY_NAME = "empty property names (the example shows the real ones)"
_UNEXPLAINED_NAME = "empty property names that no example explains (dropped)"
_REQUIRED_ON_PROPERTY = "`required` on a property (moved to its object)"
_NO_ITEMS = "arrays without `items` (read as arrays of anything)"
_ENUM_ON_ARRAY = "`enum` of an array whose values are no arrays (moved to its items)"
_ENUM_WITHOUT_FORMAT = "`enum` beside a date format that none of its values has (dropped)"
_FORBIDDEN_DEFAULT = "defaults that their own schema forbids (dropped)"
_UNDECLARED_PATH_PARAMETER = "path parameters that are not declared (read as strings)"
_OPTIONAL_PATH_PARAMETER = "path parameters not marked as required"
_INLINE_SCHEMA = "parameters with a type and no schema"
_NO_SCHEMA = "parameters or headers without a schema (read as strings)"
_KEYWORDS_OF_31 = "keywords of OpenAPI 3.1 in a 3.0 document (lists of types, null, exclusive limits)"
_NO_RESPONSES = "operations without responses"
_EMPTY_REQUIRED = "empty `required` lists (dropped)"
_NO_DESCRIPTION = "responses without a description"


class _RepairLog:
    """The count and first place of each kind of defect."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[int, str]] = {}

    def note(self, kind: str, place: tuple[str, ...], count: int = 1) -> None:
        before, first = self.found.get(kind, (0, ""))
        self.found[kind] = (before + count, first or pointer(*place))

    def warnings(self) -> tuple[str, ...]:
        return tuple(f"repaired {count} {kind}, first at {first}" for kind, (count, first) in self.found.items())


def repair(document: Mapping[str, Any], kind: str = "", version: str = "3.0") -> tuple[Node, tuple[str, ...]]:
    """A repaired copy of an OpenAPI 3.0 or 3.1 document, and one warning for each kind of defect.

    Args:
        document: Not changed; the copy shares examples and other plain values with it.
        kind: The kind of a partial document: "operation", "schema" … Guessed from its keys if empty.
        version: Of OpenAPI, where the document does not say it.
    """
    kind = kind or _guess_kind(document)
    copy: Node = _mutable_copy(document, kind)
    repairs = _RepairLog()
    old = str(document.get("openapi", version)).startswith("3.0")
    for part, node, place in _nodes(copy, kind):
        _repair_values(part, node, place, repairs)
        if part == "schema":
            _repair_schema(node, place, repairs, old)
        elif part == "response" and "$ref" not in node and not isinstance(node.get("description"), str):
            node["description"] = ""
            repairs.note(_NO_DESCRIPTION, place)
        elif part == "parameter" and "type" in node and "schema" not in node and "in" in node:
            node["schema"] = {key: node.pop(key) for key in list(node) if key not in _PARAMETER_KEYS}
            repairs.note(_INLINE_SCHEMA, place)
        elif part in ("parameter", "header") and not node.keys() & {"schema", "content", "$ref"}:
            node["schema"] = {"type": "string"}
            repairs.note(_NO_SCHEMA, place)
        elif part == "operation" and not node.get("responses"):
            node["responses"] = {"default": {"description": ""}}
            repairs.note(_NO_RESPONSES, place)
    resolve = _LocalReferences(copy)
    stringly, nameless = _STRINGLY_TYPED in repairs.found, False  # only then are examples visited
    for part, node, place in _nodes(copy, kind):
        if part == "schema":
            _repair_overlap(node, place, repairs, resolve)
            properties = node.get("properties")
            nameless |= isinstance(properties, dict) and "" in properties
        elif part == "path":
            _repair_path(node, place, repairs, resolve)
    if nameless:
        _repair_names(copy, kind, repairs, resolve)
    if stringly:
        for part, node, place in _nodes(copy, kind):
            if part in ("media", "schema", "parameter"):
                _repair_examples(part, node, place, repairs, resolve)
    return copy, repairs.warnings()


def _guess_kind(document: Mapping[str, Any]) -> str:
    if document.keys() & {"openapi", "paths", "components"}:
        return "document"
    if "in" in document and "name" in document:
        return "parameter"
    if document.keys() & {"responses", "requestBody"}:
        return "operation"
    if any(isinstance(document.get(method), Mapping) and "responses" in document[method] for method in METHODS):
        return "path"
    if "content" in document:
        return "response"
    return "schema"


def _mutable_copy(node: Any, kind: str) -> Any:
    """A copy of the parts that repairs may change, with strings as keys."""
    if not isinstance(node, Mapping):
        return node
    copy: Node = {str(key): value for key, value in node.items()}
    for key, (form, inner) in _GRAMMAR[kind].items():
        value = copy.get(key)
        if form == "map" and isinstance(value, Mapping):
            copy[key] = {str(name): _mutable_copy(part, inner) for name, part in value.items()}
        elif isinstance(value, list):
            copy[key] = [_mutable_copy(part, inner) for part in value]
        elif form == "one" and isinstance(value, Mapping):
            copy[key] = _mutable_copy(value, inner)
    return copy


def _nodes(node: Any, kind: str, place: tuple[str, ...] = ()) -> Iterator[tuple[str, Node, tuple[str, ...]]]:
    """Kind, node and place of every part, outer before inner."""
    if not isinstance(node, dict):
        return
    yield kind, node, place
    for key, (form, inner) in _GRAMMAR[kind].items():
        value = node.get(key)
        if value is None:
            continue
        if form == "map" and isinstance(value, dict):
            for name, part in value.items():
                if not name.startswith("x-"):
                    yield from _nodes(part, inner, (*place, key, name))
        elif isinstance(value, list):
            for index, part in enumerate(value):
                yield from _nodes(part, inner, (*place, key, str(index)))
        elif form == "one":
            yield from _nodes(value, inner, (*place, key))


class _LocalReferences:
    """Follows references within the document; external ones give an empty node."""

    def __init__(self, document: Node) -> None:
        self._document = document

    def __call__(self, node: Any) -> Node:
        for _ in range(32):
            if not isinstance(node, dict):
                return {}
            ref = node.get("$ref")
            if ref is None:
                return node
            node = self._target(str(ref))
        return {}

    def _target(self, ref: str) -> Any:
        if not ref.startswith("#/"):
            return None
        return at_pointer(self._document, pointer_keys(ref))

    def properties(self, node: Any) -> Iterator[tuple[Node, str, Any]]:
        """Holder, name and schema of each property, those of `allOf` parts too."""
        schema = self(node)
        for part in schema.get("allOf") or ():
            yield from self.properties(part)
        holder = schema.get("properties")
        if isinstance(holder, dict):
            for name, inner in list(holder.items()):
                yield holder, name, inner


def _boolean(value: Any) -> Any:
    return {"true": True, "false": False}.get(value.strip().lower(), value) if isinstance(value, str) else value


def _number(value: Any, integer: bool = False) -> Any:
    """The number in a string, else the value unchanged."""
    if not isinstance(value, str) or not re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?", value.strip()):
        return value
    number = json.loads(value)
    return value if integer and not isinstance(number, int) else number


def _parse_text(value: Any, kind: object) -> Any:
    if kind == "boolean":
        return _boolean(value)
    return _number(value, kind == "integer") if kind in ("integer", "number") else value


def _repair_values(part: str, node: Node, place: tuple[str, ...], repairs: _RepairLog) -> None:
    """Convert switches and limits that are strings."""
    for key in _SWITCHES.get(part, ()):
        _convert(node, key, _boolean, place, repairs)
    for key in _NUMBERS if part == "schema" else ():
        _convert(node, key, _number, place, repairs)


def _convert(node: Node, key: str, parse: Callable[[Any], Any], place: tuple[str, ...], repairs: _RepairLog) -> None:
    """Replace a string in a node by the value that it spells, if any."""
    if isinstance(node.get(key), str) and (value := parse(node[key])) is not node[key]:
        node[key] = value
        repairs.note(_STRINGLY_TYPED, place)


def _repair_schema(node: Node, place: tuple[str, ...], repairs: _RepairLog, old: bool) -> None:
    """Repair defects of a single schema. `old`: OpenAPI 3.0, where a `$ref` may have no siblings."""
    if old and isinstance(node.get("$ref"), str) and any(k != "$ref" and not k.startswith("x-") for k in node):
        ref = node.pop("$ref")
        node["allOf"] = [{"$ref": ref}, *node.get("allOf", ())]
        repairs.note(_REF_SIBLINGS, place)
    declared = node.get("type")
    if (isinstance(declared, str) or ("type" in node and declared is None)) and declared not in _TYPES:
        spelled = (declared or "").strip().lower()
        replacement = {"type": spelled} if spelled in _TYPES else _SPELLINGS.get(spelled)
        if replacement is not None:
            del node["type"]
            node.update({key: value for key, value in replacement.items() if key == "type" or key not in node})
            repairs.note(_SPELLING, place)
    if old:
        _repair_keywords_of_31(node, place, repairs)
    declared = node.get("type")
    if declared == "array" and "items" not in node and "prefixItems" not in node and old:
        node["items"] = {}
        repairs.note(_NO_ITEMS, place)
    if node.get("required") == [] and old:
        del node["required"]
        repairs.note(_EMPTY_REQUIRED, place)
    _lift_required(node, place, repairs)
    for key in ("default", "example"):
        _convert(node, key, lambda text: _parse_text(text, declared), place, repairs)
    if isinstance(node.get("enum"), list):
        values = [_parse_text(value, declared) for value in node["enum"]]
        changed = sum(new is not before for new, before in zip(values, node["enum"], strict=True))
        if changed:
            node["enum"] = values
            repairs.note(_STRINGLY_TYPED, place, changed)
    if declared == "array" and isinstance(node.get("enum"), list) and node["enum"]:
        items = node.get("items", {})
        inside = isinstance(items, dict) and not items.keys() & {"$ref", "enum", "const"}
        if inside and not any(isinstance(value, list) for value in node["enum"]):
            node["items"] = {**items, "enum": node.pop("enum")}
            repairs.note(_ENUM_ON_ARRAY, place)
    is_date = node.get("format") in ("date", "date-time") and isinstance(node.get("enum"), list)
    if is_date and not any(re.match(r"\d{4}-", str(value)) for value in node["enum"]):  # `now`, besides any date
        del node["enum"]
        repairs.note(_ENUM_WITHOUT_FORMAT, place)
    if "default" in node and not _fits(node, node["default"]):
        del node["default"]
        repairs.note(_FORBIDDEN_DEFAULT, place)


def _repair_keywords_of_31(node: Node, place: tuple[str, ...], repairs: _RepairLog) -> None:
    """Replace keywords of OpenAPI 3.1 in a 3.0 schema."""
    declared = node.get("type")
    if isinstance(declared, list) or declared == "null":
        names = declared if isinstance(declared, list) else ["null"]
        non_null = [name for name in names if name != "null"]
        del node["type"]
        if len(non_null) == 1:
            node["type"] = non_null[0]
        elif non_null and "anyOf" not in node:
            node["anyOf"] = [{"type": name} for name in non_null]
        elif not non_null:
            node["enum"] = [None]
        if "null" in names:
            node["nullable"] = True
        repairs.note(_KEYWORDS_OF_31, place)
    for exclusive, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        value = node.get(exclusive)
        if isinstance(value, int | float) and not isinstance(value, bool):
            node[limit], node[exclusive] = value, True
            repairs.note(_KEYWORDS_OF_31, place)


def _lift_required(node: Node, place: tuple[str, ...], repairs: _RepairLog) -> None:
    properties = node.get("properties")
    if not isinstance(properties, dict):
        return
    for name, inner in properties.items():
        if not isinstance(inner, dict):
            continue
        needed = _boolean(inner.get("required"))
        if isinstance(needed, bool):
            del inner["required"]
            repairs.note(_REQUIRED_ON_PROPERTY, (*place, "properties", name))
            listed = node.get("required")
            if needed and name not in (listed if isinstance(listed, list) else ()):
                node["required"] = [*(listed if isinstance(listed, list) else ()), name]


def _fits(node: Node, value: Any) -> bool:
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


def _repair_overlap(node: Node, place: tuple[str, ...], repairs: _RepairLog, resolve: _LocalReferences) -> None:
    branches = node.get("oneOf")
    if not isinstance(branches, list) or "anyOf" in node:
        return
    earlier_branches: list[tuple[str, Any]] = []
    for branch in branches:
        schema = resolve(branch)
        kind = schema.get("type")
        if kind not in ("string", "number", "integer", "boolean"):
            continue
        kind = "number" if kind == "integer" else str(kind)
        values = schema.get("enum", [schema["const"]] if "const" in schema else None)
        for other_kind, other_values in earlier_branches:
            if kind == other_kind and not _disjoint(values, other_values):
                node["anyOf"] = node.pop("oneOf")
                repairs.note(_OVERLAPPING_ONE_OF, place)
                return
        earlier_branches.append((kind, values))


def _disjoint(first: Any, second: Any) -> bool:
    """True if two lists of allowed values share none."""
    return isinstance(first, list) and isinstance(second, list) and not any(value in second for value in first)


def _repair_path(node: Node, place: tuple[str, ...], repairs: _RepairLog, resolve: _LocalReferences) -> None:
    """Declare path parameters, and make them required."""
    common = node.get("parameters")
    common = common if isinstance(common, list) else []
    for method in METHODS:
        operation = node.get(method)
        own = operation.get("parameters") or [] if isinstance(operation, dict) else None
        if not isinstance(operation, dict) or not isinstance(own, list):
            continue
        raws = [raw for raw in (*common, *own) if isinstance(raw, dict)]
        declared = [resolve(raw) for raw in raws]
        outside = any(not str(raw.get("$ref", "#")).startswith("#") for raw in raws)
        in_path = [parameter for parameter in declared if parameter.get("in") == "path"]
        for parameter in in_path:
            if parameter.get("required") is not True:
                parameter["required"] = True
                repairs.note(_OPTIONAL_PATH_PARAMETER, (*place, method, "parameters", str(parameter.get("name"))))
        names = {str(parameter.get("name")) for parameter in in_path}
        path = place[-1] if place and not outside else ""  # references to other files are not followed here
        for name in dict.fromkeys(re.findall(r"\{([^{}?&][^{}]*)\}", path)):
            if name not in names:
                missing = {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
                own = [*own, missing]
                operation["parameters"] = own
                repairs.note(_UNDECLARED_PATH_PARAMETER, (*place, method))


def _holders(part: str, node: Node, resolve: _LocalReferences) -> Iterator[tuple[Node, str]]:
    """Holder and key of each example of a schema, media type or parameter."""
    if "example" in node:
        yield node, "example"
    if part != "schema" and isinstance(node.get("examples"), dict):
        for example in map(resolve, node["examples"].values()):
            if "value" in example:
                yield example, "value"


def _repair_examples(
    part: str, node: Node, place: tuple[str, ...], repairs: _RepairLog, resolve: _LocalReferences
) -> None:
    """Convert strings in examples to the types of their schema."""
    schema = node if part == "schema" else node.get("schema")
    for holder, key in _holders(part, node, resolve):
        value, count = _retyped(holder[key], schema, resolve)
        if count:
            holder[key] = value
            repairs.note(_STRINGLY_TYPED, place, count)


def _retyped(value: Any, schema: Any, resolve: _LocalReferences) -> tuple[Any, int]:
    """The value with strings converted to the schema's types, and the number of conversions."""
    if isinstance(value, str):
        new = _parse_text(value, resolve(schema).get("type"))
        return new, int(new is not value)
    if isinstance(value, list):
        items = [_retyped(item, resolve(schema).get("items"), resolve) for item in value]
        return [item for item, _ in items], sum(count for _, count in items)
    if isinstance(value, dict):
        schemas = {name: inner for _, name, inner in resolve.properties(schema)}
        parts = {key: _retyped(item, schemas.get(key), resolve) for key, item in value.items()}
        return {key: part for key, (part, _) in parts.items()}, sum(count for _, count in parts.values())
    return value, 0


def _repair_names(document: Node, kind: str, repairs: _RepairLog, resolve: _LocalReferences) -> None:
    """Give properties with an empty name the one in an example; drop them without one."""
    for part, node, place in _nodes(document, kind):
        if part in ("media", "schema"):
            schema = node if part == "schema" else node.get("schema")
            for holder, key in _holders(part, node, resolve):
                _name_properties(schema, holder[key], place, repairs, resolve)
    for part, node, place in _nodes(document, kind):
        properties = node.get("properties")
        if part == "schema" and isinstance(properties, dict) and "" in properties:
            del properties[""]
            repairs.note(_UNEXPLAINED_NAME, place)


def _name_properties(
    schema: Any, example: Any, place: tuple[str, ...], repairs: _RepairLog, resolve: _LocalReferences
) -> None:
    if isinstance(example, list):
        for item in example[:3]:
            _name_properties(resolve(schema).get("items"), item, place, repairs, resolve)
    if not isinstance(example, dict):
        return
    named = {name for _, name, _ in resolve.properties(schema)}
    for holder, name, inner in resolve.properties(schema):
        if name == "":
            fitted_schemas = {key: _fitted_schema(inner, example[key], resolve) for key in example if key not in named}
            fitting = [key for key, fitted in fitted_schemas.items() if fitted is not None]
            if len(fitting) == 1:
                renamed = {fitting[0] if key == "" else key: value for key, value in holder.items()}
                renamed[fitting[0]] = fitted_schemas[fitting[0]]
                holder.clear()
                holder.update(renamed)
                repairs.note(_EMPTY_NAME, place)
        elif name in example:
            _name_properties(inner, example[name], place, repairs, resolve)


def _fitted_schema(schema: Any, value: Any, resolve: _LocalReferences) -> Any:
    """The schema if it fits the value, an array of it if it fits all items of a list; else None."""
    if _fits(resolve(schema), value):
        return schema
    if isinstance(value, list) and value and all(_fits(resolve(schema), item) for item in value):
        return {"type": "array", "items": schema}
    return None
