"""Requests to the corpora's services, and replies that take the place of a simulator's, by pattern of the request."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

__all__ = [
    "Amendment",
    "CannedReply",
    "FixedReplies",
    "Forward",
    "Reply",
    "Request",
    "RequestPattern",
    "json_reply",
    "path_steps",
]

Reply = tuple[int, bytes, str, Mapping[str, str]]
"""Status, body, media type ("" without a body), further headers."""

Forward = Callable[[str], Reply]
"""The reply of the world to a request for this target, or another."""

_STEP = re.compile(r'\["([^"]+)"\]|\[(\d+)\]')


def json_reply(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """A reply with a JSON body."""
    return status, json.dumps(body).encode(), "application/json", headers or {}


def path_steps(path: str) -> tuple[str | int, ...]:
    """`["crew"][3]["name"]` as keys and positions."""
    return tuple(name or int(position) for name, position in _STEP.findall(path))


@dataclass(frozen=True)
class Request:
    """A request as it came; `target` is its path with the query."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        """The decoded path."""
        return unquote(urlsplit(self.target).path)

    @property
    def query(self) -> list[tuple[str, str]]:
        """The parameters of the query."""
        return parse_qsl(urlsplit(self.target).query)

    @cached_property
    def values(self) -> Mapping[str, object]:
        """The members of the body, if it is a JSON object."""
        try:
            sent = json.loads(self.body or b"{}")
        except ValueError:
            sent = {}
        return sent if isinstance(sent, dict) else {}


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

    def fits(self, request: Request, prefix: str) -> bool:
        """True if a request matches; its path begins with the service's own, `prefix`."""
        return (
            request.method == self.method
            and re.fullmatch(self.path, request.path.removeprefix(prefix)) is not None
            and all(any(n == name and re.fullmatch(value, v) for n, v in request.query) for name, value in self.query)
            and all(re.fullmatch(value, str(request.values.get(name, ""))) for name, value in self.body.items())
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
        return (self.status, b"", "", headers) if self.status == 204 else json_reply(self.body, self.status, headers)


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


@dataclass(frozen=True, slots=True)
class FixedReplies:
    """Canned replies to some requests, and amended ones to others; `prefix` is the service's own path."""

    answers: Iterable[CannedReply]
    amendments: Iterable[Amendment] = ()
    prefix: str = ""

    def __call__(self, request: Request, forward: Forward) -> Reply:
        canned = next((answer for answer in self.answers if answer.pattern.fits(request, self.prefix)), None)
        if canned is not None:
            return canned.encoded()
        reply = status, data, kind, headers = forward(request.target)
        changes = [change for change in self.amendments if change.pattern.fits(request, self.prefix)]
        if not changes or not data or status >= 400:
            return reply
        body = json.loads(data)
        for change in changes:
            body = change.applied(body)
        return status, json.dumps(body).encode(), kind, headers
