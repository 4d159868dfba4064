"""One world with its requests, isolated from all others: the service of one task.

A session is opened over HTTP or from Python; both lead here. Its world follows from its seed, task and question, not
from other sessions or the order of its reads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from types import TracebackType

from protocols.calls.credentials import ANY_REQUEST, Credential
from protocols.errors import UsageError
from protocols.model import Protocol, Tool
from protocols.simulator.demand import Demand
from protocols.simulator.http.conditions import FaultInjector
from protocols.simulator.http.messages import EncodedAnswer, RequestError, SimulatedReply, SimulatedRequest, encode
from protocols.simulator.http.routing import Responder
from protocols.simulator.world.world import World

__all__ = ["Session"]

_MAX_CACHED = 2048


class Session:
    """A world of its own at a base URL of its own; a context manager that closes it.

    Args:
        id: "" for the default world of a simulator.
        credentials: Those that requests must carry; none for open access.
        address: Gives the base URL for an id; starts the server if it is not running.
        close: Removes the session of an id from the server.
        make_world: Makes the world, at the first request and after each reset.
        fault_injector: Delays and refuses requests before they reach the world.
        rehearses: True if programs are rehearsed here: whoever runs one says before what it demands (`satisfy`).
    """

    def __init__(
        self,
        id: str,
        protocol: Protocol,
        credentials: tuple[Credential, ...],
        *,
        address: Callable[[str], str],
        close: Callable[[str], None],
        make_world: Callable[[], World],
        fault_injector: FaultInjector | None = None,
        rehearses: bool = False,
    ) -> None:
        self._demands: list[tuple[Demand, ...]] | None = [] if rehearses else None
        self.id = id
        self.protocol = protocol
        self.credentials = credentials
        self._address = address
        self._close = close
        self._make_world = make_world
        self._fault_injector = fault_injector
        self._lock = threading.Lock()
        self._responder: Responder | None = None
        self._cached: dict[tuple[object, ...], EncodedAnswer] = {}
        self._relevant_headers = _relevant_headers(protocol, credentials)

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
        return self._address(self.id)

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
            self._cached.clear()
        if self._fault_injector is not None:
            self._fault_injector.reset()

    def close(self) -> None:
        """Close the session and remove its URL; idempotent."""
        self._close(self.id)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def answer(self, request: SimulatedRequest) -> EncodedAnswer:
        """Answer one request; one at a time, because a world is not thread-safe."""
        if self._fault_injector is not None:
            target = f"{request.path} {request.query}"
            if refusal := self._fault_injector.refusal(request.method, target, request.body):
                return self._encode_refusal(request, refusal)
        reads = request.method in {"GET", "HEAD"}
        with self._lock:
            responder = self._current_responder()
            version = responder.world.version
            key = (request.path, request.query, *map(request.headers.get, self._relevant_headers), version)
            if reads and (cached := self._cached.get(key)) is not None:
                return cached
            tool = responder.tool_for(request)
            if not self._signed_in(request, tool):
                return encode(responder.problem(tool, RequestError(401, "the credential is missing or wrong")))
            answer = encode(responder.answer(self._without_secret(request)))
            if reads and answer[0] < 400 and responder.world.version == version:
                while len(self._cached) >= _MAX_CACHED:
                    self._cached.pop(next(iter(self._cached)))
                self._cached[key] = answer
            return answer

    def _current_responder(self) -> Responder:
        if self._responder is None:
            world = self._make_world()
            for demands in self._demands or ():
                world.satisfy(demands)
            self._responder = Responder(world)
        return self._responder

    def _encode_refusal(self, request: SimulatedRequest, refusal: RequestError) -> EncodedAnswer:
        """A refusal in the documented shape of errors."""
        with self._lock:
            responder = self._current_responder()
            reply = responder.problem(responder.tool_for(request), refusal)
        headers = {"Retry-After": str(refusal.wait)} if refusal.wait else {}
        return encode(SimulatedReply(reply.status, reply.body, reply.media_type, headers))

    @cached_property
    def _restricted(self) -> bool:
        return any(tool.security for tool in self.protocol.tools)

    @cached_property
    def _secrets(self) -> frozenset[str]:
        """The parameters of a query that hold a credential."""
        schemes = [scheme for scheme in self.protocol.security_schemes if scheme.kind == "apiKey"]
        return frozenset(scheme.parameter for scheme in schemes if scheme.location == "query")

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

    def _without_secret(self, request: SimulatedRequest) -> SimulatedRequest:
        if not self._secrets.intersection(name for name, _ in request.query):
            return request
        query = tuple((name, value) for name, value in request.query if name not in self._secrets)
        return SimulatedRequest(request.method, request.path, query, request.headers, request.body)


def _relevant_headers(protocol: Protocol, credentials: tuple[Credential, ...]) -> tuple[str, ...]:
    """The headers that a response may depend on, in lower case."""
    placed: list[tuple[str, str]] = [(p.location, p.name) for tool in protocol.tools for p in tool.parameters]
    placed += [credential.place for credential in credentials]
    named = {name.lower() for location, name in placed if location == "header"}
    return tuple(sorted({*named, "authorization", "cookie"}))


def _carries(request: SimulatedRequest, credential: Credential) -> bool:
    """True if a request carries a credential."""
    cookies = credential.cookies()
    return (
        all(request.header(name) == text for name, text in credential.sign(ANY_REQUEST).items())
        and set(credential.query().items()) <= set(request.query)
        and (not cookies or cookies.items() <= request.cookies.items())
    )
