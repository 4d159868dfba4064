"""The corpus of programs that fail by themselves, as a model might write them, with the call to blame; their services.

Attribution is measured with it. To blame is, for a value that is missing, empty or of the wrong type, the call whose
response it is in; for a call that the service refuses because of an argument, that call; for an identifier of the wrong
kind of thing, the call that it was taken from; for a 5xx, the call that got it; for all else nobody but the program.

The services are simulated, but for the replies that a case prescribes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import yaml

from benchmarks.injection.replies import (
    Amendment,
    CannedReply,
    FixedReplies,
    Forward,
    Reply,
    Request,
    RequestPattern,
    json_reply,
    path_steps,
)
from protocols import Protocol, load
from protocols.calls.auth import for_scheme
from protocols.simulator import Simulator
from sandbox import CallRecord, Sandbox

__all__ = ["FailingProgram", "Half", "failing_programs", "open_sandbox", "serve"]

Half = Literal["seen", "held"]
"""The half to look at while rules are worked on, and the half for the figures at the end."""

_DATA = Path(__file__).parent / "data"
_NOW = datetime(2024, 6, 1, 12, 0, tzinfo=UTC)
_SEED = 7
"""Of the services that failing programs meet."""

_SECRET = "van-keeper-4471"


@dataclass(frozen=True, slots=True)
class FailingProgram:
    """A program that fails, and why.

    `culprit` is the tool of the call to blame, `call` the index of that call among those of the run; None when it is
    the program's own fault. `path` is where in the culprit's response the bad value is, or would be:
    `["results"][0]["title"]`. `twin`: the same value occurs in another response, too, where it does not come from.
    `chosen` names an argument of the culprit's call and its value where calls go side by side, so that their order is
    not certain. `answers` and `amendments` are what the service says other than it would.
    """

    name: str
    half: Half
    kind: str
    api: str
    program: str
    culprit: str | None = None
    call: int | None = None
    path: str | None = None
    twin: bool = False
    chosen: tuple[str, str] | None = None
    answers: tuple[CannedReply, ...] = ()
    amendments: tuple[Amendment, ...] = ()

    def find(self, calls: Sequence[CallRecord]) -> CallRecord | None:
        """The call to blame among those of a run; None if there is none, or the run did not make it."""
        of_culprit = (call for call in calls if self.culprit is not None and call.tool == self.culprit)
        if self.chosen is not None:
            name, value = self.chosen
            return next((call for call in of_culprit if str(call.arguments.get(name)) == value), None)
        return next((call for call in of_culprit if call.index == self.call), None)


@cache
def failing_programs(half: Half | None = None) -> tuple[FailingProgram, ...]:
    """All cases in the order of their files, or those of one half."""
    if half is None:
        return (*failing_programs("seen"), *failing_programs("held"))
    return tuple(_read(half, record) for record in yaml.safe_load((_DATA / f"{half}.yaml").read_text("utf-8")))


def _read(half: Half, record: Mapping[str, Any]) -> FailingProgram:
    answers = tuple(
        CannedReply(RequestPattern.read(answer["request"]), answer["status"], answer["body"])
        for answer in record.get("answers", ())
    )
    amendments = tuple(
        Amendment(
            RequestPattern.read(change["request"]),
            path_steps(change["place"]),
            (change["value"],) if "value" in change else (),
        )
        for change in record.get("amendments", ())
    )
    chosen = tuple(record["chosen"]) if "chosen" in record else None
    return FailingProgram(half=half, **{**record, "answers": answers, "amendments": amendments, "chosen": chosen})


@cache
def _load_api(name: str) -> Protocol:
    return load(_DATA / f"{name}.yaml")


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


@cache
def _table() -> tuple[CannedReply, ...]:
    return tuple(
        CannedReply(
            RequestPattern.read(entry["request"], entry.get("with")),
            entry.get("status", 200),
            entry.get("html", entry.get("body")),
        )
        for entry in yaml.safe_load((_DATA / "replies.yaml").read_text("utf-8"))
    )


class _CorpusSimulator(Simulator):
    """A simulated service; `replies` stand between a program and its world."""

    def __init__(self, protocol: Protocol, replies: FixedReplies | _Fleet) -> None:
        super().__init__(protocol, _SEED, _NOW)
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
        now=_NOW,
        seed=_SEED,
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
