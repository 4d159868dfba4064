"""The services that failing programs call: simulated, but for the replies that a case prescribes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from urllib.parse import urlsplit

import yaml

from benchmarks.injection.corpus import DATA, FailingProgram
from benchmarks.injection.replies import CannedReply, FixedReplies, Forward, Reply, Request, RequestPattern, json_reply
from protocols import Protocol, load
from protocols.calls.credentials import for_scheme
from protocols.simulator import Simulator
from sandbox import Sandbox

__all__ = ["open_sandbox", "serve"]

NOW = datetime(2024, 6, 1, 12, 0, tzinfo=UTC)
SEED = 7
"""Of the services that failing programs meet."""

_SECRET = "van-keeper-4471"


@lru_cache(maxsize=4)
def _load_api(name: str) -> Protocol:
    return load(DATA / f"{name}.yaml")


@dataclass(frozen=True, slots=True)
class _Fleet:
    """A service that answers from a table, and only with the token."""

    replies: FixedReplies

    def __call__(self, request: Request, forward: Forward) -> Reply:
        if request.headers.get("authorization") != f"Bearer {_SECRET}":
            return json_reply({"message": "no valid token"}, 401)
        table = FixedReplies(_table(), prefix=self.replies.prefix)
        missing = json_reply({"message": "there is nothing here"}, 404)
        return self.replies(request, lambda target: table(request, lambda target: missing))


@lru_cache(maxsize=1)
def _table() -> tuple[CannedReply, ...]:
    return tuple(
        CannedReply(
            RequestPattern.read(entry["request"], entry.get("with")),
            entry.get("status", 200),
            entry.get("html", entry.get("body")),
        )
        for entry in yaml.safe_load((DATA / "replies.yaml").read_text("utf-8"))
    )


class _CorpusSimulator(Simulator):
    """A simulated service; `replies` stand between a program and its world."""

    def __init__(self, protocol: Protocol, replies: FixedReplies | _Fleet) -> None:
        super().__init__(protocol, SEED, NOW)
        self._replies = replies

    def handle(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Reply:
        def forward(other_target: str) -> Reply:
            return super(_CorpusSimulator, self).handle(method, other_target, headers, body)

        return self._replies(Request(method, target, headers, body), forward)


def open_sandbox(service: Simulator) -> Sandbox:
    """A sandbox for programs that call a service."""
    return Sandbox(
        service.protocol,
        base_url=service.url,
        credentials=service.credentials,
        now=NOW,
        seed=SEED,
    )


@contextmanager
def serve(case: FailingProgram) -> Iterator[Simulator]:
    """The service of a case, from `with` to its end."""
    protocol = _load_api(case.api)
    replies = FixedReplies(case.answers, case.amendments, urlsplit(protocol.servers[0].url).path)
    simulator = _CorpusSimulator(protocol, _Fleet(replies) if case.api == "fleet" else replies)
    if case.api == "fleet":
        simulator.credentials = (for_scheme(protocol.security_schemes[0], _SECRET),)
    with simulator:
        yield simulator
