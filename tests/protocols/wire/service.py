"""A service on localhost that answers by a function and keeps each request as it arrived, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from types import TracebackType
from typing import Self, TypeAlias

from tests.json_server import listening

__all__ = ["Arrived", "Handler", "Service"]

Headers: TypeAlias = Mapping[str, str | Sequence[str]]
Handler: TypeAlias = "Callable[[Arrived], tuple[int, Headers, object]]"
"""Gives status, headers (several values as a list) and body: bytes, a text, or a JSON value."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """A request: `path` and `query` are percent-encoded, names of headers in lower case, `base` is the service."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes
    base: str

    @property
    def line(self) -> str:
        """`GET /films?page=1`."""
        return f"{self.method} {self.path}{'?' * bool(self.query)}{self.query}"


class Service:
    """Serves on a free port of 127.0.0.1 from `with` to its end; `arrived` are the requests in their order."""

    def __init__(self, handle: Handler = lambda request: (200, {}, {"ok": True})) -> None:
        self.handle = handle
        self.arrived: list[Arrived] = []
        self.url = ""
        """Its base URL, without a slash at the end."""
        self._server = listening(_handler(self))

    @property
    def lines(self) -> list[str]:
        """The request lines, without the version."""
        return [request.line for request in self.arrived]

    def __enter__(self) -> Self:
        self.url = self._server.__enter__()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.__exit__(None, None, None)


def _handler(service: Service) -> type[BaseHTTPRequestHandler]:
    class RequestHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # one packet per reply

        def respond(self) -> None:
            path, _, query = self.path.partition("?")
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Arrived(self.command, path, query, headers, body, service.url)
            service.arrived.append(request)
            status, extra, content = service.handle(request)
            kind = {} if isinstance(content, bytes | str) else {"Content-Type": "application/json"}
            data = content if isinstance(content, bytes) else content.encode() if isinstance(content, str) else b""
            data = json.dumps(content).encode() if kind else data
            self.send_response(status)
            for name, values in {**kind, **extra}.items():
                for value in [values] if isinstance(values, str) else values:
                    self.send_header(name, value)
            if status != 204:
                self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD" and status != 204:
                self.wfile.write(data)

        def __getattr__(self, name: str) -> object:
            if name.startswith("do_"):
                return self.respond
            raise AttributeError(name)

    return RequestHandler
