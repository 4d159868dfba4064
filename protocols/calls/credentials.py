"""What an API asks of its callers: a class for each scheme, which puts its part on a request before it leaves.

A scheme says what it adds to the query and the cookies, and then sees the prepared request and gives the headers that
sign it. Those that sign all of a request (`signs_whole`) come last, when nothing in it changes any more. Only these
classes, the module that takes secrets out of texts, and the broker hold a secret; `repr` never shows one.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from protocols.calls.secret_sources import MIN_SECRET, SecretSource
from protocols.errors import UsageError

__all__ = ["ANY_REQUEST", "BasicLogin", "BearerToken", "Credential", "RequestToSign", "ServerVariable"]
__all__ += ["may_be_token", "read_basic", "read_bearer", "secrets_of_login", "user_and_password"]

Place: TypeAlias = tuple[str, str]
"""Header, query or cookie of a request (or the environment of a server), and the name there."""

_MIN_TOKEN = 16
"""Characters of a user name that may be a token; some services take theirs so."""


@dataclass(frozen=True, slots=True)
class RequestToSign:
    """A request as it will be sent, but for what the credentials add to its headers."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes = b""


ANY_REQUEST = RequestToSign("GET", "http://localhost/", {})
"""For a scheme that puts the same on every request."""


@dataclass(frozen=True, kw_only=True)
class Credential:
    """Base of the schemes; one of them may do nothing in any of its methods.

    `scheme` is the name of a security scheme of the document, None for a credential of no scheme. `namespace` is that
    of the one API that it is for, where there are several.
    """

    signs_whole: ClassVar[bool] = False
    scheme: str | None = None
    namespace: str = ""

    @property
    def place(self) -> Place:
        """Where the secret, or the signature, goes."""
        return "header", "Authorization"

    def query(self) -> Mapping[str, str]:
        """What is added to the query; it replaces other values of that name."""
        return {}

    def cookies(self) -> Mapping[str, str]:
        """The cookies that are added."""
        return {}

    def sign(self, request: RequestToSign) -> Mapping[str, str]:
        """The headers that are added to a request. Raises: APIError, UsageError: There is no access token."""
        return {}

    def renew(self, request: Mapping[str, str], reply: Mapping[str, str]) -> bool:
        """True if another try can be signed better, after a service refused a request with a 401.

        Args:
            request: The headers that were sent. reply: Those of the refusal.
        Raises: APIError, UsageError: There is no other access token.
        """
        return False

    def secrets(self) -> tuple[str, ...]:
        """All texts that must not be seen, each of them by itself; they may become more."""
        return ()


@dataclass(frozen=True)
class BearerToken(Credential):
    """`Authorization: Bearer …`."""

    token: str = field(repr=False)

    def sign(self, request: RequestToSign) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def secrets(self) -> tuple[str, ...]:
        return (self.token,)


@dataclass(frozen=True)
class BasicLogin(Credential):
    """`Authorization: Basic …` with `user:password`."""

    login: str = field(repr=False)

    def sign(self, request: RequestToSign) -> Mapping[str, str]:
        return {"Authorization": f"Basic {base64.b64encode(self.login.encode()).decode()}"}

    def secrets(self) -> tuple[str, ...]:
        return (self.login, *secrets_of_login(self.login))


@dataclass(frozen=True)
class ServerVariable(Credential):
    """A variable in the environment of an MCP server that is started; it is in no request."""

    name: str
    value: str = field(repr=False)

    @property
    def place(self) -> Place:
        return "environment", self.name

    def secrets(self) -> tuple[str, ...]:
        return (self.value,)


def secrets_of_login(login: str) -> Iterator[str]:
    """The password, and the user name if it may be a token: without a password, or a long one with digits."""
    user, _, password = login.partition(":")
    yield password
    if may_be_token(user) or len(password) < MIN_SECRET:
        yield user


def may_be_token(user: str) -> bool:
    """True for a long name with digits, as the identifiers of keys are."""
    return len(user) >= _MIN_TOKEN and "@" not in user and re.search(r"\d", user) is not None


# How `--auth` names them: the kind as it is written, and the source


def read_bearer(kind: str, source: SecretSource) -> BearerToken:
    """`bearer:SOURCE`; the source may have the word before the token."""
    return BearerToken(source.secret().removeprefix("Bearer ").strip())


def read_basic(kind: str, source: SecretSource) -> BasicLogin:
    """`basic:SOURCE`. Raises: UsageError: The source holds no login."""
    return BasicLogin(user_and_password(source))


def user_and_password(source: SecretSource) -> str:
    """The login in a source. Raises: UsageError: It holds none."""
    login = source.secret()
    if ":" not in login:
        raise UsageError(f"{source.option}: the source must hold user:password")
    return login
