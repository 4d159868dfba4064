"""AWS Signature Version 4: a hash of the whole request, keyed by a secret that is never sent.

Source: "Create a signed AWS API request", AWS General Reference.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import reduce
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from protocols.calls.credentials import Credential, RequestToSign
from protocols.calls.secret_sources import SecretSource

__all__ = ["SigV4", "read_sigv4"]

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
