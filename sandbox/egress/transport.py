"""Sends one HTTP request and reads its reply, within a time and a size that hold whatever the server does.

`requests` bounds the time between two bytes; a server that drips one byte a second is never stopped by that. Here
every connection is known, so that a request can be ended from outside by shutting its socket. There is no Session:
`.netrc` and cookies play no part, and no redirect is followed. Of the environment `REQUESTS_CA_BUNDLE` counts, which
names the certificates to trust, and the proxies (see sandbox.egress.network).
"""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import ssl
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import NewConnectionError

from sandbox.body_store import MEMORY_LIMIT
from sandbox.egress.network import HostResolver, Network, RefusedAddressError, names_proxy
from sandbox.egress.stages import OVER, NoAnswerError, TooLargeError, TransportReply

if TYPE_CHECKING:
    from sandbox.egress.proxies import ProxyRoute

__all__ = ["PreparedRequest", "RequestError", "Transport"]

CHUNK = 16 * 1024
HEADING = 128 * 1024
"""Bytes of all headers of a reply."""

LINE = 65_537
"""Bytes of one line; the library refuses a header that reaches them."""

PreparedRequest = requests.PreparedRequest
RequestError = requests.RequestException


class UnfitReplyError(http.client.HTTPException):
    """The reply has a heading that no service sends."""


class Transport:
    """The connections of one broker; `send` may be called from several threads. `addresses` says where names lead."""

    def __init__(self, addresses: HostResolver, network: Network | None = None) -> None:
        self._owners: weakref.WeakKeyDictionary[socket.socket, int] = weakref.WeakKeyDictionary()
        self._left: set[int] = set()
        self._lock = threading.Lock()
        self._cancelled = False
        self.addresses = addresses
        self._network = network or Network()
        self._adapters: dict[bool, _Adapter] = {}
        self._authorities: str | bool = os.environ.get("REQUESTS_CA_BUNDLE") or True

    def send(
        self, request: requests.PreparedRequest, *, seconds: float, limit: int, own: bool = False
    ) -> TransportReply:
        """Send once and read the whole reply.

        Args:
            seconds: Most time for all of it. limit: Most bytes of the unpacked body.
            own: To a server of the API, which the client certificate is shown to.
        Raises: NoAnswerError, TooLargeError.
        """
        expired = threading.Event()
        thread = threading.get_ident()
        self._left.discard(thread)
        proxy: ProxyRoute | None = None

        def expire() -> None:
            expired.set()
            self._shut(thread)

        try:
            if self._cancelled:
                raise NoAnswerError("ConnectionError", OVER)
            proxy = self._proxy(str(request.url))
            proxies = {urlsplit(str(request.url)).scheme: proxy.url} if proxy is not None else None
            timeout = (max(seconds, 0.001), max(seconds, 0.001))
            with _ending(seconds, expire):
                adapter, verify = self._adapter(own), self._authorities
                response = adapter.send(request, stream=True, timeout=timeout, verify=verify, proxies=proxies)
                with response:
                    if proxy is not None and response.status_code == 407:
                        raise NoAnswerError("ProxyError", proxy.no_sign_in)
                    _check_coding(response)
                    body = self._read(response, limit)
        except requests.RequestException as error:
            if self._cancelled:
                raise NoAnswerError("ConnectionError", OVER, thread in self._left) from None
            if expired.is_set() or isinstance(error, requests.Timeout):
                raise NoAnswerError("ReadTimeout", _timeout_message(seconds), thread in self._left) from None
            raise NoAnswerError(type(error).__name__, self._reason(error, proxy, own), thread in self._left) from None
        except (OSError, ValueError) as error:  # a socket that was shut under the library's hands
            kind = "ReadTimeout" if expired.is_set() else "ConnectionError"
            why = OVER if self._cancelled else self._reason(error, proxy, own)
            raise NoAnswerError(kind, why, thread in self._left) from None
        if expired.is_set():
            raise NoAnswerError("ReadTimeout", _timeout_message(seconds), may_have_left=True)
        return TransportReply(
            response.status_code,
            response.reason or "",
            dict(response.headers),
            _cookies(response),
            body,
            body.tell(),
            response.encoding,
            sum(len(name) + len(value) for name, value in response.raw.headers.items()),
            tuple(response.raw.headers.getlist("Set-Cookie")),
        )

    def _reason(self, error: Exception, proxy: ProxyRoute | None, own: bool) -> str:
        """Why no reply came, and what helps."""
        from sandbox.egress.no_reply import broken, certificate_remedy, reason_of

        if not isinstance(error, requests.RequestException):
            return broken(error)
        remedy = certificate_remedy(self._network.signing is not None, own)
        return reason_of(error, proxy, remedy, (RefusedAddressError, UnfitReplyError))

    def cancel(self) -> None:
        """End every request that is under way, and refuse further ones."""
        self._cancelled = True
        self._shut(None)

    def close(self) -> None:
        for adapter in self._adapters.values():
            adapter.close()

    def _proxy(self, url: str) -> ProxyRoute | None:
        """The proxy on the way; the target must be one that may be asked directly. Raises: NoAnswerError."""
        if not names_proxy():
            return None
        from sandbox.egress.proxies import proxy_for

        try:
            proxy = proxy_for(url)
            if proxy is not None:
                parts = urlsplit(url)
                self.addresses.check(proxy.target, parts.port or (443 if parts.scheme == "https" else 80))
            return proxy
        except RefusedAddressError as error:
            raise NoAnswerError("ConnectionError", str(error)) from None
        except ValueError as error:
            raise NoAnswerError("ProxyError", str(error)) from None

    def _adapter(self, own: bool) -> _Adapter:
        """The library's part, made for the first request: many a run sends none."""
        signing = own and self._network.signing is not None
        with self._lock:
            if signing not in self._adapters:
                context = self._network.signing if signing else self._network.trusting
                self._adapters[signing] = _Adapter(self, context, self._network.trusting)
            return self._adapters[signing]

    def _read(self, response: requests.Response, limit: int) -> IO[bytes]:
        body = tempfile.SpooledTemporaryFile(max_size=MEMORY_LIMIT)  # noqa: SIM115 - closed by whoever reads it
        try:
            for part in response.iter_content(CHUNK):
                body.write(part)
                if body.tell() > limit:
                    body.seek(0)
                    raise TooLargeError(response.status_code, body.read(CHUNK))
        except BaseException:
            body.close()
            raise
        return body

    def own(self, connection: socket.socket) -> None:
        plain = getattr(connection, "socket", connection)  # within TLS to a proxy
        with self._lock:
            self._owners[plain] = threading.get_ident()
        if self._cancelled:
            self._shut(None)

    def leave(self) -> None:
        self._left.add(threading.get_ident())

    def _shut(self, thread: int | None) -> None:
        with self._lock:
            owned = [connection for connection, owner in self._owners.items() if thread in (None, owner)]
        for connection in owned:
            with contextlib.suppress(OSError):  # it may be closed already
                socket.socket.shutdown(connection, socket.SHUT_RDWR)  # of the plain socket, also below TLS


