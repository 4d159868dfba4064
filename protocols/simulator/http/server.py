"""Serve worlds over HTTP on localhost, so that programs meet real requests, statuses and JSON.

Each task has a session: one world with its requests, isolated from all others. A session is opened over HTTP or from
Python; both lead here. Its world follows from its seed, task and question, not from other sessions or the order of its
reads.
"""

from __future__ import annotations

import gc
import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from pydantic import BaseModel, ValidationError

from protocols.calls.auth import for_scheme
from protocols.calls.credentials import ANY_REQUEST, Credential
from protocols.combined import as_one_api
from protocols.errors import UsageError
from protocols.model import Protocol, Tool, WholeURL
from protocols.simulator.analysis.api_analysis import analyze_api
from protocols.simulator.analysis.world_file import NO_WORLD, WorldFile, read_world
from protocols.simulator.analysis.world_schema import WorldSchema
from protocols.simulator.demand import Demand
from protocols.simulator.http.conditions import FaultInjector, RequestLog, ServiceConditions
from protocols.simulator.http.http_server import ConnectionServer
from protocols.simulator.http.messages import EncodedAnswer, RequestError, SimulatedRequest, encode, encoded_message
from protocols.simulator.http.routing import Responder
from protocols.simulator.world.question_ids import read_identifiers
from protocols.simulator.world.seeded_rng import SeededRNG
from protocols.simulator.world.world import World
from protocols.text.entities import NO_ENTITIES, read_entities

__all__ = ["Session", "Simulator"]

_SESSIONS = "/__session__"
_RESET = "/__reset__"
_DEFAULT_NOW = datetime(2024, 6, 1, 12, 0, tzinfo=UTC)
_world_schemas: dict[tuple[str, ...], WorldSchema] = {}


class Session(AbstractContextManager["Session"]):
    """A world of its own at a base URL of its own; a context manager that closes it.

    Args:
        id: "" for the default world of a simulator.
        rehearses: True if programs are rehearsed here: whoever runs one says before what it demands (`satisfy`).
    """

    def __init__(self, simulator: Simulator, id: str, seed: str, query: str = "", *, rehearses: bool = False) -> None:
        self.id = id
        self.protocol = simulator.protocol
        self.credentials = simulator.credentials
        self._demands: list[tuple[Demand, ...]] | None = [] if rehearses else None
        self._simulator = simulator
        self._seed = seed
        self._query = query
        self._fault_injector = FaultInjector(simulator.conditions, self.protocol.digest, seed)
        self._lock = threading.Lock()
        self._responder: Responder | None = None
        self._restricted = any(tool.security for tool in self.protocol.tools)
        keys = [scheme for scheme in self.protocol.security_schemes if scheme.kind == "apiKey"]
        self._secrets = frozenset(scheme.parameter for scheme in keys if scheme.location == "query")

    @property
    def rehearses(self) -> bool:
        """True if programs are rehearsed here."""
        return self._demands is not None

    @property
    def unmet(self) -> tuple[str, ...]:
        """In words, what the latest program demands and no place can hold, by the document or by the question."""
        return self._responder.world.demanded.unmet if self._responder is not None else ()

    @property
    def url(self) -> str:
        """The base URL, with the path of the documented server; starts the server if it is not running."""
        return self._simulator.base_url(self.id)

    @property
    def base_urls(self) -> str | dict[str, str]:
        """The base URL, or that of each API by namespace, as a Sandbox takes them."""
        return self.protocol.under(self.url)

    def satisfy(self, demands: Sequence[Demand]) -> None:
        """Have the world hold what a program demands, beside what it holds already. Raises: UsageError."""
        if self._demands is None:
            raise UsageError("this session rehearses no programs; open it with rehearses=True")
        with self._lock:
            responder = self._current_responder()
            self._demands.append(tuple(demands))
            responder.world.satisfy(demands)

    def reset(self) -> None:
        """Undo all writes: the world is again as at the start."""
        with self._lock:
            self._responder = None
        self._fault_injector.reset()

    def close(self) -> None:
        """Close the session and remove its URL; idempotent."""
        self._simulator.close_session(self.id)

    def __exit__(self, *failure: object) -> None:
        self.close()

    def answer(self, request: SimulatedRequest) -> EncodedAnswer:
        """Answer one request; one at a time, because a world is not thread-safe."""
        refusal = self._fault_injector.refusal(request.method, f"{request.path} {request.query}", request.body)
        with self._lock:
            responder = self._current_responder()
            tool = responder.tool_for(request)
            if refusal is None and not self._signed_in(request, tool):
                refusal = RequestError(401, "the credential is missing or wrong")
            if refusal is None:
                query = tuple((name, value) for name, value in request.query if name not in self._secrets)
                return encode(responder.answer(replace(request, query=query)))
            reply = responder.problem(tool, refusal)
        return encode(replace(reply, headers={"Retry-After": str(refusal.wait)} if refusal.wait else {}))

    def _current_responder(self) -> Responder:
        if self._responder is None:
            world = self._simulator.new_world(self._seed, self._query)
            for demands in self._demands or ():
                world.satisfy(demands)
            self._responder = Responder(world)
        return self._responder

    def _signed_in(self, request: SimulatedRequest, tool: Tool | None) -> bool:
        """True if a request satisfies one of its tool's security alternatives; any credential if none is documented."""
        if not self.credentials:
            return True
        if tool is not None and self._restricted and not tool.security:
            return True
        satisfied = {credential.scheme for credential in self.credentials if _carries(request, credential)}
        if tool is None or not self._restricted:
            return bool(satisfied)
        return any(satisfied.issuperset(alternative) for alternative in tool.security)


