"""The fields of a response schema, with the path to each and the object that holds it.

Rendering, data flow and probing share this walk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from protocols.json_path import Step
from protocols.model import Protocol, Schema
from protocols.text.words import PAGING, words

__all__ = [
    "ResponseField",
    "declared_types",
    "fields",
    "is_expandable",
    "items_of",
    "json_types",
    "properties_of",
    "scalar_types",
    "type_of",
    "variants",
    "wrapper_of",
]

_COMPOSITION_KEYWORDS = frozenset({"$ref", "allOf", "anyOf"})
_MAX_DEPTH = 6
_MAX_RECURSION = 2
_MAX_FIELDS = 2000
"""Fields of one response; mutually recursive schemas have infinitely many."""


@dataclass(frozen=True, slots=True)
class ResponseField:
    """A field of a response: `path` from the root (0 stands for any item), its schema, and the object that holds it.

    `expanded`: the field lies in an object that may be a scalar instead (see `is_expandable`).
    """

    path: tuple[Step, ...]
    schema: Schema
    owner: Schema
    expanded: bool = False

    @property
    def name(self) -> str:
        """The key of the field, the last text in its path."""
        return next((step for step in reversed(self.path) if isinstance(step, str)), "")

    @property
    def container(self) -> tuple[str, ...]:
        """The keys enclosing the object that holds the field, outermost first."""
        return tuple(step for step in self.path[:-1] if isinstance(step, str))


def resolve(schema: Schema, protocol: Protocol) -> Schema:
    """Follow the `$ref` of a schema that contains itself."""
    steps = 0
    while isinstance(reference := schema.get("$ref"), str) and steps < 10:
        schema = protocol.definitions.get(reference.rpartition("/")[2], {})
        steps += 1
    return schema


def variants(schema: Schema, protocol: Protocol, enclosing: tuple[int, ...] = ()) -> Iterator[Schema]:
    """The schema itself and what its anyOf and allOf allow, each resolved.

    A recursive variant is entered once; `enclosing` are the ids of the schemas around it.
    """
    schema = resolve(schema, protocol)
    if id(schema) in enclosing:
        return
    yield schema
    for word in ("anyOf", "allOf"):
        for part in cast("list[Schema]", schema.get(word) or []):
            yield from variants(part, protocol, (*enclosing, id(schema)))


def declared_types(schema: Schema) -> tuple[str, ...]:
    """The JSON types under `type`; empty where a schema gives none."""
    declared = schema.get("type")
    if isinstance(declared, list):
        return tuple(map(str, declared))
    return (str(declared),) if declared is not None else ()


def json_types(schema: Schema) -> tuple[str, ...]:
    """The JSON types that a schema names, without null."""
    kinds = list(declared_types(schema))
    for part in cast("list[Schema]", schema.get("anyOf") or []):
        kinds.extend(json_types(part))
    return tuple(dict.fromkeys(kind for kind in kinds if kind != "null"))


def scalar_types(schema: Schema, protocol: Protocol) -> tuple[str, ...]:
    """The types of the scalars that a schema allows, over its variants."""
    types = [kind for part in variants(schema, protocol) for kind in json_types(part)]
    return tuple(dict.fromkeys(kind for kind in types if kind not in ("object", "array")))


def is_expandable(schema: Schema, protocol: Protocol) -> bool:
    """True if a value is an object or a scalar that refers to one: `anyOf: [integer, object]`."""
    if not (schema.keys() & _COMPOSITION_KEYWORDS or isinstance(schema.get("type"), list)):
        return False
    return bool(scalar_types(schema, protocol)) and bool(properties_of(schema, protocol))


def type_of(schema: Schema) -> str:
    """The single JSON type of a schema; number for integer or number; empty if there are several or none."""
    kinds = set(json_types(schema))
    if not kinds:
        return "object" if "properties" in schema else "array" if "items" in schema else ""
    if kinds <= {"integer", "number"}:
        return "integer" if kinds == {"integer"} else "number"
    return kinds.pop() if len(kinds) == 1 else ""


def properties_of(schema: Schema, protocol: Protocol) -> dict[str, Schema]:
    """All properties of an object, over its variants; the first variant with a name wins."""
    properties: dict[str, Schema] = {}
    for variant in variants(schema, protocol):
        for name, part in cast("Mapping[str, Schema]", variant.get("properties") or {}).items():
            properties.setdefault(name, part)
    return properties


def items_of(schema: Schema, protocol: Protocol) -> Schema | None:
    """The schema of an array's items; None if the schema is no array."""
    for variant in variants(schema, protocol):
        items = variant.get("items")
        if isinstance(items, Mapping):
            return resolve(items, protocol)
        if variant.get("type") == "array":
            return {}
    return None


def fields(schema: Schema, protocol: Protocol, depth: int = _MAX_DEPTH) -> Iterator[ResponseField]:
    """The fields of a response, outer objects before inner ones, at most `depth` keys deep and `_MAX_FIELDS` in all.

    An expandable relation is entered, but no other one inside it: services expand one at a time. A recursive object is
    entered twice.
    """
    recursive = {id(part) for part in protocol.definitions.values()}
    queue: deque[tuple[tuple[Step, ...], Schema, bool, int]] = deque([((), schema, False, 0)])
    count = 0
    while queue and count < _MAX_FIELDS:
        path, part, expanded, recursions = queue.popleft()
        if len(path) > 2 * depth or sum(isinstance(step, str) for step in path) > depth:
            continue
        part = resolve(part, protocol)
        items = items_of(part, protocol)
        if items is not None:
            queue.append(((*path, 0), items, expanded, recursions))
            continue
        recursions += id(part) in recursive
        if recursions > _MAX_RECURSION:
            continue
        properties = properties_of(part, protocol)
        if properties and is_expandable(part, protocol):
            if expanded:
                continue
            expanded = True
        for name, inner in properties.items():
            here = (*path, name)
            yield ResponseField(here, inner, part, expanded)
            count += 1
            queue.append((here, inner, expanded, recursions))


def wrapper_of(schema: Schema, protocol: Protocol) -> str:
    """The key of the only object or list in a response, if all other keys are about paging and status; else empty."""
    properties = properties_of(schema, protocol)
    holding = [name for name, part in properties.items() if properties_of(items_of(part, protocol) or part, protocol)]
    if len(holding) != 1:
        return ""
    beside = PAGING.union(words(holding[0]))
    return holding[0] if all(beside.issuperset(words(name)) for name in properties if name != holding[0]) else ""
