"""Replies of another server of the published protocol, asked where nothing is cached."""

from __future__ import annotations

import json
import threading
import time
from typing import Any
from urllib.parse import urlsplit

import requests

from benchmarks.toolbench.corpus.queries import split_server
from benchmarks.toolbench.server.address import VirtualCall
from protocols.calls.credentials import ANY_REQUEST, Credential
from protocols.calls.redaction import redact
from protocols.errors import UsageError

__all__ = ["Upstream"]

_TIMEOUT = (5.0, 30.0)
"""Seconds to connect, and between two bytes of the reply."""

_FAILURES = 3
_PAUSE = 30.0
"""After so many failures of the connection in a row the server is left in peace for so many seconds."""


class Upstream:
    """Another server of the protocol.

    Args:
        url: Its base URL, or that of its endpoint.
        key: Sent as `toolbench_key`, and taken out of replies.
    Raises: UsageError: This is no URL of a server.
    """

    def __init__(self, url: str, key: Credential | None = None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise UsageError(f"{url!r} is no URL of a virtual API server; write it as http://HOST:8080")
        self.url = "/".join(split_server(url))
        self.problem = ""
        """Why the last request failed; empty if it did not."""
        self._key = key
        self._failures = 0
        self._is_unreachable = False
        self._silent_until = 0.0
        self._local = threading.local()

    @property
    def is_away(self) -> bool:
        """True if the last request did not reach it, or so many failed that it is not asked for a while."""
        return self._is_unreachable or time.monotonic() < self._silent_until

    def answer(self, call: VirtualCall) -> dict[str, Any] | None:
        """The server's reply, whole; None if it gave none: it is away, or answers something else."""
        if time.monotonic() < self._silent_until:
            return None
        address = call.address
        content = {
            "category": address.category,
            "tool_name": address.tool,
            "api_name": address.api,
            "tool_input": dict(call.arguments),
            "strip": "",
            "toolbench_key": self._key.secrets()[0] if self._key is not None else "",
        }
        headers = dict(self._key.sign(ANY_REQUEST)) if self._key is not None else {}
        try:
            response = self._session().post(self.url, json=content, headers=headers, timeout=_TIMEOUT)
            text = redact(response.text, [self._key]) if self._key is not None else response.text
            reply = json.loads(text) if response.status_code == 200 else None
        except requests.RequestException as error:
            self._failed(
                f"{type(error).__name__}: no reply from {self.url}", isinstance(error, requests.ConnectionError)
            )
            return None
        except (ValueError, RecursionError):
            reply = None
        self._failures, self._is_unreachable, self.problem = 0, False, ""
        if not isinstance(reply, dict) or not {"error", "response"} <= reply.keys():
            self.problem = f"{self.url} answered with status {response.status_code} and no `error` and `response`"
            return None
        return reply

    def _failed(self, problem: str, is_unreachable: bool) -> None:
        self.problem, self._is_unreachable = problem, is_unreachable
        self._failures += 1
        if self._failures >= _FAILURES:
            self.problem += f" {self._failures} times in a row; it is not asked for {_PAUSE:.0f} s"
            self._silent_until = time.monotonic() + _PAUSE

    def _session(self) -> requests.Session:
        """The connections of this thread."""
        if not hasattr(self._local, "session"):
            self._local.session = requests.Session()
        session: requests.Session = self._local.session
        return session
