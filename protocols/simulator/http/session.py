"""One world with its requests, apart from all others: what a task meets, from its first call to its last.

A session is opened over HTTP or from Python; both ways lead here. Its world follows from its seed, its task and its
question, so that it is the same whichever other sessions there are and in which order its own reads come.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING

from protocols.calls.auth import Credential
from protocols.model import Tool
from protocols.simulator.http.conditions import FaultInjector, SimulatedRefusal
from protocols.simulator.http.messages import RequestError, SimulatedReply, SimulatedRequest
from protocols.simulator.http.routing import Responder
from protocols.simulator.world.world import World

if TYPE_CHECKING:
    from protocols.simulator.http.server import Simulator

__all__ = ["EncodedAnswer", "Session", "encode"]

EncodedAnswer = tuple[int, bytes, str, Mapping[str, str]]
"""Status, body, media type ("" without a body), further headers."""

_MAX_CACHED = 2048


@dataclass(slots=True)
class _SessionState:
    """What a reset throws away."""

    responder: Responder
    cached: dict[tuple[object, ...], EncodedAnswer]


class Session:
    """A world of its own at a base URL of its own; a context manager that closes it.

    Args:
        make: Makes the world, at the first request and after each reset.
        id: "" for the world that a simulator has without any session.
        hurdles: What a request meets before it comes to the world.
    """

    def __init__(
        self,
        simulator: Simulator,
        id: str,
        make_world: Callable[[], World],
        fault_injector: FaultInjector | None = None,
    ) -> None:
        self.simulator = simulator
        self.id = id
        self._fault_injector = fault_injector
        self._make_world = make_world
        self._lock = threading.Lock()
        self._state: _SessionState | None = None
        schemes = [scheme for scheme in simulator.protocol.security_schemes if scheme.kind == "apiKey"]
        self._secrets = frozenset(scheme.parameter for scheme in schemes if scheme.location == "query")
        self._relevant_headers = _relevant_headers(simulator)
        self._restricted = any(tool.security for tool in simulator.protocol.tools)

    @property
    def url(self) -> str:
        """Where it is asked, with the path of the documented server; starts the server if it is not running."""
        return self.simulator.base_url(self.id)

    @property
    def credentials(self) -> tuple[Credential, ...]:
        """The made-up credentials that it wants, those of its simulator."""
        return self.simulator.credentials

    def reset(self) -> None:
        """Undo all writes: the world is again as it was at the start."""
        with self._lock:
            self._state = None
        if self._fault_injector is not None:
            self._fault_injector.reset()

    def close(self) -> None:
        """End it; its URL is gone. Closing it again changes nothing."""
        self.simulator.close_session(self.id)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def answer(self, request: SimulatedRequest) -> EncodedAnswer:
        """Answer one request; one after the other, for a world is not made for several at once."""
        if self._fault_injector is not None:
            refusal = self._fault_injector.refusal(request.method, f"{request.path} {request.query}", request.body)
            if refusal is not None:
                return self._encode_refusal(request, refusal)
        reads = request.method in {"GET", "HEAD"}
        with self._lock:
            state = self._current_state()
            version = state.responder.world.version
            key = (request.path, request.query, *map(request.headers.get, self._relevant_headers), version)
            if reads and (known := state.cached.get(key)) is not None:
                return known
            tool = state.responder.tool_for(request)
            if not self._signed_in(request, tool):
                problem = RequestError(401, "the credential is missing or wrong")
                return encode(state.responder.problem(tool, problem))
            answer = encode(state.responder.answer(self._without_secret(request)))
            if reads and answer[0] < 400 and state.responder.world.version == version:
                while len(state.cached) >= _MAX_CACHED:
                    state.cached.pop(next(iter(state.cached)))
                state.cached[key] = answer
            return answer

    def _current_state(self) -> _SessionState:
        if self._state is None:
            self._state = _SessionState(Responder(self._make_world()), {})
        return self._state

    def _encode_refusal(self, request: SimulatedRequest, refusal: SimulatedRefusal) -> EncodedAnswer:
        """A refusal that has nothing to do with the world, as the document says that errors look."""
        with self._lock:
            responder = self._current_state().responder
            reply = responder.problem(responder.tool_for(request), RequestError(refusal.status, refusal.message))
        headers = {"Retry-After": str(refusal.wait)} if refusal.wait else {}
        return encode(SimulatedReply(reply.status, reply.body, reply.media_type, headers))

    def _signed_in(self, request: SimulatedRequest, tool: Tool | None) -> bool:
        """Whether a request satisfies one of the alternatives that its tool asks for; where none is named, any."""
        if not self.credentials:
            return True
        if tool is not None and self._restricted and not tool.security:
            return True
        held = {credential.scheme for credential in self.credentials if _carries(request, credential)}
        if tool is None or not self._restricted:
            return bool(held)
        return any(held.issuperset(way) for way in tool.security)

    def _without_secret(self, request: SimulatedRequest) -> SimulatedRequest:
        if not self._secrets.intersection(name for name, _ in request.query):
            return request
        query = tuple((name, value) for name, value in request.query if name not in self._secrets)
        return SimulatedRequest(request.method, request.path, query, request.headers, request.body)


def _relevant_headers(simulator: Simulator) -> tuple[str, ...]:
    """The headers that an answer may depend on, in lower case."""
    placed = [(p.location, p.name) for tool in simulator.protocol.tools for p in tool.parameters]
    placed += [(c.location, c.parameter) for c in simulator.credentials if c.kind == "apiKey"]
    named = {name.lower() for location, name in placed if location == "header"}
    return tuple(sorted({*named, "authorization", "cookie"}))


def _carries(request: SimulatedRequest, credential: Credential) -> bool:
    """Whether a request carries a credential."""
    headers: dict[str, str] = {}
    query: list[tuple[str, str]] = []
    cookies: dict[str, str] = {}
    credential.apply(headers, query, cookies)
    return (
        all(request.header(name) == text for name, text in headers.items())
        and set(query) <= set(request.query)
        and (not cookies or cookies.items() <= request.cookies.items())
    )


def encode(reply: SimulatedReply) -> EncodedAnswer:
    """A reply as it goes over the wire."""
    if reply.media_type is None:
        return reply.status, b"", "", reply.headers
    if "json" in reply.media_type or "*" in reply.media_type:
        media_type = "application/json" if "*" in reply.media_type else reply.media_type
        return reply.status, json.dumps(reply.body, ensure_ascii=False).encode(), media_type, reply.headers
    text = reply.body if isinstance(reply.body, str) else json.dumps(reply.body, ensure_ascii=False)
    return reply.status, text.encode(), reply.media_type, reply.headers
