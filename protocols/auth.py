"""Credentials: where they come from, how they are put on a request, and how they are kept out of everything else.

This module and the broker are the only places that hold a secret. It is read from the environment or a file, never
from a command line, where every process list and shell history would show it.
"""

from __future__ import annotations

import base64
import html
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal
from urllib.parse import quote, quote_plus

from protocols.errors import UsageError
from protocols.model import Protocol, SecurityScheme

__all__ = ["Credential", "credential", "for_scheme", "redact", "redact_stream"]

_SPEC = re.compile(r"(?P<kind>.+?):(?P<source>env|file):(?P<place>.+)", re.DOTALL)
_KINDS = "bearer, basic, header:NAME, query:NAME, cookie:NAME"
_HIDDEN = b"[secret]"
_SHORTEST = 4
"""Characters of a secret; fewer occur in any text."""


@dataclass(frozen=True, slots=True)
class Credential:
    """A secret and where it goes. For basic the secret is `user:password`. It never shows in `repr`.

    `scheme` is the name of the document's security scheme that it is for, None if none was named.
    """

    kind: Literal["apiKey", "basic", "bearer"]
    secret: str = field(repr=False)
    location: Literal["header", "query", "cookie"] = "header"
    parameter: str = "Authorization"
    scheme: str | None = None

    def apply(self, headers: dict[str, str], query: list[tuple[str, str]], cookies: dict[str, str]) -> None:
        """Put the secret on a request, in place of what stands there under that name."""
        if self.kind == "bearer":
            _set(headers, "Authorization", f"Bearer {self.secret}")
        elif self.kind == "basic":
            _set(headers, "Authorization", f"Basic {base64.b64encode(self.secret.encode()).decode()}")
        elif self.location == "header":
            _set(headers, self.parameter, self.secret)
        elif self.location == "query":
            query[:] = [
                *((name, value) for name, value in query if name != self.parameter),
                (self.parameter, self.secret),
            ]
        else:
            cookies[self.parameter] = self.secret


def _set(headers: dict[str, str], name: str, value: str) -> None:
    for old in [key for key in headers if key.lower() == name.lower()]:
        del headers[old]
    headers[name] = value


def for_scheme(scheme: SecurityScheme, secret: str) -> Credential:
    """The credential that satisfies a security scheme of the document with this secret."""
    if scheme.kind == "apiKey":
        return Credential("apiKey", secret, scheme.location, scheme.parameter, scheme.name)
    return Credential("basic" if scheme.kind == "basic" else "bearer", secret, scheme=scheme.name)


def credential(spec: str, protocol: Protocol | None) -> Credential:
    """Read `KIND:SOURCE`, as `--auth` takes it.

    KIND is bearer, basic, header:NAME, query:NAME, cookie:NAME or the name of a security scheme of the protocol;
    SOURCE is env:VARIABLE or file:PATH and holds the secret (`user:password` for basic).

    Raises: UsageError: It is written otherwise, or the source holds nothing. What may be a literal secret is not
        repeated in the message.
    """
    found = _SPEC.fullmatch(spec.strip())
    if found is None:
        raise UsageError(
            "--auth takes KIND:env:VARIABLE or KIND:file:PATH, never the secret itself "
            f"(KIND: {_kinds(protocol)}). Put the secret into an environment variable or a file"
        )
    kind = found["kind"]
    scheme = next((s for s in (protocol.security_schemes if protocol else ()) if s.name == kind), None)
    head, _, name = kind.partition(":")
    if kind not in ("bearer", "basic") and scheme is None and not (head in ("header", "query", "cookie") and name):
        raise UsageError(f"--auth names a KIND that is not known; KIND is one of {_kinds(protocol)}")
    secret = _secret(found["source"], found["place"])
    if kind == "bearer":
        return Credential("bearer", secret.removeprefix("Bearer ").strip())
    if kind == "basic" or (scheme is not None and scheme.kind == "basic"):
        if ":" not in secret:
            raise UsageError(f"--auth {kind}: the source must hold user:password")
        return Credential("basic", secret, scheme=scheme.name if scheme else None)
    if scheme is not None:
        return for_scheme(scheme, secret)
    if head == "header":
        return Credential("apiKey", secret, "header", name)
    return Credential("apiKey", secret, "query" if head == "query" else "cookie", name)


