"""How the values of a call are written in its URL, headers and body."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from protocols.errors import ToolError
from protocols.model import SEPARATORS, Parameter, Schema, Tool

__all__ = ["BoundCall", "encoded_fields", "filled_path", "joined_value", "payload", "query_pairs", "wire_text"]

_TEMPLATE = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class BoundCall:
    """One call, checked and ready to be sent.

    `arguments` are by argument name in signature order, with values in the schema's types; a whole body is `body`.
    `path` is percent-encoded, starts with "/", and is relative to the server's URL. `query` are pairs, not encoded.
    `body` is data for JSON, a dict of strings or lists of strings for forms; see `payload` for the bytes. Without a
    body, `body` and `media_type` are None.
    """

    tool: Tool
    arguments: dict[str, object]
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
    body: object | None = None
    media_type: str | None = None


def payload(call: BoundCall) -> tuple[bytes, str] | None:
    """The bytes of the body and its Content-Type, or None for a call without one. Equal calls give equal bytes."""
    if call.media_type is None:
        return None
    kind = call.media_type.partition(";")[0].strip().lower()
    body = call.body
    if kind == "application/x-www-form-urlencoded" and isinstance(body, Mapping):
        return urlencode(list(_form_fields(call.tool, body))).encode(), call.media_type
    if kind.startswith("multipart/") and isinstance(body, Mapping):
        import hashlib

        from urllib3.filepost import encode_multipart_formdata

        assert call.tool.body is not None
        properties = call.tool.body.schema.get("properties")
        schemas = properties if isinstance(properties, Mapping) else {}
        fields = [_form_part(name, value, schemas.get(name) or {}) for name, value in _form_fields(call.tool, body)]
        boundary = hashlib.sha256(repr(fields).encode()).hexdigest()[:32]
        data, content_type = encode_multipart_formdata(fields, boundary)
        return data, content_type.replace("multipart/form-data", kind, 1)
    if kind == "application/json" or kind.endswith("+json") or not isinstance(body, str | bytes):
        return json.dumps(body, ensure_ascii=False, default=_as_base64).encode(), call.media_type
    return (body.encode() if isinstance(body, str) else body), call.media_type


def _form_fields(tool: Tool, body: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Names and values of a form; lists are repeated, or joined if the document asks for it."""
    joined = tool.body.joined if tool.body is not None else {}
    for name, value in body.items():
        if isinstance(value, list) and name in joined:
            yield name, joined[name].join(map(wire_text, value))
            continue
        for item in value if isinstance(value, list) else [value]:
            yield name, item if isinstance(item, bytes) else wire_text(item)


def _form_part(name: str, value: Any, schema: Schema) -> Any:
    """A field of a multipart form; a file has a file name and a media type."""
    items = schema.get("items")
    kind = items if isinstance(items, Mapping) else schema
    media_type = kind.get("contentMediaType")
    if isinstance(value, bytes) or media_type is not None or kind.get("format") == "binary":
        return name, (name, value, str(media_type or "application/octet-stream"))
    return name, value


def _as_base64(value: object) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"a {type(value).__name__} has no form in JSON")


def encoded_fields(tool: Tool, body: object) -> object:
    """The body, with the fields of a form as texts."""
    assert tool.body is not None
    kind = tool.body.media_type.lower()
    if isinstance(body, Mapping) and ("form-urlencoded" in kind or kind.startswith("multipart/")):
        return {name: _form_value(value) for name, value in body.items() if value is not None}
    return body


def _form_value(value: object) -> object:
    if isinstance(value, list):
        return [item if isinstance(item, bytes) else wire_text(item) for item in value]
    return value if isinstance(value, bytes) else wire_text(value)


def filled_path(tool: Tool, values: Mapping[str, object]) -> str:
    by_name = {parameter.name: parameter for parameter in tool.parameters if parameter.location == "path"}

    def filled(variable: re.Match[str]) -> str:
        parameter = by_name[variable[1]]
        text = _segment(parameter, values[parameter.argument])
        if not text:
            raise ToolError(f"{tool.name}(): argument {parameter.argument!r} must not be empty", tool=tool.name)
        return text

    path = _TEMPLATE.sub(filled, tool.path)
    # Servers and HTTP libraries read `.` and `..` as steps between folders, percent-encoded or not.
    if {".", ".."} & set(path.split("/")) - set(tool.path.split("/")):
        raise ToolError(f"{tool.name}(): a path argument must not be '.' or '..'", tool=tool.name)
    return path


def _segment(parameter: Parameter, value: object) -> str:
    if parameter.style == "json":
        return quote(json.dumps(value, ensure_ascii=False), safe="")
    if isinstance(value, Mapping) and parameter.explode:
        parts = [f"{quote(key, safe='')}={quote(wire_text(item), safe='')}" for key, item in value.items()]
    else:
        parts = [quote(text, safe="") for text in wire_texts(value)]
    if parameter.style == "label":
        return "." + ("." if parameter.explode else ",").join(parts)
    if parameter.style == "matrix":
        name = quote(parameter.name, safe="")
        if parameter.explode and isinstance(value, Mapping):
            return "".join(f";{part}" for part in parts)
        if parameter.explode and isinstance(value, list):
            return "".join(f";{name}={part}" for part in parts)
        return f";{name}={','.join(parts)}"
    return ",".join(parts)


def query_pairs(parameter: Parameter, value: object) -> list[tuple[str, str]]:
    name, style = parameter.name, parameter.style
    if style == "json":
        return [(name, json.dumps(value, ensure_ascii=False))]
    if isinstance(value, Mapping) and style == "deepObject":
        return [(f"{name}[{key}]", text) for key, item in value.items() for text in wire_texts(item)]
    if isinstance(value, Mapping) and parameter.explode:
        return [(key, text) for key, item in value.items() for text in wire_texts(item)]
    if isinstance(value, list) and parameter.explode:
        return [(name, text) for text in wire_texts(value)]
    if isinstance(value, list) and not value:
        return []
    return [(name, SEPARATORS.get(style, ",").join(wire_texts(value)))]


def joined_value(parameter: Parameter, value: object) -> str:
    if parameter.style == "json":
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping) and parameter.explode:
        return ",".join(f"{key}={wire_text(item)}" for key, item in value.items())
    return SEPARATORS.get(parameter.style, ",").join(wire_texts(value))


def wire_texts(value: object) -> list[str]:
    """The texts that a style joins: items of a list, names and values of an object in turn, or the value."""
    if isinstance(value, list):
        return [wire_text(item) for item in value]
    if isinstance(value, Mapping):
        return [text for key, item in value.items() for text in (key, wire_text(item))]
    return [wire_text(value)]


def wire_text(value: object) -> str:
    """A value as text on the wire."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, Mapping | list):
        return json.dumps(value, ensure_ascii=False, default=_as_base64)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
