"""A forward proxy on localhost: absolute-form requests and CONNECT, with names that it alone resolves."""

from __future__ import annotations

import base64
import http.client
import socket
import threading
from http.server import BaseHTTPRequestHandler
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from tests.json_server import listening

__all__ = ["ForwardProxy"]


class ForwardProxy:
    """Passes requests on from `with` to its end; `asked` are their first lines.

    Args:
        names: Where the hosts really are, by name. sign_in: `user:password` that it asks for.
    """

    def __init__(self, names: dict[str, int], sign_in: str = "") -> None:
        self.names = names
        self.sign_in = sign_in
        self.asked: list[str] = []
        self.place = ""
        """Host and port."""
        self._server = listening(_handler(self))

    def __enter__(self) -> Self:
        self.place = self._server.__enter__().removeprefix("http://")
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.__exit__(None, None, None)


def _handler(proxy: ForwardProxy) -> type[BaseHTTPRequestHandler]:
    class ProxyHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def admitted(self) -> bool:
            proxy.asked.append(f"{self.command} {self.path}")
            expected = f"Basic {base64.b64encode(proxy.sign_in.encode()).decode()}"
            if proxy.sign_in and self.headers.get("Proxy-Authorization") != expected:
                self.send_response(407)
                self.send_header("Proxy-Authenticate", 'Basic realm="here"')
                self.send_header("Content-Length", "0")
                self.end_headers()
                return False
            return True

        def do_CONNECT(self) -> None:
            if not self.admitted():
                return
            host = self.path.rpartition(":")[0]
            if host not in proxy.names:
                self.send_error(403, "Forbidden")
                return
            with socket.create_connection(("127.0.0.1", proxy.names[host])) as upstream:
                self.send_response(200)
                self.end_headers()
                back = threading.Thread(target=_pump, args=(upstream, self.connection), daemon=True)
                back.start()
                _pump(self.connection, upstream)
                back.join(1)
            self.close_connection = True

        def do_GET(self) -> None:
            if not self.admitted():
                return
            parts = urlsplit(self.path)
            connection = http.client.HTTPConnection("127.0.0.1", proxy.names[str(parts.hostname)])
            connection.request("GET", f"{parts.path}?{parts.query}", headers={"Host": parts.netloc})
            reply = connection.getresponse()
            body = reply.read()
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.headers.get("Content-Type", ""))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return ProxyHandler


def _pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        return
