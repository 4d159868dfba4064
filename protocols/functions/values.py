"""Values between a program and the functions of this process: JSON, and instances of small classes.

An instance travels as an object of its fields with the name of its class under `CLASS`. What comes from a program is
never unpickled: each value is checked by the type hint of its argument, and an instance is made by its constructor.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, KeysView, Mapping, Sequence, ValuesView
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from itertools import islice
from pathlib import PurePath
from typing import Any
from uuid import UUID

from protocols.functions import CLASS

__all__ = ["WRITTEN", "NotJSONError", "ValueClass", "Written", "default_json", "encode"]

_EMPTY = (list, tuple, set, frozenset, dict)
"""What makes an empty default anew."""

_SERIES = (Sequence, KeysView, ValuesView, Iterator)
_BYTES = (bytes, bytearray, memoryview)
_MOST_ITEMS = 1_000_000
_MOST_BITS = 14_000
"""Those of the largest integer that Python writes in digits (4,300 of them), about."""


class NotJSONError(TypeError):
    """A value is neither JSON nor an instance of a value class."""


@dataclass(frozen=True, slots=True)
class ValueClass:
    """A class whose instances are arguments or results; `fields` are the arguments of its constructor, in order."""

    name: str
    kind: type
    signature: inspect.Signature

    @property
    def is_tuple(self) -> bool:
        """True of a named tuple: an instance has the places of a tuple, too."""
        return issubclass(self.kind, tuple)

    def description(self) -> list[tuple[str, bool, object, bool, bool]]:
        """Each field: its name, whether it is required, its default as JSON, whether it goes by its name only, and
        whether the default is made anew for each instance."""
        return [
            (name, p.default is p.empty, self.default(name), p.kind is p.KEYWORD_ONLY, self._factory(name) in _EMPTY)
            for name, p in self.signature.parameters.items()
        ]

    def default(self, name: str) -> object:
        """The default of a field as JSON, also of one that a dataclass or pydantic model makes anew as an empty list
        or dict; None if there is none, or none in JSON."""
        factory = self._factory(name)
        if factory in _EMPTY:
            return {} if factory is dict else []
        return default_json(self.signature.parameters[name].default)

    def field_description(self, name: str) -> str:
        """What a pydantic model says of a field."""
        return str(getattr(getattr(self.kind, "model_fields", {}).get(name), "description", None) or "")

    def _factory(self, name: str) -> object:
        fields = getattr(self.kind, "__dataclass_fields__", getattr(self.kind, "model_fields", {}))
        return getattr(fields.get(name), "default_factory", None)

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(self.signature.parameters)


@dataclass(frozen=True, slots=True)
class Written:
    """How values of a type are written in JSON: the schema, and the ways from there (given the type) and to there."""

    schema: Mapping[str, object]
    read: Callable[[Any, Any], object]
    write: Callable[[Any], str | float]


def _iso(form: str) -> Written:
    schema = {"type": "string", "format": form}
    return Written(schema, lambda kind, text: kind.fromisoformat(text), lambda value: str(value.isoformat()))


WRITTEN: Mapping[type, Written] = {
    datetime: _iso("date-time"),
    date: _iso("date"),
    time: _iso("time"),
    timedelta: Written({"type": "number"}, lambda kind, seconds: kind(seconds=seconds), timedelta.total_seconds),
    Decimal: Written({"type": "number"}, lambda kind, number: kind(str(number)), float),
    UUID: Written({"type": "string", "format": "uuid"}, lambda kind, text: kind(text), str),
    PurePath: Written({"type": "string"}, lambda kind, text: kind(text), str),
}
"""Types of the standard library that a text or a number stands for; a timedelta is its seconds."""


def encode(value: object, classes: Mapping[type, ValueClass]) -> object:
    """A value as JSON; a set becomes a list in a fixed order, a sequence, a view or an iterator a list.

    An instance of a subclass is one of its nearest base that is a value class.
    Raises: NotJSONError: It is none, and no instance of a value class.
    """
    if value is None or (isinstance(value, str | bool | int) and not isinstance(value, Enum)):
        if isinstance(value, int) and value.bit_length() > _MOST_BITS:
            raise NotJSONError("it holds an integer of more than 4,000 digits")
        return value
    if isinstance(value, Enum):
        return encode(value.value, classes)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotJSONError(f"{value} is no number of JSON")
        return value
    if isinstance(value, set | frozenset):
        return sorted((encode(item, classes) for item in value), key=_place_in_a_set)
    value_class = next((classes[kind] for kind in type(value).__mro__ if kind in classes), None)
    if isinstance(value, _SERIES) and not isinstance(value, _BYTES) and value_class is None:
        items = list(islice(value, _MOST_ITEMS + 1))
        if len(items) > _MOST_ITEMS:
            raise NotJSONError(f"it has more than {_MOST_ITEMS:,} items")
        return [encode(item, classes) for item in items]
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise NotJSONError("it has keys that are no texts")
        return {key: encode(item, classes) for key, item in value.items()}
    for kind, written in WRITTEN.items():
        if isinstance(value, kind):
            return encode(written.write(value), classes)
    if value_class is not None:
        if lacking := [name for name in value_class.fields if not hasattr(value, name)]:
            raise NotJSONError(f"a {value_class.name} keeps no attribute {lacking[0]!r}, as its constructor takes it")
        return {CLASS: value_class.name} | {name: encode(getattr(value, name), classes) for name in value_class.fields}
    raise NotJSONError(f"it holds an instance of {type(value).__name__}")


def _place_in_a_set(value: object) -> tuple[str, float, str]:
    """Numbers come first, by their size; other values by how they are written."""
    if isinstance(value, int | float):
        return "", value, ""
    return type(value).__name__, 0, repr(value)


def default_json(value: object) -> object:
    """A default of a parameter as JSON; None if there is none, or none in JSON, as of a named tuple."""
    try:
        return encode(value, {}) if value is not inspect.Parameter.empty and not _has_named_tuple(value) else None
    except NotJSONError:  # the host has it
        return None


def _has_named_tuple(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_named_tuple, value.values()))
    return isinstance(value, list | tuple) and (hasattr(value, "_fields") or any(map(_has_named_tuple, value)))
