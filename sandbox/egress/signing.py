"""Requests as they leave: what may not be in them, and how they are signed.

Some services take another method, path or host from parts of a request than the one that was checked; such parts are
left out, and `warn` is told of each. Credentials are put on last and win over what the program set itself; those that
sign all of a request see it as it leaves.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from http.cookies import SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import unquote_plus

from protocols.calls.credentials import Credential, RequestToSign
from protocols.calls.serialization import CONNECTION_HEADERS, is_override, normalized_header
from protocols.model import Protocol, Tool
from sandbox.egress.egress_rules import CallTarget, UnreachableError, check_length
from sandbox.egress.stages import FORM, PlannedRequest, QueryPairs, join_url
from sandbox.records import cut

if TYPE_CHECKING:
    import requests

    from sandbox.egress.cookies import RunCookies

__all__ = ["Signer", "overrides_method", "with_defaults", "without_overrides"]

HEADERS_LIMIT = 64 * 1024
"""Characters of the headers of one request, cookies included."""

_normalized = lru_cache(maxsize=1000)(normalized_header)
_overrides = lru_cache(maxsize=1000)(is_override)
"""Of the name of a header; the same few come again with each call."""

_DEFAULT_HEADERS = {"User-Agent": "python-requests/2", "Accept-Encoding": "gzip, deflate", "Accept": "*/*"}
_NO_COOKIE_NAME = re.compile(r"[^\x21-\x7e]|[=;,\"\\]")
"""Characters that no name of a cookie contains."""

_PLAIN_COOKIE = re.compile(r"[^\x00-\x20\x7f\",;\\]*")
_QUOTED_COOKIE = re.compile(r'"[^\x00-\x1f\x7f";\\]*"')


class Signer:
    """Signs requests with the credentials of one run; `warn` is told of values that a credential replaces."""

    def __init__(
        self, credentials: Sequence[Credential], protocol: Protocol | None, warn: Callable[[str], None]
    ) -> None:
        self.credentials = tuple(credentials)
        self._lock = threading.Lock()
        self._cookies: RunCookies | None = None
        self._has_protocol = protocol is not None
        self._schemes = protocol.security_schemes if protocol is not None else ()
        self._with_security = {tool.namespace for tool in protocol.tools if tool.security} if protocol else set()
        self._warn = warn

    @property
    def cookies(self) -> RunCookies:
        """The cookies that services set; most set none."""
        with self._lock:
            if self._cookies is None:
                from sandbox.egress.cookies import RunCookies

                self._cookies = RunCookies()
            return self._cookies

    def sign(self, target: CallTarget, planned: PlannedRequest, signed: bool = True) -> requests.PreparedRequest:
        """The request as it goes out, with the cookies that the API has set; without credentials if not `signed`.

        Raises: UnreachableError, requests.RequestException, ValueError; APIError, UsageError: There is no access token.
        """
        import requests

        headers = {name: value for name, value in planned.headers.items() if name.lower() != "accept-encoding"}
        query, cookies = list(planned.query), dict(planned.cookies)
        for name in [name for name in cookies if not name or _NO_COOKIE_NAME.search(name)]:
            self._warn(f"the program's own cookie {cut(name, 100)!r} was not sent: that is no name")
            del cookies[name]
        credentials = self.credentials_for(target.tool) if signed else []
        for credential in credentials:
            self._place(credential, query, cookies)
        prepared = requests.PreparedRequest()
        prepared.prepare_method(planned.method)
        unchanged = query == list(planned.query)
        prepared.prepare_url(join_url(target.base + planned.path, planned.query if unchanged else query), None)
        prepared.prepare_headers(with_defaults(headers, _DEFAULT_HEADERS))
        texts = [f"{name}={_cookie(value)}" for name, value in cookies.items()]
        if target.tool is not None and self._cookies is not None:
            was_set = self._cookies.pairs(target.tool.namespace, str(prepared.url))
            texts += [text for name, text in was_set if name not in cookies]
        if texts:
            prepared.headers["Cookie"] = "; ".join(texts)
        prepared.prepare_body(planned.body, None)
        for credential in sorted(credentials, key=lambda credential: credential.signs_whole):
            self._sign(credential, prepared, planned)
        check_length(str(prepared.url))
        if sum(len(name) + len(value) for name, value in prepared.headers.items()) > HEADERS_LIMIT:
            raise UnreachableError("InvalidHeader", f"its headers have more than {HEADERS_LIMIT} characters")
        return prepared

    def credentials_for(self, tool: Tool | None) -> list[Credential]:
        """The credentials for a tool: those without a scheme, and those of its first alternative that is configured.

        No sign-in at all is the last alternative. Where none is configured, all that the tool may take are used. Those
        for another API than the tool's are none of them.
        """
        if tool is None:
            return [] if self._has_protocol else list(self.credentials)
        own = [credential for credential in self.credentials if credential.namespace == tool.namespace]
        named = {credential.scheme: credential for credential in own if credential.scheme}
        alternatives = [schemes for schemes in tool.security if named.keys() >= set(schemes)]
        if tool.namespace not in self._with_security:
            accepted = set(named)
        elif alternatives:
            accepted = set(max(alternatives, key=bool))
        else:
            accepted = {scheme for schemes in tool.security for scheme in schemes}
        return [c for c in own if c.scheme is None or c.scheme in accepted]

    def missing_prefix(self, tool: Tool | None) -> str:
        """What the document wants before a key that was sent without it; empty if there is no such thing."""
        from protocols.calls.api_keys import APIKey

        places = {c.place: c for c in self.credentials_for(tool) if isinstance(c, APIKey)}
        for scheme in self._schemes:
            sent = places.get((scheme.location, scheme.parameter)) if scheme.prefix else None
            if sent is not None and sent.namespace == scheme.namespace and not sent.has_prefix(scheme.prefix):
                return f'the document says that the value begins with "{scheme.prefix}"'
        return ""

    def renew(self, tool: Tool | None, request: requests.PreparedRequest, reply: Mapping[str, str]) -> bool:
        """True if a request that was refused can be signed better. Raises: APIError, UsageError."""
        return any(credential.renew(request.headers, reply) for credential in self.credentials_for(tool))

    def _place(self, credential: Credential, query: list[tuple[str, str]], cookies: dict[str, str]) -> None:
        """Put a credential in the place of the program's parameters and cookies of that name; warn of others."""
        own_query, own_cookies = credential.query(), credential.cookies()
        for name, value in query:
            if value != own_query.get(name, value):
                self._warn_replaced(f"query parameter {name}")
        for name in cookies.keys() & own_cookies.keys():
            self._warn_replaced(f"cookie {name}")
        query[:] = [*((name, value) for name, value in query if name not in own_query), *own_query.items()]
        cookies.update(own_cookies)

    def _sign(self, credential: Credential, request: requests.PreparedRequest, planned: PlannedRequest) -> None:
        """Add the headers of a credential to a request; those of the program of the same name give way, with a warning.

        Raises: APIError, UsageError.
        """
        sent = RequestToSign(str(request.method), str(request.url), dict(request.headers), planned.body or b"")
        signature = credential.sign(sent)
        names = {_normalized(name) for name in signature}
        for name in [name for name in request.headers if _normalized(name) in names]:
            if planned.headers.get(name) not in (None, *signature.values()):
                self._warn_replaced(f"header {name}")
            del request.headers[name]
        request.headers.update(signature)

    def _warn_replaced(self, part: str) -> None:
        self._warn(f"the program's own {part} was replaced by the configured credential")


