"""The only door to the network: every call that a program makes goes through here, is checked, sent and recorded.

The broker knows the protocol, so it knows which hosts, methods and paths exist; nothing else is sent. It holds the
credentials; they are put on a request last and taken out of everything that comes back. It keeps the rules for
sending twice: a write that may have reached the service is never sent again.
"""

# ruff: noqa: SIM905 - word lists read better than quoted ones

from __future__ import annotations

import contextlib
import email.utils
import json
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlencode, urljoin, urlsplit

from protocols.auth import Credential, redact
from protocols.calling import BoundCall, bind, match, payload
from protocols.errors import LimitReached, ToolError, UsageError
from protocols.model import Protocol, Tool
from sandbox.records import CallRecord, Limits

if TYPE_CHECKING:
    import requests

    from sandbox.transport import Answer, Transport

__all__ = ["Broker", "Exceeded", "Reply"]

MAX_ATTEMPTS = 4
"""Requests that one call of a tool may send, counting the first."""

BACKOFF = 0.5
"""Seconds before the second attempt when the service names no time; doubled each time."""

MAX_REDIRECTS = 5
PATIENCE = 0.05
"""Seconds that a cancelled call has to come to its end."""

RECORD_LIMIT = 1024 * 1024
"""Bytes of a body up to which a record keeps it whole."""

_READS = frozenset({"GET", "HEAD"})
_NOT_THE_PROGRAMS = frozenset(
    "host content-length transfer-encoding connection keep-alive upgrade te trailer proxy-authorization "
    "proxy-authenticate proxy-connection".split()
)
"""Headers that belong to the connection."""

_INSTEAD_OF_CHECKED = frozenset(
    "x-http-method-override x-http-method x-method-override x-original-url x-rewrite-url".split()
)
"""Headers by which some services take another method or path than the one that was checked."""

_DEFAULT_HEADERS = {"User-Agent": "python-requests/2", "Accept-Encoding": "gzip, deflate", "Accept": "*/*"}


class Exceeded(LimitReached):
    """A limit that ends the run; `limit` names it: calls, response or wall."""

    def __init__(self, limit: str, message: str) -> None:
        super().__init__(message)
        self.limit = limit


