"""A keyed hash of parts of a request, in headers: what many services ask for, each in a form of its own.

Two templates say the form: the text that is signed, and the headers that carry the signature.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from protocols.calls.credentials import Credential, RequestToSign, may_be_token
from protocols.calls.secret_sources import SecretSource
from protocols.calls.serialization import is_reserved
from protocols.errors import UsageError

__all__ = ["HMACSignature", "read_hmac"]

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
        filled = {
            name: _HOLE.sub(lambda hole: parts[hole[1].decode()], text.encode()) for name, text in self.carriers.items()
        }
        return {name: value.decode("latin-1") for name, value in filled.items()}

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
