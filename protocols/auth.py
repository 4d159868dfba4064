"""Credentials: where they come from, how they are put on a request, and how they are kept out of everything else.

This module and the broker are the only places that hold a secret. It is read from the environment or a file, never
from a command line, where every process list and shell history would show it.
"""

from __future__ import annotations

import base64
import hashlib
import html.entities
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from protocols.errors import UsageError
from protocols.model import Protocol, SecurityScheme

__all__ = ["Credential", "credential", "for_scheme", "holds_secret", "redact", "redact_stream"]

_SPEC = re.compile(r"(?P<kind>.+?):(?P<source>env|file):(?P<place>.+)", re.DOTALL)
_KINDS = "bearer, basic, header:NAME, query:NAME, cookie:NAME"
_HIDDEN = "[secret]"
_ENCODINGS = ("utf-8", "latin-1", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
_HEX = re.compile(r"[0-9a-fA-F]{8,}")
_ESCAPED = re.compile(rb"%(?:25)?(?:3\d|[46][1-9A-Fa-f]|[57][\dAa])|u00(?:3\d|[46][1-9A-Fa-f]|[57][\dAa])", re.DOTALL)
"""A letter or digit that is escaped."""
_SURE = 8
"""Characters in the middle of a base64 text from which on they are no chance."""
_URL_SAFE = str.maketrans("+/", "-_")
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

    Found are the secret itself (of basic also the password alone, of a header also what follows the first blank),
    percent-encoded, escaped for JSON, HTML or a cookie, in base64 and in hex. A password under four characters is not
    sought by itself, or ordinary text would be torn.
    """
    chosen = tuple(credentials)
    if _pattern(chosen) is None:
        return text
    data = text.encode("utf-8", "surrogatepass")
    return _fit(chosen, data).sub(_hidden, data).decode("utf-8", "surrogatepass")


def redact_stream(parts: Iterable[bytes], credentials: Iterable[Credential]) -> Iterator[bytes]:
    """Like `redact` for bytes that come in parts, of a text in UTF-8, -16, -32 or Latin 1; a secret is found also
    where two parts meet."""
    chosen = tuple(credentials)
    if _pattern(chosen) is None:
        yield from parts
        return
    overlap = max(form.longest for form in _all_forms(chosen, True)) - 1
    left = b""
    for part in parts:
        left += part
        cut, clean = 0, []
        safe = len(left) - overlap  # what begins before here is seen to its end
        for found in _fit(chosen, left).finditer(left):
            if found.start() >= safe:
                break
            clean += [left[cut : found.start()], _hidden(found)]
            cut = found.end()
        end = max(cut, safe, 0)
        clean.append(left[cut:end])
        left = left[end:]
        yield b"".join(clean)
    yield _fit(chosen, left).sub(_hidden, left)


def _hidden(found: re.Match[bytes]) -> bytes:
    """What stands in place of a secret, in the encoding in which it was found."""
    zeros = found[0].count(0)
    if not zeros:
        return _HIDDEN.encode()
    width = 32 if zeros > len(found[0]) * 0.7 else 16
    return _HIDDEN.encode(f"utf-{width}-{'be' if found[0][0] == 0 else 'le'}")


def holds_secret(parts: Iterable[bytes], credentials: Iterable[Credential]) -> bool:
    """Whether `redact_stream` would change these bytes."""
    chosen = tuple(credentials)
    kept, clean = hashlib.sha256(), hashlib.sha256()

    def read() -> Iterator[bytes]:
        for part in parts:
            kept.update(part)
            yield part

    for part in redact_stream(read(), chosen):
        clean.update(part)
    return kept.digest() != clean.digest()


class _Form(NamedTuple):
    """A pattern that finds a secret in one of its forms, and the most bytes that it may match."""

    pattern: bytes
    longest: int


@lru_cache(maxsize=64)
def _all_forms(credentials: tuple[Credential, ...], whole: bool = False) -> tuple[_Form, ...]:
    """The longest first, for one secret may begin with another. `whole`: letters and digits may be escaped, too."""
    texts = {text for one in credentials for text in _texts(one)}
    forms = {form for text in texts for encoding in _ENCODINGS if (form := _form(*text, encoding, whole)) is not None}
    secrets = {secret for one in credentials for secret in _secrets(one) if len(secret) >= _SHORTEST}
    cores = {core for secret in secrets for core in _inside_base64(secret.encode())}
    forms |= {form for core in cores if (form := _form(core, 0, "utf-8", whole)) is not None}
    return tuple(sorted(forms, key=lambda form: (-form.longest, form.pattern)))


@lru_cache(maxsize=64)
def _pattern(credentials: tuple[Credential, ...], whole: bool = False) -> re.Pattern[bytes] | None:
    forms = _all_forms(credentials, whole)
    return re.compile(b"|".join(form.pattern for form in forms)) if forms else None


def _fit(credentials: tuple[Credential, ...], data: bytes) -> re.Pattern[bytes]:
    """The pattern for some bytes: where no letter or digit is escaped in them, the one that is found much faster."""
    pattern = _pattern(credentials, _ESCAPED.search(data) is not None)
    assert pattern is not None
    return pattern


def _texts(credential: Credential) -> Iterator[tuple[str, int]]:
    """What is sought of a credential, each with the number of `=` that may follow."""
    for secret in _secrets(credential):
        if len(secret) < _SHORTEST:
            continue
        data = secret.encode()
        yield secret, 0
        if _HEX.fullmatch(secret):  # some services write the digits of a key in the other case
            yield secret.lower(), 0
            yield secret.upper(), 0
        for coded in (base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode()):
            bare = coded.rstrip("=")
            yield bare, len(coded) - len(bare)
        yield data.hex(), 0
        yield data.hex().upper(), 0


def _inside_base64(data: bytes) -> Iterator[str]:
    """What base64 of any text has in it that has these bytes in it, at each of the three places where they may begin:
    `Basic` with a name before a password, or `Bearer` before a token."""
    for before, dropped in ((0, 0), (1, 2), (2, 3)):
        whole = b"\0" * before + data
        coded = base64.b64encode(whole).decode().rstrip("=")
        core = coded[dropped : len(coded) - bool(len(whole) % 3)]
        if len(core) >= _SURE:
            yield core
            yield core.translate(_URL_SAFE)


def _secrets(credential: Credential) -> Iterator[str]:
    """The secret, and what of it says as much: the password of a login, the token after the word `Bearer`."""
    yield credential.secret
    if credential.kind == "basic":
        yield credential.secret.partition(":")[2]
    elif credential.location == "header":
        scheme, _, rest = credential.secret.partition(" ")
        yield rest.strip()
        if scheme.lower() == "basic":
            with suppress(ValueError):
                login = base64.b64decode(rest.strip(), validate=True).decode()
                yield login
                yield login.partition(":")[2]


def _form(text: str, padding: int, encoding: str, whole: bool) -> _Form | None:
    """A text in one encoding, each of its characters in any of its ways; None where that encoding has not all."""
    pattern, longest = b"", 0
    for char in text + "=" * padding:
        written = _ways(char) if whole or not (char.isascii() and char.isalnum()) else {char}
        ways = sorted(_encoded(written, encoding), key=lambda way: (-len(way), way))
        if not ways:
            return None
        longest += len(ways[0])
        optional = b"?" if padding and char == "=" else b""
        pattern += b"(?:" + b"|".join(map(re.escape, ways)) + b")" + optional
    return _Form(pattern, longest)


def _encoded(texts: Iterable[str], encoding: str) -> set[bytes]:
    found = set()
    for text in texts:
        with suppress(UnicodeEncodeError):
            found.add(text.encode(encoding))
    return found


@lru_cache(maxsize=1024)
def _ways(char: str) -> frozenset[str]:
    """How a character is written in text, in a URL or form, in JSON and other literals, in HTML and in a cookie, and
    how what is written so is written once more: a redirect to a sign-in has the URL in its own query.

    Services escape different ones, so that any mixture may come.
    """
    ways = set(_written(char))
    for way in tuple(ways):
        again = way.replace("\\", "\\\\")
        ways |= {way.replace("%", "%25"), again, again.replace("/", "\\/"), way.replace("&", "&amp;")}
    return frozenset(ways)


def _written(char: str) -> set[str]:
    """How a character is written; letters and digits are seldom escaped, and then in the plainest ways."""
    data, number = char.encode(), ord(char)
    if char.isascii() and char.isalnum():
        return {char, f"%{number:02X}", f"%{number:02x}", f"\\u{number:04x}", f"\\u{number:04X}"}
    units = char.encode("utf-16-be").hex()
    percent = "".join(f"%{byte:02X}" for byte in data)
    ways = {char, percent, percent.lower(), f"&#{number};", f"&#0{number};"}
    ways |= {f"&#{x}{zero}{number:{case}};" for x in "xX" for zero in ("", "0", "00") for case in "xX"}
    named = "apos" if char == "'" else html.entities.codepoint2name.get(number)
    ways |= {f"&{named};"} if named else set()
    for unit in (units, units.upper()):
        ways.add("".join(f"\\u{unit[start : start + 4]}" for start in range(0, len(unit), 4)))
    ways.add("".join(f"\\{byte:03o}" for byte in data))
    for case in "xX":
        ways.add("".join(f"\\x{byte:02{case}}" for byte in data))
        if number < 256:
            ways |= {f"%{number:02{case}}", f"\\x{number:02{case}}"}
    if char in "\"'/\\":
        ways.add("\\" + char)
    if char == " ":
        ways.add("+")
    return ways
