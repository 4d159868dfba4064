"""The virtual API server: the published protocol over HTTP, answered from a cache, a server, a simulator or a model.

A tool's failure is a reply with an error text and status 200. Only requests that are no calls get another status.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from benchmarks.toolbench.corpus.queries import ENDPOINTS
from benchmarks.toolbench.server.address import VirtualCall, read_call
from benchmarks.toolbench.server.cache import ResponseCache, canonical
from benchmarks.toolbench.server.catalogue import Catalogue
from benchmarks.toolbench.server.reply_sources import FAILED, ModelSource, SchemaSource, Upstream
from protocols.errors import ATCError, ToolError, UsageError
from protocols.simulator.http.http_server import ConnectionServer

__all__ = ["VirtualServer", "simulated_server"]

_MOST_KEPT = 1000
"""Locks of calls, and warnings, that are kept at most."""
_NEEDED = ("category", "tool_name", "api_name")
_PUBLISHED = (*_NEEDED, "tool_input", "strip", "toolbench_key")
_EXAMPLES = 5
"""Cached replies of the same API that a model is shown."""

Answer = tuple[int, bytes, str, Mapping[str, str]]
Reply = Mapping[str, Any]


class VirtualServer:
    """Answers calls of documented APIs; use it as a context manager.

    Args:
        catalogue: The documented APIs; None answers from the cache and `upstream` alone.
        source: What answers where neither of them does; None refuses.
        compat: Behave as the published server: arguments must match exactly, and all six fields must be there.
        shorten: Applied to the value of a reply to a call whose `strip` asks for it.
    """

    def __init__(
        self,
        catalogue: Catalogue | None,
        cache: ResponseCache,
        *,
        source: SchemaSource | ModelSource | None = None,
        upstream: Upstream | None = None,
        compat: bool = False,
        shorten: Callable[[VirtualCall, Any], Any] | None = None,
    ) -> None:
        self.counts: Counter[str] = Counter()
        """Replies by where they come from: cache, server, simulator, model, refused, failed."""
        self.warnings: list[str] = []
        self._catalogue = catalogue
        self._cache = cache
        self._source = source
        self._upstream = upstream
        self._compat = compat
        self._shorten = shorten
        self._lock = threading.Lock()
        self._turns: dict[str, threading.Lock] = {}
        self._server: ConnectionServer | None = None

    def start(self, port: int = 0) -> str:
        """Serve in the background, on any free port for 0. Returns: The base URL. Raises: UsageError."""
        try:
            self._server = ConnectionServer(port, self.handle, datetime.now(UTC))
        except OSError as error:
            raise UsageError(f"port {port} cannot be used: {error.strerror}; choose another with --port") from None
        return self._server.url

    def stop(self) -> None:
        """Stop to serve and write the cache."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        self._cache.close()

    def __enter__(self) -> VirtualServer:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    # Requests

    def handle(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Answer one request: status, body, media type, further headers."""
        path = target.partition("?")[0].rstrip("/")
        endpoints = [f"/{endpoint}" for endpoint in ENDPOINTS]
        if path not in endpoints:
            return _message(404, f"there is nothing at {path or '/'}; send a POST to {' or '.join(endpoints)}")
        if method != "POST":
            return _message(405, f"send a POST to {path}", {"Allow": "POST"})
        return self._answer(body)

    def _answer(self, body: bytes) -> Answer:
        try:
            content = json.loads(body, strict=False)
        except (ValueError, RecursionError):
            return _message(422, "the body is not valid JSON")
        needed = _PUBLISHED if self._compat else _NEEDED
        missing = [name for name in needed if not isinstance(content, dict) or name not in content]
        if missing:
            detail = [
                {"loc": ["body", name], "msg": "field required", "type": "value_error.missing"} for name in missing
            ]
            return 422, json.dumps({"detail": detail}).encode(), "application/json", {}
        try:
            reply = self._reply(read_call(content, self._compat))
        except ToolError as error:
            reply = self._counted("refused", {"error": str(error), "response": ""})
        except Exception as error:  # whatever a record or a model makes fail, the client gets a reply
            self._warn(f"{content['api_name']} of {content['tool_name']}: {type(error).__name__}: {error}")
            text = str(error) if isinstance(error, ATCError) else type(error).__name__
            reply = self._counted("failed", {"error": f"Execution error... {text}", "response": ""})
        return 200, json.dumps(reply, ensure_ascii=False, default=str).encode(errors="replace"), "application/json", {}

    def _reply(self, call: VirtualCall) -> Reply:
        reply = self._cached(call)
        if reply is None:
            if isinstance(self._source, ModelSource) or self._upstream is not None:
                with self._turn(call):  # equal calls at the same time are asked once
                    reply = self._cached(call) or self._new(call)
            else:
                reply = self._new(call)
        if call.strip and self._shorten is not None and not reply["error"]:
            return {**reply, "response": self._shorten(call, reply["response"])}
        return reply

    def _cached(self, call: VirtualCall) -> Reply | None:
        """The reply in the cache."""
        value = self._cache.get(call.address, call.arguments)
        if value is None:
            return None
        reply = value if isinstance(value, dict) and "response" in value else {"error": "", "response": value}
        return self._counted("cache", {"error": "", **reply})

    def _new(self, call: VirtualCall) -> Reply:
        """The reply of the first that has one: the other server, then the simulator or the model."""
        recorded = self._upstream.answer(call) if self._upstream is not None else None
        if recorded is not None and not recorded["error"]:
            self._keep(call, recorded, remake=False)
            return self._counted("server", recorded)
        if self._upstream is not None and self._upstream.problem:
            self._warn(self._upstream.problem)
        unknown = self._catalogue.unknown(call.address) if self._catalogue is not None else ""
        if self._source is None or self._catalogue is None or unknown:
            if recorded is not None:
                return self._counted("server", recorded)
            why = f"Unknown API error... {unknown}" if unknown else f"No answer error... {self._refusal()}"
            return self._counted("refused", {"error": why, "response": ""})
        is_missing = self._upstream is None or recorded is not None  # else the server may have a reply of its own
        if isinstance(self._source, SchemaSource):
            reply = self._source.answer(call)
            if is_missing and not reply["error"]:
                self._keep(call, reply, remake=True)
            return self._counted("simulator", reply)
        tool = self._catalogue.tool(call.address.category, call.address.tool)
        assert tool is not None
        reply = self._source.answer(call, tool, self._cache.examples(call.address, _EXAMPLES))
        if is_missing and not reply["error"].startswith(FAILED):
            self._keep(call, reply, remake=False)
        return self._counted("model", reply)

    def _refusal(self) -> str:
        problem = self._upstream.problem if self._upstream is not None else ""
        no_reply = f", and the server gave no reply ({problem})" if problem else ""
        return f"nothing is cached for these arguments{no_reply}; --simulate schema or model would make a reply up"

    def _keep(self, call: VirtualCall, reply: Reply, remake: bool) -> None:
        try:
            self._cache.put(call.address, call.arguments, dict(reply), remake=remake)
        except UsageError as error:  # a full disk, or a name that no file can have
            self._warn(str(error))

    def _turn(self, call: VirtualCall) -> threading.Lock:
        """The lock of a call that others like it wait for."""
        key = f"{call.address.file} {canonical(call.arguments)}"
        with self._lock:
            if len(self._turns) > _MOST_KEPT:
                self._turns = {name: lock for name, lock in self._turns.items() if lock.locked()}
            return self._turns.setdefault(key, threading.Lock())

    def _counted(self, kind: str, reply: Reply) -> Reply:
        self.counts[kind] += 1
        return reply

    def _warn(self, text: str) -> None:
        if text not in self.warnings and len(self.warnings) < _MOST_KEPT:
            self.warnings.append(text)


def simulated_server(catalogue: Catalogue, seed: int = 0) -> VirtualServer:
    """A server of the tools of a catalogue from simulated worlds, for a command that may be given one or go without.

    Equal calls have equal replies, also of a server that is started later with the same tools and seed.
    """
    return VirtualServer(catalogue, ResponseCache(None), source=SchemaSource(catalogue, seed))


def _message(status: int, message: str, headers: Mapping[str, str] | None = None) -> Answer:
    return status, json.dumps({"message": message, "status": status}).encode(), "application/json", headers or {}
