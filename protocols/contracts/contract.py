"""The types of an API's responses: from its document, its examples, and observed bodies.

A document is incomplete and sometimes wrong, so a program is held to the union of the three. An object is closed once
something is known to be in it: a key found nowhere is then taken for a mistake. It is open where nothing is known, or
where the document says that other keys may come (`additionalProperties` as a schema or `true`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, cast

from protocols.model import Protocol, Schema
from protocols.schema_fields import items_of, properties_of, resolve, scalar_types, type_of, variants

__all__ = ["ANY", "Contract", "Kind", "ObjectKey", "ValueType", "infer_schema"]

Kind = Literal["any", "object", "list", "int", "float", "str", "bool", "bytes"]

_MAX_DEPTH = 12
"""Nested objects that are read; deeper ones may hold anything."""
_MAX_RECURSION = 3
"""Recursive schemas on the way to a value; behind the last one may be anything."""

_KINDS: Mapping[str, Kind] = {
    "object": "object",
    "array": "list",
    "integer": "int",
    "number": "float",
    "string": "str",
    "boolean": "bool",
}


@dataclass(frozen=True, slots=True)
class ObjectKey:
    """A key of an object. `certain`: no observation lacked it."""

    type: ValueType
    certain: bool = True


@dataclass(frozen=True, slots=True)
class ValueType:
    """The type of a value: an object has `keys`, and is `open` if others may come; a list holds `item`.

    `final`: no observation narrows the type. An open object is final if the document allows other keys, and `any` is
    final where a value may be an object, a list or a scalar. Elsewhere an observation closes an open object.
    """

    kind: Kind = "any"
    keys: Mapping[str, ObjectKey] = field(default_factory=dict)
    open: bool = False
    item: ValueType | None = None
    final: bool = False

    def at(self, path: Iterable[str | int]) -> ValueType:
        """The type at a path, 0 standing for any item; `ANY` where nothing is known."""
        value_type = self
        for step in path:
            if isinstance(step, int):
                value_type = value_type.item or ANY
            else:
                value_type = value_type.keys[step].type if step in value_type.keys else ANY
        return value_type


ANY = ValueType()


class Contract:
    """The types of the responses of a protocol.

    Args:
        observed: JSON schemas of observed bodies, by tool (see `infer_schema`).
    """

    def __init__(self, protocol: Protocol, observed: Mapping[str, Schema] | None = None) -> None:
        self.protocol = protocol
        self.observed = dict(observed or {})
        self._bodies: dict[str, ValueType | None] = {}
        self._reader = _TypeReader(protocol)

    def body(self, tool: str) -> ValueType | None:
        """The type of a tool's response body; None where nothing is known of it. Raises: KeyError."""
        if tool not in self._bodies:
            self._bodies[tool] = self._body(tool)
        return self._bodies[tool]

    def with_bodies(self, bodies: Mapping[str, Sequence[object]]) -> Contract:
        """The contract with further observed bodies, by tool."""
        if not bodies:
            return self
        observed = {tool: infer_schema(new_bodies, self.observed.get(tool)) for tool, new_bodies in bodies.items()}
        return Contract(self.protocol, {**self.observed, **observed})

    def type_of(self, observed: Schema) -> ValueType:
        """The type that an observed schema describes."""
        return _TypeReader(self.protocol, observed=True).read(observed)

    def _body(self, tool: str) -> ValueType | None:
        response = self.protocol.tool(tool).success
        if response is not None and response.kind in ("xml", "bytes"):
            return ValueType("str" if response.kind == "xml" else "bytes")
        documented: list[ValueType] = []
        if response is not None and response.schema is not None:
            documented.append(self._reader.read(response.schema))
        if response is not None:
            documented += [_example_type(example) for example in response.examples]
        value_type = _union(documented)
        if tool in self.observed:
            observed = self.type_of(self.observed[tool])
            value_type = _united(value_type, observed, observed=True) if value_type is not None else observed
        return value_type


def infer_schema(bodies: Iterable[object], schema: Schema | None = None) -> Schema:
    """The JSON schema of observed bodies, and of those that an earlier schema was inferred from."""
    from genson import SchemaBuilder

    builder = SchemaBuilder(schema_uri=None)
    if schema:
        builder.add_schema(dict(schema))
    for body in bodies:
        builder.add_object(body)
    inferred: Schema = builder.to_schema()
    return inferred


