"""Join the schema and the examples of a response in one tree.

Many schemas say too little for plausible data, and an example says too little for valid data. With both in one tree,
making a body is a plain walk.
"""

from __future__ import annotations

import operator
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import cached_property
from types import NoneType
from typing import Any, TypeVar, cast

from protocols.bounded import matches
from protocols.model import Protocol, Schema
from protocols.schema_fields import declared_types

__all__ = ["ResponseShape", "build", "conforms", "copied", "fits", "type_name"]

Value = TypeVar("Value")
_MAX_EXAMPLES = 160
_MOST_TRIED = 2000
_MOST_SHAPES = 400
_EXTENTS = ((14, 64), (4, 8), (3, 6), (2, 6), (1, 6))
"""Depths of nested objects and numbers of alternatives, widest first; a response takes the first within the limit."""


@dataclass(eq=False)
class ResponseShape:
    """One place in a response.

    `types` are its JSON types, `properties` and `item` the contents of an object or array, `options` its alternative
    objects. `checks` are schemas of which a scalar must meet one. `examples` are all documented values, `lengths` the
    lengths of the arrays among them. `EntityTypes` sets `kind`, the type of the entity here, and `main`, the property
    of a wrapper that holds the entity. `cache` holds what was computed of the shape and a value or a pool of values.
    """

    path: tuple[str, ...]
    types: frozenset[str] = frozenset()
    checks: tuple[Schema, ...] = ()
    properties: dict[str, ResponseShape] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    item: ResponseShape | None = None
    options: tuple[ResponseShape, ...] = ()
    examples: list[object] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    kind: str = ""
    main: str = ""
    cache: dict[tuple[object, ...], Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The key that holds this place; empty at the root."""
        return self.path[-1] if self.path else ""

    @property
    def nullable(self) -> bool:
        """True if null may stand here."""
        return "null" in self.types

    def fitting_values(self, pool: Sequence[object]) -> list[object]:
        """The values of a pool that may stand here; cached, because pools live as long as the shape."""
        key = ("fitting", id(pool))
        if key not in self.cache:
            self.cache[key] = [value for value in pool if fits(value, self)]
        return cast("list[object]", self.cache[key])

    @cached_property
    def is_scalar(self) -> bool:
        """True if only a scalar may stand here; read it once all shapes are typed."""
        return not (self.kind or self.options or self.properties or self.is_array)

    @cached_property
    def example_objects(self) -> list[dict[str, object]]:
        """The objects among the examples; read it once all examples are collected."""
        return [value for value in self.examples if isinstance(value, dict)]

    @cached_property
    def filled_examples(self) -> list[object]:
        """The examples but null and empty texts; read it once all examples are collected."""
        return [value for value in self.examples if value not in (None, "")]

    @cached_property
    def expected(self) -> frozenset[str]:
        """The keys that an example has."""
        return frozenset(key for body in self.example_objects for key in body if key)

    @cached_property
    def enumerated(self) -> list[Any]:
        """The values of the enumerations here."""
        return [value for check in self.checks for value in cast("list[object]", check.get("enum") or ())]

    @property
    def closed(self) -> bool:
        """True if an object here has no other keys than those described."""
        return any(check.get("additionalProperties") is False for check in self.checks)

    def limit(self, keyword: str) -> int | None:
        """The number under `minItems` or `maxItems`."""
        return next((limit for check in self.checks if isinstance(limit := check.get(keyword), int)), None)

    @property
    def is_object(self) -> bool:
        """True if an object may stand here."""
        return bool(self.properties) or ("object" in self.types and not self.item)

    @property
    def is_array(self) -> bool:
        """True if an array stands here."""
        return self.item is not None or "array" in self.types

    def variants(self) -> tuple[ResponseShape, ...]:
        """The alternatives, or the shape itself if there is just one."""
        return self.options or (self,)

    @property
    def core(self) -> ResponseShape:
        """The entity within a wrapper; the shape itself where it is no wrapper."""
        return self.properties[self.main] if self.main else self

    @property
    def shows_entity(self) -> bool:
        """True if an entity may stand here."""
        return any(variant.kind for variant in self.variants())

    @property
    def item_types(self) -> list[str]:
        """The entity types that a list here may hold."""
        variants = [inner for option in self.item.variants() for inner in option.core.variants()] if self.item else []
        return list(dict.fromkeys(variant.kind for variant in variants if variant.kind))

    def property_showing(self, kind: str) -> str | None:
        """The first property that may show an entity of a type."""
        parts = self.properties.items()
        return next((name for name, part in parts if kind in {variant.kind for variant in part.variants()}), None)

    def walk(self) -> Iterator[ResponseShape]:
        """This place and all places below it, outer ones first."""
        yield self
        for part in (*self.properties.values(), *((self.item,) if self.item else ()), *self.options):
            if part.properties or part.options or part.item is not None:
                yield from part.walk()
            else:
                yield part


_TYPE_NAMES = {NoneType: "null", bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}


def type_name(value: object) -> str:
    """The JSON type of a value; an integer is "integer"."""
    return _TYPE_NAMES.get(type(value), "object")


def _has_type(value: object, types: Collection[str]) -> bool:
    """True if a value is of one of these JSON types, or if there are none."""
    kind = type_name(value)
    return not types or kind in types or (kind == "integer" and "number" in types)


def _format_ok(value: str, form: object) -> bool:
    try:
        if form == "date":
            date.fromisoformat(value)
            return len(value) == 10
        if form == "date-time":
            datetime.fromisoformat(value.replace("Z", "+00:00"))
            return "T" in value and len(value) >= 20
    except ValueError:
        return False
    if form in {"uri", "url"}:
        return bool(re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", value))
    if form == "email":
        return "@" in value
    if form == "uuid":
        return bool(re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", value))
    return True


_LIMITS: Mapping[str, Callable[[Any, Any], bool]] = {
    "minimum": operator.ge, "maximum": operator.le, "exclusiveMinimum": operator.gt, "exclusiveMaximum": operator.lt,
}  # fmt: skip


def conforms(value: object, schema: Schema) -> bool:
    """True if a scalar meets the constraints of one schema."""
    keywords = cast("Mapping[str, Any]", schema)
    if not _has_type(value, declared_types(schema)) or value not in keywords.get("enum", (value,)):
        return False
    if keywords.get("const", value) != value:
        return False
    if isinstance(value, str):
        pattern = keywords.get("pattern")
        return (
            keywords.get("minLength", 0) <= len(value) <= keywords.get("maxLength", sys.maxsize)
            and (not isinstance(pattern, str) or matches(pattern, value))
            and _format_ok(value, keywords.get("format"))
        )
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return True
    limits = ((holds, keywords.get(keyword)) for keyword, holds in _LIMITS.items())
    return all(holds(value, limit) for holds, limit in limits if isinstance(limit, (int, float)))


def fits(value: object, shape: ResponseShape) -> bool:
    """True if a value may stand at this place."""
    if isinstance(value, (dict, list)):
        return _fits(value, shape)
    key = (value.__class__, value)
    fitting = shape.cache.get(key)
    if fitting is None:
        if len(shape.cache) >= _MOST_TRIED:
            shape.cache.clear()
        fitting = shape.cache[key] = _fits(value, shape)
    return fitting is True


def _fits(value: object, shape: ResponseShape) -> bool:
    return _has_type(value, shape.types) and (not shape.checks or any(conforms(value, c) for c in shape.checks))


def _merge(first: Mapping[str, object], second: Mapping[str, object]) -> dict[str, object]:
    """Both schemas at once, as in `allOf`; good enough for making data."""
    merged = dict(first)
    for word, value in second.items():
        if word == "properties":
            merged[word] = {**cast("Schema", merged.get(word) or {}), **cast("Schema", value)}
        elif word == "required":
            merged[word] = [*cast("list[str]", merged.get(word) or []), *cast("list[str]", value)]
        else:
            merged[word] = value
    return merged


def _flat(schema: Schema, protocol: Protocol, stack: tuple[str, ...]) -> tuple[Schema, tuple[str, ...]] | None:
    """The schema with `$ref` followed; None where it contains itself again."""
    reference = schema.get("$ref")
    if isinstance(reference, str):
        name = reference.rpartition("/")[2]
        if name in stack[:-1] or stack[-2:] == (name, name):
            return None
        inner = _flat(protocol.definitions.get(name, {}), protocol, (*stack, name))
        if inner is None:
            return None
        rest = {word: value for word, value in schema.items() if word != "$ref"}
        return (_merge(inner[0], rest) if rest else inner[0]), inner[1]
    return schema, stack


def _types(schema: Schema) -> set[str]:
    if declared := declared_types(schema):
        return set(declared)
    if "properties" in schema or "additionalProperties" in schema:
        return {"object"}
    if "items" in schema:
        return {"array"}
    if "enum" in schema:
        return {type_name(value) for value in cast("list[object]", schema["enum"])}
    return {type_name(schema["const"])} if "const" in schema else set()


def _own_examples(schema: Schema) -> list[object]:
    several = schema.get("examples")
    default = [schema["default"]] if "default" in schema and not isinstance(schema["default"], (dict, list)) else []
    own = [schema["example"]] if "example" in schema else []
    return [*own, *(several if isinstance(several, list) else []), *default]


class _TooManyShapesError(Exception):
    """A response has more places than the limit."""


_ANYTHING: Schema = {}


@dataclass(slots=True)
class _Extent:
    """How far a schema is followed: `depth` in keys, `options` in alternatives, `left` in places."""

    protocol: Protocol
    depth: int
    options: int
    left: int

    def count_place(self) -> None:
        """Count a place. Raises: _TooManyShapesError: It is one too many."""
        self.left -= 1
        if self.left < 0:
            raise _TooManyShapesError


def build(protocol: Protocol, schema: Schema, examples: Sequence[object] = ()) -> ResponseShape | None:
    """Build the shape of a schema and its documented values.

    Schemas that hold one another make very large trees. A tree above the limit loses its deepest objects and lists, and
    then its last alternatives; scalars stay.

    Returns: None where a schema contains itself again; the data ends there.
    """
    for depth, options in _EXTENTS[:-1]:
        with suppress(_TooManyShapesError):
            return _build(_Extent(protocol, depth, options, _MOST_SHAPES), schema, examples, (), ())
    return _build(_Extent(protocol, *_EXTENTS[-1], sys.maxsize), schema, examples, (), ())


def copied(shape: ResponseShape) -> ResponseShape:
    """The same tree, to be typed by itself."""
    return replace(
        shape,
        properties={name: copied(part) for name, part in shape.properties.items()},
        item=copied(shape.item) if shape.item is not None else None,
        options=tuple(map(copied, shape.options)),
        examples=list(shape.examples),
        cache={},
    )


def _build(
    extent: _Extent, schema: Schema, examples: Sequence[object], path: tuple[str, ...], stack: tuple[str, ...]
) -> ResponseShape | None:
    protocol = extent.protocol
    resolved = _flat(schema, protocol, stack)
    if resolved is None:
        return None
    extent.count_place()
    deepest = len(path) > extent.depth
    schema, stack = resolved
    values = [*examples, *_own_examples(schema)][:_MAX_EXAMPLES]
    types = _types(schema)
    checks: tuple[Schema, ...] = (schema,)
    structured: list[tuple[Schema, tuple[str, ...]]] = []
    plain: list[Schema] = []
    for raw in cast("list[Schema]", schema.get("anyOf") or ()):
        part = _flat(raw, protocol, stack)
        if part is not None and ("properties" in part[0] or _types(part[0]) & {"object", "array"}):
            structured.append(part)
        elif part is not None:
            plain.append(part[0])
    if deepest and (structured or types & {"object", "array"} or "properties" in schema):
        return None
    for bare in plain:
        types |= _types(bare)
        values += [] if examples else _own_examples(bare)
    if plain and not structured:
        checks = tuple(_merge(schema, bare) for bare in plain)
    if len(structured) == 1 and "properties" not in schema:
        schema, stack = _merge(structured[0][0], schema), structured[0][1]
        checks = (schema,)
        types |= _types(schema)
        values = values or _own_examples(schema)
    elif len(structured) > 1 and "properties" not in schema:
        options = [
            _build(extent, part, _matching(part, values), path, inner) for part, inner in structured[: extent.options]
        ]
        variants = tuple(option for option in options if option is not None)
        if len(variants) > 1:
            nullable = frozenset({"null"} if "null" in types else set())
            return ResponseShape(path, types=nullable | {"object"}, options=variants, examples=values, checks=checks)
        return variants[0] if variants else None
    elif structured:
        for inner, _ in structured:
            schema = _merge(inner, schema)
    if not types:
        types = {type_name(value) for value in values if value is not None} or set()
    shape = ResponseShape(
        path, types=frozenset(types), checks=checks, examples=[v for v in values if not isinstance(v, (dict, list))]
    )
    if "object" in types or (not types and "properties" in schema):
        return _object(extent, schema, values, shape, stack)
    if "array" in types:
        return _array(extent, schema, values, shape, stack)
    return shape


def _matching(schema: Schema, values: Sequence[object]) -> list[object]:
    names = cast("Mapping[str, object]", schema.get("properties") or {})
    return [value for value in values if isinstance(value, dict) and set(value) <= set(names)]


def _object(
    extent: _Extent, schema: Schema, examples: Sequence[object], shape: ResponseShape, stack: tuple[str, ...]
) -> ResponseShape:
    bodies = [_trimmed(value) for value in examples if isinstance(value, dict)]
    declared = _trimmed(cast("Mapping[str, Schema]", schema.get("properties") or {}))
    additional = schema.get("additionalProperties")
    example_keys = dict.fromkeys(key for body in bodies for key in body if key)
    shape.examples = list(bodies)
    required = [name.strip() for name in cast("list[str]", schema.get("required") or [])]
    shape.required = frozenset(required)
    open_schema = cast("Schema", additional) if isinstance(additional, Mapping) else _ANYTHING
    names = dict.fromkeys(
        [*(name for name in declared if name), *(example_keys if additional is not False else ()), *required]
    )
    for name in names:
        values = [body[name] for body in bodies if name in body] if bodies else []
        path, member = (*shape.path, name), declared.get(name, open_schema)
        part = _build(extent, member, values, path, stack)
        if part is not None:
            shape.properties[name] = part
        elif name in shape.required or name in example_keys:
            described = _flat(member, extent.protocol, ())
            types = _types(described[0]) & {"array", "null"} if described else set()
            shape.properties[name] = ResponseShape(path, types=frozenset(types or {"object"}))
    shape.types |= {"object"}
    return shape


def _trimmed(properties: Mapping[str, Value]) -> dict[str, Value]:
    """Properties without the spaces around their names, which documents have by mistake."""
    return {name.strip(): value for name, value in properties.items()}


def _array(
    extent: _Extent, schema: Schema, examples: Sequence[object], shape: ResponseShape, stack: tuple[str, ...]
) -> ResponseShape:
    lists = [value for value in examples if isinstance(value, list)]
    shape.lengths = [len(value) for value in lists]
    inner = schema.get("items")
    values = [value for entries in lists for value in entries][:_MAX_EXAMPLES]
    shape.item = _build(extent, inner if isinstance(inner, Mapping) else {}, values, shape.path, stack)
    if shape.item and not shape.item.types and not shape.item.properties:
        shape.item = None
    shape.types |= {"array"}
    return shape
