"""An HTTP/1.1 server on localhost, as far as a simulated service needs it.

`http.server` parses headers with the e-mail parser, which takes longer than a world takes to answer. A benchmark sends
a thousand requests a second, so this server reads them itself.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from http import HTTPStatus
from socketserver import StreamRequestHandler, ThreadingTCPServer

from protocols.simulator.http.messages import EncodedAnswer

__all__ = ["ConnectionServer"]

_MOST_BODY = 10 * 1024 * 1024
_MOST_HEAD = 64 * 1024
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

RequestHandler = Callable[[str, str, Mapping[str, str], bytes], EncodedAnswer]


class ConnectionServer:
    """Serves in the background from the start until `close`.

    Args:
        port: 0 for any free one.
        handle: Answers method, target, headers and body; called from one thread per connection.
        now: The value of the header Date.
    Raises: OSError: The port is not available.
    """

    def __init__(self, port: int, handle: RequestHandler, now: datetime) -> None:
        self._listening = _ListeningServer(("127.0.0.1", port), handle, now)
        thread = threading.Thread(target=self._listening.serve_forever, args=(0.05,), name="simulator", daemon=True)
        thread.start()

    @property
    def url(self) -> str:
        """The base URL, without a path."""
        return f"http://127.0.0.1:{self._listening.server_address[1]}"

    def close(self) -> None:
        """Stop the server and its connections."""
        self._listening.shutdown()
        self._listening.server_close()


class _ListeningServer(ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], handle: RequestHandler, now: datetime) -> None:
        self.handle = handle
        self.date = now.astimezone(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
        self.open: set[socket.socket] = set()
        super().__init__(address, _ConnectionHandler)

    def server_close(self) -> None:
        super().server_close()
        for connection in list(self.open):
            with suppress(OSError):  # it was closed from the other side
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing: a simulator in the background must not write over the user's terminal."""


class _UnreadableRequestError(Exception):
    """A malformed request; the connection ends with it."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _ConnectionHandler(StreamRequestHandler):
    disable_nagle_algorithm = True
    timeout = 60
    server: _ListeningServer

    def setup(self) -> None:
        super().setup()
        self.server.open.add(self.connection)

    def finish(self) -> None:
        self.server.open.discard(self.connection)
        with suppress(OSError):
            super().finish()

    def handle(self) -> None:
        with suppress(OSError):  # the client is gone, or has been silent for too long
            while self._serve_one():
                pass

    def _serve_one(self) -> bool:
        """Answer one request; return whether another may follow."""
        try:
            read = self._read()
            if read is None:
                return False
            method, target, headers, body, keep_alive = read
        except _UnreadableRequestError as refused:
            message = json.dumps({"message": str(refused), "status": refused.status}).encode()
            self._send("GET", (refused.status, message, "application/json", {}), keep_alive=False)
            return False
        try:
            answer = self.server.handle(method, target, headers, body)
        except Exception as error:  # a fault of ours must reach the program as a reply, never as a hang
            message = json.dumps({"message": f"the simulator failed: {type(error).__name__}: {error}"}).encode()
            answer = (500, message, "application/json", {})
        self._send(method, answer, keep_alive)
        return keep_alive

    def _read(self) -> tuple[str, str, dict[str, str], bytes, bool] | None:
        line = self.rfile.readline(_MOST_HEAD)
        while line in (b"\r\n", b"\n"):
            line = self.rfile.readline(_MOST_HEAD)
        if not line:
            return None
        method, target, version = [*line.decode("latin-1").split(" "), "", ""][:3]
        if not version.startswith("HTTP/1."):
            raise _UnreadableRequestError(400, "this is no HTTP/1.1 request")
        headers: dict[str, str] = {}
        size = 0
        while (line := self.rfile.readline(_MOST_HEAD)) not in (b"\r\n", b"\n", b""):
            size += len(line)
            if size > _MOST_HEAD:
                raise _UnreadableRequestError(431, "the headers are larger than 64 KiB")
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        if method not in _METHODS:
            raise _UnreadableRequestError(501, f"the method {method} is not supported")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or "chunked" in headers.get("transfer-encoding", "").lower():
            raise _UnreadableRequestError(411, "send a body with its Content-Length")
        if int(length) > _MOST_BODY:
            raise _UnreadableRequestError(413, "the body is larger than 10 MiB")
        if headers.get("expect", "").lower() == "100-continue":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = self.rfile.read(int(length)) if length != "0" else b""
        connection_header = headers.get("connection", "").lower()
        keep_alive = (
            "keep-alive" in connection_header if version.startswith("HTTP/1.0") else "close" not in connection_header
        )
        return method, target, headers, body, keep_alive

    def _send(self, method: str, answer: EncodedAnswer, keep_alive: bool) -> None:
        status, body, media_type, headers = answer
        lines = [_status_line(status), f"Date: {self.server.date}"]
        if media_type:
            lines.append(f"Content-Type: {media_type}")
        if status != 204:
            lines.append(f"Content-Length: {len(body)}")
        if not keep_alive:
            lines.append("Connection: close")
        lines += [f"{name}: {value}" for name, value in headers.items()]
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        self.wfile.write(head if method == "HEAD" else head + body)


@lru_cache(maxsize=64)
def _status_line(status: int) -> str:
    with suppress(ValueError):
        return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"
    return f"HTTP/1.1 {status} "
