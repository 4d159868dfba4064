"""Schemes that sign a whole request with a secret that is never sent: AWS, HMAC in a form of the user's, and Digest.

Sources: "Create a signed AWS API request", AWS General Reference; HTTP Digest, RFC 7616.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import reduce
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from protocols.calls.credentials import (
    ANY_REQUEST,
    Credential,
    RequestToSign,
    may_be_token,
    secrets_of_login,
    user_and_password,
)
from protocols.calls.secret_sources import SecretSource
from protocols.calls.serialization import is_reserved
from protocols.errors import UsageError

__all__ = ["DigestLogin", "HMACSignature", "SigV4", "read_digest", "read_hmac", "read_sigv4"]

_ALGORITHM = "AWS4-HMAC-SHA256"
_SIGNED = frozenset({"content-type", "date", "range"})
"""Headers that are signed besides those of `x-amz-…`; others may be changed by a proxy."""
_STORAGE = "s3"
"""The service that has the hash of the body in a header, and whose paths are encoded once."""


@dataclass(frozen=True)
class SigV4(Credential):
    """`Authorization: AWS4-HMAC-SHA256 …` of an access key, for a service in a region; `session_token` may be empty."""

    signs_whole = True
    access_key_id: str
    secret_access_key: str = field(repr=False)
    region: str
    service: str
    session_token: str = field(default="", repr=False)

    def sign(self, request: RequestToSign) -> Mapping[str, str]:
        """The headers that sign a request now."""
        return self.sign_at(request, datetime.now(UTC))

    def sign_at(self, request: RequestToSign, time: datetime) -> dict[str, str]:
        """The headers that sign a request at a time, which the service compares with its own clock."""
        moment = f"{time:%Y%m%dT%H%M%SZ}"
        body_hash = hashlib.sha256(request.body).hexdigest()
        added = {"X-Amz-Date": moment}
        if self.session_token:
            added["X-Amz-Security-Token"] = self.session_token
        if self.service == _STORAGE:
            added["X-Amz-Content-Sha256"] = body_hash
        headers = dict(sorted(dict(_signed_headers(request, added)).items()))
        names = ";".join(headers)
        written = "".join(f"{name}:{value}\n" for name, value in headers.items())
        canonical = [request.method, self._path(request.url), _query(request.url), written, names, body_hash]
        scope = [moment[:8], self.region, self.service, "aws4_request"]
        text = [_ALGORITHM, moment, "/".join(scope), hashlib.sha256("\n".join(canonical).encode()).hexdigest()]
        key = reduce(_mac, scope, f"AWS4{self.secret_access_key}".encode())
        signature = _mac(key, "\n".join(text)).hex()
        credential = f"{self.access_key_id}/{'/'.join(scope)}"
        added["Authorization"] = f"{_ALGORITHM} Credential={credential}, SignedHeaders={names}, Signature={signature}"
        return added

    def secrets(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.secret_access_key, self.session_token)))

    def _path(self, url: str) -> str:
        """The path as it is signed: each segment encoded as it is sent, and once more except for the storage."""
        path = urlsplit(url).path or "/"
        return quote(unquote(path) if self.service == _STORAGE else path, safe="/-_.~")


def _signed_headers(request: RequestToSign, added: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The headers that are signed, in lower case; the last one of a name counts."""
    yield "host", urlsplit(request.url).netloc.rpartition("@")[2]
    for name, value in (*request.headers.items(), *added.items()):
        if name.lower() in _SIGNED or name.lower().startswith("x-amz-"):
            yield name.lower(), " ".join(value.split())


def _query(url: str) -> str:
    """The pairs of a query in the order of their encoded names and values."""
    pairs = parse_qsl(urlsplit(url).query, keep_blank_values=True)
    encoded = sorted((quote(name, safe="-_.~"), quote(value, safe="-_.~")) for name, value in pairs)
    return "&".join(f"{name}={value}" for name, value in encoded)


