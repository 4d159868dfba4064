"""Credentials and headers of the user: put on requests, and the secrets redacted from everything else.

Only this module, the ones that it reads secrets with, and the broker hold a secret.
"""

from __future__ import annotations

import base64
import hashlib
import html.entities
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from protocols.calls.header_names import is_reserved
from protocols.calls.oauth2 import OAuth2Client, names_client, open_client
from protocols.calls.secret_sources import SOURCES, read_secret
from protocols.errors import ATCError, UsageError
from protocols.model import Protocol, SecurityScheme
from protocols.naming import split_namespace

__all__ = ["Credential", "credential", "for_scheme", "header_of", "holds_secret", "redact", "redact_stream", "variable"]

_AUTH_OPTION = re.compile(r"(?P<kind>.+?):(?P<source>env|file|keyring):(?P<place>.+)", re.DOTALL)
_VARIABLE_OPTION = re.compile(r"env:(?P<name>[A-Za-z_][A-Za-z0-9_]*)")
_AUTH_KINDS = "bearer, basic, oauth2, header:NAME, query:NAME, cookie:NAME"
_HEADER_OPTION = re.compile(r"(?P<name>[!#$%&'*+.^`|~0-9A-Za-z_-]+):[ \t]*(?P<value>.*)", re.DOTALL)
_HEADER_SOURCE = re.compile(r"(?P<source>env|file|keyring):(?P<place>.+)", re.DOTALL)
_MASK = "[secret]"
_ENCODINGS = ("utf-8", "latin-1", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
_HEX = re.compile(r"[0-9a-fA-F]{8,}")
_DIGITS = rb"(?:3\d|[46][1-9A-Fa-f]|[57][\dAa])"
_ESCAPED = re.compile(
    rb"(?:[=%]|%25|u00|\\x|\\u\{(?:00)?|&(?:amp;)?#[xX]0{0,2})"
    + _DIGITS
    + rb"|&(?:amp;)?#0?(?:4[89]|5[0-7]|6[5-9]|[78]\d|90|9[7-9]|1[01]\d|12[0-2])(?!\d)"
)
"""An escaped letter or digit."""
_MIN_CORE = 8
"""Characters in the middle of a base64 text that do not match by chance."""
_URL_SAFE = str.maketrans("+/", "-_")
_MIN_SECRET = 4
"""Characters of a secret; fewer occur in ordinary text."""
_MIN_TOKEN = 16
"""Characters of a user name that may be a token; some services take theirs so."""


@dataclass(frozen=True, slots=True)
class Credential:
    """A secret and its place in a request. For basic the secret is `user:password`. `repr` never shows it.

    `scheme` is the name of a security scheme of the document, None for a credential of no scheme. One of the kind
    "environment" is a variable of a server that is started, by the name `parameter`; it is in no request. `namespace`
    is that of the one API that it is for, where there are several. With an `oauth2` client the secret is its access
    token. A `public` one is a header of the user whose value is no secret.
    """

    kind: Literal["apiKey", "basic", "bearer", "environment"]
    secret: str = field(repr=False)
    location: Literal["header", "query", "cookie"] = "header"
    parameter: str = "Authorization"
    scheme: str | None = None
    namespace: str = ""
    oauth2: OAuth2Client | None = field(default=None, repr=False)
    public: bool = False

    @property
    def place(self) -> tuple[str, str]:
        """Where the value goes: header, query or cookie of a request (or the environment), and the name there."""
        if self.kind == "environment":
            return self.kind, self.parameter
        return (self.location, self.parameter) if self.kind == "apiKey" else ("header", "Authorization")

    def has_prefix(self, prefix: str) -> bool:
        """True if the secret begins like that, in capitals or not."""
        return self.secret.lower().startswith(prefix.lower())

    def renew(self, headers: Mapping[str, str]) -> bool:
        """True if there is another token after a service refused the one in these headers. Raises: ATCError."""
        if self.oauth2 is None:
            return False
        try:
            return self.oauth2.renew(headers.get("Authorization", "").removeprefix("Bearer "))
        except ATCError as error:
            raise type(error)(redact(str(error), (self,))) from None

    def _token(self) -> str:
        if self.oauth2 is None:
            return self.secret
        try:
            return self.oauth2.token()
        except ATCError as error:
            raise type(error)(redact(str(error), (self,))) from None

    def apply(self, headers: dict[str, str], query: list[tuple[str, str]], cookies: dict[str, str]) -> None:
        """Put the secret on a request; it replaces other values of that name.

        Raises: APIError, UsageError: There is no access token.
        """
        if self.kind == "bearer":
            _set_header(headers, "Authorization", f"Bearer {self._token()}")
        elif self.kind == "basic":
            _set_header(headers, "Authorization", f"Basic {base64.b64encode(self.secret.encode()).decode()}")
        elif self.kind == "environment":
            pass
        elif self.location == "header":
            _set_header(headers, self.parameter, self.secret)
        elif self.location == "query":
            query[:] = [
                *((name, value) for name, value in query if name != self.parameter),
                (self.parameter, self.secret),
            ]
        else:
            cookies[self.parameter] = self.secret


def _set_header(headers: dict[str, str], name: str, value: str) -> None:
    for old in [key for key in headers if key.lower() == name.lower()]:
        del headers[old]
    headers[name] = value


def for_scheme(scheme: SecurityScheme, secret: str) -> Credential:
    """The credential that satisfies a security scheme of the document with this secret."""
    if scheme.kind == "apiKey":
        return Credential("apiKey", secret, scheme.location, scheme.parameter, scheme.name, scheme.namespace)
    kind: Literal["basic", "bearer"] = "basic" if scheme.kind == "basic" else "bearer"
    return Credential(kind, secret, scheme=scheme.name, namespace=scheme.namespace)


def credential(spec: str, protocol: Protocol | None) -> Credential:
    """Read `[NAMESPACE=]KIND:SOURCE`, as `--auth` takes it.

    KIND is bearer, basic, oauth2, header:NAME, query:NAME, cookie:NAME or the name of a security scheme of the
    protocol; SOURCE is env:VARIABLE, file:PATH or keyring:SERVICE/USER and holds the secret (`user:password` for
    basic). For oauth2 it holds the settings of a client (see protocols.calls.oauth2). NAMESPACE names one of several
    APIs. For an MCP server that is started, `env:VARIABLE` alone names a variable that it gets.

    Raises: UsageError: `spec` is malformed, or the source is empty. The message repeats no possible secret.
    """
    namespace, text = _addressed("--auth", spec.strip(), protocol, _AUTH_OPTION)
    if protocol is not None and protocol.apis[namespace].of_server and _VARIABLE_OPTION.fullmatch(text):
        return replace(variable(text), namespace=namespace)
    match = _AUTH_OPTION.fullmatch(text)
    if match is None:
        raise UsageError(
            f"--auth takes KIND:SOURCE, never the secret itself (KIND: {_auth_kinds(protocol)}; SOURCE: {SOURCES}). "
            "Put the secret into an environment variable or a file"
        )
    kind, source, place = match["kind"], match["source"], match["place"]
    scheme_name = f"{namespace}={kind}" if namespace else kind
    scheme = next((s for s in (protocol.security_schemes if protocol else ()) if s.name == scheme_name), None)
    head, _, name = kind.partition(":")
    if kind == "oauth2" and (scheme is None or names_client(source, place)):  # else a token for the scheme `oauth2`
        client = open_client(source, place)
        return Credential("bearer", "", scheme=scheme.name if scheme else None, namespace=namespace, oauth2=client)
    if kind not in ("bearer", "basic") and scheme is None and not (head in ("header", "query", "cookie") and name):
        raise UsageError(f"--auth names a KIND that is not known; KIND is one of {_auth_kinds(protocol)}")
    secret = read_secret("--auth", source, place)
    if kind == "bearer":
        return Credential("bearer", secret.removeprefix("Bearer ").strip(), namespace=namespace)
    if kind == "basic" or (scheme is not None and scheme.kind == "basic"):
        if ":" not in secret:
            raise UsageError(f"--auth {kind}: the source must hold user:password")
        return Credential("basic", secret, scheme=scheme.name if scheme else None, namespace=namespace)
    if scheme is not None:
        return for_scheme(scheme, secret)
    location: Literal["header", "query", "cookie"] = "header" if head == "header" else "query"
    return Credential("apiKey", secret, "cookie" if head == "cookie" else location, name, namespace=namespace)


def header_of(spec: str, protocol: Protocol | None) -> Credential:
    """Read `[NAMESPACE=]NAME:VALUE`, as `--header` takes it.

    VALUE is sent as it is and no secret, unless it is a source: env:VARIABLE, file:PATH or keyring:SERVICE/USER.

    Raises: UsageError: `spec` is malformed, the header is not the user's to set, or the source is empty.
    """
    namespace, text = _addressed("--header", spec.strip(), protocol, _HEADER_OPTION)
    match = _HEADER_OPTION.fullmatch(text)
    if match is None:
        raise UsageError("--header takes NAME:VALUE, such as 'X-Tenant: acme', or NAME:env:VARIABLE for a secret")
    name, value = match["name"], match["value"].strip()
    if is_reserved(name):
        raise UsageError(f"--header cannot set {name}: it belongs to the connection, or may change the request")
    source = _HEADER_SOURCE.fullmatch(value)
    if source is None and name.lower() in ("authorization", "cookie"):
        raise UsageError(f"--header {name}: its value is a secret; give it with --auth, or as {name}:env:VARIABLE")
    if source is not None:
        value = read_secret("--header", source["source"], source["place"])
    if not value or not value.isprintable() or not value.encode("utf-8", "replace").isascii():
        raise UsageError(f"--header {name}: its value must be one line of ASCII text")
    return Credential("apiKey", value, "header", name, namespace=namespace, public=source is None)


def _addressed(option: str, spec: str, protocol: Protocol | None, pattern: re.Pattern[str]) -> tuple[str, str]:
    """The namespace of the API that an option is for, and the rest of its text. Raises: UsageError."""
    namespaces = protocol.namespaces if protocol is not None else ()
    namespace, text = split_namespace(spec)
    if not namespaces:
        if namespace and namespace.isidentifier() and pattern.fullmatch(text):
            raise UsageError(f"{option} {namespace}=…: there is but one API, without a name; leave out {namespace}=")
        return "", spec
    if namespace in namespaces:
        return namespace, text
    known_apis = f"the APIs are {', '.join(namespaces)}"
    if namespace and namespace.isidentifier() and pattern.fullmatch(text):  # nothing else: it may be a secret
        raise UsageError(f"{option} {namespace}=…: there is no such API; {known_apis}")
    raise UsageError(f"{option} must name the API that it is for, as in {namespaces[0]}=…; {known_apis}")


def variable(spec: str) -> Credential:
    """Read `env:VARIABLE`, a variable of the environment that an MCP server gets.

    Raises: UsageError: `spec` is something else, or the variable is not set. The message repeats no possible secret.
    """
    match = _VARIABLE_OPTION.fullmatch(spec.strip())
    if match is None:
        raise UsageError("--auth: an MCP server that is started takes env:VARIABLE, which names a variable for it")
    return Credential("environment", read_secret("--auth", "env", match["name"]), parameter=match["name"])


def _auth_kinds(protocol: Protocol | None) -> str:
    names = [scheme.name for scheme in protocol.security_schemes] if protocol else []
    return ", ".join([_AUTH_KINDS, *names])


def _revealed(credentials: Iterable[Credential]) -> _Credentials:
    """The secrets as they are now: without public headers, and each token of a client by itself."""
    revealed: list[Credential] = []
    for credential in credentials:
        if credential.oauth2 is not None:
            revealed += [Credential("bearer", secret) for secret in credential.oauth2.secrets()]
        elif not credential.public:
            revealed.append(credential)
    return tuple(revealed)


def redact(text: str, credentials: Iterable[Credential]) -> str:
    """The text with every secret replaced by `[secret]`.

    Redacted are the secret itself, the password of basic, and the part of a header after the first blank. Each is found
    percent-encoded, escaped for JSON, HTML, mail or a cookie, in either case, in base64, base32 or hex, and as a list
    of bytes. A password under four characters is not redacted alone: it occurs in ordinary text.
    """
    chosen = _revealed(credentials)
    if not _usual_forms(chosen):
        return text
    data = text.encode("utf-8", "surrogatepass")
    return _pattern_for(chosen, data).sub(_masked, data).decode("utf-8", "surrogatepass")


def redact_stream(parts: Iterable[bytes], credentials: Iterable[Credential]) -> Iterator[bytes]:
    """`redact` for chunks of text in UTF-8, -16, -32 or Latin 1, also where a secret spans two chunks."""
    chosen = _revealed(credentials)
    if not _usual_forms(chosen):
        yield from parts
        return
    overlap = _max_length(chosen) - 1
    pending = b""
    for part in parts:
        pending += part
        cut, clean = 0, []
        safe = len(pending) - overlap  # a match that starts before here is complete
        for match in _pattern_for(chosen, pending).finditer(pending):
            if match.start() >= safe:
                break
            clean += [pending[cut : match.start()], _masked(match)]
            cut = match.end()
        end = max(cut, safe, 0)
        clean.append(pending[cut:end])
        pending = pending[end:]
        yield b"".join(clean)
    yield _pattern_for(chosen, pending).sub(_masked, pending)


def _masked(match: re.Match[bytes]) -> bytes:
    """The mask, in the encoding of the match."""
    zeros = match[0].count(0)
    if not zeros:
        return _MASK.encode()
    width = 32 if zeros > len(match[0]) * 0.7 else 16
    return _MASK.encode(f"utf-{width}-{'be' if match[0][0] == 0 else 'le'}")


def holds_secret(parts: Iterable[bytes], credentials: Iterable[Credential]) -> bool:
    """True if `redact_stream` would change these bytes."""
    chosen = _revealed(credentials)
    original, redacted = hashlib.sha256(), hashlib.sha256()

    def read() -> Iterator[bytes]:
        for part in parts:
            original.update(part)
            yield part

    for part in redact_stream(read(), chosen):
        redacted.update(part)
    return original.digest() != redacted.digest()


_Credentials: TypeAlias = tuple[Credential, ...]


class _SecretForm(NamedTuple):
    """A pattern for one form of a secret.

    `first` is its first character unescaped, `other` a pattern for the escapes of that character, `markers` are their
    first bytes, `rest` is a pattern for the other characters, `longest` the maximal length of a match.
    """

    first: bytes
    other: bytes
    markers: frozenset[bytes]
    rest: bytes
    longest: int


@lru_cache(maxsize=64)
def _usual_forms(credentials: _Credentials, with_escapes: bool = False) -> tuple[_SecretForm, ...]:
    """The forms that are searched in any text. `with_escapes`: letters and digits may be escaped, too."""
    texts = {text for credential in credentials for text in _usual_texts(credential)}
    forms = (_form(*text, encoding, with_escapes) for text in texts for encoding in _ENCODINGS)
    return tuple(form for form in forms if form is not None)


@lru_cache(maxsize=64)
def _rare_forms(credentials: _Credentials) -> tuple[tuple[bytes, _SecretForm], ...]:
    """Each rare form, with a marker: bytes without which it is not in a text."""
    secrets = {secret for credential in credentials for secret in _secrets(credential) if len(secret) >= _MIN_SECRET}
    texts = {text for secret in secrets for text in _rare_texts(secret)}
    forms = ((_marker(text), _form(text, 0, "utf-8", False)) for text in sorted(texts))
    return tuple((marker, form) for marker, form in forms if form is not None)


def _marker(text: str) -> bytes:
    """The longest run of letters and digits, which is in a text however the other characters are escaped."""
    if re.fullmatch(r"[\d, ]+", text):
        return text.encode()
    runs: list[str] = re.findall(r"[A-Za-z0-9]*", text)
    return max(runs, key=len).encode()


@lru_cache(maxsize=64)
def _max_length(credentials: _Credentials) -> int:
    rare = (form for _, form in _rare_forms(credentials))
    return max(form.longest for form in (*_usual_forms(credentials, True), *rare))


@lru_cache(maxsize=256)
def _pattern(credentials: _Credentials, with_escapes: bool, rare: frozenset[_SecretForm]) -> re.Pattern[bytes]:
    """One pattern for all forms, the longest first: a secret may be the prefix of another."""
    unsorted = {*_usual_forms(credentials, with_escapes), *rare}
    forms = sorted(unsorted, key=lambda form: (-form.longest, form.first, form.rest))
    plain = [re.escape(form.first) + form.rest for form in forms if form.first]
    escaped = [form.other + form.rest for form in forms if form.other]
    if escaped:
        markers = b"".join(sorted({re.escape(marker) for form in forms for marker in form.markers}))
        plain.append(b"(?=[" + markers + b"])(?:" + b"|".join(escaped) + b")")
    return re.compile(b"|".join(plain))


def _pattern_for(credentials: _Credentials, data: bytes) -> re.Pattern[bytes]:
    """The pattern for some bytes, without forms that cannot be in them; much faster to match."""
    rare = frozenset(form for marker, form in _rare_forms(credentials) if marker in data)
    return _pattern(credentials, _ESCAPED.search(data) is not None, rare)


def _usual_texts(credential: Credential) -> Iterator[tuple[str, int]]:
    """The usual forms of a credential, each with the number of `=` that may follow."""
    for secret in _secrets(credential):
        if len(secret) < _MIN_SECRET:
            continue
        data = secret.encode()
        yield secret, 0
        if _HEX.fullmatch(secret):  # some services change the case of a key
            yield secret.lower(), 0
            yield secret.upper(), 0
        for coded in (base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode()):
            bare = coded.rstrip("=")
            yield bare, len(coded) - len(bare)
        yield data.hex(), 0
        yield data.hex().upper(), 0


def _rare_texts(secret: str) -> Iterator[str]:
    """The forms of a secret that few services use, all in UTF-8.

    In another case, in base64 of a longer text (also twice, or of UTF-16), in base32, as a list of bytes, or as UTF-8
    decoded with another encoding.
    """
    data = secret.encode()
    if len(secret) >= _MIN_CORE:
        yield from (secret.lower(), secret.upper())
    cores = [core for form in (data, secret.encode("utf-16-le")) for core in _inside_base64(form)]
    yield from cores
    for core in cores:
        yield from _inside_base64(core.encode())
    yield base64.b32encode(data).decode().rstrip("=")
    for separator in (",", ", "):
        yield separator.join(map(str, data))
    if not secret.isascii():
        for encoding in ("latin-1", "cp1252"):
            with suppress(UnicodeDecodeError):
                yield data.decode(encoding)


def _inside_base64(data: bytes) -> Iterator[str]:
    """The part common to base64 of all texts with these bytes in them, for each of the three alignments."""
    for before, dropped in ((0, 0), (1, 2), (2, 3)):
        shifted = b"\0" * before + data
        coded = base64.b64encode(shifted).decode().rstrip("=")
        core = coded[dropped : len(coded) - bool(len(shifted) % 3)]
        if len(core) >= _MIN_CORE:
            yield core
            yield core.translate(_URL_SAFE)


def _secrets(credential: Credential) -> Iterator[str]:
    """The secret, and its secret parts: the password of a login, the token after `Bearer`."""
    yield credential.secret
    if credential.kind == "basic":
        yield from _login(credential.secret)
    elif credential.location == "header":
        scheme, _, rest = credential.secret.partition(" ")
        yield rest.strip()
        for part in re.split(r"[\s,;]+", credential.secret):  # Token token="…", session=…; user=…
            value = part.partition("=")[2].strip('"')
            if len(value) >= _MIN_CORE:
                yield value
        if scheme.lower() == "basic":
            with suppress(ValueError):
                login = base64.b64decode(rest.strip(), validate=True).decode()
                yield login
                yield from _login(login)


def _login(login: str) -> Iterator[str]:
    """The password, and the user name if it may be a token: without a password, or a long one with digits."""
    user, _, password = login.partition(":")
    yield password
    token = len(user) >= _MIN_TOKEN and "@" not in user and re.search(r"\d", user) is not None
    if token or len(password) < _MIN_SECRET:
        yield user


def _form(text: str, padding: int, encoding: str, with_escapes: bool) -> _SecretForm | None:
    """A text in one encoding, each character in any spelling; None if the encoding lacks one."""
    patterns: list[bytes] = []
    forms: list[_SecretForm] = []
    for char in text + "=" * padding:
        form = _character(char, encoding, with_escapes)
        if form is None:
            return None
        forms.append(form)
        optional = b"?" if padding and char == "=" else b""
        alternatives = [re.escape(form.first), form.other] if form.first else [form.other]
        patterns.append(b"(?:" + b"|".join(filter(None, reversed(alternatives))) + b")" + optional)
    return forms[0]._replace(rest=b"".join(patterns[1:]), longest=sum(form.longest for form in forms))


@lru_cache(maxsize=4096)
def _character(char: str, encoding: str, with_escapes: bool) -> _SecretForm | None:
    """`_form` for one character. Escapes of letters and digits are searched in UTF-8 only."""
    if char.isascii() and char.isalnum():
        first = char.encode(encoding)
        if not with_escapes or encoding != "utf-8":
            return _SecretForm(first, b"", frozenset(), b"", len(first))
        code = f"{ord(char):02x}"
        digits = f"{code[0]}[{code[1]}{code[1].upper()}]".encode()
        escape = (
            rb"(?:(?:%(?:25)?|=|\\{1,3}(?:x|u00)|%u00)" + digits + rb"|\\{1,3}u\{(?:00)?" + digits + rb"\}"
            rb"|&(?:amp;)?#(?:[xX]0{0,2}" + digits + rb"|0?" + str(ord(char)).encode() + rb"(?!\d));?)"
        )
        return _SecretForm(first, escape, frozenset((b"%", b"=", b"\\", b"&")), b"", 14)
    spellings = sorted(_encoded(_spellings(char), encoding), key=lambda spelling: (-len(spelling), spelling))
    if not spellings:
        return None
    first = b"".join(_encoded([char], encoding))
    escapes = [spelling for spelling in spellings if spelling != first]
    escape = b"(?:" + b"|".join(map(re.escape, escapes)) + b")" if escapes else b""
    return _SecretForm(first, escape, frozenset(spelling[:1] for spelling in escapes), b"", len(spellings[0]))


def _encoded(texts: Iterable[str], encoding: str) -> set[bytes]:
    encodings = set()
    for text in texts:
        with suppress(UnicodeEncodeError):
            encodings.add(text.encode(encoding))
    return encodings


@lru_cache(maxsize=1024)
def _spellings(char: str) -> frozenset[str]:
    """The spellings of a character in text, URLs, JSON and other literals, HTML and cookies, escaped once or twice.

    Twice: a redirect to a sign-in has a URL in its own query. Services escape different characters, so any mixture may
    come.
    """
    spellings = set(_simple_spellings(char))
    for spelling in tuple(spellings):
        doubled = spelling.replace("\\", "\\\\")
        spellings |= {
            spelling.replace("%", "%25"),
            doubled,
            doubled.replace("/", "\\/"),
            spelling.replace("&", "&amp;"),
        }
    return frozenset(spellings)


def _simple_spellings(char: str) -> set[str]:
    """The spellings of a character that is neither letter nor digit, escaped at most once."""
    data, number = char.encode(), ord(char)
    spellings = {char, *(f"{text}{end}" for text in _entities(number) for end in (";", ""))}
    for case in "xX":
        spellings |= {"\\u{" + f"{number:{case}}" + "}", f"\\x{number:02{case}}", f"\\u{number:04{case}}"}
        for sign in "%=":
            spellings.add("".join(f"{sign}{byte:02{case}}" for byte in data))
    spellings |= {f"&{name}" for name in _HTML_NAMES.get(char, ())}
    units = char.encode("utf-16-be").hex()
    for unit in (units, units.upper()):
        spellings.add("".join(f"%u{unit[start : start + 4]}" for start in range(0, len(unit), 4)))
        spellings.add("".join(f"\\u{unit[start : start + 4]}" for start in range(0, len(unit), 4)))
    spellings.add("".join(f"\\{byte:03o}" for byte in data))
    for case in "xX":
        spellings.add("".join(f"\\x{byte:02{case}}" for byte in data))
        if number < 256:
            spellings |= {f"{sign}{number:02{case}}" for sign in ("%", "=", "\\x")}
    if char in "\"'/\\":
        spellings.add("\\" + char)
    if char == " ":
        spellings.add("+")
    return spellings


def _entities(number: int) -> set[str]:
    """A character by its number in HTML, without the semicolon, which may be missing."""
    return {
        f"&#{number}",
        f"&#0{number}",
        *(f"&#{x}{zeros}{number:{case}}" for x in "xX" for zeros in ("", "0", "00") for case in "xX"),
    }


_HTML_NAMES: dict[str, list[str]] = {}
"""Names of characters in HTML, with a semicolon where it is needed."""
for _name, _char in html.entities.html5.items():
    _HTML_NAMES.setdefault(_char, []).append(_name)
