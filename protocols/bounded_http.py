"""Requests whose answers end: after a number of seconds in all, and of bytes, whatever their server does.

`requests` bounds the time between two bytes, and reads whatever comes. Here another thread shuts the socket when the
time is over; that ends a handshake, a heading and a body alike.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Any

from requests import PreparedRequest, RequestException, Response, Timeout
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

__all__ = ["BoundedAdapter", "TooMuchError"]

_CHUNK = 16 * 1024


class TooMuchError(RequestException):
    """An answer has more bytes than are read of any."""


class BoundedAdapter(HTTPAdapter):
    """For a session of one thread: `session.mount("https://", BoundedAdapter(10.0, 1 << 20))`.

    Args:
        seconds: Most time of one request, with the whole of its answer. most: Bytes of a body, unpacked.
    """

    def __init__(self, seconds: float, most: int) -> None:
        self._seconds = seconds
        self._most = most
        self._sockets: list[socket.socket] = []
        super().__init__()

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = _pools(self._sockets)

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        manager = super().proxy_manager_for(proxy, **options)
        manager.pool_classes_by_scheme = _pools(self._sockets)
        return manager

    def send(self, request: PreparedRequest, *args: Any, **options: Any) -> Response:
        """As HTTPAdapter, with the body read. Raises: TooMuchError, requests.Timeout and other RequestExceptions."""
        over = threading.Event()

        def end() -> None:
            over.set()
            for connection in tuple(self._sockets):
                with contextlib.suppress(OSError):  # closed by the server
                    connection.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(self._seconds, end)
        timer.daemon = True
        timer.start()
        content = bytearray()
        try:
            response = super().send(request, *args, **{**options, "stream": True})
            for part in response.iter_content(_CHUNK):
                content += part
                if len(content) > self._most:
                    response.close()
                    raise TooMuchError(request=request)
        except OSError:  # RequestException is one, too
            if not over.is_set():
                raise
        finally:
            timer.cancel()
            while self._sockets:
                self._sockets.pop().close()
        if over.is_set():
            raise Timeout(request=request)
        response._content = bytes(content)
        response.close()
        return response


def _pools(sockets: list[socket.socket]) -> dict[str, Any]:
    """Pools whose connections leave a copy of each socket: TLS takes the socket itself away."""

    def pool(base: Any, connection_class: Any) -> Any:
        class Watched(connection_class):  # type: ignore[misc]
            def _new_conn(self) -> Any:
                plain = super()._new_conn()
                sockets.append(plain.dup())
                return plain

        return type(base.__name__, (base,), {"ConnectionCls": Watched})

    return {"http": pool(HTTPConnectionPool, HTTPConnection), "https": pool(HTTPSConnectionPool, HTTPSConnection)}
