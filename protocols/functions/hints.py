"""Type hints become JSON schemas, and checked JSON values become what the hints promise."""

from __future__ import annotations

import collections.abc
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Annotated, Any, Literal, NotRequired, Required, Union

from protocols.functions import CLASS
from protocols.functions.values import WRITTEN, NotJSONError, ValueClass, Written, encode

__all__ = ["UNREADABLE", "Hint", "HintError", "HintReader", "constructor_hints"]

Convert = Callable[[Any], object]

UNREADABLE = (NameError, AttributeError, TypeError, ValueError, SyntaxError)
"""What Python raises for hints that are texts, and name nothing or are no hint."""

_LISTS = (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
_SETS = (set, frozenset, collections.abc.Set)
_DICTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_SCALARS: Mapping[Any, tuple[str, tuple[type, ...]]] = {
    str: ("string", (str,)),
    bool: ("boolean", (bool,)),
    int: ("integer", (int,)),
    float: ("number", (int, float)),
    type(None): ("null", (type(None),)),
}


class HintError(TypeError):
    """A type hint that has no form in JSON."""


@dataclass(frozen=True, slots=True)
class Hint:
    """A type hint: its JSON schema, how a program writes it, and how a JSON value becomes a value of it.

    `convert` raises TypeError or ValueError for a value that is none.
    """

    schema: Mapping[str, object]
    convert: Convert
    text: str


def constructor_hints(kind: type) -> dict[str, Any]:
    """The hints of a constructor's arguments; a NamedTuple or pydantic model has them on the class.

    Raises: one of UNREADABLE: They cannot be resolved.
    """
    hints = typing.get_type_hints(kind, include_extras=True)
    return hints | typing.get_type_hints(kind.__init__, include_extras=True)  # type: ignore[misc]


class HintReader:
    """Reads the hints of the tools of one protocol; `classes` are the value classes that it met or was told of."""

    def __init__(self) -> None:
        self.classes: dict[type, ValueClass] = {}
        self._hints: dict[type, Hint] = {}

    def read(self, hint: Any) -> Hint:
        """Raises: HintError: Values of it have no form in JSON."""
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if hint in (Any, object, inspect.Parameter.empty):
            return Hint({}, self._revive, "Any")
        if isinstance(hint, type) and hint in _SCALARS:
            kind, accepted = _SCALARS[hint]
            return Hint({"type": kind}, _scalar(hint, accepted), "None" if kind == "null" else hint.__name__)
        if hint is None:
            return self.read(type(None))
        if origin is Annotated:
            return _described(self.read(arguments[0]), arguments[1:])
        if origin in (Required, NotRequired):
            return self.read(arguments[0])
        if isinstance(hint, typing.NewType):
            return self.read(hint.__supertype__)
        if type(hint).__name__ == "TypeAliasType":  # of Python 3.12, or of typing_extensions
            return self.read(hint.__value__)
        if origin is Literal:
            return _choice(arguments, "a Literal")
        if origin in (Union, types.UnionType):
            return self._union([self.read(argument) for argument in arguments])
        if (origin or hint) in (*_LISTS, *_SETS, tuple):
            return self._list(origin or hint, arguments)
        if (origin or hint) in _DICTS:
            return self._dict(arguments)
        for base, written in WRITTEN.items():
            if isinstance(hint, type) and issubclass(hint, base):
                return _written(hint, written)
        if isinstance(hint, type) and issubclass(hint, Enum):
            return _choice(tuple(hint), hint.__name__)
        if isinstance(hint, type) and issubclass(hint, dict) and hasattr(hint, "__required_keys__"):  # a TypedDict
            return self._typed_dict(hint)
        if isinstance(hint, type):
            return self.value_class(hint)
        raise HintError(f"the hint {_name(hint)} has no form in JSON; use str, int, float, bool, list, dict or a class")

    def value_class(self, kind: type) -> Hint:
        """The hint that a class is whose instances are arguments or results. Raises: HintError: It is no such class."""
        if kind in self._hints:
            return self._hints[kind]
        name = kind.__name__
        own = kind.__init__ is not object.__init__ or hasattr(kind, "_fields")  # type: ignore[misc]
        if kind.__module__ == "builtins" or not own:
            raise HintError(
                f"{name} is no value class: it needs a constructor with named arguments, as a dataclass has"
            )
        try:
            signature = inspect.signature(kind)
            hints = constructor_hints(kind)
        except UNREADABLE as error:
            raise HintError(f"the constructor of {name} cannot be read: {error}") from None
        parameters = signature.parameters
        for parameter in parameters.values():
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                raise HintError(f"{name} is no value class: its constructor takes *{parameter.name}")
            if parameter.name not in hints:
                raise HintError(f"{name}({parameter.name}) has no type hint")
        self.classes[kind] = ValueClass(name, kind, signature)
        fields: dict[str, Hint] = {}
        schema: dict[str, object] = {"type": "object", "title": name}
        inner = self._hints[kind] = Hint(schema, self._maker(kind, fields), name)  # where it stands in itself
        fields.update({field: self.read(hints[field]) for field in parameters})
        properties = {field: read.schema for field, read in fields.items()}
        required = [field for field, parameter in parameters.items() if parameter.default is parameter.empty]
        schema = {**schema, "properties": properties, "required": required, "additionalProperties": False}
        self._hints[kind] = hint = replace(inner, schema=schema)
        return hint

    def _typed_dict(self, kind: Any) -> Hint:
        """A dictionary with the keys of a TypedDict."""
        if kind in self._hints:
            return self._hints[kind]
        fields: dict[str, Hint] = {}

        def convert(value: Any) -> object:
            if not isinstance(value, Mapping) or CLASS in value:
                raise TypeError("must be a dict")
            if missing := [name for name in required if name not in value]:
                raise TypeError(f"has no key {missing[0]!r}")
            if unknown := [name for name in value if name not in fields]:
                raise TypeError(f"has no key {unknown[0]!r} among {', '.join(fields)}")
            return {name: fields[name].convert(item) for name, item in value.items()}

        inner = self._hints[kind] = Hint({"type": "object"}, convert, "dict")  # where it stands in itself
        hints = _resolved(kind)
        required = [name for name, field in hints.items() if _is_required(kind, name, field)]
        fields.update({name: self.read(field) for name, field in hints.items()})
        properties = {name: field.schema for name, field in fields.items()}
        optional = {name: f"NotRequired[{field.text}]" for name, field in fields.items() if name not in required}
        text = ", ".join(f"{name!r}: {optional.get(name, field.text)}" for name, field in fields.items())
        schema = {**inner.schema, "properties": properties, "required": required}
        self._hints[kind] = hint = replace(inner, schema=schema, text=f"{{{text}}}")
        return hint

    def _maker(self, kind: type, fields: Mapping[str, Hint]) -> Convert:
        def make(value: Any) -> object:
            if isinstance(value, list) and issubclass(kind, tuple) and len(value) == len(fields):
                value = dict(zip(fields, value, strict=True))
            if not isinstance(value, Mapping) or value.get(CLASS, kind.__name__) != kind.__name__:
                raise TypeError(f"must be a {kind.__name__}")
            values = {name: item for name, item in value.items() if name != CLASS}
            if unknown := [name for name in values if name not in fields]:
                raise TypeError(f"{kind.__name__}() got an unexpected keyword argument {unknown[0]!r}")
            return kind(**{name: fields[name].convert(item) for name, item in values.items()})

        return make

    def _revive(self, value: Any) -> object:
        """A JSON value with instances of the value classes that it names."""
        if isinstance(value, list):
            return [self._revive(item) for item in value]
        if not isinstance(value, Mapping):
            return value
        named = next((kind for kind, value_class in self.classes.items() if value_class.name == value.get(CLASS)), None)
        if named is not None:
            return self._hints[named].convert(value)
        return {name: self._revive(item) for name, item in value.items()}

    def _union(self, branches: list[Hint]) -> Hint:
        described = [branch for branch in branches if "description" in branch.schema]
        if len(described) == 1:  # it is that of all
            bare = [replace(branch, schema=_undescribed(branch.schema)) for branch in branches]
            union = self._union(bare)
            return replace(union, schema={**union.schema, "description": described[0].schema["description"]})

        def convert(value: Any) -> object:
            reasons = []
            for branch in branches:
                try:
                    return branch.convert(value)
                except (TypeError, ValueError) as error:
                    is_text = isinstance(value, str) and branch.schema.get("type") == "string"
                    is_instance = isinstance(value, Mapping) and value.get(CLASS) == branch.schema.get("title", "")
                    reasons += [error] if is_text or is_instance else []
            if len(reasons) == 1:  # what one branch alone could be made of
                raise reasons[0]
            raise TypeError(f"must be {' or '.join(branch.text for branch in branches)}")

        text = " | ".join(branch.text for branch in branches)
        if all(branch.schema.keys() == {"type"} for branch in branches):
            return Hint({"type": [branch.schema["type"] for branch in branches]}, convert, text)
        return Hint({"anyOf": [branch.schema for branch in branches]}, convert, text)

    def _list(self, kind: Any, arguments: tuple[Any, ...]) -> Hint:
        if kind is tuple and arguments and arguments[-1] is not Ellipsis:
            return _fixed_tuple([self.read(argument) for argument in arguments if argument != ()])
        item = self.read(arguments[0] if arguments else Any)
        container: Any = kind if kind in (tuple, set) else frozenset if kind in _SETS else list

        def convert(value: Any) -> object:
            if not isinstance(value, list):
                raise TypeError("must be a list")
            return container(item.convert(part) for part in value)

        return Hint({"type": "array", "items": item.schema}, convert, f"list[{item.text}]")

    def _dict(self, arguments: tuple[Any, ...]) -> Hint:
        if arguments and arguments[0] not in (str, Any):
            raise HintError("the keys of a dict must be str")
        item = self.read(arguments[1] if arguments else Any)

        def convert(value: Any) -> object:
            if not isinstance(value, Mapping) or CLASS in value:
                raise TypeError("must be a dict")
            return {name: item.convert(part) for name, part in value.items()}

        return Hint({"type": "object", "additionalProperties": item.schema or True}, convert, f"dict[str, {item.text}]")


def _described(hint: Hint, metadata: tuple[Any, ...]) -> Hint:
    """A hint with the description that its metadata have: a text, pydantic's Field(description=…), or Doc."""
    for part in metadata:
        text = part if isinstance(part, str) else getattr(part, "description", getattr(part, "documentation", None))
        if isinstance(text, str) and text:
            return replace(hint, schema={**hint.schema, "description": text})
    return hint


def _undescribed(schema: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in schema.items() if name != "description"}


def _written(kind: type, written: Written) -> Hint:
    """The hint of a type whose values are written as a text or a number."""
    is_text = written.schema["type"] == "string"

    def convert(value: Any) -> object:
        if isinstance(value, bool) or not isinstance(value, str if is_text else (int, float)):
            raise TypeError(f"must be {'str' if is_text else 'float'}")
        try:
            return written.read(kind, value)
        except (ValueError, OverflowError):
            raise ValueError(f"must be a {written.schema.get('format', kind.__name__)}") from None

    return Hint(written.schema, convert, "str" if is_text else "float")


def _resolved(kind: type) -> dict[str, Any]:
    """The hints of the keys of a TypedDict. Raises: HintError."""
    try:
        return typing.get_type_hints(kind, include_extras=True)
    except UNREADABLE as error:
        raise HintError(f"the keys of {kind.__name__} cannot be read: {error}") from None


def _is_required(kind: Any, name: str, hint: Any) -> bool:
    """Whether a TypedDict needs a key; where hints are texts, its own list does not know NotRequired and Required."""
    origin = typing.get_origin(hint)
    return origin is Required or (origin is not NotRequired and name in kind.__required_keys__)


def _fixed_tuple(items: list[Hint]) -> Hint:
    def convert(value: Any) -> object:
        if not isinstance(value, list) or len(value) != len(items):
            raise TypeError(f"must be a list of {len(items)}")
        return tuple(item.convert(part) for item, part in zip(items, value, strict=True))

    count = len(items)
    schema = {"type": "array", "prefixItems": [item.schema for item in items], "minItems": count, "maxItems": count}
    return Hint(schema, convert, f"tuple[{', '.join(item.text for item in items)}]")


def _scalar(kind: type, accepted: tuple[type, ...]) -> Convert:
    def convert(value: Any) -> object:
        if kind is int and isinstance(value, float) and value.is_integer():
            return int(value)
        if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
            raise TypeError(f"must be {kind.__name__}")
        return value

    return convert


def _choice(members: collections.abc.Sequence[Any], name: str) -> Hint:
    """The hint of one of some values, or of the members of an Enum, by their JSON values. Raises: HintError."""
    try:
        written = [encode(member, {}) for member in members]
    except NotJSONError as error:
        raise HintError(f"{name} has a value without a form in JSON: {error}") from None
    texts = ", ".join(map(repr, written))

    def convert(value: Any) -> object:
        for text, member in zip(written, members, strict=True):
            numbers = isinstance(text, float) and isinstance(value, int) and not isinstance(value, bool)
            if value == text and (type(value) is type(text) or numbers):
                return member
        raise TypeError(f"must be one of {texts}")

    all_texts = all(isinstance(text, str) for text in written)
    return Hint({"enum": written} | ({"type": "string"} if all_texts else {}), convert, f"Literal[{texts}]")


def _name(hint: Any) -> str:
    return getattr(hint, "__name__", None) or str(hint)