def with_defaults(headers: Mapping[str, str], defaults: Mapping[str, str]) -> dict[str, str]:
    """The headers, after those defaults whose names (whatever their case) are not among them."""
    own_names = {name.lower() for name in headers}
    return {**{name: value for name, value in defaults.items() if name.lower() not in own_names}, **headers}


def _cookie(value: str) -> str:
    """The value of a cookie, quoted where it would be read as another cookie or cut."""
    if len(value) > 1 and value[0] == value[-1] == '"' and _QUOTED_COOKIE.fullmatch(value):
        return value
    return value if _PLAIN_COOKIE.fullmatch(value) else str(SimpleCookie().value_encode(value)[1])


# Parts that change where a request goes

_METHOD = re.compile(r"\s*[_.\[]method(\0.*)?", re.IGNORECASE | re.DOTALL)
"""A field by which some services take another method, as they read its name."""

_METHOD_IN_JSON = re.compile(
    b'"' + b"".join(rb"(?:%c|\\u00%02x)" % (char, char) for char in b"_method") + rb'"\s*:', re.IGNORECASE
)
_METHOD_IN_PARTS = re.compile(rb"(?<!file)name\s*=\s*[\"']?\s*[_.\[]method\b", re.IGNORECASE)


def without_overrides(tool: Tool, planned: PlannedRequest, warn: Callable[[str], None]) -> PlannedRequest:
    """A tool's request without the connection's own headers, even documented ones; a read also without overrides."""
    reads = tool.reads or not planned.writes
    dropped = [
        name for name in planned.headers if _normalized(name) in CONNECTION_HEADERS or (reads and _overrides(name))
    ]
    for name in dropped:
        warn(f"the header {cut(name, 100)} of {tool.name} was not sent: it may change the request")
    return replace(planned, headers={name: text for name, text in planned.headers.items() if name not in dropped})


def overrides_method(tool: Tool | None, planned: PlannedRequest) -> bool:
    """True if the query or body has a method that some services take for the request's own."""
    if tool is not None and any(p.name == "_method" for p in tool.arguments) and tool.writes:
        return False  # a write documents it
    body = planned.body or b""
    types = (text for name, text in planned.headers.items() if _normalized(name) == "content-type")
    media_type = next(types, "").lower()
    written = planned.query.written if isinstance(planned.query, QueryPairs) else None
    is_form = FORM in (media_type or FORM)  # some services take a body without a type for one
    if _names_method(written or "") or (is_form and _names_method(body.decode("latin-1"))):
        return True
    inside = _METHOD_IN_PARTS if media_type.lstrip().startswith("multipart/") else _METHOD_IN_JSON
    return inside.search(body) is not None or any(_METHOD.fullmatch(name) for name, _ in planned.query)


def _names_method(form: str) -> bool:
    """True if a query or form has a method for services that split it at `&` or at `;`."""
    return any(_METHOD.fullmatch(unquote_plus(part.partition("=")[0])) for part in re.split("[&;]", form))
