"""Parts of a request by which some services take another method, path or host than the one that was checked.

`warn` is told of every part that is left out.
"""

# ruff: noqa: SIM905 - word lists read better than quoted ones

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from urllib.parse import parse_qsl, unquote_plus, urlencode

from protocols.model import Tool
from sandbox.egress.pending_call import FORM, PlannedRequest, Query
from sandbox.records import SAFE
from sandbox.truncation import cut

__all__ = ["allowed_form", "allowed_query", "may_pass", "normalized_header", "overrides_method", "without_overrides"]

_CONNECTION_HEADERS = frozenset(
    "host content-length transfer-encoding connection keep-alive upgrade te trailer proxy-authorization "
    "proxy-authenticate proxy-connection accept-encoding content-encoding".split()
)
"""Headers that belong to the connection, or name the coding of a body, which the broker has to read."""

_OVERRIDE_HEADER = re.compile(
    r"(x-)?((http|original|forwarded|rewrite|override)-)*(method|verb)(-override)?|-method"
    r"|(x-)?([a-z]+-)*(original|rewrite|rewritten|override|forwarded)-(url|uri|request-uri|path|prefix|host|server)"
    r"|x-(http-)?host(-override)?|(x-)?(http-)?(url|uri|path)-override|forwarded|destination"
)
"""Headers by which some services take another method, path or host."""

_METHOD = re.compile(r"\s*[_.\[]method(\0.*)?", re.IGNORECASE | re.DOTALL)
"""A field by which some services take another method, as they read its name."""

_METHOD_IN_JSON = re.compile(
    b'"' + b"".join(rb"(?:%c|\\u00%02x)" % (char, char) for char in b"_method") + rb'"\s*:', re.IGNORECASE
)
_METHOD_IN_PARTS = re.compile(rb"(?<!file)name\s*=\s*[\"']?\s*[_.\[]method\b", re.IGNORECASE)


def normalized_header(header: str) -> str:
    """The name of a header as the most lenient service reads it."""
    return header.strip().lower().replace("_", "-")


def may_pass(header: str, warn: Callable[[str], None]) -> bool:
    """True if a header of the program is sent on as it is."""
    name = normalized_header(header)
    shortened = cut(header.strip(), 100)
    is_override = _OVERRIDE_HEADER.fullmatch(name) is not None
    if is_override:
        warn(f"the program's own header {shortened} was not sent: it may change the method or path")
    elif re.fullmatch("[a-z0-9-]+", name) is None:
        warn(f"the program's own header {shortened!r} was not sent: a name has letters, digits, - and _ alone")
        return False
    return name not in _CONNECTION_HEADERS and not is_override and name != "cookie"


def without_overrides(tool: Tool, planned: PlannedRequest, warn: Callable[[str], None]) -> PlannedRequest:
    """A tool's request without the connection's own headers, even documented ones; a read also without overrides."""
    dropped = [
        name
        for name in planned.headers
        if normalized_header(name) in _CONNECTION_HEADERS
        or (tool.method in SAFE and _OVERRIDE_HEADER.fullmatch(normalized_header(name)) is not None)
    ]
    for name in dropped:
        warn(f"the header {cut(name, 100)} of {tool.name} was not sent: it may change the request")
    return replace(planned, headers={name: text for name, text in planned.headers.items() if name not in dropped})


def allowed_form(
    data: bytes | Sequence[Sequence[str]] | None, headers: Mapping[str, str], warn: Callable[[str], None]
) -> bytes | Sequence[Sequence[str]] | None:
    """A form without a field for the method."""
    if isinstance(data, bytes):
        text = data.decode("latin-1") if FORM in _media_type(headers) else ""
        pairs, overridden = parse_qsl(text, keep_blank_values=True), _names_method(text)
    else:
        pairs = [(str(pair[0]), str(pair[1])) for pair in data or () if len(pair) == 2]
        overridden = any(_METHOD.fullmatch(name) for name, _ in pairs)
    if not overridden:
        return data
    warn("the program's own form field _method was not sent: it may change the method")
    allowed = [(name, value) for name, value in pairs if not _METHOD.fullmatch(name)]
    return urlencode(allowed, encoding="latin-1").encode() if isinstance(data, bytes) else allowed


def allowed_query(tool: Tool | None, query: str, warn: Callable[[str], None]) -> Query:
    """The query of a program without a parameter for the method, unless the tool documents one."""
    pairs = parse_qsl(query, keep_blank_values=True)
    if _documents_method(tool) or not _names_method(query):
        return Query(pairs, query)
    warn("the program's own query parameter _method was not sent: it may change the method")
    return Query([(name, value) for name, value in pairs if not _METHOD.fullmatch(name)])


def overrides_method(tool: Tool | None, planned: PlannedRequest) -> bool:
    """True if the query or body has a method that some services take for the request's own."""
    if _documents_method(tool):
        return False
    body = planned.body or b""
    media_type = _media_type(planned.headers)
    if FORM in media_type and _names_method(body.decode("latin-1")):
        return True
    inside = _METHOD_IN_PARTS if media_type.lstrip().startswith("multipart/") else _METHOD_IN_JSON
    return inside.search(body) is not None or any(_METHOD.fullmatch(name) for name, _ in planned.query)


def _media_type(headers: Mapping[str, str]) -> str:
    return next((text for name, text in headers.items() if normalized_header(name) == "content-type"), "").lower()


def _names_method(form: str) -> bool:
    """True if a query or form has a method for services that split it at `&` or at `;`."""
    return any(_METHOD.fullmatch(unquote_plus(part.partition("=")[0])) for part in re.split("[&;]", form))


def _documents_method(tool: Tool | None) -> bool:
    """True for a write with a parameter for the method."""
    return tool is not None and tool.method not in SAFE and any(p.name == "_method" for p in tool.arguments)
