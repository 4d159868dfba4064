"""A small real API on localhost for tests: it has a protocol, answers as it is told to, and remembers what it got.

Usage:
    with LocalAPI() as api:
        api.answer("GET", "/cities/oslo", {"name": "Oslo"})
        Sandbox(api.protocol).run(...)
        assert api.requests[0].path == "/v1/cities/oslo"
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import parse_qsl, urlsplit

from protocols import Protocol, load

__all__ = ["PREFIX", "Answer", "LocalAPI", "Received"]

PREFIX = "/v1"
DOCUMENTED = "https://weather.example/v1"
"""The server that the protocol documents; LocalAPI stands in for it through `base_url`."""


def document(server: str) -> dict[str, object]:
    """The OpenAPI document: cities, their weather, and alerts that can be written."""
    text: Mapping[str, object] = {"type": "string"}
    number: Mapping[str, object] = {"type": "integer"}

    def ok(schema: Mapping[str, object]) -> dict[str, object]:
        return {"200": {"description": "ok", "content": {"application/json": {"schema": schema}}}}

    def parameter(name: str, where: str, schema: Mapping[str, object], required: bool = False) -> dict[str, object]:
        return {"name": name, "in": where, "schema": schema, "required": required or where == "path"}

    alert = {"type": "object", "properties": {"text": text, "level": number}, "required": ["text"]}
    body = {"required": True, "content": {"application/json": {"schema": alert}}}
    city = {"type": "object", "properties": {"id": text, "name": text, "population": number}}
    return {
        "openapi": "3.0.3",
        "info": {"title": "Weather", "version": "1"},
        "servers": [{"url": server}],
        "security": [{"token": []}],
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "paths": {
            "/cities": {
                "get": {
                    "parameters": [parameter("query", "query", text, True), parameter("page", "query", number)],
                    "responses": ok({"type": "object", "properties": {"results": {"type": "array", "items": city}}}),
                }
            },
            "/cities/{city_id}": {
                "parameters": [parameter("city_id", "path", text)],
                "get": {"responses": ok(city)},
                "delete": {"responses": {"204": {"description": "gone"}}},
            },
            "/cities/{city_id}/weather": {
                "get": {
                    "parameters": [
                        parameter("city_id", "path", text),
                        parameter("units", "query", {"type": "string", "enum": ["metric", "imperial"]}),
                    ],
                    "responses": ok({"type": "object"}),
                }
            },
            "/alerts": {
                "get": {"responses": ok({"type": "array", "items": alert})},
                "post": {"requestBody": body, "responses": ok(alert)},
            },
        },
    }


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it arrived; names of headers are lower case, `at` is in seconds."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    headers: Mapping[str, str]
    body: bytes
    at: float = field(default_factory=time.monotonic)

    def json(self) -> object:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Answer:
    """One reply. `wait`: seconds before it; `drip`: seconds before each byte of the body; `cut`: break off instead;
    `raw`: these bytes instead of a reply."""

    status: int = 200
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    drip: float = 0.0
    cut: bool = False
    raw: bytes = b""


class LocalAPI:
    """Serves on a free port of localhost from `with` to its end; thread-safe enough for tests."""

    def __init__(self) -> None:
        self.requests: list[Received] = []
        self._script: dict[tuple[str, str], list[Answer]] = {}
        self._makers: dict[tuple[str, str], Callable[[Received], Answer]] = {}
        self._over = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Where it is: the base URL that stands in for the documented server."""
        return f"http://127.0.0.1:{self._server.server_port}{PREFIX}"

    @property
    def protocol(self) -> Protocol:
        """Its protocol, with its own URL as the documented server."""
        return load(document(self.url))

    @property
    def documented(self) -> Protocol:
        """Its protocol with the public server `https://weather.example/v1`, to be used with `base_url`."""
        return load(document(DOCUMENTED))

    def answer(self, method: str, path: str, body: object = None, status: int = 200, **more: object) -> None:
        """Answer this path (without the prefix, without the query) so from now on."""
        self._script[method, path] = [Answer(status, body, **more)]  # type: ignore[arg-type]

    def script(self, method: str, path: str, *answers: Answer) -> None:
        """Answer so in turn; the last one stays."""
        self._script[method, path] = list(answers)

    def respond(self, method: str, path: str, make: Callable[[Received], Answer]) -> None:
        """Answer this path with what `make` makes of the request."""
        self._makers[method, path] = make

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def next(self, received: Received) -> Answer:
        """What this request is answered."""
        self.requests.append(received)
        place = received.method, received.path.removeprefix(PREFIX)
        if place in self._makers:
            return self._makers[place](received)
        answers = self._script.get(place)
        if answers is None:
            return Answer(404, {"message": "The resource could not be found"})
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def pause(self, seconds: float) -> None:
        """Wait, but not beyond the end of the server."""
        if seconds:
            self._over.wait(seconds)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that has hung up is no news; anything else is a broken test."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            raise


def _handler(api: LocalAPI) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # one packet per reply

        def respond(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            query = tuple(parse_qsl(parts.query, keep_blank_values=True))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = api.next(Received(self.command, parts.path, query, headers, body))
            api.pause(answer.wait)
            if answer.cut or answer.raw:
                self.close_connection = True
                self.wfile.write(answer.raw)
                return
            raw = isinstance(answer.body, (str, bytes))
            text = answer.body if isinstance(answer.body, bytes) else b""
            if isinstance(answer.body, str):
                text = answer.body.encode()
            elif answer.body is not None and not raw:
                text = json.dumps(answer.body).encode()
            self.send_response(answer.status)
            kind = "text/plain; charset=utf-8" if raw else "application/json"
            for name, value in {"Content-Type": kind, **answer.headers, "Content-Length": str(len(text))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "HEAD":
                return
            if not answer.drip:
                self.wfile.write(text)
                return
            for byte in text:
                api.pause(answer.drip)
                self.wfile.write(bytes([byte]))
                self.wfile.flush()

        def __getattr__(self, name: str) -> object:
            if name.startswith("do_"):
                return self.respond
            raise AttributeError(name)

        def log_message(self, format: str, *args: object) -> None:
            """Keep the output of the tests clean."""

    return Handler
