"""What is known of an API's responses: what the document says of them, what its examples show, what was observed.

A document is incomplete and sometimes wrong, so a program is held to the union of the three. An object is closed once
something is known to be in it: a key found nowhere is then taken for a mistake. It is open where nothing is known, or
where the document says that other keys may come (`additionalProperties` as a schema or `true`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, cast

from protocols.model import Protocol, Schema
from protocols.schema_fields import items_of, properties_of, resolve, scalar_types, type_of, variants

__all__ = ["ANY", "Contract", "Kind", "ObjectKey", "ValueType", "infer_schema"]

Kind = Literal["any", "object", "list", "int", "float", "str", "bool"]

_DEEPEST = 12
"""Objects within objects that are looked at; deeper ones may hold anything."""
_CIRCLES = 3
"""Schemas on the way to a value that contain themselves; behind the last one may be anything."""

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

    shape: ValueType
    certain: bool = True


@dataclass(frozen=True, slots=True)
class ValueType:
    """What a value is. An object has `keys`, and is `open` if others may come; a list holds `item`.

    An object that is open because nothing is known of it is closed by what is seen of it. It `stays` open if the
    document says that other keys may come. What may be an object, a list or a plain value is `any`, and stays so.
    """

    kind: Kind = "any"
    keys: Mapping[str, ObjectKey] = field(default_factory=dict)
    open: bool = False
    item: ValueType | None = None
    stays: bool = False

    def at(self, path: Iterable[str | int]) -> ValueType:
        """The shape of what a path leads to, 0 standing for any item; `ANY` where nothing is known of it."""
        value_type = self
        for step in path:
            if isinstance(step, int):
                value_type = value_type.item or ANY
            else:
                value_type = value_type.keys[step].shape if step in value_type.keys else ANY
        return value_type


ANY = ValueType()


class Contract:
    """The shapes of the responses of a protocol.

    Args:
        observed: JSON schemas of bodies that were seen, by tool (see `learned`).
    """

    def __init__(self, protocol: Protocol, observed: Mapping[str, Schema] | None = None) -> None:
        self.protocol = protocol
        self.observed = dict(observed or {})
        self._shapes: dict[str, ValueType | None] = {}
        self._reader = _Reader(protocol)

    def body(self, tool: str) -> ValueType | None:
        """The shape of what a tool returns; None where it returns nothing that is known of. Raises: KeyError."""
        if tool not in self._shapes:
            self._shapes[tool] = self._body(tool)
        return self._shapes[tool]

    def with_bodies(self, bodies: Mapping[str, Sequence[object]]) -> Contract:
        """The contract with more bodies that were seen, by tool."""
        if not bodies:
            return self
        observed = {tool: infer_schema(new_bodies, self.observed.get(tool)) for tool, new_bodies in bodies.items()}
        return Contract(self.protocol, {**self.observed, **observed})

    def shape(self, observed: Schema) -> ValueType:
        """The shape that an observed schema describes."""
        return _Reader(self.protocol, observed=True).shape(observed)

    def _body(self, tool: str) -> ValueType | None:
        response = self.protocol.tool(tool).success
        documented: list[ValueType] = []
        if response is not None and response.schema is not None:
            documented.append(self._reader.shape(response.schema))
        if response is not None:
            documented += [_example(example) for example in response.examples]
        value_type = _union(documented)
        if tool in self.observed:
            observed = self.shape(self.observed[tool])
            value_type = _joined(value_type, observed, _lacking) if value_type is not None else observed
        return value_type


def infer_schema(bodies: Iterable[object], schema: Schema | None = None) -> Schema:
    """The JSON schema of bodies that were seen, and of those that an earlier schema was learned from."""
    from genson import SchemaBuilder

    builder = SchemaBuilder(schema_uri=None)
    if schema:
        builder.add_schema(dict(schema))
    for body in bodies:
        builder.add_object(body)
    inferred: Schema = builder.to_schema()
    return inferred


class _Reader:
    """Reads schemas into shapes, each schema once at each depth: the work is linear in the document, also where
    schemas refer to one another in circles."""

    def __init__(self, protocol: Protocol, observed: bool = False) -> None:
        self._protocol = protocol
        self._observed = observed
        self._recursive = {id(schema) for schema in protocol.definitions.values()}
        self._read: dict[tuple[int, int, int], ValueType] = {}

    def shape(self, schema: Schema, depth: int = 0, circles: int = 0) -> ValueType:
        """What a schema says. The keys of a documented object are certain; of an observed one, those always there."""
        schema = resolve(schema, self._protocol)
        circles += id(schema) in self._recursive
        if depth > _DEEPEST or circles > _CIRCLES:
            return ANY
        place = id(schema), depth, circles
        if place not in self._read:
            self._read[place] = self._shape(schema, depth, circles)
        return self._read[place]

    def _shape(self, schema: Schema, depth: int, circles: int) -> ValueType:
        protocol = self._protocol
        items = items_of(schema, protocol)
        properties = properties_of(schema, protocol)
        if sum(map(bool, (items is not None, properties, scalar_types(schema, protocol)))) > 1:
            return ValueType(stays=True)
        kind = _KINDS.get(type_of(schema), "object" if properties else "any")
        examples = [
            _example(value) for value in cast("list[object]", schema.get("examples") or []) if value is not None
        ]
        if items is not None and not properties:
            shape = ValueType("list", item=self.shape(items, depth + 1, circles))
        elif properties:
            required = {
                name for part in variants(schema, protocol) for name in cast("list[str]", part.get("required") or ())
            }
            keys = {
                name: ObjectKey(self.shape(part, depth + 1, circles), not self._observed or name in required)
                for name, part in properties.items()
            }
            allows_more_keys = _says_more(schema, protocol)
            shape = ValueType("object", keys, allows_more_keys, stays=allows_more_keys)
        elif kind == "object":
            shape = ValueType("object", open=True, stays=_says_more(schema, protocol))
        else:
            return ValueType(kind)
        combined = _union([shape, *(example for example in examples if example.kind == shape.kind)])
        return combined or shape


def _says_more(schema: Schema, protocol: Protocol) -> bool:
    """Whether the document says in words that other keys may come."""
    return any(part.get("additionalProperties") not in (None, False) for part in variants(schema, protocol))


def _example(value: object) -> ValueType:
    """What an example shows: its keys, and no more of its values than their kind."""
    if isinstance(value, Mapping):
        return ValueType(
            "object", {str(name): ObjectKey(_example(part)) for name, part in value.items()}, open=not value
        )
    if isinstance(value, list):
        return ValueType("list", item=_union(map(_example, value)) or ANY)
    if isinstance(value, bool):
        return ValueType("bool")
    kinds: dict[type, Kind] = {int: "int", float: "float", str: "str"}
    return ValueType(kinds.get(type(value), "any"))


def _union(shapes: Iterable[ValueType]) -> ValueType | None:
    """What may be one or the other; None of nothing."""
    union: ValueType | None = None
    for shape in shapes:
        union = shape if union is None else _joined(union, shape, _either)
    return union


def _joined(first: ValueType, second: ValueType, lonely: Callable[[ObjectKey], ObjectKey]) -> ValueType:
    """The union of two shapes; `lonely` says what becomes of a key that only one of them has."""
    if any(shape.kind == "any" and shape.stays for shape in (first, second)):
        return ValueType(stays=True)
    if first.kind == second.kind == "object":
        stays = first.stays or second.stays
        keys = {name: key if name in second.keys else lonely(key) for name, key in first.keys.items()}
        for name, key in second.keys.items():
            own_key = first.keys.get(name)
            keys[name] = (
                key
                if own_key is None
                else ObjectKey(_joined(own_key.shape, key.shape, lonely), own_key.certain and key.certain)
            )
        return ValueType("object", keys, stays or (first.open and second.open), stays=stays)
    if first.kind == second.kind == "list":
        return ValueType("list", item=_joined(first.item or ANY, second.item or ANY, lonely))
    if first.kind == second.kind:
        return first
    if "any" in (first.kind, second.kind):  # an empty list or a null says nothing of what else may be there
        return second if first.kind == "any" else first
    if {first.kind, second.kind} == {"int", "float"}:
        return ValueType("float")
    return ANY


def _either(key: ObjectKey) -> ObjectKey:
    return key


def _lacking(key: ObjectKey) -> ObjectKey:
    """A documented key that no observation had."""
    return replace(key, certain=False)
