"""Serve a world over HTTP on localhost, so that programs meet real requests, real statuses and real JSON."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from urllib.parse import parse_qsl, urlsplit

from protocols.auth import Credential, for_scheme
from protocols.errors import UsageError
from protocols.model import Protocol, Tool
from protocols.simulator.dice import Dice
from protocols.simulator.kinds import Blueprint, survey
from protocols.simulator.messages import Reply, Request, RequestError
from protocols.simulator.responder import Responder
from protocols.simulator.world import World

__all__ = ["Simulator"]

_MOST_BODY = 10 * 1024 * 1024
_REMEMBERED = 512
_DEFAULT_NOW = datetime(2024, 6, 1, 12, 0, tzinfo=UTC)
_surveys: dict[tuple[str, ...], Blueprint] = {}


def _blueprint(protocol: Protocol) -> Blueprint:
    """The survey of a protocol, made once per process."""
    key = (protocol.digest, *(tool.name for tool in protocol.tools))
    if key not in _surveys:
        while len(_surveys) >= 8:
            _surveys.pop(next(iter(_surveys)))
        _surveys[key] = survey(protocol)
    return _surveys[key]


class Simulator:
    """A stand-in for the service behind a protocol: a real HTTP server with a world of made-up data.

    The same protocol, seed and requests give the same bytes. Use it as a context manager, or `start` and `stop` it.

    Args:
        now: The moment that counts as today; 2024-06-01T12:00:00Z by default.
        auth: Ask for `credentials`: a made-up one for each documented way to sign in that a tool demands.
        open: Take whatever a path or query identifies for something that exists, as one must who stands in for the
            writes of a service that is otherwise real.
    """

    def __init__(
        self,
        protocol: Protocol,
        seed: int = 0,
        now: datetime | None = None,
        auth: bool = True,
        *,
        open: bool = False,
    ) -> None:
        self._open = open
        self.protocol = protocol
        self.seed = seed
        self.now = now or _DEFAULT_NOW
        self.credentials: tuple[Credential, ...] = tuple(_made_up(protocol, seed)) if auth else ()
        self._lock = threading.Lock()
        self._responder: Responder | None = None
        self._server: _Server | None = None
        self._remembered: dict[tuple[object, ...], tuple[int, bytes, str, Mapping[str, str]]] = {}
        self._prefix = urlsplit(protocol.servers[0].url).path.rstrip("/") if protocol.servers else ""

    def start(self, port: int = 0) -> str:
        """Begin to serve in the background; calling it again changes nothing.

        Args:
            port: 0 for any free one.
        Returns: The base URL, with the path of the documented server.
        Raises: UsageError: The port cannot be had.
        """
        if self._server is None:
            try:
                self._server = _Server(("127.0.0.1", port), self)
            except OSError as error:
                raise UsageError(f"port {port} cannot be used: {error.strerror}; choose another with --port") from None
            threading.Thread(target=self._server.serve_forever, args=(0.05,), name="simulator", daemon=True).start()
        return self.url

    @property
    def url(self) -> str:
        """The base URL; starts the server if it is not running."""
        if self._server is None:
            return self.start()
        return f"http://127.0.0.1:{self._server.server_address[1]}{self._prefix}"

    def stop(self) -> None:
        """End the server and its connections; the world stays as it is."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()

    def __enter__(self) -> Simulator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def handle(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, bytes, str, Mapping[str, str]]:
        """Answer one request.

        Args:
            target: Path and query as they came.
        Returns: Status, body, media type ("" without a body), further headers.
        """
        parts = urlsplit(target)
        path = parts.path
        if self._prefix and (path == self._prefix or path.startswith(self._prefix + "/")):
            path = path[len(self._prefix) :] or "/"
        request = Request(method, path, tuple(parse_qsl(parts.query, keep_blank_values=True)), headers, body)
        with self._lock:
            if self._responder is None:
                self._responder = Responder(World(_blueprint(self.protocol), self.seed, self.now, open=self._open))
            responder = self._responder
            tool = responder.tool_for(request)
            if not self._signed_in(request, tool):
                problem = RequestError(401, "the credential is missing or wrong")
                return _encoded(responder.problem(tool, problem))
            request = self._without_secret(request)
            version = responder.world.version
            heard = [
                request.header("Cookie" if p.location == "cookie" else p.name)
                for p in (tool.parameters if tool else ())
                if p.location in {"header", "cookie"}
            ]
            key = (path, request.query, *heard, version)
            if method in {"GET", "HEAD"} and key in self._remembered:
                return self._remembered[key]
            answer = _encoded(responder.answer(request))
            if method in {"GET", "HEAD"} and responder.world.version == version:
                while len(self._remembered) >= _REMEMBERED:
                    self._remembered.pop(next(iter(self._remembered)))
                self._remembered[key] = answer
            return answer

    def _signed_in(self, request: Request, tool: Tool | None) -> bool:
        """Whether a request satisfies one of the alternatives that its tool asks for; where none is named, any."""
        held = {credential.scheme for credential in self.credentials if _holds(request, credential)}
        if tool is None or not any(other.security for other in self.protocol.tools):
            return bool(held) or not self.credentials
        return not self.credentials or not tool.security or any(held.issuperset(way) for way in tool.security)

    def _without_secret(self, request: Request) -> Request:
        names = {s.parameter for s in self.protocol.security_schemes if s.kind == "apiKey" and s.location == "query"}
        if not names:
            return request
        query = tuple((name, value) for name, value in request.query if name not in names)
        return Request(request.method, request.path, query, request.headers, request.body)


