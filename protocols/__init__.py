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
from protocols.model import Body, Location, Parameter, Protocol, Response, Schema, SecurityScheme, Server, Tool

if TYPE_CHECKING:
    from protocols.documents.loader import load

__all__ = [
    "APIError",
    "ATCError",
    "Body",
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
    "load",
]


def __getattr__(name: str) -> object:
    if name == "load":  # reading documents needs more than the values do
        from protocols.documents.loader import load

        return load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
