"""What is wrong with a value by its schema, in words that help to repair the call."""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from protocols.bounded import StepLimitReached, count_steps, validator_class
from protocols.json_path import subscripts
from protocols.model import Schema
from protocols.patterns import matches
from protocols.schema_fields import declared_types

__all__ = ["Doubt", "abbreviated", "find_violation", "violation"]

_PLAIN_KEYWORDS = frozenset({
    *("type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("minLength", "maxLength", "pattern", "items", "minItems", "maxItems"),
    *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"),  # annotations
    *("format", "discriminator", "contentMediaType", "contentEncoding", "xml"),
})  # fmt: skip
"""Keywords that are checked here; a schema with any other one is left to `jsonschema`."""
_SOFT = frozenset(
    {"required", "enum", "const", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
)
_SOFT |= {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "multipleOf"}
"""Keywords that documents often have wrong; the service is the judge of them."""

_ARTICLES = {"integer": "an integer", "array": "a list", "object": "a dict", "boolean": "True or False", "null": "None"}
_NO_DEFINITIONS: Mapping[str, Schema] = {}


class Doubt(str):
    """A violation that only the document speaks of: the value can be sent, and the service may take it."""

    __slots__ = ()


def violation(value: Any, schema: object, definitions: Mapping[str, Schema]) -> str | None:
    """As `find_violation`, and None as well where the check takes too many steps."""
    try:
        return find_violation(value, schema, definitions)
    except StepLimitReached:  # left to the service
        return None


def find_violation(value: Any, schema: object, definitions: Mapping[str, Schema]) -> str | None:
    """What is wrong with the value, as the end of a sentence that begins with the argument; None if nothing is."""
    count_steps()
    if schema is True or schema is None or not isinstance(schema, Mapping):
        return "is not allowed" if schema is False else None
    if not _has_plain_keywords(schema):
        return _validator_violation(value, schema, definitions)
    types = declared_types(schema)
    if types and not any(_is_type(value, name) for name in types):
        kind = Doubt if value is None else str  # documents forget to say what may be null
        return kind(
            f"must be {' or '.join(_ARTICLES.get(name, f'a {name}') for name in types)}, not {abbreviated(value)}"
        )
    if "const" in schema and value != schema["const"]:
        return Doubt(f"must be {abbreviated(schema['const'])}, not {abbreviated(value)}")
    enum = schema.get("enum")
    if isinstance(enum, list) and value not in enum:
        listed = ", ".join(map(abbreviated, enum[:40])) + (", …" if len(enum) > 40 else "")
        texts = [option for option in enum if isinstance(option, str)]
        close = difflib.get_close_matches(value, texts, n=1) if isinstance(value, str) else []
        nearest = f"; did you mean {close[0]!r}?" if close else ""
        return Doubt(f"must be one of {listed}, not {abbreviated(value)}{nearest}")
    if isinstance(value, str):
        return _text_violation(value, schema)
    if isinstance(value, list):
        return _list_violation(value, schema, definitions)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number_violation(value, schema)
    return None


def _has_plain_keywords(schema: Schema) -> bool:
    items = schema.get("items")
    return schema.keys() <= _PLAIN_KEYWORDS and (
        items is None or (isinstance(items, Mapping) and _has_plain_keywords(items))
    )


def _is_type(value: object, name: str) -> bool:
    if name == "integer":
        return (isinstance(value, int) and not isinstance(value, bool)) or (
            isinstance(value, float) and value.is_integer()
        )
    if name == "number":
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if name == "string":
        return isinstance(value, str | bytes)
    kinds: dict[str, type] = {"boolean": bool, "array": list, "object": dict, "null": type(None)}
    return isinstance(value, kinds[name]) if name in kinds else True


def _text_violation(value: str, schema: Schema) -> str | None:
    shortest, longest, pattern = schema.get("minLength"), schema.get("maxLength"), schema.get("pattern")
    if isinstance(shortest, int) and len(value) < shortest:
        return Doubt(f"must have at least {shortest} characters, not {abbreviated(value)}")
    if isinstance(longest, int) and len(value) > longest:
        return Doubt(f"must have at most {longest} characters, not {len(value)}")
    if isinstance(pattern, str) and not matches(pattern, value):
        return Doubt(f"must match the pattern {pattern}, not {abbreviated(value)}")
    return None


def _number_violation(value: float, schema: Schema) -> str | None:
    for key, words, wrong in (
        ("minimum", "at least", operator.lt),
        ("maximum", "at most", operator.gt),
        ("exclusiveMinimum", "more than", operator.le),
        ("exclusiveMaximum", "less than", operator.ge),
    ):
        limit = schema.get(key)
        if isinstance(limit, int | float) and wrong(value, limit):
            return Doubt(f"must be {words} {limit}, not {value}")
    return None


def _list_violation(value: list[Any], schema: Schema, definitions: Mapping[str, Schema]) -> str | None:
    fewest, most = schema.get("minItems"), schema.get("maxItems")
    if isinstance(fewest, int) and len(value) < fewest:
        return Doubt(f"must have at least {fewest} items, not {len(value)}")
    if isinstance(most, int) and len(value) > most:
        return Doubt(f"must have at most {most} items, not {len(value)}")
    for index, item in enumerate(value):
        problem = find_violation(item, schema.get("items"), definitions)
        if problem is not None:
            return type(problem)(f"[{index}] {problem}")
    return None


def _validator_violation(value: Any, schema: Schema, definitions: Mapping[str, Schema]) -> str | None:
    from jsonschema.exceptions import best_match
    from referencing.exceptions import Unresolvable

    try:
        error = best_match(_validator(_SchemaIdentity(schema, definitions or _NO_DEFINITIONS)).iter_errors(value))
    except Unresolvable:  # a recursive schema without its definitions
        return None
    if error is None:
        return None
    where = subscripts(tuple(error.absolute_path))
    text = f"{where + ' ' if where else ''}is not what the schema asks for: {error.message[:300]}"
    is_null = error.validator == "type" and error.instance is None
    return Doubt(text) if error.validator in _SOFT or is_null else text


class _SchemaIdentity:
    """A cache key for a schema, which is unhashable, by identity."""

    def __init__(self, schema: Schema, definitions: Mapping[str, Schema]) -> None:
        self.schema, self.definitions = schema, definitions

    def __hash__(self) -> int:
        return hash((id(self.schema), id(self.definitions)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _SchemaIdentity):
            return NotImplemented
        return self.schema is other.schema and (self.definitions is other.definitions)


@lru_cache(maxsize=512)
def _validator(key: _SchemaIdentity) -> Any:
    from jsonschema.validators import extend

    base = validator_class()
    texts = base.TYPE_CHECKER.redefine("string", lambda _, value: isinstance(value, str | bytes))
    sending = extend(base, {"required": _required_in_request}, type_checker=texts)  # type: ignore[no-untyped-call]
    return sending({**key.schema, "$defs": dict(key.definitions)} if key.definitions else dict(key.schema))


def _required_in_request(_: Any, required: Sequence[str], value: Any, schema: Schema) -> Iterator[Any]:
    """`required` for requests: read-only properties may be missing."""
    from jsonschema import ValidationError

    properties = schema.get("properties")
    declared = properties if isinstance(properties, Mapping) else {}
    for name in required if isinstance(value, Mapping) else ():
        if name not in value and not (
            isinstance(declared.get(name), Mapping) and declared[name].get("readOnly") is True
        ):
            yield ValidationError(f"{name!r} is a required property")


def abbreviated(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"