def _carries(request: SimulatedRequest, credential: Credential) -> bool:
    """True if a request carries a credential."""
    cookies = credential.cookies()
    return (
        all(request.header(name) == text for name, text in credential.sign(ANY_REQUEST).items())
        and set(credential.query().items()) <= set(request.query)
        and (not cookies or cookies.items() <= request.cookies.items())
    )


def _world_schema(protocol: Protocol, world: WorldFile = NO_WORLD) -> WorldSchema:
    """The world schema of a protocol with its world file, made once per process."""
    key = (protocol.digest, world.digest, *(tool.name for tool in protocol.tools))
    if key not in _world_schemas:
        while len(_world_schemas) >= 8:
            _world_schemas.pop(next(iter(_world_schemas)))
        with _without_collector():
            _world_schemas[key] = analyze_api(protocol, world)
    return _world_schemas[key]


@contextmanager
def _without_collector() -> Iterator[None]:
    """Keep the garbage collector from what is built: it went over all of it again and again, 60 % of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _WantedSession(BaseModel, extra="forbid", strict=True):
    """What a client says of a session that it opens."""

    seed: int | None = None
    task: str | int = ""
    query: str = ""


class Simulator(AbstractContextManager["Simulator"]):
    """A stand-in for the service behind a protocol: a real HTTP server with worlds of invented data.

    There is one default world, and one for each session. The same protocol, seed and requests give the same bytes. Use
    it as a context manager, or `start` and `stop` it.

    Several APIs (see protocols.combined) are in one world, each under a base URL of its own.

    Args:
        now: The moment that counts as today; 2024-06-01T12:00:00Z by default.
        auth: Demand `credentials`: an invented one for each documented scheme that a tool demands.
        open: Accept every identifier in a path or query as that of an existing entity. Use it for simulated writes to a
            real service.
        world: A world file: facts about the entities that the document cannot say.
        latency: Seconds added to each response.
        fail_rate: The share of requests that fail with 5xx or 429, drawn from the seed; from 0 to 1.
        rate_limit: Requests a second in each session, more are refused with 429; 0 for no limit.
        log: A file for one JSON line per request: time, method, path, status, ms, session.
    Raises: UsageError: A tool is a function, a number is out of range, the log cannot be written, or the world
        file is invalid.
    """

    def __init__(
        self,
        protocol: Protocol,
        seed: int = 0,
        now: datetime | None = None,
        auth: bool = True,
        *,
        open: bool = False,
        world: Path | None = None,
        latency: float = 0.0,
        fail_rate: float = 0.0,
        rate_limit: float = 0.0,
        log: Path | None = None,
    ) -> None:
        called = next((tool for tool in protocol.tools if tool.function is not None), None)
        if called is not None and called.function is not None:
            kind = "a tool of an MCP server" if called.function.remote else "a Python function"
            raise UsageError(f"{called.name} is {kind}, which runs as it is; there is nothing to simulate")
        protocol = as_one_api(protocol) if protocol.namespaces else protocol
        self._open = open
        self._world_file = read_world(world, protocol) if world else NO_WORLD
        if world:
            _world_schema(protocol, self._world_file)
        self.conditions = ServiceConditions(latency, fail_rate, rate_limit)
        self._log = RequestLog(log) if log else None
        self.protocol = protocol
        self.seed = seed
        self.now = now or _DEFAULT_NOW
        self.credentials: tuple[Credential, ...] = tuple(_simulated_credentials(protocol, seed)) if auth else ()
        self._prefix = urlsplit(protocol.servers[0].url).path.rstrip("/") if protocol.servers else ""
        self._lock = threading.Lock()
        self._server: ConnectionServer | None = None
        self._sessions = {"": Session(self, "", str(seed))}

    def start(self, port: int = 0) -> str:
        """Start to serve in the background; idempotent. The document is analysed before the first request.

        Args:
            port: 0 for any free one.
        Returns: The base URL, with the path of the documented server.
        Raises: UsageError: The port is not available.
        """
        with self._lock:
            if self._server is None:
                self.prepare()  # the time of a call counts from here on
                try:
                    self._server = ConnectionServer(port, self.handle, self.now)
                except OSError as error:
                    message = f"port {port} cannot be used: {error.strerror}; choose another with --port"
                    raise UsageError(message) from None
        return self.url

    def prepare(self) -> None:
        """Analyse the document; done once in a process."""
        _world_schema(self.protocol, self._world_file)

    @property
    def url(self) -> str:
        """The base URL; starts the server if it is not running."""
        return self.base_url("")

    @property
    def base_urls(self) -> str | dict[str, str]:
        """The base URL, or that of each API by namespace, as a Sandbox takes them."""
        return self.protocol.under(self.url)

    def base_url(self, session: str) -> str:
        """The base URL of a session; "" is the default world."""
        if self._server is None:
            self.start()
        assert self._server is not None
        return WholeURL(self._server.url + (f"{_SESSIONS}/{session}" if session else "") + self._prefix)

    def stop(self) -> None:
        """Stop the server and its connections; the worlds stay as they are."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        if self._log is not None:
            self._log.close()

    def __exit__(self, *failure: object) -> None:
        self.stop()

    # -- sessions --------------------------------------------------------------------------------------------------

    def session(self, query: str = "", task: str = "", seed: int | None = None, *, rehearses: bool = False) -> Session:
        """Open a session with a world of its own.

        Args:
            query: The question of the task. The names in it exist in every entity type and in the collections of the
                signed-in user.
            task: The name of the task; each task has another world.
            seed: The seed of the simulator by default.
            rehearses: True if programs are rehearsed here: the world grows by what each one looks for.
        """
        seed = self.seed if seed is None else seed
        world_seed = f"{seed}/{task}" if task else str(seed)
        name = blake2b(f"{world_seed}\n{query}".encode(), digest_size=6).hexdigest()
        with self._lock:
            ids = (name, *(f"{name}-{number}" for number in range(2, len(self._sessions) + 2)))
            id = next(id for id in ids if id not in self._sessions)
            session = self._sessions[id] = Session(self, id, world_seed, query, rehearses=rehearses)
        return session

    def close_session(self, id: str) -> None:
        """Remove a session; the default world stays."""
        if id:
            with self._lock:
                self._sessions.pop(id, None)

    def new_world(self, seed: str, query: str) -> World:
        """A world of its own for a session."""
        return World(
            _world_schema(self.protocol, self._world_file),
            seed,
            self.now,
            open=self._open,
            named_entities=read_entities(query) if query else NO_ENTITIES,
            identifiers=read_identifiers(query),
        )

    # -- requests --------------------------------------------------------------------------------------------------

    def handle(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> EncodedAnswer:
        """Answer one request.

        Args:
            target: Path and query, as received.
        Returns: Status, body, media type ("" without a body), further headers.
        """
        started = time.perf_counter()
        answer = self._handle(method, target, headers, body)
        if self._log is not None:
            path, _, inner = target.partition(_SESSIONS + "/")
            id, slash, rest = inner.partition("/")
            self._log.write(id, method, slash + rest if id else path, answer[0], time.perf_counter() - started)
        return answer

    def _handle(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> EncodedAnswer:
        path, _, query = target.partition("?")
        id = ""
        if path.startswith(_SESSIONS):
            id, slash, rest = path[len(_SESSIONS) :].lstrip("/").partition("/")
            if not id or not rest:
                return self._administer(method, id, body)
            path = slash + rest
        session = self._sessions.get(id)
        if session is None:
            return _unknown_session(id)
        if self._prefix and (path == self._prefix or path.startswith(self._prefix + "/")):
            path = path[len(self._prefix) :] or "/"
        if path == _RESET:
            if method != "POST":
                return encoded_message(405, "send a POST to reset", {"Allow": "POST"})
            session.reset()
            return 204, b"", "", {}
        pairs = tuple(parse_qsl(query.partition("#")[0], keep_blank_values=True)) if query else ()
        lowered = {name.lower(): value for name, value in headers.items()}
        return session.answer(SimulatedRequest(method, path, pairs, lowered, body))

    def _administer(self, method: str, id: str, body: bytes) -> EncodedAnswer:
        """Open a session with POST, close one with DELETE."""
        if id and method == "DELETE":
            if id not in self._sessions:
                return _unknown_session(id)
            self.close_session(id)
            return 204, b"", "", {}
        if id or method != "POST":
            allowed = "DELETE" if id else "POST"
            return encoded_message(405, f"{method} is not allowed here", {"Allow": allowed})
        try:
            options = _WantedSession.model_validate_json(body or b"{}")
        except ValidationError as error:
            first = error.errors()[0]
            return encoded_message(400, ": ".join([*map(str, first["loc"]), first["msg"]]))
        session = self.session(options.query, str(options.task), options.seed)
        opened = {"id": session.id, "base_url": session.url}
        return 201, json.dumps(opened).encode(), "application/json", {"Location": f"{_SESSIONS}/{session.id}"}


def _unknown_session(id: str) -> EncodedAnswer:
    return encoded_message(404, f"there is no session {id}: it was closed, or never opened")


def _simulated_credentials(protocol: Protocol, seed: int) -> Iterator[Credential]:
    """A credential for each scheme that a tool demands, or for every scheme if none demands any.

    Credentials for the same place are equal: a request has but one Authorization.
    """
    demanded = {name for tool in protocol.tools for alternative in tool.security for name in alternative}
    for scheme in protocol.security_schemes:
        if demanded and scheme.name not in demanded:
            continue
        kind = scheme.kind if scheme.kind in ("apiKey", "basic") else "bearer"
        purpose = ("credential", *filter(None, [scheme.namespace]), kind, *for_scheme(scheme, "").place)
        rng = SeededRNG(protocol.digest, seed, *purpose)
        secret = "simulated-" + "".join(rng.choose("abcdefghijkmnpqrstuvwxyz23456789") for _ in range(24))
        yield for_scheme(scheme, f"user:{secret}" if scheme.kind == "basic" else secret)
