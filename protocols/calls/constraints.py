"""What is wrong with a value by its schema, in words that help to repair the call."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence, Sized
from functools import lru_cache
from math import isfinite
from typing import Any

from protocols.bounded import StepLimitReached, count_steps, validator_class
from protocols.json_path import subscripts
from protocols.model import Schema
from protocols.schema_fields import declared_types

__all__ = ["Doubt", "abbreviated", "find_violation", "request_validator_class", "violation"]

_SOFT = frozenset(
    {"required", "enum", "const", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
)
_SOFT |= {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "multipleOf"}
"""Keywords that documents often have wrong; the service is the judge of them."""

_LIMITS = {
    "minimum": "must be at least {limit}, not {value}",
    "maximum": "must be at most {limit}, not {value}",
    "exclusiveMinimum": "must be more than {limit}, not {value}",
    "exclusiveMaximum": "must be less than {limit}, not {value}",
    "minLength": "must have at least {limit} characters, not {value}",
    "maxLength": "must have at most {limit} characters, not {size}",
    "minItems": "must have at least {limit} items, not {size}",
    "maxItems": "must have at most {limit} items, not {size}",
    "pattern": "must match the pattern {limit}, not {value}",
    "const": "must be {limit}, not {value}",
}
"""What is said of a keyword with a limit."""
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
    validator = _validator(_SchemaIdentity(schema, definitions or _NO_DEFINITIONS))  # loads what is imported next
    from jsonschema.exceptions import best_match
    from referencing.exceptions import Unresolvable

    try:
        error = best_match(validator.iter_errors(value))
    except Unresolvable:  # a recursive schema without its definitions
        return None
    if error is None:
        return None
    where = subscripts(tuple(error.absolute_path))
    text = f"{where + ' ' if where else ''}{_in_words(error)}"
    is_null = error.validator == "type" and error.instance is None  # documents forget to say what may be null
    return Doubt(text) if error.validator in _SOFT or is_null else text


def _in_words(error: Any) -> str:
    """The violation of one keyword."""
    limit, value = error.validator_value, error.instance
    if error.validator == "type":
        names = [_ARTICLES.get(name, f"a {name}") for name in declared_types({"type": limit})]
        return f"must be {' or '.join(names)}, not {abbreviated(value)}"
    if error.validator == "enum":
        listed = ", ".join(map(abbreviated, limit[:40])) + (", …" if len(limit) > 40 else "")
        texts = [option for option in limit if isinstance(option, str)]
        close = difflib.get_close_matches(value, texts, n=1) if isinstance(value, str) else []
        return f"must be one of {listed}, not {abbreviated(value)}" + (f"; did you mean {close[0]!r}?" if close else "")
    if form := _LIMITS.get(error.validator):
        limit_text = limit if error.validator == "pattern" else abbreviated(limit)
        return form.format(
            limit=limit_text, value=abbreviated(value), size=len(value) if isinstance(value, Sized) else ""
        )
    return f"is not what the schema asks for: {error.message[:300]}"


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
    schema = {**key.schema, "$defs": dict(key.definitions)} if key.definitions else dict(key.schema)
    return request_validator_class()(schema)


@lru_cache(maxsize=1)
def request_validator_class() -> Any:
    """A validator class for what is sent: bytes are texts, and what only a service sets is not required."""
    base = validator_class()
    from jsonschema.validators import extend

    sent_types = {
        "string": lambda _, value: isinstance(value, str | bytes),
        "number": lambda _, value: isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value),
    }
    types = base.TYPE_CHECKER.redefine_many(sent_types)
    return extend(base, {"required": _required_in_request}, type_checker=types)  # type: ignore[no-untyped-call]


def _required_in_request(_: Any, required: Sequence[str], value: Any, schema: Schema) -> Iterator[Any]:
    """`required` for requests: properties that are read-only, or that an object does not describe, may be missing."""
    from jsonschema import ValidationError

    properties = schema.get("properties")
    for name in required if isinstance(value, Mapping) else ():
        described = properties.get(name) if isinstance(properties, Mapping) else {}
        hidden = described is None or (isinstance(described, Mapping) and described.get("readOnly") is True)
        if name not in value and not hidden:
            yield ValidationError(f"{name!r} is a required property")


def abbreviated(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"
