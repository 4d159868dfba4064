"""Requests to the simulated service and its replies, independent of the server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from protocols.media_types import media_kind

__all__ = [
    "LENIENT",
    "EncodedAnswer",
    "RequestError",
    "SimulatedReply",
    "SimulatedRequest",
    "encode",
    "encoded_message",
]

EncodedAnswer = tuple[int, bytes, str, Mapping[str, str]]
"""Status, body, media type ("" without a body), further headers."""


LENIENT = ("Prefer", "handling=lenient")
"""The header, and its value, of a request that is answered although the document speaks against it."""


@dataclass(frozen=True, slots=True)
class SimulatedRequest:
    """One request; `path` is without the server's prefix and the query, names of `headers` are in lower case."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    def header(self, name: str) -> str | None:
        """The value of a header; case-insensitive."""
        return self.headers.get(name.lower())

    @property
    def lenient(self) -> bool:
        """True if the client wants it answered although the document speaks against it (RFC 7240)."""
        name, wanted = LENIENT
        return wanted in [text.strip().lower() for text in (self.header(name) or "").split(",")]

    @property
    def cookies(self) -> dict[str, str]:
        """The cookies, by name."""
        pairs = (part.strip().partition("=") for part in (self.header("Cookie") or "").split(";"))
        return {name: value for name, _, value in pairs if name}


@dataclass(frozen=True, slots=True)
class SimulatedReply:
    """One reply. `body` is data for a JSON media type, text for others, and None without a `media_type`."""

    status: int
    body: object = None
    media_type: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class RequestError(Exception):
    """The error response to a request; `wait` is its Retry-After in seconds, 0 for none."""

    def __init__(self, status: int, message: str, wait: int = 0) -> None:
        super().__init__(message)
        self.status, self.wait = status, wait


def encode(reply: SimulatedReply) -> EncodedAnswer:
    """Encode a reply for the wire."""
    if reply.media_type is None:
        return reply.status, b"", "", reply.headers
    if media_kind(reply.media_type) == "lines" and isinstance(reply.body, list):
        lines = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in reply.body)
        return reply.status, lines.encode(), reply.media_type, reply.headers
    if "json" in reply.media_type or "*" in reply.media_type:
        media_type = "application/json" if "*" in reply.media_type else reply.media_type
        return reply.status, json.dumps(reply.body, ensure_ascii=False).encode(), media_type, reply.headers
    text = reply.body if isinstance(reply.body, str) else json.dumps(reply.body, ensure_ascii=False)
    return reply.status, text.encode(), reply.media_type, reply.headers


def encoded_message(status: int, message: str, headers: Mapping[str, str] | None = None) -> EncodedAnswer:
    """A message of the server itself, in JSON."""
    return status, json.dumps({"message": message, "status": status}).encode(), "application/json", headers or {}