def _made_up(protocol: Protocol, seed: int) -> Iterator[Credential]:
    """A credential for each scheme that a tool demands, for every scheme if none demands any.

    Those that go to the same place are alike: a request has but one Authorization.
    """
    demanded = {name for tool in protocol.tools for alternative in tool.security for name in alternative}
    for scheme in protocol.security_schemes:
        if demanded and scheme.name not in demanded:
            continue
        place = for_scheme(scheme, "")
        dice = Dice(protocol.digest, seed, "credential", place.kind, place.location, place.parameter)
        secret = "simulated-" + "".join(dice.choose("abcdefghijkmnpqrstuvwxyz23456789") for _ in range(24))
        yield for_scheme(scheme, f"user:{secret}" if scheme.kind == "basic" else secret)


def _holds(request: Request, credential: Credential) -> bool:
    """Whether a request carries a credential."""
    headers: dict[str, str] = {}
    query: list[tuple[str, str]] = []
    cookies: dict[str, str] = {}
    credential.apply(headers, query, cookies)
    return (
        all(request.header(name) == text for name, text in headers.items())
        and set(query) <= set(request.query)
        and cookies.items() <= request.cookies.items()
    )


def _encoded(reply: Reply) -> tuple[int, bytes, str, Mapping[str, str]]:
    if reply.media_type is None:
        return reply.status, b"", "", reply.headers
    if "json" in reply.media_type or "*" in reply.media_type:
        media_type = "application/json" if "*" in reply.media_type else reply.media_type
        return reply.status, json.dumps(reply.body, ensure_ascii=False).encode(), media_type, reply.headers
    text = reply.body if isinstance(reply.body, str) else json.dumps(reply.body, ensure_ascii=False)
    return reply.status, text.encode(), reply.media_type, reply.headers


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], simulator: Simulator) -> None:
        self.simulator = simulator
        self.open: set[socket.socket] = set()
        super().__init__(address, _Handler)

    def server_close(self) -> None:
        super().server_close()
        for connection in list(self.open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # it was closed from the other side


@lru_cache(maxsize=4)
def _date(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 60
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.open.add(self.connection)

    def finish(self) -> None:
        self.server.open.discard(self.connection)
        super().finish()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: a simulator in the background must not write over the user's terminal."""

    def _serve(self) -> None:
        try:
            size = int(self.headers.get("Content-Length") or 0)
        except ValueError:
            size = -1
        if size < 0 or "chunked" in (self.headers.get("Transfer-Encoding") or "").lower():
            self.close_connection = True
            return self._send(411, b'{"message": "send a body with its Content-Length"}', "application/json", {})
        if size > _MOST_BODY:
            self.close_connection = True
            return self._send(413, b'{"message": "the body is larger than 10 MiB"}', "application/json", {})
        body = self.rfile.read(size) if size else b""
        try:
            answer = self.server.simulator.handle(self.command, self.path, dict(self.headers.items()), body)
        except Exception as error:  # a fault of ours must reach the program as a reply, never as a hang
            message = f"the simulator failed: {type(error).__name__}: {error}"
            answer = (500, json.dumps({"message": message}).encode(), "application/json", {})
        return self._send(*answer)

    def _send(self, status: int, body: bytes, media_type: str, headers: Mapping[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} {self.responses.get(status, ('',))[0]}", f"Date: {_date(int(self._now()))}"]
        if media_type:
            lines.append(f"Content-Type: {media_type}")
        if status != 204:
            lines.append(f"Content-Length: {len(body)}")
        if self.close_connection:
            lines.append("Connection: close")
        lines += [f"{name}: {value}" for name, value in headers.items()]
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        self.wfile.write(head if self.command == "HEAD" else head + body)

    def _now(self) -> float:
        return self.server.simulator.now.timestamp()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _serve  # noqa: N815