class _NotSentError(Exception):
    """A request that is not allowed; `kind` is the class of `requests.exceptions` the program gets."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Reply:
    """How one call went. No secret is in it.

    `failure` is the class of `requests.exceptions` for a call without a reply, `problem` what is wrong with the call
    in the words of a ToolError; both are None when all is well. `url` is the one that the program addressed, or was
    redirected to; `history` has the status and next URL of each redirect.
    """

    record: CallRecord
    url: str = ""
    reason: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    sent: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    encoding: str | None = None
    form: Literal["json", "text", "none"] = "none"
    history: tuple[tuple[int, str], ...] = ()
    failure: str | None = None
    problem: str | None = None

    def value(self) -> object:
        """What a tool gives as its result: parsed JSON, text, None for an empty body. Raises: ToolError."""
        if self.problem is not None:
            raise ToolError(self.problem, tool=self.record.tool, status=self.record.status)
        if self.form == "json":
            return json.loads(self.body)
        return self.body.decode(self.encoding or "utf-8", "replace") if self.body else None


class _Place(NamedTuple):
    """Where a request leads: the tool, its base URL in force, the server as the program wrote it, the rest of the
    path, and its variables."""

    tool: Tool
    base: str
    server: str
    path: str
    arguments: dict[str, str]


class Broker:
    """Calls the tools of one protocol, on behalf of one run. All methods may be used from several threads.

    Args:
        base_url: Where the API lives in place of the documented servers; no slash at the end is needed.
        tools: Names of the tools that may be called by name; all if None. Requests may address any operation.
        on_call: Told of each call when it is over.
        deadline: `time.monotonic()` at which the run ends: no request goes on beyond it, and no retry waits for it.
    Raises: UsageError: The document names no server that has a host, and there is no `base_url`; or that one holds a
        secret.
    """

    def __init__(
        self,
        protocol: Protocol | None,
        *,
        base_url: str | None = None,
        credentials: Sequence[Credential] = (),
        limits: Limits | None = None,
        tools: Collection[str] | None = None,
        on_call: Callable[[CallRecord], None] | None = None,
        deadline: float | None = None,
    ) -> None:
        self._protocol = protocol
        if base_url and "@" in urlsplit(base_url).netloc:
            raise UsageError("the base URL holds a user name or password; leave it out and pass it as a credential")
        self._base = base_url.rstrip("/") if base_url else None
        self._credentials = tuple(credentials)
        self._limits = limits or Limits()
        self._on_call = on_call
        self._deadline = deadline
        everything = protocol.tools if protocol else ()
        self._tools = {tool.name: tool for tool in everything if tools is None or tool.name in tools}
        self._servers = _servers(protocol, self._base)
        if everything and not self._servers:
            raise UsageError("the document names no server with a host; give the base URL of the service (--base-url)")
        self._signing = any(tool.security for tool in everything)
        self._lock = threading.RLock()
        self._settled = threading.Condition(self._lock)
        self._open: dict[int, _Begun] = {}
        self._over = threading.Event()
        self._started = 0
        self._calls: dict[int, CallRecord] = {}
        self._warnings: list[str] = []
        self._transport: Transport | None = None

    @property
    def calls(self) -> tuple[CallRecord, ...]:
        """All calls that are over, in the order in which they were begun."""
        with self._lock:
            return tuple(self._calls[index] for index in sorted(self._calls))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know although nothing failed; each once."""
        return tuple(self._warnings)

    def cancel(self) -> None:
        """End every call that is under way; when this returns, each has its record."""
        self._over.set()
        if self._transport is not None:
            self._transport.cancel()
        with self._settled:
            self._settled.wait_for(lambda: not self._open, PATIENCE)
            left = list(self._open.values())
        if left:  # their threads hang where nothing can be cancelled, as in the resolution of a host's name
            from sandbox.transport import OVER

            for begun in left:
                self._finish(begun, error=OVER)

    def close(self) -> None:
        """Give back connections."""
        if self._transport is not None:
            self._transport.close()

    # Calls

    def call(
        self,
        tool: str,
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
        line: int | None = None,
    ) -> object:
        """Call a tool by name and give its result: parsed JSON, text, or None for an empty body.

        Raises:
            ToolError: Wrong arguments, no such tool, a 4xx or 5xx, or no reply.
            Exceeded: A limit on calls or on the size of a reply.
        """
        return self.fetch(tool, args, kwargs, line).value()

    def fetch(
        self,
        tool: str,
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
        line: int | None = None,
    ) -> Reply:
        """Like `call`, with all that is known of the reply; a ToolError is its `problem`. Raises: Exceeded."""
        begun = self._begin("function", line, tool)
        known = self._tools.get(tool)
        try:
            if known is None:
                raise ToolError(f"there is no tool {tool}", tool=tool)
            begun.method, begun.url = known.method, f"{self._base_of(known)}{known.path}"
            bound = bind(known, args, kwargs or {}, self._protocol.definitions if self._protocol else {})
            if _climbs(bound.path) and not _climbs(known.path):
                raise ToolError(f"{tool}(): a path argument must not have '.' or '..' between slashes", tool=tool)
        except (ToolError, ValueError, TypeError, RecursionError) as error:  # the last three: values no schema foresees
            begun.arguments = {**{f"args[{i}]": value for i, value in enumerate(args)}, **(kwargs or {})}
            problem = self._redacted(str(error))
            record = self._finish(begun, error=problem)
            return Reply(record, begun.url, problem=problem, failure="InvalidURL")
        begun.arguments = bound.arguments
        place = _Place(known, self._base_of(known), self._base_of(known), bound.path, {})
        return self._perform(begun, place, _plan(bound), retry=True)

    def request(
        self,
        method: str,
        url: str,
        *,
        params: Sequence[Sequence[str]] = (),
        headers: Mapping[str, str] | None = None,
        cookies: Mapping[str, str] | None = None,
        data: bytes | Sequence[Sequence[str]] | None = None,
        json_body: bytes | None = None,
        auth: tuple[str, str] | None = None,
        timeout: float | None = None,
        redirects: bool = True,
        line: int | None = None,
    ) -> Reply:
        """Send what a program sends with `requests`; it sees the status as it is, and nothing is sent twice.

        Args:
            url: With a documented server (or the base URL in force) in front.
            data: Raw bytes, or pairs for a form. json_body: A JSON text. timeout: Seconds, as the program asks.
        Raises: Exceeded.
        """
        import requests

        begun = self._begin("requests", line, None)
        method = method.upper()
        begun.method, begun.url = method, url
        given = _defaults(headers or {}, {"Content-Type": "application/json"} if json_body is not None else {})
        try:
            prepared = requests.Request(
                method,
                url,
                params=[(name, value) for name, value in params],
                headers=given,
                cookies=dict(cookies or {}),
                data=json_body if json_body is not None else _content(data),
                auth=auth,
            ).prepare()
            place = self._locate(method, str(prepared.url))
        except (requests.RequestException, _NotSentError, UnicodeError, ValueError) as error:
            kind = error.kind if isinstance(error, _NotSentError) else type(error).__name__
            message = self._redacted(str(error))
            record = self._finish(begun, error=message)
            return Reply(record, self._redacted(url), failure=kind, problem=message)
        kept = {name: str(value) for name, value in prepared.headers.items() if self._passes(name)}
        own_cookies = next((value for name, value in given.items() if _plain_name(name) == "cookie"), None)
        plan = _Plan(
            method=method,
            path=place.path,
            query=parse_qsl(urlsplit(str(prepared.url)).query, keep_blank_values=True),
            headers=kept,
            cookies=dict(cookies or {}) if own_cookies is None else _cookies(own_cookies),
            body=prepared.body.encode() if isinstance(prepared.body, str) else prepared.body,
            timeout=timeout,
            redirects=redirects,
        )
        begun.tool, begun.arguments = place.tool.name, _arguments(place, plan)
        return self._perform(begun, place, plan, retry=False, shown=str(prepared.url))

    def _passes(self, header: str) -> bool:
        """Whether a header of the program is sent on as it is."""
        name = _plain_name(header)
        if name in _INSTEAD_OF_CHECKED:
            self._warn(f"the program's own header {header.strip()} was not sent: it may change the method or path")
        return name not in _NOT_THE_PROGRAMS and name not in _INSTEAD_OF_CHECKED and name != "cookie"

    # One call, step by step

    def _begin(self, style: Literal["function", "requests"], line: int | None, tool: str | None) -> _Begun:
        """Give a call its number. Raises: Exceeded: It is one too many."""
        with self._lock:
            begun = _Begun(self._started, style, line, tool)
            self._started += 1
            self._open[begun.index] = begun
        if begun.index >= self._limits.calls:
            text = f"the limit of {self._limits.calls} calls is reached"
            self._finish(begun, error=text)
            raise Exceeded("calls", text)
        return begun

    def _perform(self, begun: _Begun, place: _Place, plan: _Plan, *, retry: bool, shown: str | None = None) -> Reply:
        """Sign, send, perhaps again, clean and record. Raises: Exceeded."""
        from sandbox.transport import NoAnswerError, TooLargeError

        begun.url = _url(place.base + plan.path, plan.query)
        visible = self._redacted(shown or begun.url)
        sent = {name: self._redacted(value) for name, value in plan.headers.items()}
        request = self._signed(place.tool, place.base, plan)
        try:
            while True:
                begun.attempts += 1
                answer = self._send(request, plan)
                delay = self._delay(plan.method, answer, begun.attempts) if retry else None
                if delay is None or self._over.wait(delay):
                    break
            answer, stopped, history = self._redirected(place, plan, request, answer)
        except NoAnswerError as error:
            message = self._redacted(str(error))
            record = self._finish(begun, error=message)
            problem = self._redacted(f"{place.tool.name}: no reply from {plan.method} {plan.path} — {message}")
            return Reply(record, visible, sent=sent, failure=error.kind, problem=problem)
        except TooLargeError as error:
            text = f"the reply to {plan.method} {plan.path} is larger than the {self._limits.response} bytes allowed"
            beginning = self._clean(error.beginning[:RECORD_LIMIT]).decode("utf-8", "replace")
            self._finish(begun, status=error.status, body=beginning, error=text)
            raise Exceeded("response", text) from None
        except Exceeded as error:
            self._finish(begun, error=str(error))
            raise
        reply = self._received(begun, place.tool, plan, answer, stopped)
        return replace(reply, url=history[-1][1] if history else visible, sent=sent, history=history)

    def _received(self, begun: _Begun, tool: Tool, plan: _Plan, answer: Answer, stopped: str | None) -> Reply:
        """A reply as the program and the record get it. `stopped` says why a redirect was not followed."""
        body = self._clean(answer.body)
        headers = {name: self._redacted(value) for name, value in answer.headers.items()}
        cookies = {name: self._redacted(value) for name, value in answer.cookies.items()}
        form, parsed, problem = _result(tool, answer, body)
        if answer.status >= 300:
            said = stopped or _service_message(parsed)
            problem = f"{answer.status} {answer.reason}".strip() + (f" — {said}" if said else "")
        if problem is not None:
            problem = self._redacted(f"{tool.name}: {problem} ({plan.method} {plan.path})")
        kept = parsed if len(body) <= RECORD_LIMIT else body[:RECORD_LIMIT].decode("utf-8", "replace")
        record = self._finish(begun, status=answer.status, body=kept, error=problem)
        return Reply(
            record,
            reason=answer.reason,
            headers=headers,
            cookies=cookies,
            body=body,
            encoding=answer.encoding,
            form=form,
            problem=problem,
        )

    def _finish(
        self, begun: _Begun, *, status: int | None = None, body: object = None, error: str | None = None
    ) -> CallRecord:
        record = CallRecord(
            index=begun.index,
            tool=begun.tool,
            method=begun.method,
            url=self._redacted(begun.url),
            arguments=begun.arguments,
            line=begun.line,
            status=status,
            ms=round((time.monotonic() - begun.at) * 1000, 3),
            attempts=begun.attempts,
            style=begun.style,
            response=body,
            error=error,
        )
        with self._settled:
            if self._open.pop(record.index, None) is None:
                return self._calls[record.index]
            self._calls[record.index] = record
            self._settled.notify_all()
        if self._on_call is not None:
            self._on_call(record)
        return record

    def _send(self, request: requests.PreparedRequest, plan: _Plan) -> Answer:
        from sandbox.addresses import Addresses
        from sandbox.transport import OVER, NoAnswerError, Transport

        with self._lock:
            if self._transport is None:
                named = urlsplit(self._base).hostname if self._base else None
                self._transport = Transport(Addresses([named] if named else ()))
        if self._over.is_set():
            raise NoAnswerError("ConnectionError", OVER)
        seconds = min(self._limits.request_timeout, plan.timeout or self._limits.request_timeout)
        left = self._deadline - time.monotonic() if self._deadline is not None else seconds
        try:
            return self._transport.send(request, seconds=max(0.0, min(seconds, left)), limit=self._limits.response)
        except NoAnswerError as error:
            if left < seconds and error.kind == "ReadTimeout":
                raise Exceeded("wall", f"no reply from {plan.method} {plan.path} before the end of the run") from None
            raise

    def _delay(self, method: str, answer: Answer, attempts: int) -> float | None:
        """Seconds to wait before this call is sent again; None: it is not.

        After a 429 the service has done nothing, so any method may go again; after a 503 only a read may.
        """
        if not (answer.status == 429 or (answer.status == 503 and method in _READS)) or attempts >= MAX_ATTEMPTS:
            return None
        delay = _retry_after(answer.headers)
        if delay is None:
            delay = BACKOFF * 2 ** (attempts - 1)
        if self._deadline is not None and time.monotonic() + delay >= self._deadline:
            return None
        return delay

    def _redirected(
        self, place: _Place, plan: _Plan, request: requests.PreparedRequest, answer: Answer
    ) -> tuple[Answer, str | None, tuple[tuple[int, str], ...]]:
        """Follow redirects of a read that stay within the same API.

        Gives the last answer, why a redirect was not followed, and status and next URL of those that were.
        """
        hops: list[tuple[int, str]] = []
        while True:
            target = next((value for name, value in answer.headers.items() if name.lower() == "location"), None)
            if not 300 <= answer.status < 400 or target is None:
                return answer, None, tuple(hops)
            if plan.method not in _READS or not plan.redirects:
                return answer, "redirects of this call are not followed", tuple(hops)
            if len(hops) == MAX_REDIRECTS:
                return answer, "it redirects too many times", tuple(hops)
            url = urljoin(str(request.url), target)
            here, there = urlsplit(place.base), urlsplit(url)
            path = _within(there.path, here.path)
            found = match(self._protocol, plan.method, path) if path is not None and self._protocol else None
            if path is None or _origin(here) != _origin(there) or found is None:
                return answer, f"it redirects to {url}, which is no operation of this API", tuple(hops)
            query = parse_qsl(there.query, keep_blank_values=True)
            plan = _Plan(plan.method, path, query, plan.headers, plan.cookies, None, plan.timeout)
            request = self._signed(found[0], place.base, plan)
            hops.append((answer.status, self._redacted(_url(place.server + path, query))))
            answer = self._send(request, plan)

    # Credentials

    def _signed(self, tool: Tool, base: str, plan: _Plan) -> requests.PreparedRequest:
        """The request as it goes out, credentials included; they win over what the program set itself."""
        import requests

        headers, query, cookies = dict(plan.headers), list(plan.query), dict(plan.cookies)
        for credential in self._chosen(tool):
            own: tuple[dict[str, str], list[tuple[str, str]], dict[str, str]] = ({}, [], {})
            credential.apply(*own)
            names = {name.lower() for name in own[0]}
            for name in [name for name in headers if name.lower() in names]:
                self._overruled(f"header {name}", headers[name] not in own[0].values())
            for name, value in query:
                if name in dict(own[1]):
                    self._overruled(f"query parameter {name}", value != dict(own[1])[name])
            for name in cookies.keys() & own[2].keys():
                self._overruled(f"cookie {name}", True)
            credential.apply(headers, query, cookies)
        prepared = requests.PreparedRequest()
        prepared.prepare_method(plan.method)
        prepared.prepare_url(_url(base + plan.path, query), None)
        prepared.prepare_headers(_defaults(headers, _DEFAULT_HEADERS))
        if cookies:
            prepared.headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
        prepared.prepare_body(plan.body, None)
        return prepared

    def _chosen(self, tool: Tool) -> list[Credential]:
        """The credentials for a tool: those for no scheme in particular, and those of the first way to sign in that
        is wholly configured, to sign in not at all being the last; where none is, whatever the tool may take."""
        named = {credential.scheme: credential for credential in self._credentials if credential.scheme}
        ways = [way for way in tool.security if named.keys() >= set(way)]
        wanted = set(max(ways, key=bool)) if ways else {scheme for way in tool.security for scheme in way}
        if not self._signing:
            wanted = set(named)
        return [c for c in self._credentials if c.scheme is None or c.scheme in wanted]

    def _overruled(self, what: str, differs: bool) -> None:
        if differs:
            self._warn(f"the program's own {what} was replaced by the configured credential")

    def _warn(self, text: str) -> None:
        if text not in self._warnings:
            self._warnings.append(text)

    def _redacted(self, text: str) -> str:
        return redact(text, self._credentials) if self._credentials else text

    def _clean(self, body: bytes) -> bytes:
        if not self._credentials:
            return body
        return self._redacted(body.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    # Addresses

    def _base_of(self, tool: Tool | None) -> str:
        if self._base is not None:
            return self._base
        servers = [server.url for server in tool.servers if urlsplit(server.url).netloc] if tool else []
        return (servers or self._servers or [""])[0].rstrip("/")

    def _locate(self, method: str, url: str) -> _Place:
        """The operation that a URL addresses. Raises: _NotSentError."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https"):
            raise _NotSentError("InvalidSchema", f"No connection adapters were found for {url!r}")
        if self._protocol is None or not self._servers:
            raise _NotSentError("InvalidURL", f"{parts.netloc} can't be reached: this program may reach no host")
        reachable = ", ".join(self._servers[:-1] if self._base and len(self._servers) > 1 else self._servers)
        if parts.username is not None or parts.password is not None:
            raise _NotSentError("InvalidURL", "a URL with a user name in it is not allowed")
        known = False
        for server in self._servers:
            there = urlsplit(server)
            if _origin(there) != _origin(parts):
                continue
            known = True
            path = _within(parts.path, there.path)
            if path is None:
                continue
            found = match(self._protocol, method, path)
            if found is None and method == "HEAD":
                found = match(self._protocol, "GET", path)
            if found is not None:
                tool, arguments = found
                base = self._base or (server if server in [s.url for s in tool.servers] else self._base_of(tool))
                return _Place(tool, base.rstrip("/"), server, path, arguments)
        if not known:
            origin = f"{parts.scheme}://{parts.netloc}"
            raise _NotSentError("InvalidURL", f"{origin} can't be reached: this program may reach only {reachable}")
        hint = _nearest(self._protocol, method, parts.path)
        raise _NotSentError("InvalidURL", f"{method} {parts.path} is no operation of this API ({reachable}){hint}")


@dataclass(slots=True)
class _Begun:
    """A call that has its number but not yet its record."""

    index: int
    style: Literal["function", "requests"]
    line: int | None
    tool: str | None
    method: str = ""
    url: str = ""
    arguments: dict[str, object] = field(default_factory=dict)
    attempts: int = 0
    at: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class _Plan:
    """A request before credentials. `path` is relative to the base URL and percent-encoded."""

    method: str
    path: str
    query: Sequence[tuple[str, str]]
    headers: Mapping[str, str]
    cookies: Mapping[str, str]
    body: bytes | None
    timeout: float | None = None
    redirects: bool = True


def _defaults(headers: Mapping[str, str], defaults: Mapping[str, str]) -> dict[str, str]:
    """The headers, after those defaults whose names (whatever their case) are not among them."""
    given = {name.lower() for name in headers}
    return {**{name: value for name, value in defaults.items() if name.lower() not in given}, **headers}


def _plan(bound: BoundCall) -> _Plan:
    content = payload(bound)
    headers = {"Accept": "application/json, */*;q=0.5", **bound.headers}
    if content is not None:
        headers["Content-Type"] = content[1]
    body = content[0] if content is not None else None
    return _Plan(bound.tool.method, bound.path, bound.query, headers, bound.cookies, body)


def _arguments(place: _Place, plan: _Plan) -> dict[str, object]:
    """What a request gave, by argument name as far as the tool knows it."""
    names = {(p.location, p.name): p.argument for p in place.tool.arguments}
    arguments: dict[str, object] = dict(place.arguments)
    for name, value in plan.query:
        arguments[names.get(("query", name), name)] = value
    body: object = None
    with contextlib.suppress(ValueError):
        body = json.loads(plan.body) if plan.body else None
    if isinstance(body, dict):
        for name, value in body.items():
            arguments[names.get(("body", str(name)), str(name))] = value
    elif body is not None:
        arguments["body"] = body
    return arguments


def _content(data: bytes | Sequence[Sequence[str]] | None) -> Any:
    """Bytes as they are, pairs as `requests` wants them for a form."""
    return data if data is None or isinstance(data, bytes) else [(name, value) for name, value in data]


def _url(base: str, query: Sequence[tuple[str, str]]) -> str:
    return f"{base}?{urlencode(query, quote_via=quote)}" if query else base


def _servers(protocol: Protocol | None, base: str | None) -> list[str]:
    """Every URL under which a program may address the API, the document's own first."""
    if protocol is None:
        return []
    urls = [server.url for server in protocol.servers]
    urls += [server.url for tool in protocol.tools for server in tool.servers]
    urls = [url.rstrip("/") for url in urls if urlsplit(url).scheme in ("http", "https") and urlsplit(url).netloc]
    return list(dict.fromkeys([*urls, *([base] if base else [])]))


def _origin(parts: Any) -> tuple[str, str, int]:
    return parts.scheme, (parts.hostname or "").lower(), parts.port or (443 if parts.scheme == "https" else 80)


def _within(path: str, prefix: str) -> str | None:
    """The path below a prefix of whole segments, or None; one that climbs is below nothing."""
    if _climbs(path):
        return None
    prefix = prefix.rstrip("/")
    if path != prefix and not path.startswith(prefix + "/"):
        return None
    return path[len(prefix) :] or "/"


def _climbs(path: str) -> bool:
    """Whether a service may find a step between folders in a path: `..`, also as `%2e%2e`, `a%2F..` or `..;x`."""
    if "\\" in path:
        return True
    while (decoded := unquote(path)) != path:
        path = decoded
    return any(part.partition(";")[0] in (".", "..") for part in path.replace("\\", "/").split("/"))


def _plain_name(header: str) -> str:
    """The name of a header as the most lenient service reads it."""
    return header.strip().lower().replace("_", "-")


def _cookies(header: str) -> dict[str, str]:
    """The cookies of a Cookie header."""
    pairs = (part.strip().partition("=") for part in header.split(";"))
    return {name: value for name, _, value in pairs if name}


def _nearest(protocol: Protocol, method: str, path: str) -> str:
    import difflib

    known = {f"{tool.method} {tool.path}": None for tool in protocol.tools}
    close = difflib.get_close_matches(f"{method} {path}", known, 1, 0.4)
    return f"; did you mean {close[0]}?" if close else ""


def _retry_after(headers: Mapping[str, str]) -> float | None:
    text = next((value for name, value in headers.items() if name.lower() == "retry-after"), None)
    if text is None:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None


def _result(tool: Tool, answer: Answer, body: bytes) -> tuple[Literal["json", "text", "none"], object, str | None]:
    """The form and value of a body, and what is wrong with it although the status is good."""
    if not body:
        return "none", None, None
    kind = next((value for name, value in answer.headers.items() if name.lower() == "content-type"), "")
    kind = kind.partition(";")[0].strip().lower()
    documented = tool.success.media_type if tool.success else None
    text = body.decode(answer.encoding or "utf-8", "replace")
    if "json" in kind or not kind:
        try:
            return "json", json.loads(body), None
        except (ValueError, RecursionError):
            problem = f"the reply is not JSON: {_short(text)}" if kind else None
            return "text", text, problem
    if kind == "text/html" and documented is not None and "json" in documented:
        return "text", text, f"the reply is a web page instead of JSON: {_short(text)}"
    return "text", text, None


def _short(text: str, length: int = 200) -> str:
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1] + "…"


_MESSAGE_NAMES = ("message", "error_description", "detail", "description", "title", "reason", "error", "errors", "msg")


def _service_message(body: object) -> str:
    """What the service says about an error, wherever in the body it says it."""
    if isinstance(body, str):
        return _short(body)
    if isinstance(body, list):
        return _service_message(body[0]) if body else ""
    if not isinstance(body, dict):
        return ""
    ranked = [name for wanted in _MESSAGE_NAMES for name in body if str(name).lower() == wanted]
    ranked += [name for name in body if "message" in str(name).lower() and name not in ranked]
    for name in ranked:
        found = _service_message(body[name])
        if found:
            return found
    return "" if ranked else _short(json.dumps(body))
