"""An environment whose tool is a real HTTP service on localhost; its actions are curl lines, or programs of `atc`.

Both forms of a call go to the same server. The requests that it got since `reset`, with their replies, are judged.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal
from urllib.parse import parse_qsl

import requests
import yaml

from benchmarks.manipulation.curl import CurlError, CurlRequest, curl_line, parse_curl
from benchmarks.manipulation.environment import (
    NOW,
    ActionResult,
    Environment,
    GoalAction,
    ManipulationTest,
    TestScore,
    f1_figures,
    failure_of,
)
from protocols import load
from protocols.calls.api_keys import APIKey
from protocols.calls.credentials import Credential
from protocols.errors import UsageError
from protocols.model import Protocol
from protocols.naming import argument_name, tool_name
from protocols.simulator.http.http_server import ConnectionServer
from protocols.simulator.http.messages import EncodedAnswer, SimulatedReply, SimulatedRequest, encode

__all__ = ["HTTPEnvironment", "LocalService", "RefusedRequestError"]

_KEY = "{API_KEY}"
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_SECONDS = 10
_OF_THE_CONNECTION = ("connection", "content-length", "expect", "transfer-encoding")
"""Headers that say how a request is sent, and are left to who sends it."""


class RefusedRequestError(Exception):
    """A reply of a local service that refuses a request with a status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class LocalService(ABC):
    """What answers the requests: it has a state, and knows its operations by method and path."""

    @abstractmethod
    def reset(self, state: Mapping[str, Any], seed: int) -> None:
        """Start anew from a test's state."""

    @abstractmethod
    def answer(self, request: SimulatedRequest) -> SimulatedReply:
        """Answer one request."""

    @abstractmethod
    def name(self, method: str, path: str) -> str:
        """Method and path of the operation, with placeholders for its identifiers; as they are where there is none."""

    def snapshot(self) -> object:
        """What calls may have changed, to compare; None for a service that only gives information."""
        return None


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """A request and its reply; `name` is the operation, with placeholders for its identifiers."""

    name: str
    reply: SimulatedReply


