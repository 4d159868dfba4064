"""What tools are: API documents become Protocols, whose Tools everything else works with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocols.errors import (
    APIError,
    ATCError,
    LimitReached,
    ModelError,
    ProgramRefused,
    ProtocolError,
    ToolError,
    UsageError,
)
from protocols.model import Body, LeftOut, Location, Parameter, Protocol, Response, Schema, SecurityScheme, Server, Tool

if TYPE_CHECKING:
    from protocols.combined import combine
    from protocols.sources import load

__all__ = [
    "APIError",
    "ATCError",
    "Body",
    "LeftOut",
    "LimitReached",
    "Location",
    "ModelError",
    "Parameter",
    "ProgramRefused",
    "Protocol",
    "ProtocolError",
    "Response",
    "Schema",
    "SecurityScheme",
    "Server",
    "Tool",
    "ToolError",
    "UsageError",
    "combine",
    "load",
]


def __getattr__(name: str) -> object:
    if name == "load":  # reading sources needs more than the values do
        from protocols.sources import load

        return load
    if name == "combine":
        from protocols.combined import combine

        return combine
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
