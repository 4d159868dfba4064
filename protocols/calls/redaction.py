"""Takes secrets out of texts and streams, in every form in which a service may send them back."""

from __future__ import annotations

import base64
import html.entities
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from protocols.calls.credentials import Credential
from protocols.calls.secret_sources import MIN_SECRET

__all__ = ["holds_secret", "redact", "redact_stream"]

_Secrets: TypeAlias = tuple[str, ...]

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


def _revealed(credentials: Iterable[Credential]) -> _Secrets:
    """The secrets as they are now."""
    secrets = (secret for credential in credentials for secret in credential.secrets())
    return tuple(dict.fromkeys(secret for secret in secrets if len(secret) >= MIN_SECRET))


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
    for part, _ in _cleaned(parts, credentials):
        yield part


def holds_secret(parts: Iterable[bytes], credentials: Iterable[Credential]) -> bool:
    """True if `redact_stream` would change these bytes."""
    return any(changed for _, changed in _cleaned(parts, credentials))


def _cleaned(parts: Iterable[bytes], credentials: Iterable[Credential]) -> Iterator[tuple[bytes, bool]]:
    """Chunks without secrets, each with whether there was one in it."""
    chosen = _revealed(credentials)
    if not _usual_forms(chosen):
        yield from ((part, False) for part in parts)
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
        yield b"".join(clean), cut > 0
    rest, count = _pattern_for(chosen, pending).subn(_masked, pending)
    yield rest, count > 0


def _masked(match: re.Match[bytes]) -> bytes:
    """The mask, in the encoding of the match."""
    zeros = match[0].count(0)
    if not zeros:
        return _MASK.encode()
    width = 32 if zeros > len(match[0]) * 0.7 else 16
    return _MASK.encode(f"utf-{width}-{'be' if match[0][0] == 0 else 'le'}")


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
def _usual_forms(secrets: _Secrets, with_escapes: bool = False) -> tuple[_SecretForm, ...]:
    """The forms that are searched in any text. `with_escapes`: letters and digits may be escaped, too."""
    texts = {text for secret in secrets for text in _usual_texts(secret)}
    forms = (_form(*text, encoding, with_escapes) for text in texts for encoding in _ENCODINGS)
    return tuple(form for form in forms if form is not None)


@lru_cache(maxsize=64)
def _rare_forms(secrets: _Secrets) -> tuple[tuple[bytes, _SecretForm], ...]:
    """Each rare form, with a marker: bytes without which it is not in a text."""
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
def _max_length(secrets: _Secrets) -> int:
    rare = (form for _, form in _rare_forms(secrets))
    return max(form.longest for form in (*_usual_forms(secrets, True), *rare))


@lru_cache(maxsize=256)
def _pattern(secrets: _Secrets, with_escapes: bool, rare: frozenset[_SecretForm]) -> re.Pattern[bytes]:
    """One pattern for all forms, the longest first: a secret may be the prefix of another."""
    unsorted = {*_usual_forms(secrets, with_escapes), *rare}
    forms = sorted(unsorted, key=lambda form: (-form.longest, form.first, form.rest))
    plain = [re.escape(form.first) + form.rest for form in forms if form.first]
    escaped = [form.other + form.rest for form in forms if form.other]
    if escaped:
        markers = b"".join(sorted({re.escape(marker) for form in forms for marker in form.markers}))
        plain.append(b"(?=[" + markers + b"])(?:" + b"|".join(escaped) + b")")
    return re.compile(b"|".join(plain))


def _pattern_for(secrets: _Secrets, data: bytes) -> re.Pattern[bytes]:
    """The pattern for some bytes, without forms that cannot be in them; much faster to match."""
    rare = frozenset(form for marker, form in _rare_forms(secrets) if marker in data)
    return _pattern(secrets, _ESCAPED.search(data) is not None, rare)


def _usual_texts(secret: str) -> Iterator[tuple[str, int]]:
    """The usual forms of a secret, each with the number of `=` that may follow."""
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
