"""How the values of a call are written in its URL, and which headers are not its own to set.

The styles are those of OpenAPI, and so of RFC 6570.
Separators stand as they are and items are percent-encoded, so that a comma within an item is no separator. Where a
style cannot say a value (an empty list, an item with a separator that has no other form), nothing is sent.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import quote

from protocols.errors import ToolError
from protocols.model import SEPARATORS, Parameter, Tool

__all__ = ["CONNECTION_HEADERS", "BoundCall", "Pair", "UnwritableError", "as_base64", "filled_path", "is_override"]
__all__ += ["is_reserved", "normalized_header", "query_pairs", "styled_pairs", "wire_text", "wire_texts"]

_TEMPLATE = re.compile(r"\{([^{}]*)\}")
_RESERVED_IN_QUERY = "!$'()*,:@/?[]"
"""Reserved characters that mean nothing else within the value of a query parameter."""

_RESERVED_IN_PATH = "!$&'()*+,;=:@/"

CONNECTION_HEADERS = frozenset(
    (
        *("host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer"),
        *("proxy-authorization", "proxy-authenticate", "proxy-connection", "accept-encoding", "content-encoding"),
    )
)
"""Headers that belong to the connection, or name the coding of a body, which the broker has to read."""

_OVERRIDE_HEADER = re.compile(
    r"(x-)?((http|original|forwarded|rewrite|override)-)*(method|verb)(-override)?|-method"
    r"|(x-)?([a-z]+-)*(original|rewrite|rewritten|override|forwarded)-(url|uri|request-uri|path|prefix|host|server)"
    r"|x-(http-)?host(-override)?|(x-)?(http-)?(url|uri|path)-override|forwarded|destination"
)
"""Headers by which some services take another method, path or host."""


class UnwritableError(ValueError):
    """A value that its style or media type cannot say; the message goes behind the name of the argument.

    `field` is the field of a form that it is about, "" for all of the value.
    """

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class Pair(NamedTuple):
    """A name and value of a query or form; `written` is the value percent-encoded, with its separators."""

    name: str
    text: str
    written: str


@dataclass(frozen=True, slots=True)
class BoundCall:
    """One call, checked and ready to be sent.

    `arguments` are by argument name in signature order, with values in the schema's types; a whole body is `body`.
    `path` is percent-encoded, starts with "/", and is relative to the server's URL. `query` are pairs, not encoded, and
    `written_query` the same as it goes out. `content` are the bytes of the body and its Content-Type; None without one.
    """

    tool: Tool
    arguments: dict[str, object]
    path: str
    query: tuple[tuple[str, str], ...] = ()
    written_query: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
    content: tuple[bytes, str] | None = None


def as_base64(value: object) -> str:
    """Bytes within JSON. Raises: TypeError: It is something else."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"a {type(value).__name__} has no form in JSON")


def filled_path(tool: Tool, values: Mapping[str, object]) -> str:
    """The path of a call, percent-encoded. Raises: ToolError: A variable is empty, or would be a step up."""
    by_name = {parameter.name: parameter for parameter in tool.parameters if parameter.location == "path"}

    def filled(variable: re.Match[str]) -> str:
        parameter = by_name[variable[1]]
        argument = f"{tool.name}(): argument {parameter.argument!r}"
        try:
            text = _segment(parameter, values[parameter.argument])
        except UnwritableError as error:
            raise ToolError(f"{argument} {error}", tool=tool.name) from None
        if not text:
            raise ToolError(f"{argument} must not be empty", tool=tool.name)
        if text in (".", ".."):
            raise ToolError(f"{argument} must not be {text!r}, which is a step between folders", tool=tool.name)
        return text

    path = _TEMPLATE.sub(filled, tool.path)
    if path.startswith("//") and not tool.path.startswith("//"):  # which HTTP libraries take for one
        raise ToolError(f"{tool.name}(): a path argument must not begin with '/' here", tool=tool.name)
    # Servers and HTTP libraries read `.` and `..` as steps between folders, percent-encoded or not.
    if {".", ".."} & set(path.split("/")) - set(tool.path.split("/")):
        raise ToolError(f"{tool.name}(): a path argument must not be '.' or '..'", tool=tool.name)
    return path


def _segment(parameter: Parameter, value: object) -> str:
    """The value in a path. Raises: UnwritableError."""
    if parameter.style == "json":
        return quote(json.dumps(value, ensure_ascii=False), safe="")
    if isinstance(value, list | Mapping) and not value:
        raise UnwritableError("must not be empty")
    safe = _RESERVED_IN_PATH if parameter.reserved else ""
    if isinstance(value, Mapping) and parameter.explode:
        texts = [(key, wire_text(item)) for key, item in value.items()]
        parts = [f"{quote(key, safe='')}={quote(text, safe=safe)}" for key, text in texts]
    else:
        parts = [quote(text, safe=safe) for text in wire_texts(value)]
    if parameter.style == "label":
        if parameter.explode and isinstance(value, list | Mapping) and any("." in part for part in parts):
            raise UnwritableError("holds a '.', which separates the items of this path")
        return "." + ("." if parameter.explode else ",").join(parts)
    if parameter.style == "matrix":
        name = quote(parameter.name, safe="")
        if parameter.explode and isinstance(value, Mapping):
            return "".join(f";{part}" for part in parts)
        if parameter.explode and isinstance(value, list):
            return "".join(f";{name}={part}" for part in parts)
        return f";{name}={','.join(parts)}"
    return _joined(parts, parameter.style) if isinstance(value, list | Mapping) else parts[0]