class _TypeReader:
    """Reads schemas into types, each schema once at each depth: the work is linear even for recursive schemas."""

    def __init__(self, protocol: Protocol, observed: bool = False) -> None:
        self._protocol = protocol
        self._observed = observed
        self._recursive = {id(schema) for schema in protocol.definitions.values()}
        self._types: dict[tuple[int, int, int], ValueType] = {}

    def read(self, schema: Schema, depth: int = 0, recursions: int = 0) -> ValueType:
        """The type of a schema. All keys of a documented object are certain, of an observed one the required keys."""
        schema = resolve(schema, self._protocol)
        recursions += id(schema) in self._recursive
        if depth > _MAX_DEPTH or recursions > _MAX_RECURSION:
            return ANY
        cache_key = id(schema), depth, recursions
        if cache_key not in self._types:
            self._types[cache_key] = self._read_schema(schema, depth, recursions)
        return self._types[cache_key]

    def _read_schema(self, schema: Schema, depth: int, recursions: int) -> ValueType:
        protocol = self._protocol
        items = items_of(schema, protocol)
        properties = properties_of(schema, protocol)
        if sum(map(bool, (items is not None, properties, scalar_types(schema, protocol)))) > 1:
            return ValueType(final=True)
        kind = _KINDS.get(type_of(schema), "object" if properties else "any")
        values = cast("list[object]", schema.get("examples") or [])
        examples = [_example_type(value) for value in values if value is not None]
        if items is not None and not properties:
            value_type = ValueType("list", item=self.read(items, depth + 1, recursions))
        elif properties:
            required = {
                name for part in variants(schema, protocol) for name in cast("list[str]", part.get("required") or ())
            }
            keys = {
                name: ObjectKey(self.read(part, depth + 1, recursions), not self._observed or name in required)
                for name, part in properties.items()
            }
            allows_more_keys = _allows_other_keys(schema, protocol)
            value_type = ValueType("object", keys, allows_more_keys, final=allows_more_keys)
        elif kind == "object":
            value_type = ValueType("object", open=True, final=_allows_other_keys(schema, protocol))
        else:
            return ValueType(kind)
        combined = _union([value_type, *(example for example in examples if example.kind == value_type.kind)])
        return combined or value_type


def _allows_other_keys(schema: Schema, protocol: Protocol) -> bool:
    """True if the document allows other keys explicitly."""
    return any(part.get("additionalProperties") not in (None, False) for part in variants(schema, protocol))


def _example_type(value: object) -> ValueType:
    """The type of an example."""
    if isinstance(value, Mapping):
        return ValueType(
            "object", {str(name): ObjectKey(_example_type(part)) for name, part in value.items()}, open=not value
        )
    if isinstance(value, list):
        return ValueType("list", item=_union(map(_example_type, value)) or ANY)
    if isinstance(value, bool):
        return ValueType("bool")
    kinds: dict[type, Kind] = {int: "int", float: "float", str: "str"}
    return ValueType(kinds.get(type(value), "any"))


def _union(types: Iterable[ValueType]) -> ValueType | None:
    """The union of types; None of no type."""
    union: ValueType | None = None
    for value_type in types:
        union = value_type if union is None else _united(union, value_type)
    return union


def _united(first: ValueType, second: ValueType, observed: bool = False) -> ValueType:
    """The union of two types.

    Args:
        observed: `second` is what was observed of `first`: a key that it lacks is uncertain.
    """
    if any(value_type.kind == "any" and value_type.final for value_type in (first, second)):
        return ValueType(final=True)
    if first.kind == second.kind == "object":
        keys = dict(second.keys)
        for name, key in first.keys.items():
            if (twin := second.keys.get(name)) is not None:
                keys[name] = ObjectKey(_united(key.type, twin.type, observed), key.certain and twin.certain)
            else:
                keys[name] = replace(key, certain=False) if observed else key
        keys = {name: keys[name] for name in (*first.keys, *second.keys)}
        final = first.final or second.final
        return ValueType("object", keys, final or (first.open and second.open), final=final)
    if first.kind == second.kind == "list":
        return ValueType("list", item=_united(first.item or ANY, second.item or ANY, observed))
    if first.kind == second.kind:
        return first
    if "any" in (first.kind, second.kind):  # an empty list or a null says nothing of its other values
        return second if first.kind == "any" else first
    if {first.kind, second.kind} == {"int", "float"}:
        return ValueType("float")
    return ANY
