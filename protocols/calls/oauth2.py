"""OAuth 2 access tokens (RFC 6749): fetched at the first use, renewed before they expire or when they are refused.

Two grants: client credentials (section 4.4), and a refresh token (section 6), which the server may replace by a new one
at each use. The new one is then written back to the file before the access token is used.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from protocols.calls.credentials import Credential, RequestToSign
from protocols.calls.redaction import redact
from protocols.calls.secret_sources import SecretSource
from protocols.errors import APIError, ATCError, UsageError
from protocols.extras import needs_extra
from protocols.private_files import folder_locked, write_whole

__all__ = ["OAuth2Token", "names_client", "read_oauth2"]

_LEEWAY = 30.0
"""Seconds before its expiry at which a token is renewed; a tenth of its life where that is less."""

_TIMEOUT = 10.0
"""Seconds of a request to a token server, with its whole answer: less than a run has by itself."""

_MOST_BYTES = 1 << 20
"""Bytes of a token server's answer; a token with all that is said of it has a few thousand."""

_MOST_REMEMBERED = 50
"""Secrets of the past that are still redacted."""

_FIELDS = ("token_url", "client_id", "client_secret", "scope")
_LOOPBACK = re.compile(r"localhost|127(\.\d{1,3}){3}|::1")


@dataclass
class _Tokens:
    """What changes: the token in force, `time.monotonic()` from which on it is renewed, and what was fetched so far.

    `due` is None for a token that does not expire.
    """

    refresh: str | None = None
    access: str | None = None
    due: float | None = None
    fetched: tuple[str, ...] = ()
    turn: threading.Lock = field(default_factory=threading.Lock)


def names_client(source: SecretSource) -> bool:
    """True if a place holds the settings of a client, not a secret alone."""
    if source.kind == "env":
        return f"{source.place}_TOKEN_URL" in os.environ
    try:
        return source.kind == "file" and "token_url" in source.json_object(_FIELDS)
    except UsageError:
        return False


def read_oauth2(kind: str, source: SecretSource) -> OAuth2Token:
    """`oauth2:env:PREFIX` or `oauth2:file:PATH`. Nothing is sent yet.

    Raises: UsageError: A setting is missing or unfit. The message repeats no possible secret.
    """
    optional = ("client_secret", "scope", *(("refresh_token",) if source.kind == "file" else ()))
    values = source.settings(_FIELDS[:2], optional, secret=("client_secret",))
    if not all(isinstance(value, str) for value in values.values()):
        raise UsageError(f"{source.option}: {', '.join(_FIELDS)} must be texts")
    refresh_token = values.pop("refresh_token", None)
    if "client_secret" not in values and refresh_token is None:
        raise UsageError(f"{source.option}: client_secret is missing, and there is no refresh_token")
    _check_url(source.option, values["token_url"])
    file = replace(source, place=str(Path(source.place).expanduser().resolve())) if source.kind == "file" else None
    return OAuth2Token(**values, file=file, tokens=_Tokens(refresh_token))