@contextmanager
def _ending(seconds: float, on_expiry: Callable[[], None]) -> Iterator[None]:
    """Call a function from another thread if the block is not left within some seconds; it must not block."""
    timer = threading.Timer(seconds, on_expiry)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class _Adapter(HTTPAdapter):
    """The library's adapter, with connections that tell who uses them."""

    def __init__(
        self, transport: Transport, context: ssl.SSLContext | None, proxy_context: ssl.SSLContext | None
    ) -> None:
        self._transport = transport
        self._tls: dict[str, Any] = {"ssl_context": context} if context is not None else {}
        self._proxy_tls: dict[str, Any] = {"proxy_ssl_context": proxy_context} if proxy_context is not None else {}
        super().__init__(max_retries=0)

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **{**options, **self._tls})
        self.poolmanager.pool_classes_by_scheme = self._pools(self._transport.addresses)

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        """The connections to a proxy, which may be at a private address: the environment names it."""
        is_new = proxy not in self.proxy_manager
        manager = super().proxy_manager_for(proxy, **options, **self._tls, **self._proxy_tls)
        if is_new:
            manager.pool_classes_by_scheme = self._pools(HostResolver(every=True))
        return manager

    def _pools(self, addresses: HostResolver) -> dict[str, Any]:
        return {
            "http": _pool(HTTPConnectionPool, HTTPConnection, self._transport, addresses),
            "https": _pool(HTTPSConnectionPool, HTTPSConnection, self._transport, addresses),
        }


def _timeout_message(seconds: float) -> str:
    return f"no whole reply within {seconds:.3g} s"


