"""The cookies that services set in a run: a login by one call counts for the later ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from email.message import Message
from http.cookiejar import CookieJar
from types import SimpleNamespace
from urllib.parse import urlsplit

from requests.cookies import MockRequest, MockResponse, get_cookie_header

__all__ = ["RunCookies"]

_COOKIE_LENGTH = 4096
_MOST_COOKIES = 50
"""Characters of a cookie, and cookies of an API, that are kept: what RFC 6265 asks of a browser."""

_DOMAIN = re.compile(r"(?i);\s*domain\s*=\s*\.?([^;]*)")


class RunCookies:
    """The cookies that services set, by namespace of an API, such that a login by one call counts for the later ones.

    Each API has its own jar of the standard library, which knows what a domain, a path and an age mean (RFC 6265).
    All methods may be used from several threads.
    """

    def __init__(self) -> None:
        self._jars: dict[str, CookieJar] = {}

    def has(self, namespace: str) -> bool:
        """True if the API has set a cookie."""
        return namespace in self._jars

    def keep(self, namespace: str, url: str, lines: Sequence[str]) -> None:
        """Take the cookies in the `Set-Cookie` headers of a reply from a URL."""
        jar = self._jars.setdefault(namespace, CookieJar())
        host = urlsplit(url).hostname
        for line in lines:
            if len(line) > _COOKIE_LENGTH or not line.isprintable():
                continue
            # The jar takes no domain without a dot, not even the service's own: `localhost`.
            own = _DOMAIN.sub(lambda domain: "" if domain[1].strip().lower() == host else domain[0], line)
            message = Message()
            message["Set-Cookie"] = own
            asked: object = MockRequest(SimpleNamespace(url=url, headers={}))
            for cookie in jar.make_cookies(MockResponse(message), asked):  # type: ignore[arg-type]
                others = {(other.domain, other.path, other.name) for other in jar}
                if len(others | {(cookie.domain, cookie.path, cookie.name)}) <= _MOST_COOKIES:
                    jar.set_cookie_if_ok(cookie, asked)  # type: ignore[arg-type]

    def pairs(self, namespace: str, url: str) -> list[tuple[str, str]]:
        """Names of the cookies that a request to a URL carries, each with the text of its cookie."""
        if not self.has(namespace):
            return []
        text: str = get_cookie_header(self._jars[namespace], SimpleNamespace(url=url, headers={})) or ""  # type: ignore[no-untyped-call]
        return [(part.partition("=")[0], part) for part in text.split("; ") if part]
