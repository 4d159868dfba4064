"""The services that the faulty programs call: two simulated from their documents, one that answers from a table.

Each `serve` starts a server of its own on a free port of localhost, so that runs may go on side by side; nothing of
one is left for the next.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from benchmarks.injection.programs.corpus import FailingProgram
from benchmarks.injection.programs.replies import CannedReply, ReceivedRequest, RequestPattern, first_reply
from benchmarks.injection.services import NOW, Reply, json_reply, load_api
from protocols import Protocol
from protocols.calls.auth import Credential, for_scheme
from protocols.simulator import Simulator

__all__ = ["RunningService", "serve"]

SEED = 7

_HERE = Path(__file__).parent
_SECRET = "van-keeper-4471"


@dataclass(frozen=True, slots=True)
class RunningService:
    """A service that is up, and what a Sandbox needs to run programs against it."""

    protocol: Protocol
    base_url: str
    credentials: tuple[Credential, ...]
    now: datetime
    seed: int


@contextmanager
def serve(api: str, case: FailingProgram | None = None) -> Iterator[RunningService]:
    """A service from `with` to its end, as it is for one case, or as it is by itself.

    Raises: KeyError: There is no such API.
    """
    protocol = load_api(api)
    if api == "fleet":
        with _TableService(protocol, case) as scripted:
            yield RunningService(protocol, scripted.url, (_credential(protocol),), NOW, SEED)
        return
    with _AmendedSimulator(protocol, case) as simulator:
        yield RunningService(protocol, simulator.url, simulator.credentials, NOW, SEED)


def _credential(protocol: Protocol) -> Credential:
    return for_scheme(protocol.security_schemes[0], _SECRET)


@lru_cache(maxsize=1)
def _table() -> tuple[CannedReply, ...]:
    """The replies of the fleet's service."""
    entries = yaml.safe_load((_HERE / "replies.yaml").read_text("utf-8"))
    return tuple(
        CannedReply(RequestPattern.read(entry["request"], entry.get("with")), entry.get("status", 200), _body(entry))
        for entry in entries
    )


def _body(entry: Mapping[str, object]) -> object:
    return entry["html"] if "html" in entry else entry.get("body")


def _amended(reply: Reply, request: ReceivedRequest, case: FailingProgram | None) -> Reply:
    """The reply with the changes that a case makes to it."""
    status, data, kind, headers = reply
    changes = [change for change in (case.amendments if case else ()) if change.pattern.fits(request)]
    if not changes or not data or status >= 400:
        return reply
    body = json.loads(data)
    for change in changes:
        body = change.applied(body)
    return status, json.dumps(body).encode(), kind, headers


class _AmendedSimulator(Simulator):
    """A simulated service that says what a case wants it to say, and else what it would."""

    def __init__(self, protocol: Protocol, case: FailingProgram | None) -> None:
        super().__init__(protocol, SEED, NOW)
        self._case = case
        self._path = urlsplit(protocol.servers[0].url).path

    def handle(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Answer one request."""
        request = ReceivedRequest.read(method, target, body, self._path)
        answer = first_reply(self._case.answers, request) if self._case else None
        if answer is not None:
            return answer.encoded()
        return _amended(super().handle(method, target, headers, body), request, self._case)


class _TableService:
    """A service that answers from a table, those who have the token."""

    def __init__(self, protocol: Protocol, case: FailingProgram | None) -> None:
        self._case = case
        self._path = urlsplit(protocol.servers[0].url).path
        self._answers = (*(case.answers if case else ()), *_table())
        self._server = _TableServer(("127.0.0.1", 0), self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self._server.server_address[1]}{self._path}"

    def __enter__(self) -> _TableService:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def handle(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Answer one request."""
        request = ReceivedRequest.read(method, target, body, self._path)
        if headers.get("Authorization") != f"Bearer {_SECRET}":
            return json_reply({"message": "no valid token"}, 401)
        answer = first_reply(self._answers, request)
        if answer is None:
            return json_reply({"message": "there is nothing here"}, 404)
        return _amended(answer.encoded(), request, self._case)


class _TableServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], service: _TableService) -> None:
        self.service = service
        super().__init__(address, _TableHandler)


class _TableHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # one packet per reply
    timeout = 60
    server: _TableServer

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, data, kind, headers = self.server.service.handle(
            self.command, self.path, dict(self.headers.items()), body
        )
        self.send_response(status)
        if kind:
            self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_DELETE = _serve  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        """Keep the terminal clean."""