def _pool(pool: Any, connection: Any, transport: Transport, addresses: HostResolver) -> Any:
    class Pool(pool):  # type: ignore[misc]
        def _make_request(self, conn: Any, method: str, url: str, **options: Any) -> Any:
            return super()._make_request(conn, method, _Target(url), **options)

    class WatchedConnection(connection):  # type: ignore[misc]
        response_class = _BoundedResponse
        _twin: socket.socket | None = None
        _connecting = False

        def _new_conn(self) -> Any:
            """A socket to one of the addresses that the name was found to have; the name itself stays in use for TLS
            and the Host header."""
            name = self._dns_host  # type: ignore[has-type]
            try:
                addresses_found = addresses.resolve(name, self.port)
                for remaining, address in zip(range(len(addresses_found), 0, -1), addresses_found, strict=True):
                    self._dns_host = address
                    try:
                        return self._watched(super()._new_conn())
                    except NewConnectionError:
                        if remaining == 1:
                            raise
            except OSError as error:
                raise NewConnectionError(self, str(error)) from error
            finally:
                self._dns_host = name

        def _watched(self, plain: socket.socket) -> socket.socket:
            """A socket that can be shut already while TLS is being agreed upon, which takes the socket itself away."""
            self._twin = plain.dup()
            transport.own(self._twin)
            return plain

        def connect(self) -> None:
            self._connecting = True
            try:
                super().connect()
            finally:
                self._connecting = False
                if self._twin is not None:
                    self._twin.close()
            transport.own(self.sock)

        def request(self, method: str, url: str, *args: Any, **options: Any) -> None:
            if self.sock is not None:  # kept alive from an earlier request, perhaps of another thread
                transport.own(self.sock)
            super().request(method, url.whole if isinstance(url, _Target) else url, *args, **options)

        def send(self, data: Any) -> None:
            if self.sock is None:  # as the library does; until there is a connection nothing has left
                self.connect()
            if not self._connecting:  # what is said to a proxy is no part of the request
                transport.leave()
            super().send(data)

    return type(pool.__name__, (Pool,), {"ConnectionCls": WatchedConnection})


class _Target(str):
    """The target of a request as the library may log it: without its query, which may hold a key."""

    __slots__ = ("whole",)
    whole: str

    def __new__(cls, whole: str) -> _Target:
        target = super().__new__(cls, whole.partition("?")[0])
        target.whole = whole
        return target


class _BoundedResponse(http.client.HTTPResponse):
    """A reply whose headers, all together, and lines between chunks have a size.

    What stands among its headers and is none is dropped: the library would write it, which may be an echo of the
    request, into a log.
    """

    fp: Any

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fp = _BoundedReader(self.fp)

    def begin(self) -> None:
        lines = self.fp
        super().begin()
        lines.heading = False
        self.msg.set_payload("")
        self.msg.defects = []


class _BoundedReader:
    """A file that gives no endless lines; while it reads a heading, no endless heading."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._size = 0
        self.heading = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def readline(self, limit: int = -1) -> bytes:
        line: bytes = self._file.readline(limit if 0 <= limit < LINE else LINE)
        if len(line) >= LINE:
            raise UnfitReplyError(f"the reply has a line of more than {LINE} bytes")
        self._size += len(line) if self.heading else 0
        if self._size > HEADING:
            raise UnfitReplyError(f"the headers of the reply are larger than the {HEADING} bytes allowed")
        return line


def _check_coding(response: requests.Response) -> None:
    """Refuse a body that is packed in a way that was not asked for: what is in it could not be looked through."""
    codings = response.headers.get("Content-Encoding", "").lower().replace(" ", "").split(",")
    unasked = [coding for coding in codings if coding not in ("", "identity", "gzip", "x-gzip", "deflate")]
    if unasked:
        text = f"the reply is packed as {unasked[0]}, and only gzip and deflate were asked for"
        raise NoAnswerError("ContentDecodingError", text, may_have_left=True)


def _cookies(response: requests.Response) -> dict[str, str]:
    values = {}
    for line in response.raw.headers.getlist("Set-Cookie"):
        name, sign, value = line.partition(";")[0].partition("=")
        name, value = name.strip(), value.strip()
        if name and sign:
            values[name] = value.replace('\\"', "") if value[:1] == value[-1:] == '"' else value
    return values
