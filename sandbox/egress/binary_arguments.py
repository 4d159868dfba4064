"""Bytes among the arguments of a call: they stay bytes where the operation takes these, and are texts elsewhere."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from protocols.errors import ToolError
from protocols.media_types import essence, is_binary, media_kind
from protocols.model import Parameter, Schema, Tool
from protocols.schema_fields import declared_types

__all__ = ["fit_bytes"]


class _Place(NamedTuple):
    """An argument with bytes in it, and what they are sent in: JSON, a form, all of a body, or a text."""

    tool: str
    argument: str
    carrier: Literal["json", "form", "raw", "text"]


def fit_bytes(
    tool: Tool, args: Sequence[object], kwargs: Mapping[str, object]
) -> tuple[list[object], dict[str, object]]:
    """The arguments of a call, with bytes as bytes only where these are sent. Raises: ToolError: They fit nowhere."""
    if not _has_bytes([*args, *kwargs.values()]):
        return list(args), dict(kwargs)
    by_wire = {parameter.name: parameter for parameter in reversed(tool.arguments) if parameter.name}
    positional = dict(enumerate(tool.positional))

    def fit(name: str, parameter: Parameter | None, value: object) -> object:
        if not _has_bytes(value):
            return value
        in_body = parameter is None or parameter.location == "body"
        is_whole = in_body and (parameter is None or not parameter.name)
        schema = parameter.schema if parameter is not None else tool.body.schema if tool.body is not None else {}
        carrier = _carrier(tool, is_whole and not isinstance(value, Mapping)) if in_body else "text"
        return _fitted(value, schema, _Place(tool.name, name, carrier))

    by_place = [fit(f"args[{index}]", positional.get(index), value) for index, value in enumerate(args)]
    return by_place, {
        name: fit(name, tool.argument(name) or by_wire.get(name), value) for name, value in kwargs.items()
    }


def _carrier(tool: Tool, is_whole: bool) -> Literal["json", "form", "raw", "text"]:
    media_type = tool.body.media_type if tool.body is not None and tool.function is None else ""
    if essence(media_type).startswith("multipart/"):
        return "form"
    if media_kind(media_type) == "json":
        return "json"
    return "raw" if is_whole and media_type and "urlencoded" not in media_type else "text"


def _has_bytes(value: object) -> bool:
    if isinstance(value, Mapping):
        value = list(value.values())
    return any(map(_has_bytes, value)) if isinstance(value, list) else isinstance(value, bytes)


def _fitted(value: Any, schema: Schema, place: _Place) -> Any:
    if isinstance(value, Mapping):
        properties = _mapping(schema.get("properties"))
        return {name: _fitted(item, _mapping(properties.get(name)), place) for name, item in value.items()}
    if isinstance(value, list):
        return [_fitted(item, _mapping(schema.get("items")), place) for item in value]
    if not isinstance(value, bytes):
        return value
    if declared_types(schema) == ("array",):
        return [_fitted(value, _mapping(schema.get("items")), place)]
    if _is_base64(schema):
        return value.decode() if _reads_as_base64(value) else base64.b64encode(value).decode()
    untyped = place.carrier in ("form", "json") and not declared_types(schema)
    if place.carrier != "text" and (is_binary(schema) or untyped):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        if place.carrier in ("form", "raw"):
            return value
        advice = "decode them with their encoding, or pass base64.b64encode(…).decode()"
        text = f"argument {place.argument!r} takes a text, and holds bytes that are no UTF-8; {advice}"
        raise ToolError(f"{place.tool}(): {text}", tool=place.tool) from None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _is_base64(schema: Schema) -> bool:
    variants = [part for word in ("anyOf", "oneOf", "allOf") for part in schema.get(word) or ()]  # type: ignore[attr-defined]
    named = schema.get("format") == "byte" or schema.get("contentEncoding") == "base64"
    return named or any(map(_is_base64, variants))


def _reads_as_base64(value: bytes) -> bool:
    """True for what is base64 already, as `base64.b64encode` gives it."""
    try:
        return bool(base64.b64decode(value, validate=True)) or not value
    except binascii.Error:
        return False
