"""An HTTP/1.1 server on localhost for services whose answers are a function of the request."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from protocols.simulator.http.messages import EncodedAnswer, encoded_message

__all__ = ["ConnectionServer"]

_MOST_BODY = 10 * 1024 * 1024

RequestHandler = Callable[[str, str, Mapping[str, str], bytes], EncodedAnswer]


class ConnectionServer:
    """Serves in the background from the start until `close`.

    Args:
        port: 0 for any free one.
        handle: Answers method, target, headers (names in lower case) and body; called from one thread per connection.
        now: The value of the header Date.
    Raises: OSError: The port is not available.
    """

    def __init__(self, port: int, handle: RequestHandler, now: datetime) -> None:
        self._listening = _ListeningServer(port, handle, now)
        thread = threading.Thread(target=self._listening.serve_forever, args=(0.05,), name="simulator", daemon=True)
        thread.start()

    @property
    def url(self) -> str:
        """The base URL, without a path."""
        return f"http://127.0.0.1:{self._listening.server_port}"

    def close(self) -> None:
        """Stop the server and its connections."""
        self._listening.shutdown()
        self._listening.server_close()


class _ListeningServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, port: int, handle: RequestHandler, now: datetime) -> None:
        self.handle = handle
        self.date = now.astimezone(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), _ConnectionHandler)

    def server_bind(self) -> None:
        super(ThreadingHTTPServer, self).server_bind()

    def get_request(self) -> tuple[socket.socket, object]:
        connection, address = super().get_request()
        self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: object) -> None:
        self._open.discard(request)
        super().shutdown_request(request)  # type: ignore[arg-type]

    def server_close(self) -> None:
        super().server_close()
        for connection in list(self._open):
            with suppress(OSError):  # it was closed from the other side
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing: a simulator in the background must not write over the user's terminal."""


class _ConnectionHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    timeout = 60
    server: _ListeningServer

    def _answer(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or "Transfer-Encoding" in self.headers:
            self._refuse(411, "send a body with its Content-Length")
        elif int(length) > _MOST_BODY:
            self._refuse(413, "the body is larger than 10 MiB")
        else:
            headers = {name.lower(): value for name, value in self.headers.items()}
            try:
                answer = self.server.handle(self.command, self.path, headers, self.rfile.read(int(length)))
            except Exception as error:  # a fault of ours must reach the program as a reply, never as a hang
                answer = encoded_message(500, f"the simulator failed: {type(error).__name__}: {error}")
            self._send(answer)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _answer

    def _refuse(self, status: int, problem: str) -> None:
        """Answer a request whose body is not read; the connection ends with it."""
        self.close_connection = True
        self._send(encoded_message(status, problem))

    def _send(self, answer: EncodedAnswer) -> None:
        status, body, media_type, headers = answer
        self.send_response_only(status)
        fields = {"Date": self.server.date, **({"Content-Type": media_type} if media_type else {})}
        fields |= {"Content-Length": str(len(body))} if status != 204 else {}
        fields |= {"Connection": "close"} if self.close_connection else {}
        for name, value in {**fields, **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing, either."""
