"""A server on localhost that answers with JSON, for tests and for the shop of the guide."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["JSONHandler", "listening"]


class JSONHandler(BaseHTTPRequestHandler):
    """Reads and writes JSON. It logs nothing, so that the output of tests stays clean."""

    def read_json(self) -> Any:
        """The body of the request; an empty object where there is none."""
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")

    def reply(self, value: object, status: int = 200) -> None:
        """Answer the request; a client that is gone misses nothing."""
        data = json.dumps(value).encode()
        with suppress(ConnectionError):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """A server on this machine that answers by a handler until the end of the block and logs nothing; its URL."""

    class Quiet(handler):  # type: ignore[valid-type, misc]
        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
