"""The simulated services that the programs call, with or without a twist.

A twist stands between a program and its world. The service fails one call, gives long lists in pages, knows somebody of
nearly the same name, or finds nothing under another spelling. An unchanged program that was right may then be wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from benchmarks.injection.answers.corpus import Script
from benchmarks.injection.services import NOW, Reply, json_reply, load_api
from benchmarks.tasks.references import is_correct, read_claim
from protocols import Protocol
from protocols.dataflow.graph import ProtocolGraph
from protocols.simulator import Session, Simulator
from sandbox import Limits, Run, Sandbox

__all__ = ["Closed", "CorpusServices", "FailingRequest", "Namesakes", "Paged", "ProgramWorld", "Twist"]

_SEARCHES = frozenset({"q", "query", "name"})
_COUNTS = frozenset({"count", "total", "totalCount", "total_results"})

_Forward = Callable[[str], Reply]
"""The reply of the world to a request for this target, or another."""


@dataclass(slots=True)
class FailingRequest:
    """One request for a path fails, that of the given number among those for it (from 0); or each of them (None)."""

    path: str
    status: int
    message: str
    number: int | None = 0
    count: int = 0

    def __call__(self, method: str, target: str, forward: _Forward) -> Reply:
        """Answer one request."""
        path = unquote(urlsplit(target).path)
        if method != self.path.partition(" ")[0] or not path.endswith(self.path.partition(" ")[2]):
            return forward(target)
        self.count += 1
        if self.number is not None and self.count != self.number + 1:
            return forward(target)
        return json_reply({"message": self.message}, self.status)


@dataclass(slots=True)
class Paged:
    """Whole lists come in pages, and say so; `page` asks for the next one."""

    size: int
    style: int = 0

    def __call__(self, method: str, target: str, forward: _Forward) -> Reply:
        """Answer one request."""
        parts = urlsplit(target)
        query = dict(parse_qsl(parts.query))
        reply = forward(target)
        listing = _single_list(reply)
        if method != "GET" or listing is None or any(key.lower().startswith(("page", "total")) for key in listing[0]):
            return reply
        body, key = listing
        items = body[key]
        if not isinstance(items, list) or len(items) <= self.size:
            return reply
        page = int(query.get("page", "1"))
        pages = -(-len(items) // self.size)
        page_fields: tuple[dict[str, object], ...] = (
            {"page": page, "total_pages": pages, "total_results": len(items)},
            {"total": len(items), "limit": self.size, "offset": (page - 1) * self.size},
            {"hasMore": page < pages, "nextPage": page + 1 if page < pages else None},
        )
        cut = items[(page - 1) * self.size : page * self.size]
        return _with_body(reply, {**body, **page_fields[self.style % len(page_fields)], key: cut})


@dataclass(slots=True)
class Namesakes:
    """A search finds somebody of nearly the same name, too: before the right entity, or behind it."""

    addition: str
    first: bool = True

    def __call__(self, method: str, target: str, forward: _Forward) -> Reply:
        """Answer one request."""
        reply = forward(target)
        search, listing = _search_term(target), _single_list(reply)
        if method != "GET" or search is None or listing is None:
            return reply
        name, text = search
        other_listing = _single_list(forward(_with_parameter(target, name, f"{text} {self.addition}")))
        body, key = listing
        items = body[key]
        other_items = other_listing[0].get(key) if other_listing is not None else None
        if not isinstance(items, list) or not isinstance(other_items, list):
            return reply
        namesake = [item for item in other_items if item not in items][:1]
        counts = {name: len(items) + len(namesake) for name in _COUNTS & body.keys()}
        return _with_body(reply, {**body, **counts, key: [*namesake, *items] if self.first else [*items, *namesake]})


@dataclass(slots=True)
class Closed:
    """A search finds names from the question, and nothing under another spelling."""

    query: str

    def __call__(self, method: str, target: str, forward: _Forward) -> Reply:
        """Answer one request."""
        reply = forward(target)
        search, listing = _search_term(target), _single_list(reply)
        if method != "GET" or search is None or listing is None or search[1].casefold() in self.query.casefold():
            return reply
        body, key = listing
        counts = dict.fromkeys(_COUNTS & body.keys(), 0)
        return _with_body(reply, {**body, **counts, key: []})


Twist = FailingRequest | Paged | Namesakes | Closed


def _single_list(reply: Reply) -> tuple[dict[str, object], str] | None:
    """The body of a reply that holds one list of objects, and the key of that list."""
    if reply[0] != 200 or not reply[1] or "json" not in reply[2]:
        return None
    body = json.loads(reply[1])
    keys = [key for key, value in body.items() if isinstance(value, list)] if isinstance(body, dict) else []
    return (body, keys[0]) if len(keys) == 1 else None


def _with_body(reply: Reply, body: object) -> Reply:
    headers = {name: value for name, value in reply[3].items() if name.lower() != "content-length"}
    return reply[0], json.dumps(body).encode(), reply[2], headers


def _search_term(target: str) -> tuple[str, str] | None:
    """The parameter that a request searches by, and the text."""
    pairs = parse_qsl(urlsplit(target).query)
    return next(((name, value) for name, value in pairs if name in _SEARCHES and value), None)


def _with_parameter(target: str, name: str, value: str) -> str:
    path, _, query = target.partition("?")
    pairs = [(parameter, value if parameter == name else text) for parameter, text in parse_qsl(query)]
    return f"{path}?{urlencode(pairs, quote_via=quote)}"


class _TwistedSimulator(Simulator):
    """A simulated service some of whose sessions have a twist."""

    def __init__(self, protocol: Protocol) -> None:
        super().__init__(protocol, 0, NOW)
        self.twists: dict[str, Twist] = {}

    def handle(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Answer one request."""
        match = re.match(r"/__session__/([^/]+)/", target)
        twist = self.twists.get(match[1]) if match else None

        def forward(other_target: str) -> Reply:
            return super(_TwistedSimulator, self).handle(method, other_target, headers, body)

        return twist(method, target, forward) if twist is not None else forward(target)