def _kinds(protocol: Protocol | None) -> str:
    names = [scheme.name for scheme in protocol.security_schemes] if protocol else []
    return ", ".join([_KINDS, *names])


def _secret(source: str, place: str) -> str:
    if source == "env":
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", place):
            raise UsageError("--auth …:env: takes the name of an environment variable")
        text = os.environ.get(place, "")
        where = f"the environment variable {place}"
        if not text:
            raise UsageError(f"--auth: {where} is not set")
    else:
        where = f"the file {place}"
        try:
            text = Path(place).expanduser().read_text("utf-8")
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a text file"
            raise UsageError(f"--auth: {where} cannot be read: {reason}") from None
    secret = text.strip()
    if not secret:
        raise UsageError(f"--auth: {where} is empty")
    if any(not char.isprintable() for char in secret):
        raise UsageError(f"--auth: {where} must hold one line of text")
    if len(secret) < _SHORTEST:
        raise UsageError(
            f"--auth: {where} holds fewer than {_SHORTEST} characters, too few to keep them out of what a program sees"
        )
    return secret


def redact(text: str, credentials: Iterable[Credential]) -> str:
    """The text with every secret replaced by `[secret]`.

    Found are the secret itself (of basic also the password alone), percent-encoded, escaped for JSON or HTML, in
    base64 and in hex. A password under four characters is not sought by itself, or ordinary text would be torn.
    """
    pattern = _pattern(tuple(credentials))
    if pattern is None:
        return text
    return pattern.sub(_HIDDEN, text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")


def redact_stream(parts: Iterable[bytes], credentials: Iterable[Credential]) -> Iterator[bytes]:
    """Like `redact` for UTF-8 bytes that come in parts; a secret is found also where two parts meet."""
    chosen = tuple(credentials)
    pattern = _pattern(chosen)
    if pattern is None:
        yield from parts
        return
    overlap = max(map(len, _all_forms(chosen))) - 1
    left = b""
    for part in parts:
        left += part
        cut, clean = 0, []
        safe = len(left) - overlap  # what begins before here is seen to its end
        for found in pattern.finditer(left):
            if found.start() >= safe:
                break
            clean += [left[cut : found.start()], _HIDDEN]
            cut = found.end()
        end = max(cut, safe, 0)
        clean.append(left[cut:end])
        left = left[end:]
        yield b"".join(clean)
    yield pattern.sub(_HIDDEN, left)


@lru_cache(maxsize=64)
def _all_forms(credentials: tuple[Credential, ...]) -> frozenset[bytes]:
    return frozenset(form.encode() for one in credentials for form in _forms(one) if form)


@lru_cache(maxsize=64)
def _pattern(credentials: tuple[Credential, ...]) -> re.Pattern[bytes] | None:
    forms = sorted(_all_forms(credentials), key=lambda form: (-len(form), form))
    return re.compile(b"|".join(map(re.escape, forms))) if forms else None


def _forms(credential: Credential) -> Iterator[str]:
    secrets = [credential.secret]
    if credential.kind == "basic":
        secrets.append(credential.secret.partition(":")[2])
    for secret in secrets:
        if len(secret) < _SHORTEST:
            continue
        yield secret
        data = secret.encode()
        for encoded in (quote(secret, safe=""), quote(secret), quote_plus(secret)):
            yield encoded
            yield re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), encoded)
        for coded in (base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode()):
            yield coded
            yield coded.rstrip("=")
            yield quote(coded, safe="")
        yield data.hex()
        yield data.hex().upper()
        for escaped in (json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], html.escape(secret)):
            yield escaped
            yield escaped.replace("/", "\\/")
