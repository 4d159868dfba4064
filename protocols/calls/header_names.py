"""Headers that decide where a request goes and how it is framed: neither a program nor a user sets them."""

# ruff: noqa: SIM905 - word lists read better than quoted ones

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from protocols.model import Parameter, Protocol, Tool

__all__ = ["CONNECTION_HEADERS", "is_override", "is_reserved", "normalized_header", "without_headers"]

CONNECTION_HEADERS = frozenset(
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


def normalized_header(header: str) -> str:
    """The name of a header as the most lenient service reads it."""
    return header.strip().lower().replace("_", "-")


def is_override(header: str) -> bool:
    """True if some services take another method, path or host from a header."""
    return _OVERRIDE_HEADER.fullmatch(normalized_header(header)) is not None


def is_reserved(header: str) -> bool:
    """True if a header is not the user's to set."""
    return normalized_header(header) in (*CONNECTION_HEADERS, "content-type", "trailers") or is_override(header)


def without_headers(protocol: Protocol, headers: Iterable[tuple[str, str]]) -> Protocol:
    """The protocol whose tools do not ask for headers that the user sets, given by namespace and name."""
    names = {(namespace, normalized_header(name)) for namespace, name in headers}

    def left(tool: Tool, parameters: Iterable[Parameter]) -> tuple[Parameter, ...]:
        return tuple(
            parameter
            for parameter in parameters
            if parameter.location != "header" or (tool.namespace, normalized_header(parameter.name)) not in names
        )

    tools = (
        replace(tool, parameters=left(tool, tool.parameters), arguments=left(tool, tool.arguments))
        for tool in protocol.tools
    )
    return replace(protocol, tools=tuple(tools)) if names else protocol
