"""Requests as the HTTP library prepares them: a program's own, and the one that is sent, with credentials.

Credentials are put on last and win over what the program set itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from http.cookies import SimpleCookie
from typing import TYPE_CHECKING, Any

from protocols.calls.auth import Credential
from protocols.model import Protocol, Tool
from sandbox.egress.egress_rules import CallTarget, UnreachableError, check_length
from sandbox.egress.overrides import normalized_header
from sandbox.egress.pending_call import PlannedRequest, join_url
from sandbox.truncation import cut

if TYPE_CHECKING:
    import requests

__all__ = ["Signer", "parse_cookies", "prepare", "with_defaults"]

HEADERS_LIMIT = 64 * 1024
"""Characters of the headers of one request, cookies included."""

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
        self._has_protocol = protocol is not None
        self._has_security = any(tool.security for tool in protocol.tools) if protocol else False
        self._warn = warn

    def sign(self, target: CallTarget, planned: PlannedRequest) -> requests.PreparedRequest:
        """The request as it goes out. Raises: UnreachableError, requests.RequestException, ValueError."""
        import requests

        headers = {name: value for name, value in planned.headers.items() if name.lower() != "accept-encoding"}
        query, cookies = list(planned.query), dict(planned.cookies)
        for name in [name for name in cookies if not name or _NO_COOKIE_NAME.search(name)]:
            self._warn(f"the program's own cookie {cut(name, 100)!r} was not sent: that is no name")
            del cookies[name]
        for credential in self.credentials_for(target.tool):
            self._remove_overruled(credential, headers, query, cookies)
            credential.apply(headers, query, cookies)
        prepared = requests.PreparedRequest()
        prepared.prepare_method(planned.method)
        unchanged = query == list(planned.query)
        prepared.prepare_url(join_url(target.base + planned.path, planned.query if unchanged else query), None)
        prepared.prepare_headers(with_defaults(headers, _DEFAULT_HEADERS))
        if cookies:
            prepared.headers["Cookie"] = "; ".join(f"{name}={_cookie(value)}" for name, value in cookies.items())
        prepared.prepare_body(planned.body, None)
        check_length(str(prepared.url))
        if sum(len(name) + len(value) for name, value in prepared.headers.items()) > HEADERS_LIMIT:
            raise UnreachableError("InvalidHeader", f"its headers have more than {HEADERS_LIMIT} characters")
        return prepared

    def credentials_for(self, tool: Tool | None) -> list[Credential]:
        """The credentials for a tool: those without a scheme, and those of its first alternative that is configured.

        No sign-in at all is the last alternative. Where none is configured, all that the tool may take are used.
        """
        if tool is None:
            return [] if self._has_protocol else list(self.credentials)
        named = {credential.scheme: credential for credential in self.credentials if credential.scheme}
        alternatives = [schemes for schemes in tool.security if named.keys() >= set(schemes)]
        if not self._has_security:
            accepted = set(named)
        elif alternatives:
            accepted = set(max(alternatives, key=bool))
        else:
            accepted = {scheme for schemes in tool.security for scheme in schemes}
        return [c for c in self.credentials if c.scheme is None or c.scheme in accepted]

    def _remove_overruled(
        self, credential: Credential, headers: dict[str, str], query: list[tuple[str, str]], cookies: dict[str, str]
    ) -> None:
        """Take the program's headers out that a credential sets, and warn of all values that it replaces."""
        own_headers, own_query, own_cookies = dict[str, str](), list[tuple[str, str]](), dict[str, str]()
        credential.apply(own_headers, own_query, own_cookies)
        names = {normalized_header(name) for name in own_headers}
        for name in [name for name in headers if normalized_header(name) in names]:
            self._warn_replaced(f"header {name}", headers[name] not in own_headers.values())
            del headers[name]
        for name, value in query:
            if name in dict(own_query):
                self._warn_replaced(f"query parameter {name}", value != dict(own_query)[name])
        for name in cookies.keys() & own_cookies.keys():
            self._warn_replaced(f"cookie {name}", True)

    def _warn_replaced(self, part: str, differs: bool) -> None:
        if differs:
            self._warn(f"the program's own {part} was replaced by the configured credential")


def prepare(
    method: str,
    url: str,
    params: Sequence[Sequence[str]],
    headers: Mapping[str, str],
    cookies: Mapping[str, str],
    data: bytes | Sequence[Sequence[str]] | None,
    auth: tuple[str, str] | None,
) -> requests.PreparedRequest:
    """A request of the program. Raises: UnreachableError: It is too large; requests.RequestException, ValueError."""
    import requests

    _check_size(method, url, params, {**headers, **cookies})
    content: Any = data if data is None or isinstance(data, bytes) else [(name, value) for name, value in data]
    prepared = requests.Request(
        method,
        url,
        params=[(name, value) for name, value in params],
        headers=dict(headers),
        cookies=dict(cookies),
        data=content,
        auth=auth,
    ).prepare()
    check_length(str(prepared.url))
    return prepared


def with_defaults(headers: Mapping[str, str], defaults: Mapping[str, str]) -> dict[str, str]:
    """The headers, after those defaults whose names (whatever their case) are not among them."""
    own_names = {name.lower() for name in headers}
    return {**{name: value for name, value in defaults.items() if name.lower() not in own_names}, **headers}


def parse_cookies(header: str) -> dict[str, str]:
    pairs = (part.strip().partition("=") for part in header.split(";"))
    return {name: value for name, _, value in pairs if name}


def _check_size(method: str, url: str, params: Sequence[Sequence[str]], headers: Mapping[str, str]) -> None:
    if re.fullmatch(r"[A-Z]{1,20}", method) is None:
        raise UnreachableError("InvalidURL", f"there is no method {cut(method, 50)}")
    check_length(url, sum(len(name) + len(value) for name, value in params))
    if sum(len(name) + len(value) for name, value in headers.items()) > HEADERS_LIMIT:
        raise UnreachableError("InvalidHeader", f"the headers have more than {HEADERS_LIMIT} characters")


def _cookie(value: str) -> str:
    """The value of a cookie, quoted where it would be read as another cookie or cut."""
    if len(value) > 1 and value[0] == value[-1] == '"' and _QUOTED_COOKIE.fullmatch(value):
        return value
    return value if _PLAIN_COOKIE.fullmatch(value) else str(SimpleCookie().value_encode(value)[1])
