"""Replies from a table, and changes to the replies of a simulator, by pattern of the request."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from benchmarks.injection.services import Reply, json_reply

__all__ = ["Amendment", "CannedReply", "ReceivedRequest", "RequestPattern", "first_reply", "path_steps"]

_STEP = re.compile(r'\["([^"]+)"\]|\[(\d+)\]')


def path_steps(path: str) -> tuple[str | int, ...]:
    """`["crew"][3]["name"]` as keys and positions."""
    return tuple(name or int(position) for name, position in _STEP.findall(path))


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request as it is compared with patterns; `path` is decoded and without the server's own."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    body: Mapping[str, object]

    @classmethod
    def read(cls, method: str, target: str, body: bytes, prefix: str) -> ReceivedRequest:
        """A request with its target as it came."""
        parts = urlsplit(target)
        try:
            sent = json.loads(body) if body else {}
        except ValueError:
            sent = {}
        path = unquote(parts.path).removeprefix(prefix)
        return cls(method, path, tuple(parse_qsl(parts.query)), sent if isinstance(sent, dict) else {})


@dataclass(frozen=True, slots=True)
class RequestPattern:
    """A pattern of requests. `path` and the values are regular expressions for the whole text."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str, body: Mapping[str, object] | None = None) -> RequestPattern:
        """`GET /bookings?date=2024-06-03`."""
        method, _, target = text.partition(" ")
        path, _, query = target.partition("?")
        pairs = (part.partition("=") for part in query.split("&") if part)
        values = {name: str(value) for name, value in (body or {}).items()}
        return cls(method, path, tuple((name, value) for name, _, value in pairs), values)

    def fits(self, request: ReceivedRequest) -> bool:
        """True if a request matches."""
        return (
            request.method == self.method
            and re.fullmatch(self.path, request.path) is not None
            and all(any(n == name and re.fullmatch(value, v) for n, v in request.query) for name, value in self.query)
            and all(re.fullmatch(value, str(request.body.get(name, ""))) for name, value in self.body.items())
        )


@dataclass(frozen=True, slots=True)
class CannedReply:
    """A reply to certain requests; text is sent as a web page, None as nothing if the status is 204."""

    pattern: RequestPattern
    status: int
    body: object

    def encoded(self) -> Reply:
        """The reply as it is sent; a client that is told to come later may come at once."""
        headers = {"Retry-After": "0"} if self.status in {429, 503} else {}
        if isinstance(self.body, str):
            return self.status, self.body.encode(), "text/html; charset=utf-8", headers
        if self.status == 204:
            return self.status, b"", "", headers
        return json_reply(self.body, self.status, headers)


@dataclass(frozen=True, slots=True)
class Amendment:
    """A change to the JSON that certain requests get: `value` holds what stands there instead, or is empty."""

    pattern: RequestPattern
    place: tuple[str | int, ...]
    value: tuple[object, ...] = ()

    def applied(self, body: Any) -> Any:
        """The body with this change. Raises: KeyError, IndexError: There is no such place."""
        if not self.place:
            return self.value[0]
        changed = copy.deepcopy(body)
        inside = changed
        for step in self.place[:-1]:
            inside = inside[step]
        if self.value:
            inside[self.place[-1]] = self.value[0]
        else:
            del inside[self.place[-1]]
        return changed


def first_reply(answers: Iterable[CannedReply], request: ReceivedRequest) -> CannedReply | None:
    """The first reply that is meant for a request."""
    return next((answer for answer in answers if answer.pattern.fits(request)), None)
