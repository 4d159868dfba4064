"""Sample values for schemas: their constants, words and examples first, else made by type and limits."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.micro.wire_schema import WireSchemas, types

__all__ = ["Sampler"]

_FORMATS = {
    "date": "2024-02-29",
    "date-time": "2024-02-29T10:00:00Z",
    "time": "10:00:00Z",
    "duration": "P1DT2H",
    "uuid": "5f0c3a52-8a0e-4c3d-9b60-0a3f5b1f7d11",
    "email": "ada@example.com",
    "uri": "https://example.com/a?b=c&d=e%20f",
    "url": "https://example.com/a",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "byte": "aGVsbG8=",
}
_TEXT = "Zoë & Co, 1+1=2"
_DEPTH = 4
_CHECKED = ("type", "enum", "pattern", "minLength", "maxLength", "minimum", "maximum", "multipleOf", "minItems")


class Sampler:
    """Makes values for the schemas of one document; with `everything` optional properties have values, too."""

    def __init__(self, schemas: WireSchemas, everything: bool) -> None:
        self._schemas, self._everything, self._binary = schemas, everything, True

    def value(self, schema: Any, text: str = _TEXT, depth: int = 0, binary: bool | None = None) -> Any:
        """A value of the schema; strings without a form of their own are `text`, and bytes are if not `binary`."""
        self._binary = self._binary if binary is None else binary
        schema = self._merged(schema)
        if "const" in schema:
            return schema["const"]
        words = [word for word in schema.get("enum") or () if word is not None]
        if words:
            return next((word for word in words if _valid(word, schema)), words[0])
        kinds = types(schema, self._schemas) - {"null"}
        if not kinds and types(schema, self._schemas):
            return None
        if self._schemas.is_binary(schema):
            return bytes(range(256)) if self._binary else "aGVsbG8="
        examples = [schema.get("example"), *_listed(schema.get("examples")), schema.get("default")]
        if not kinds & {"object", "array"}:
            for example in examples:
                if example not in (None, "") and _valid(example, schema):
                    return example
        if "object" in kinds or (not kinds and schema.get("properties")):
            return self._object(schema, text, depth)
        if "array" in kinds:
            count = max(schema.get("minItems") or 0, 2 if depth == 0 or (self._everything and depth == 1) else 1)
            count = min(count, schema.get("maxItems") or count)
            items = self.value(self._schemas.items(schema), text, depth + 1)
            return [items] if schema.get("uniqueItems") else [items] * count
        if "string" in kinds or not kinds:
            return self._text(schema, text)
        if kinds & {"integer", "number"}:
            return _number(schema, "integer" in kinds)
        return True

    def _merged(self, schema: Any, depth: int = 0) -> dict[str, Any]:
        """A schema with those of `allOf` and the first alternative of `oneOf` and `anyOf`."""
        schema = self._schemas.deref(schema)
        if not isinstance(schema, Mapping) or depth > 12:
            return {}
        whole = {key: value for key, value in schema.items() if key not in ("allOf", "oneOf", "anyOf")}
        parts = list(schema.get("allOf") or ())
        for word in ("oneOf", "anyOf"):
            parts += [part for part in schema.get(word) or () if self._schemas.deref(part).get("type") != "null"][:1]
        for part in parts:
            inner = self._merged(part, depth + 1)
            properties = {**(inner.get("properties") or {}), **(whole.get("properties") or {})}
            required = [*_listed(inner.get("required")), *_listed(whole.get("required"))]
            whole = {**inner, **whole}
            whole |= {"properties": properties} if properties else {}
            whole |= {"required": required} if required else {}
        return whole

    def _object(self, schema: Mapping[str, Any], text: str, depth: int) -> dict[str, Any]:
        required = _listed(schema.get("required"))
        properties = schema.get("properties") or {}
        names = [name for name in properties if name in required or (self._everything and depth < _DEPTH)]
        if not names and depth == 0:
            names = list(properties)[:1]
        free = self._schemas.additional(schema)
        if not names and depth == 0 and free is not None:
            return {"key": self.value(free, text, 1)}
        names += [name for name in required if name not in properties]
        properties = {**{name: {} for name in names}, **properties}
        chosen = {name: self._schemas.deref(properties[name]) for name in names}
        if depth > 8:
            return {}
        return {
            name: self.value(properties[name], text, depth + 1)
            for name, of_name in chosen.items()
            if not (isinstance(of_name, Mapping) and of_name.get("readOnly"))
        }

    @staticmethod
    def _text(schema: Mapping[str, Any], text: str) -> str:
        pattern = schema.get("pattern")
        if isinstance(pattern, str):
            made = _matching(pattern)
            if made is not None:
                text = made
        else:
            text = _FORMATS.get(str(schema.get("format")), text)
        low, high = schema.get("minLength") or 0, schema.get("maxLength") or len(text)
        return text + (text[-1:] or "x") * (low - len(text)) if len(text) < low else text[: max(high, 1)]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _valid(example: Any, schema: Mapping[str, Any]) -> bool:
    from jsonschema import Draft202012Validator

    try:
        return Draft202012Validator({key: schema[key] for key in _CHECKED if key in schema}).is_valid(example)
    except Exception:  # a pattern of another dialect
        return False


def _number(schema: Mapping[str, Any], whole: bool) -> float | int:
    low, high = (
        bound if isinstance(bound := schema.get(word), int | float) else None for word in ("minimum", "maximum")
    )
    exclusive = schema.get("exclusiveMinimum")
    step = schema.get("multipleOf") or (1 if whole else 0.5)
    if isinstance(exclusive, int | float) and not isinstance(exclusive, bool):
        low = exclusive + step
    elif exclusive is True and low is not None:
        low += step
    value = 7 * step if low is None else -(-low // step) * step
    if high is not None and value > high:
        value = high // step * step
    return int(value) if whole else value


def _matching(pattern: str) -> str | None:
    """A text that a pattern matches; None where none could be made."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = "".join(_written(item) for item in re._parser.parse(pattern))  # type: ignore[attr-defined]
            return text if re.search(pattern, text) else None
    except (re.error, RecursionError, OverflowError, KeyError, IndexError):
        return None


def _written(item: tuple[Any, Any]) -> str:
    """A text for one part of a parsed pattern."""
    name, argument = str(item[0]), item[1]
    if name == "LITERAL":
        return chr(argument)
    if name == "NOT_LITERAL" or name == "ANY":
        return "a" if argument != ord("a") else "b"
    if name == "IN":
        return _member(argument)
    if name in ("MAX_REPEAT", "MIN_REPEAT"):
        low, high, inner = argument
        return "".join(map(_written, inner)) * (low or min(int(high), 1))
    if name == "SUBPATTERN":
        return "".join(map(_written, argument[-1]))
    if name == "BRANCH":
        return "".join(map(_written, argument[1][0]))
    return ""


def _member(members: Sequence[tuple[Any, Any]]) -> str:
    pattern = {"CATEGORY_DIGIT": "7", "CATEGORY_WORD": "a", "CATEGORY_SPACE": " "}
    names = [str(name) for name, _ in members]
    if names[0] == "NEGATE":
        barred = {chr(value) for name, value in members if str(name) == "LITERAL"}
        return next(char for char in "a7 -_.Zx" if char not in barred)
    name, value = names[0], members[0][1]
    if name == "RANGE":
        return chr(value[0])
    return chr(value) if name == "LITERAL" else pattern.get(str(value), "-")
