"""The services that the failing programs call: two simulated from their documents, one that answers from a table.

Each `serve` starts a server of its own on a free port of localhost, so that runs may go on side by side; nothing of
one is left for the next.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
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
    with (_TableSimulator if api == "fleet" else _CaseSimulator)(protocol, case) as simulator:
        yield RunningService(protocol, simulator.url, simulator.credentials, NOW, SEED)


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


class _CaseSimulator(Simulator):
    """A simulated service with the replies and amendments of a case."""

    def __init__(self, protocol: Protocol, case: FailingProgram | None) -> None:
        super().__init__(protocol, SEED, NOW)
        self._answers = case.answers if case else ()
        self._amendments = case.amendments if case else ()
        self._path = urlsplit(protocol.servers[0].url).path

    def handle(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Answer one request."""
        request = ReceivedRequest.read(method, target, body, self._path)
        canned = first_reply(self._answers, request)
        return canned.encoded() if canned else self._amended(super().handle(method, target, headers, body), request)

    def _amended(self, reply: Reply, request: ReceivedRequest) -> Reply:
        status, data, kind, headers = reply
        changes = [change for change in self._amendments if change.pattern.fits(request)]
        if not changes or not data or status >= 400:
            return reply
        body = json.loads(data)
        for change in changes:
            body = change.applied(body)
        return status, json.dumps(body).encode(), kind, headers


class _TableSimulator(_CaseSimulator):
    """A service that answers from a table, and only with the token."""

    def __init__(self, protocol: Protocol, case: FailingProgram | None) -> None:
        super().__init__(protocol, case)
        self.credentials = (for_scheme(protocol.security_schemes[0], _SECRET),)

    def handle(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Answer one request."""
        request = ReceivedRequest.read(method, target, body, self._path)
        if headers.get("authorization") != f"Bearer {_SECRET}":
            return json_reply({"message": "no valid token"}, 401)
        canned = first_reply((*self._answers, *_table()), request)
        if canned is None:
            return json_reply({"message": "there is nothing here"}, 404)
        return self._amended(canned.encoded(), request)