def _mac(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")


def read_sigv4(kind: str, source: SecretSource) -> SigV4:
    """`sigv4:env:PREFIX` or `sigv4:file:PATH`. Raises: UsageError: A setting is missing."""
    required = ("access_key_id", "secret_access_key", "region", "service")
    secret = ("secret_access_key", "session_token")
    return SigV4(**source.settings(required, ("session_token",), secret))


# HMAC: two templates say the form, the text that is signed and the headers that carry the signature

_HOLE = re.compile(rb"\{(\w+)\}")
_PARTS = ("method", "host", "path", "query", "target", "timestamp", "milliseconds", "body", "body_sha256", "key_id")
"""What the templates may hold: `target` is the path with its query, `timestamp` the seconds since 1970."""
_HASHES = ("sha256", "sha512", "sha384", "sha1")
_ENCODINGS = ("hex", "base64")


@dataclass(frozen=True)
class HMACSignature(Credential):
    """The HMAC of `message`, with its holes filled, in the headers that `carriers` are the templates of."""

    signs_whole = True
    secret: str = field(repr=False)
    key_id: str = ""
    message: str = "{timestamp}{method}{target}{body}"
    carriers: Mapping[str, str] = field(
        default_factory=lambda: {"X-Timestamp": "{timestamp}", "X-Signature": "{signature}"}
    )
    hash: str = "sha256"
    encoding: str = "hex"

    @property
    def place(self) -> tuple[str, str]:
        """The header with the signature."""
        return "header", next(name for name, template in self.carriers.items() if "{signature}" in template)

    def sign(self, request: RequestToSign) -> Mapping[str, str]:
        """The headers that sign a request now."""
        return self.sign_at(request, time.time())

    def sign_at(self, request: RequestToSign, seconds: float) -> dict[str, str]:
        """The headers that sign a request at a time in seconds since 1970."""
        url = urlsplit(request.url)
        path = url.path or "/"
        texts = {
            "method": request.method,
            "host": url.netloc.rpartition("@")[2],
            "path": path,
            "query": url.query,
            "target": f"{path}?{url.query}" if url.query else path,
            "timestamp": str(int(seconds)),
            "milliseconds": str(int(seconds * 1000)),
            "body_sha256": hashlib.sha256(request.body).hexdigest(),
            "key_id": self.key_id,
        }
        parts = {"body": request.body} | {name: text.encode() for name, text in texts.items()}
        mac = hmac.digest(self.secret.encode(), _filled(self.message, parts), self.hash)
        parts["signature"] = mac.hex().encode() if self.encoding == "hex" else base64.b64encode(mac)
        return {name: _filled(template, parts).decode("latin-1") for name, template in self.carriers.items()}

    def secrets(self) -> tuple[str, ...]:
        return (self.secret, self.key_id) if may_be_token(self.key_id) else (self.secret,)


def _filled(template: str, parts: Mapping[str, bytes]) -> bytes:
    return _HOLE.sub(lambda hole: parts[hole[1].decode()], template.encode())


def read_hmac(kind: str, source: SecretSource) -> HMACSignature:
    """`hmac:env:PREFIX` or `hmac:file:PATH`. Raises: UsageError: A setting is missing or unfit."""
    values = source.settings(("secret",), ("key_id", "message", "headers", "hash", "encoding"), ("secret",))
    if "headers" in values:
        values["carriers"] = _carriers(source.option, values.pop("headers"))
    if not all(isinstance(value, str) for name, value in values.items() if name != "carriers"):
        raise UsageError(f"{source.option}: {', '.join(values)} must be texts")
    signature = HMACSignature(**values)
    for setting, allowed in (("hash", _HASHES), ("encoding", _ENCODINGS)):
        if getattr(signature, setting) not in allowed:
            raise UsageError(f"{source.option}: {setting} must be one of {', '.join(allowed)}")
    _check_template(source.option, signature.message, _PARTS)
    for template in signature.carriers.values():
        _check_template(source.option, template, ("signature", *(part for part in _PARTS if part != "body")))
    return signature


def _check_template(option: str, template: str, parts: Sequence[str]) -> None:
    """Raises: UsageError: A template has a hole that nothing fills."""
    if unknown := [hole for hole in map(bytes.decode, _HOLE.findall(template.encode())) if hole not in parts]:
        raise UsageError(f"{option}: nothing fills {{{unknown[0]}}}; a template may have {', '.join(parts)} in braces")


def _carriers(option: str, headers: Any) -> dict[str, str]:
    """The templates of headers, from a JSON object or its text. Raises: UsageError."""
    try:
        content = json.loads(headers) if isinstance(headers, str) else headers
    except ValueError:
        content = None
    texts = isinstance(content, dict) and all(isinstance(text, str) for text in content.values())
    if not texts or not any("{signature}" in text for text in content.values()):
        raise UsageError(f'{option}: headers must be a JSON object such as {{"X-Signature": "{{signature}}"}}')
    if reserved := [name for name in content if is_reserved(name)]:
        raise UsageError(f"{option}: headers cannot set {reserved[0]}, which belongs to the connection")
    return dict(content)


# Digest: `requests` computes the answer to the challenge that a service sends with its first 401

_CHALLENGE = re.compile(r"(?:^|,)\s*digest\s+(.*?)(?=,\s*[A-Za-z-]+\s+[A-Za-z-]+\s*=|$)", re.IGNORECASE | re.DOTALL)
"""The first Digest among the challenges of a `WWW-Authenticate`, which a service prefers."""


@dataclass
class _Answered:
    """The challenge in force, and how often it was answered."""

    challenge: dict[str, str] = field(default_factory=dict)
    count: int = 0
    turn: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True)
