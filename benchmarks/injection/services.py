"""The services that the programs of both corpora call, as they are or with a twist, and worlds to run programs in.

A twist stands between a program and its world. The service gives other replies than it would, gives long lists in
pages, knows somebody of nearly the same name, or finds nothing under another spelling.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import yaml

from benchmarks.harness.registry import SHIPPED
from benchmarks.injection.corpus import DATA, FailingProgram, Script
from benchmarks.injection.replies import CannedReply, FixedReplies, Forward, Reply, Request, RequestPattern, json_reply
from benchmarks.tasks.references import is_correct, read_claim, run_reference
from protocols import Protocol, load
from protocols.calls.credentials import for_scheme
from protocols.dataflow.graph import ProtocolGraph
from protocols.samples import sample
from protocols.simulator import Session, Simulator
from sandbox import Limits, Run, Sandbox

__all__ = ["Closed", "CorpusServices", "Namesakes", "Paged", "ProgramWorld", "Twist", "open_sandbox", "serve"]

NOW = datetime(2024, 6, 1, 12, 0, tzinfo=UTC)
SEED = 7
"""Of the services that failing programs meet."""

_SECRET = "van-keeper-4471"
_SEARCHES = frozenset({"q", "query", "name"})
_COUNTS = frozenset({"count", "total", "totalCount", "total_results"})
_DOCUMENTS: Mapping[str, Path] = {
    "cinema": Path(str(sample("cinema"))),
    **{name: SHIPPED / "tiny" / f"{name}.yaml" for name in ("museum", "parcels")},
    **{name: DATA / f"{name}.yaml" for name in ("films", "shop", "fleet")},
}


@lru_cache(maxsize=8)
def _load_api(name: str) -> Protocol:
    return load(_DOCUMENTS[name])


@dataclass(frozen=True, slots=True)
class Paged:
    """Whole lists come in pages, and say so; `page` asks for the next one."""

    size: int
    style: int = 0

    def __call__(self, request: Request, forward: Forward) -> Reply:
        reply = forward(request.target)
        listing = _Listing.read(request, reply)
        if listing is None or any(name.lower().startswith(("page", "total")) for name in listing.body):
            return reply
        items = listing.items
        if len(items) <= self.size:
            return reply
        page, pages = int(dict(request.query).get("page", "1")), -(-len(items) // self.size)
        page_fields: tuple[dict[str, object], ...] = (
            {"page": page, "total_pages": pages, "total_results": len(items)},
            {"total": len(items), "limit": self.size, "offset": (page - 1) * self.size},
            {"hasMore": page < pages, "nextPage": page + 1 if page < pages else None},
        )
        cut = items[(page - 1) * self.size : page * self.size]
        return listing.with_items(cut, page_fields[self.style % len(page_fields)])


@dataclass(frozen=True, slots=True)
class Namesakes:
    """A search finds somebody of nearly the same name, too: before the right entity, or behind it."""

    addition: str
    first: bool = True

    def __call__(self, request: Request, forward: Forward) -> Reply:
        reply = forward(request.target)
        search, listing = _search_term(request), _Listing.read(request, reply)
        if search is None or listing is None:
            return reply
        name, text = search
        other_target = _with_parameter(request.target, name, f"{text} {self.addition}")
        other_listing = _Listing.read(request, forward(other_target))
        if other_listing is None or other_listing.key != listing.key:
            return reply
        namesake = [item for item in other_listing.items if item not in listing.items][:1]
        return listing.with_items([*namesake, *listing.items] if self.first else [*listing.items, *namesake])


@dataclass(frozen=True, slots=True)
class Closed:
    """A search finds names from the question, and nothing under another spelling."""

    query: str

    def __call__(self, request: Request, forward: Forward) -> Reply:
        reply = forward(request.target)
        search, listing = _search_term(request), _Listing.read(request, reply)
        if search is None or listing is None or search[1].casefold() in self.query.casefold():
            return reply
        return listing.with_items([])


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


Twist = FixedReplies | Paged | Namesakes | Closed | _Fleet


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


@dataclass(frozen=True, slots=True)
class _Listing:
    """A reply to a read that holds one list, under `key` of its body."""

    reply: Reply
    body: dict[str, Any]
    key: str

    @classmethod
    def read(cls, request: Request, reply: Reply) -> _Listing | None:
        """None for any other reply."""
        if request.method != "GET" or reply[0] != 200 or not reply[1] or "json" not in reply[2]:
            return None
        body = json.loads(reply[1])
        keys = [key for key, value in body.items() if isinstance(value, list)] if isinstance(body, dict) else []
        return cls(reply, body, keys[0]) if len(keys) == 1 else None

    @property
    def items(self) -> list[object]:
        """The items of the list."""
        listed: list[object] = self.body[self.key]
        return listed

    def with_items(self, items: list[object], fields: Mapping[str, object] | None = None) -> Reply:
        """The reply with other items, and with these fields; without them its counts are of these items."""
        if fields is None:
            fields = dict.fromkeys(_COUNTS & self.body.keys(), len(items))
        status, _, kind, headers = self.reply
        headers = {name: value for name, value in headers.items() if name.lower() != "content-length"}
        return status, json.dumps({**self.body, **fields, self.key: items}).encode(), kind, headers


def _search_term(request: Request) -> tuple[str, str] | None:
    """The parameter that a request searches by, and the text."""
    return next(((name, value) for name, value in request.query if name in _SEARCHES and value), None)


def _with_parameter(target: str, name: str, value: str) -> str:
    path, _, query = target.partition("?")
    pairs = [(parameter, value if parameter == name else text) for parameter, text in parse_qsl(query)]
    return f"{path}?{urlencode(pairs, quote_via=quote)}"


class _TwistedSimulator(Simulator):
    """A simulated service; `twists` are those of its sessions, "" that of requests without a session."""

    def __init__(self, api: str, seed: int = 0) -> None:
        super().__init__(_load_api(api), seed, NOW)
        self.twists: dict[str, Twist] = {}

    def handle(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Reply:
        match = re.match(r"/__session__/([^/]+)/", target)
        twist = self.twists.get(match[1] if match else "")

        def forward(other_target: str) -> Reply:
            return super(_TwistedSimulator, self).handle(method, other_target, headers, body)

        return twist(Request(method, target, headers, body), forward) if twist is not None else forward(target)


def open_sandbox(
    service: Simulator | Session, seed: int, *, calls: int = Limits().calls, track: bool = True
) -> Sandbox:
    """A sandbox for programs that call a service."""
    return Sandbox(
        service.protocol,
        base_url=service.url,
        credentials=service.credentials,
        now=NOW,
        seed=seed,
        limits=Limits(calls=calls),
        track=track,
    )


@contextmanager
def serve(api: str, case: FailingProgram | None = None) -> Iterator[Simulator]:
    """A service of its own from `with` to its end, as it is for one case, or as it is by itself.

    Raises: KeyError: There is no such API.
    """
    simulator = _TwistedSimulator(api, SEED)
    prefix = urlsplit(simulator.protocol.servers[0].url).path
    replies = FixedReplies(case.answers, case.amendments, prefix) if case else FixedReplies((), prefix=prefix)
    simulator.twists[""] = _Fleet(replies) if api == "fleet" else replies
    if api == "fleet":
        simulator.credentials = (for_scheme(simulator.protocol.security_schemes[0], _SECRET),)
    with simulator:
        yield simulator


@dataclass(frozen=True, slots=True)
class ProgramWorld:
    """The world of one run: a session of a service, with the reference's verdict on the answer."""

    script: Script
    seed: int
    session: Session
    services: CorpusServices

    def run(self, program: str, *, track: bool = True) -> Run:
        """Run a program in this world."""
        with open_sandbox(self.session, 0, calls=200, track=track) as sandbox:
            return sandbox.run(program)

    def is_right(self, run: Run) -> bool:
        """True if a run in this world has the right answer. Raises: ValueError: The reference fails."""
        answer = run.stdout.strip()
        if run.outcome != "ok" or not answer:
            return False

        def run_fresh(program: str) -> Run:
            with self.services.world(self.script, self.seed) as fresh:
                return fresh.run_to_end(program)

        self.services.untwist(self)
        return is_correct(answer, read_claim(run_reference(self.script.reference, self.run_to_end, run_fresh).stdout))

    def run_to_end(self, program: str) -> Run:
        """Run a reference program. Raises: ValueError: It fails."""
        run = self.run(program, track=False)
        if run.error is not None:
            raise ValueError(f"the reference of {self.script.name} fails: {run.error.type}: {run.error.message}")
        return run


class CorpusServices(ExitStack):
    """The services of the corpus; each is started when it is first needed, and all end together."""

    def __init__(self) -> None:
        super().__init__()
        self._graphs: dict[str, ProtocolGraph] = {}
        self._running: dict[str, _TwistedSimulator] = {}

    def graph(self, api: str) -> ProtocolGraph:
        """The data flow of an API."""
        return self._graphs.setdefault(api, ProtocolGraph(_load_api(api)))

    @contextmanager
    def world(self, script: Script, seed: int, twist: Twist | None = None) -> Iterator[ProgramWorld]:
        """A world for one run of a program: the same for the same script and seed."""
        if script.api not in self._running:
            self._running[script.api] = _TwistedSimulator(script.api)
            self.enter_context(self._running[script.api])
        service = self._running[script.api]
        with service.session(query=script.query, task=script.task, seed=seed) as session:
            if twist is not None:
                service.twists[session.id] = twist
            try:
                yield ProgramWorld(script, seed, session, self)
            finally:
                service.twists.pop(session.id, None)

    def untwist(self, world: ProgramWorld) -> None:
        """End the twist of a world, so that a reference does not meet it."""
        self._running[world.script.api].twists.pop(world.session.id, None)