class HTTPEnvironment(Environment):
    """An environment over a local service.

    A test succeeds if the reply to its call equals that to a label's, and the service is left in the same state. Of
    several requests of a program the last one counts that calls the label's function, or else the last of all.

    Args:
        compat: Take the first curl line out of any prose, and compare no state, as the released evaluator does.

    Attributes:
        origin: The address that the service is known by.
        key_location, key_name: Where a request carries its key.
        single_quoted: An action must end with a single quote.
        log: The requests since `reset`, oldest first.
        text: What `act` was called with, empty where it was not.
    """

    origin: str
    secret: str
    key_location: Literal["header", "query"] = "header"
    key_name: str
    single_quoted = False
    readable = True
    figures = ("f1", "precision", "recall")

    def __init__(self, *, compat: bool = False) -> None:
        super().__init__(compat=compat)
        self.service = self.new_service()
        self.log: list[LoggedRequest] = []
        self.text = ""
        self._reference = self.new_service()
        self._seed = 0
        self._error = ""
        self._lock = threading.Lock()
        self._server: ConnectionServer | None = None

    @abstractmethod
    def new_service(self) -> LocalService:
        """A service in its first state."""

    def read_action(self, goal: str, action: str) -> GoalAction:
        """The first curl line of an action; it counts with the operation of the service that it calls."""
        line = curl_line(action, anywhere=True)
        request = parse_curl(line)
        name = self._reference.name(request.method, request.path)
        if request.origin != self.origin or tool_name(*name.split(" ", 1)) not in self.protocol():
            raise UsageError(f"{request.method} {request.origin}{request.path} is no function of {self.name}")
        return GoalAction(goal, line, (name,), _program(name, self._arguments(name, request)))

    def _arguments(self, name: str, request: CurlRequest) -> dict[str, object]:
        """The arguments of a request in path, query and body, without its key."""
        placed = re.fullmatch(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", name), f"{request.method} {request.path}")
        body = _parsed((request.body or "").encode())
        query = {parameter: value for parameter, value in request.query if parameter != self.key_name}
        return {**(placed.groupdict() if placed else {}), **query, **(body if isinstance(body, dict) else {})}

    @property
    def credentials(self) -> Sequence[Credential]:  # type: ignore[override]
        """The key of the service."""
        return (APIKey(self.secret, self.key_location, self.key_name, scheme="key"),)

    # -- the service -----------------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """The base URL of the server, which is started at the first use. Raises: UsageError: It cannot be started."""
        if self._server is None:
            try:
                self._server = ConnectionServer(0, self._handle, NOW)
            except OSError as error:
                raise UsageError(f"the service of a tool cannot be started: {error.strerror}") from None
        return self._server.url

    def _handle(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> EncodedAnswer:
        path, _, query = target.partition("?")
        pairs = tuple(parse_qsl(query, keep_blank_values=True))
        with self._lock:
            reply = self.service.answer(SimulatedRequest(method, path, pairs, headers, body))
            self.log.append(LoggedRequest(self.service.name(method, path), reply))
        return encode(reply)

    def _send(self, request: CurlRequest) -> str:
        """The text of the reply. Raises: requests.RequestException, ValueError: HTTP cannot carry the request."""
        headers = self.default_headers() | dict(request.headers)
        with requests.Session() as client:
            client.trust_env = False
            return client.request(
                request.method,
                self.url + request.path,
                params=request.query,
                data=None if request.body is None else request.body.encode(),
                headers={name: value for name, value in headers.items() if name not in _OF_THE_CONNECTION},
                timeout=_SECONDS,
                allow_redirects=False,
            ).text

    @cached_property
    def tools(self) -> Protocol:
        """The service's document, with the address of the local server; its digest is blind to that address."""
        text = (self.folder / "openapi.yaml").read_text("utf-8")
        protocol = load({**yaml.safe_load(text), "servers": [{"url": self.url}]})
        return replace(protocol, digest=hashlib.sha256(text.encode()).hexdigest())

    def close(self) -> None:
        """Stop the server."""
        if self._server is not None:
            self._server.close()
            self._server = None

    # -- an episode ------------------------------------------------------------------------------------------------

    def reset(self, test: ManipulationTest, seed: int = 0) -> str:
        """Start a test; `seed` varies what the service answers with. Returns: The goal."""
        self._test, self._seed, self._error, self.text = test, seed, "", ""
        with self._lock:
            self.log.clear()
            self.service.reset(test.state, seed)
        return test.goal

    def act(self, text: str) -> ActionResult:
        """Send the request of the first curl line, with the key in place of `{API_KEY}`."""
        self.text = text
        try:
            line = curl_line(text, anywhere=self.compat)
            if self.single_quoted and not line.endswith("'"):
                raise CurlError("the line does not end with a single quote")
            request = parse_curl(line.replace(_KEY, self.secret))
            if request.origin != self.origin:
                raise CurlError(f"curl: (6) could not resolve the host of {request.origin}")
            return ActionResult((self._reference.name(request.method, request.path),), self._send(request))
        except CurlError as error:
            self._error = str(error)
        except (requests.RequestException, ValueError) as error:  # a header or body that HTTP cannot carry
            self._error = f"the request cannot be sent: {error}"
        return ActionResult(error=self._error)

    def default_headers(self) -> dict[str, str]:
        """The headers of a curl line that has none; names in lower case."""
        return {}

    def score(self) -> TestScore:
        """Compare the reply that counts, and the state, with those of the labels."""
        test = self.test
        requests_made = list(self.log)
        called = [request.name for request in requests_made]
        values, equal = {"f1": 0.0, "precision": 0.0, "recall": 0.0}, False
        for label, names in zip(test.labels, test.names, strict=True):
            expected, state = self._expected(test, label)
            counting = [request for request in requests_made if request.name in names] or requests_made
            members = self.members(counting[-1].reply) if counting and not self._error else {}
            figures = f1_figures(members, expected)
            if figures["f1"] > values["f1"]:
                values = figures
            same_state = self.compat or self.service.snapshot() == state
            equal = equal or (figures["f1"] == 1.0 and same_state)
        failure = "" if equal else failure_of(bool(called) and not self._error, called, test)
        return TestScore(float(equal), failure, values)

    def _expected(self, test: ManipulationTest, label: str) -> tuple[Mapping[str, object], object]:
        """The members of a label's reply and the state after it. Raises: ValueError: The label does not execute."""
        request = parse_curl(label.replace(_KEY, self.secret))
        headers = self.default_headers() | dict(request.headers)
        body = (request.body or "").encode()
        self._reference.reset(test.state, self._seed)
        reply = self._reference.answer(SimulatedRequest(request.method, request.path, request.query, headers, body))
        members = self.members(reply)
        if not members:
            raise ValueError(f"{self.name} {test.id}: the label was answered with {reply.status}: {reply.body}")
        return members, self._reference.snapshot()

    def members(self, reply: SimulatedReply) -> Mapping[str, object]:
        """What is compared: the members of an object, the items of a list by index, a text; nothing of an error.

        Of an empty list it is the length, so that it equals another one and no error.
        """
        if not 200 <= reply.status < 300:
            return {}
        if isinstance(reply.body, Mapping):
            return reply.body
        if isinstance(reply.body, list):
            return {str(index): item for index, item in enumerate(reply.body)} or {"length": 0}
        return {"text": reply.body}


def _program(name: str, arguments: Mapping[str, object]) -> str:
    """A call of an operation, `METHOD /path`, as a program over the tools; a text of digits is written as a number."""
    values = [
        value if isinstance(value, str) and _NUMBER.fullmatch(value) else repr(value) for value in arguments.values()
    ]
    written = ", ".join(f"{argument_name(key)}={value}" for key, value in zip(arguments, values, strict=True))
    return f"print({tool_name(*name.split(' '))}({written}))"


def _parsed(body: bytes) -> object:
    try:
        return json.loads(body) if body else None
    except (ValueError, RecursionError):
        return body.decode(errors="replace")