class DigestLogin(Credential):
    """`Authorization: Digest …` with `user:password`."""

    signs_whole = True
    login: str = field(repr=False)
    answered: _Answered = field(default_factory=_Answered, repr=False, compare=False)

    def sign(self, request: RequestToSign) -> Mapping[str, str]:
        """The answer to the last challenge; nothing before there was one."""
        with self.answered.turn:
            challenge, count = self.answered.challenge, self.answered.count
            self.answered.count += 1
        answer = self._answer(request, challenge, count) if challenge else None
        return {"Authorization": answer} if answer else {}

    def renew(self, request: Mapping[str, str], reply: Mapping[str, str]) -> bool:
        """True if the service sends a challenge that was not answered yet, or says that the last one is too old."""
        from requests.utils import parse_dict_header

        match = _CHALLENGE.search(_header(reply, "www-authenticate"))
        challenge: dict[str, str] = parse_dict_header(match[1]) if match is not None else {}  # type: ignore[no-untyped-call]
        answers_it = f'nonce="{challenge.get("nonce")}"' in _header(request, "authorization")
        is_new = not answers_it or str(challenge.get("stale")).lower() == "true"
        if not {"realm", "nonce"} <= challenge.keys() or not is_new:
            return False
        with self.answered.turn:
            if self.answered.challenge != challenge:
                self.answered.challenge, self.answered.count = challenge, 0
        return self._answer(ANY_REQUEST, challenge, 0) is not None

    def secrets(self) -> tuple[str, ...]:
        return (self.login, *secrets_of_login(self.login))

    def _answer(self, request: RequestToSign, challenge: dict[str, str], count: int) -> str | None:
        """The header; None for an algorithm or a quality of protection that `requests` does not know."""
        from requests.auth import HTTPDigestAuth

        user, _, password = self.login.partition(":")
        auth = HTTPDigestAuth(user, password)
        auth.init_per_thread_state()  # the state that it has after a 401 of this thread
        state = auth._thread_local  # type: ignore[attr-defined]
        state.chal, state.last_nonce, state.nonce_count = challenge, challenge["nonce"], count
        header: str | None = auth.build_digest_header(request.method, request.url)  # type: ignore[no-untyped-call]
        return header


def _header(headers: Mapping[str, str], name: str) -> str:
    return next((value for header, value in headers.items() if header.lower() == name), "")


def read_digest(kind: str, source: SecretSource) -> DigestLogin:
    """`digest:SOURCE`. Raises: UsageError: The source holds no login."""
    return DigestLogin(user_and_password(source))