@dataclass(frozen=True, kw_only=True)
class OAuth2Token(Credential):
    """`Authorization: Bearer …` with the access token of a client. All methods may be called from several threads.

    `client_secret` is "" for a public client, which needs a refresh token; `file` is the JSON file of the settings, for
    a new one. An error shows no secret.
    """

    token_url: str
    client_id: str
    client_secret: str = field(repr=False, default="")
    scope: str = ""
    file: SecretSource | None = None
    tokens: _Tokens = field(repr=False, compare=False, default_factory=_Tokens)

    def sign(self, request: RequestToSign) -> Mapping[str, str]:
        """The token in force; fetched if there is none, or it is about to expire.

        Raises:
            APIError: The token server cannot be reached, or refuses.
            UsageError: A new refresh token cannot be written to the file.
        """
        with self.tokens.turn, self._without_secrets():
            due = self.tokens.due
            if self.tokens.access is None or (due is not None and time.monotonic() >= due):
                self.tokens.access, self.tokens.due = self._fetch()
            return {"Authorization": f"Bearer {self.tokens.access}"}

    def renew(self, request: Mapping[str, str], reply: Mapping[str, str]) -> bool:
        """True if there is another token than the refused one. Raises: APIError, UsageError: As `sign` does."""
        refused = request.get("Authorization", "").removeprefix("Bearer ")
        with self.tokens.turn, self._without_secrets():
            if self.tokens.access in (None, refused):
                self.tokens.access, self.tokens.due = self._fetch()
            return self.tokens.access != refused

    def secrets(self) -> tuple[str, ...]:
        """The client's secret, and the tokens in force and of the past."""
        own = (self.client_secret, self.tokens.refresh or "")
        return tuple(dict.fromkeys(secret for secret in (*own, *self.tokens.fetched) if secret))

    @contextmanager
    def _without_secrets(self) -> Iterator[None]:
        try:
            yield
        except ATCError as error:
            raise type(error)(redact(str(error), (self,))) from None

    def _fetch(self) -> tuple[str, float | None]:
        """A new token and when it is due; a new refresh token lies in the file by then."""
        if self.tokens.refresh is None or self.file is None:
            return self._accept(self._ask(None))
        path = Path(self.file.place)
        with self._alone(path.parent):
            content = self.file.json_object(_FIELDS)
            newest = content.get("refresh_token") or self.tokens.refresh  # another process may have used ours
            self._remember(newest)
            reply = self._ask(newest)
            token = self._accept(reply)
            rotated = reply.get("refresh_token") or newest
            self._remember(rotated)
            self.tokens.refresh = rotated
            if rotated != content.get("refresh_token"):
                self._keep(path, {**content, "refresh_token": rotated})
            return token

    @contextmanager
    def _alone(self, folder: Path) -> Iterator[None]:
        """One process at a time; a refresh token may be good for one use. Raises: UsageError."""
        with ExitStack() as stack:
            try:
                stack.enter_context(folder_locked(folder))
            except OSError as error:
                text = f"the folder {folder} cannot be opened: {error.strerror}"
                raise UsageError(f"--auth oauth2:file: {text}") from None
            yield

    def _keep(self, path: Path, content: Mapping[str, object]) -> None:
        try:
            write_whole(path, json.dumps(content, indent=2) + "\n")
        except OSError as error:
            raise UsageError(
                f"--auth oauth2:file: the new refresh token cannot be written to {path}: {error.strerror}; the old one "
                "may be used up"
            ) from None

    def _remember(self, secret: str) -> None:
        if secret not in self.tokens.fetched:
            self.tokens.fetched = (*self.tokens.fetched, secret)[-_MOST_REMEMBERED:]

    def _accept(self, reply: Mapping[str, Any]) -> tuple[str, float | None]:
        """The token of an answer, and when it is due. Raises: APIError: It holds none."""
        text, kind = reply.get("access_token"), reply.get("token_type", "bearer")
        if not isinstance(text, str) or not text.isascii() or not text.isprintable() or len(text.strip()) < 4:
            raise APIError(f"{self._where} gave no access token")
        self._remember(text)
        if not isinstance(kind, str) or kind.lower() != "bearer":
            raise APIError(f"{self._where} gave a token of another type than bearer")
        try:
            seconds = float(reply["expires_in"]) if reply.get("expires_in") is not None else None
        except (ValueError, TypeError):
            seconds = None
        return text, None if seconds is None else time.monotonic() + seconds - min(_LEEWAY, seconds / 10)

    def _ask(self, refresh_token: str | None) -> Mapping[str, Any]:
        """Ask the token server once. Raises: APIError."""
        try:
            import requests
            from authlib.common.errors import AuthlibBaseError  # type: ignore[import-untyped]
            from authlib.integrations.requests_client import OAuth2Session  # type: ignore[import-untyped]

            from protocols.bounded_http import BoundedAdapter, TooMuchError
        except ImportError:
            raise UsageError(needs_extra("--auth oauth2:", "auth")) from None
        how = {
            "timeout": _TIMEOUT,
            "allow_redirects": False,  # the secret is for this server
            "verify": os.environ.get("REQUESTS_CA_BUNDLE") or True,
        }
        method = "client_secret_basic" if self.client_secret else "none"
        try:
            with OAuth2Session(self.client_id, self.client_secret or None, method, scope=self.scope or None) as session:
                session.trust_env = False
                for scheme in ("https://", "http://"):
                    session.mount(scheme, BoundedAdapter(_TIMEOUT, _MOST_BYTES))
                if refresh_token is None:
                    reply = session.fetch_token(self.token_url, grant_type="client_credentials", **how)
                else:
                    reply = session.refresh_token(self.token_url, refresh_token=refresh_token, **how)
            return dict(reply)
        except TooMuchError:
            raise APIError(f"{self._where} answered with more than {_MOST_BYTES >> 20} MiB, and no token has") from None
        except requests.ConnectionError:
            raise APIError(f"{self._where} cannot be reached; see that it runs, or correct its URL") from None
        except requests.Timeout:
            raise APIError(f"{self._where} gave no whole answer within {_TIMEOUT:g} s") from None
        except requests.HTTPError as error:
            status = error.response.status_code if error.response is not None else "an error"
            raise APIError(f"{self._where} answered {status}") from None
        except AuthlibBaseError as error:
            why = ": ".join(str(part) for part in (error.error, error.description) if part)
            raise APIError(
                f"{self._where} gave no token: {why[:300]}; check the client's id, secret and scope"
            ) from None
        except (requests.RequestException, ValueError, TypeError, AttributeError, LookupError):
            raise APIError(f"{self._where} gave no token: its answer is no JSON object of OAuth 2") from None

    @property
    def _where(self) -> str:
        return f"the token server {self.token_url}"


def _check_url(option: str, url: str) -> None:
    """Raises: UsageError: A secret may not be sent to a URL."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        raise UsageError(f"{option}: the token URL is no URL") from None
    if parts.username is not None or parts.query or parts.fragment:
        raise UsageError(f"{option}: the token URL must have no user name, query or fragment")
    if not host or not (parts.scheme == "https" or (parts.scheme == "http" and _LOOPBACK.fullmatch(host))):
        raise UsageError(f"{option}: the token URL must begin with https:// (http:// is for this machine alone)")