def query_pairs(parameter: Parameter, value: object) -> list[Pair]:
    """The pairs of a query parameter. Raises: UnwritableError."""
    safe = _RESERVED_IN_QUERY if parameter.reserved else ""
    return list(styled_pairs(parameter.name, value, parameter.style, parameter.explode, safe))


def styled_pairs(name: str, value: object, style: str, explode: bool, safe: str = "") -> Iterator[Pair]:
    """The pairs that a style makes of a value, in a query or a form; `safe` are characters that are not encoded.

    Raises: UnwritableError: It makes none.
    """
    if isinstance(value, list | Mapping) and not value and style != "json":
        kind = "list" if isinstance(value, list) else "dict"
        raise UnwritableError(f"is an empty {kind}, which cannot be sent; leave it out, or do without the call")
    if isinstance(value, list | Mapping) and not explode and style not in ("json", "deepObject"):
        texts = wire_texts(value)
        if texts == [""]:
            raise UnwritableError("holds an empty text alone, which reads as an empty list; leave it out")
        written = _joined([quote(text, safe=safe.replace(",", "")) for text in texts], style)
        yield Pair(name, SEPARATORS.get(style, ",").join(texts), written)
        return
    for key, text in _named_texts(name, value, style):
        yield Pair(key, text, quote(text, safe=safe))


def _named_texts(name: str, value: object, style: str) -> Iterator[tuple[str, str]]:
    """The name and text of each pair, where a value is not joined. Raises: UnwritableError."""
    if style == "json":
        yield name, json.dumps(value, ensure_ascii=False, default=as_base64)
    elif style == "deepObject" and isinstance(value, list | Mapping):
        yield from _deep(name, value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _refuse_nothing(str(key), item)
            yield from ((str(key), wire_text(part)) for part in (item if isinstance(item, list) else [item]))
    else:
        yield from ((name, text) for text in wire_texts(value))


def _joined(parts: list[str], style: str) -> str:
    """Encoded items with their separator. Raises: UnwritableError: One holds a separator that must be encoded, too."""
    separator = SEPARATORS.get(style, ",")
    encoded = quote(separator, safe=",")
    if encoded != separator and any(encoded in part for part in parts):
        raise UnwritableError(f"holds {separator!r}, which separates the items")
    return encoded.join(parts)


def _deep(name: str, value: object) -> Iterator[tuple[str, str]]:
    """Names and values in brackets, as deep as the value is: `filter[price][gte]`, `tags[]`, `lines[0][price]`.

    Raises: UnwritableError: Something in it is empty, or None.
    """
    _refuse_nothing(name, value)
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _deep(f"{name}[{key}]", item)
    elif isinstance(value, list):
        is_flat = not any(isinstance(item, list | Mapping) for item in value)
        for index, item in enumerate(value):
            yield from _deep(f"{name}[]" if is_flat else f"{name}[{index}]", item)
    else:
        yield name, wire_text(value)


def _refuse_nothing(name: str, value: object) -> None:
    """Raises: UnwritableError: A member is empty or None, which would be left out without a word."""
    if value is None or (isinstance(value, list | Mapping) and not value):
        kind = "None" if value is None else "an empty list" if isinstance(value, list) else "an empty dict"
        raise UnwritableError(f"holds {kind} at {name!r}, which cannot be sent; leave it out")


def wire_texts(value: object) -> list[str]:
    """The texts that a style joins: items of a list, names and values of an object in turn, or the value."""
    if isinstance(value, list):
        return [wire_text(item) for item in value]
    if isinstance(value, Mapping):
        return [text for key, item in value.items() for text in (str(key), wire_text(item))]
    return [wire_text(value)]


def wire_text(value: object) -> str:
    """A value as text on the wire."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, Mapping | list):
        return json.dumps(value, ensure_ascii=False, default=as_base64)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


# The names of headers


def normalized_header(header: str) -> str:
    """The name of a header as the most lenient service reads it."""
    return header.strip().lower().replace("_", "-")


def is_override(header: str) -> bool:
    """True if some services take another method, path or host from a header."""
    return _OVERRIDE_HEADER.fullmatch(normalized_header(header)) is not None


def is_reserved(header: str) -> bool:
    """True if a header is not the user's to set."""
    return normalized_header(header) in (*CONNECTION_HEADERS, "content-type", "trailers") or is_override(header)