@dataclass(frozen=True, slots=True)
class ProgramWorld:
    """The world of one run: a session of a service, with the reference's verdict on the answer."""

    script: Script
    seed: int
    session: Session
    services: CorpusServices

    def run(self, program: str, *, track: bool = True) -> Run:
        """Run a program in this world."""
        with Sandbox(
            self.session.protocol,
            base_url=self.session.url,
            credentials=self.session.credentials,
            now=NOW,
            seed=0,
            limits=Limits(calls=200),
            track=track,
        ) as sandbox:
            return sandbox.run(program)

    def is_right(self, run: Run) -> bool:
        """True if a run in this world has the right answer. Raises: ValueError: The reference fails."""
        answer = run.stdout.strip()
        if run.outcome != "ok" or not answer:
            return False
        reference, before = self.script.reference, ""
        self.services.untwist(self)
        if reference.before:
            with self.services.world(self.script, self.seed) as fresh:
                before = f"before = {json.loads(_run_reference(fresh, reference.before))!r}\n"
        if reference.after:
            return is_correct(answer, read_claim(_run_reference(self, before + reference.program)))
        with self.services.world(self.script, self.seed) as fresh:
            return is_correct(answer, read_claim(_run_reference(fresh, reference.program)))


def _run_reference(world: ProgramWorld, program: str) -> str:
    run = world.run(program, track=False)
    if run.error is not None:
        raise ValueError(f"the reference of {world.script.name} fails: {run.error.type}: {run.error.message}")
    return run.stdout


class CorpusServices(ExitStack):
    """The services of the corpus; each is started when it is first needed, and all end together."""

    def __init__(self) -> None:
        super().__init__()
        self._graphs: dict[str, ProtocolGraph] = {}
        self._running: dict[str, _TwistedSimulator] = {}

    def graph(self, api: str) -> ProtocolGraph:
        """The data flow of an API."""
        return self._graphs.setdefault(api, ProtocolGraph(load_api(api)))

    @contextmanager
    def world(self, script: Script, seed: int, twist: Twist | None = None) -> Iterator[ProgramWorld]:
        """A world for one run of a program: the same for the same script and seed."""
        if script.api not in self._running:
            self._running[script.api] = _TwistedSimulator(load_api(script.api))
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
