"""Takes secrets out of texts and streams, in every form in which a service may send them back."""

from __future__ import annotations

import base64
import html.entities
import re
from collections.abc import Collection, Iterable, Iterator
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
_ESCAPED = re.compile(
    rb"(?:(?:%(?:25)?|=|%u00|\\{1,3}(?:x|u00|u\{(?:00)?)|&(?:amp;)?#[xX]0{0,2})"
    rb"(3\d|[46][1-9A-Fa-f]|[57][\dAa])"
    rb"|&(?:amp;)?#0?(4[89]|5[0-7]|6[5-9]|[78]\d|90|9[7-9]|1[01]\d|12[0-2])(?!\d))[;}]?"
)
"""An escaped letter or digit, with its number in hex or decimal."""
_LONGEST_ESCAPE = len(b"&amp;#x0041;")
"""Bytes of an escaped letter or digit at most."""
_SWALLOWED = 5
"""Letters and digits at most that `_ESCAPED` takes together with a sign before them: `x0041` in `&#x0041`."""
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
    if not chosen:
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
    if not chosen:
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
    """A text in an encoding, as which a secret may come; `padding` times `=` may follow.

    Letters and digits may be escaped only if the form is `escapable`, the other characters in any. `marker` is in each
    text with the form; `unescaped_marker`, which may be shorter, once `_ESCAPED` was replaced there by what it means.
    A `wide` form has a zero byte.
    """

    text: str
    padding: int
    encoding: str
    escapable: bool
    wide: bool
    marker: bytes
    unescaped_marker: bytes


@lru_cache(maxsize=64)
def _forms(secrets: _Secrets) -> tuple[_SecretForm, ...]:
    """The forms that are searched: the usual ones in each encoding, with letters and digits escaped in UTF-8 only."""
    forms: list[_SecretForm] = []
    for secret in secrets:
        for text, padding in _usual_texts(secret):
            markers = (_marker(text), _marker(text, _SWALLOWED))
            for code in _ENCODINGS:
                wide = 0 in text.replace("\0", "").encode(code, "ignore")
                encoded = (marker.encode(code) for marker in markers)
                forms.append(_SecretForm(text, padding, code, code == "utf-8", wide, *encoded))
        for text in _rare_texts(secret):
            marker = text if re.fullmatch(r"[\d, ]+", text) else _marker(text)
            forms.append(_SecretForm(text, 0, "utf-8", False, False, marker.encode(), b""))
    return tuple(dict.fromkeys(forms))


def _marker(text: str, dropped: int = 0) -> str:
    """The longest run of letters and digits, which are plain however the rest is escaped; `dropped` of each lack."""
    runs: list[str] = re.findall(rf"(?<![A-Za-z0-9])[A-Za-z0-9]{{{dropped}}}([A-Za-z0-9]+)", text)
    return max(runs, key=len, default="")


@lru_cache(maxsize=64)
def _max_length(secrets: _Secrets) -> int:
    return max(_longest(form, form.escapable) for form in _forms(secrets))


@lru_cache(maxsize=256)
def _pattern(forms: frozenset[_SecretForm], with_escapes: bool) -> re.Pattern[bytes]:
    """One pattern for some forms, the longest first: a secret may be the prefix of another."""
    patterns = set()
    for form in forms:
        escaped = with_escapes and form.escapable
        pattern = b"".join(_character(char, form.encoding, escaped) for char in form.text)
        padding = b"(?:" + _character("=", form.encoding, False) + b")?"
        patterns.add((-_longest(form, escaped), pattern + padding * form.padding))
    return re.compile(b"|".join(pattern for _, pattern in sorted(patterns)) or b"(?!)")


def _pattern_for(secrets: _Secrets, data: bytes) -> re.Pattern[bytes]:
    """The pattern for the forms that may be in some bytes: of all forms it would take half a second to compile."""
    plain = _ESCAPED.sub(_plain, data)
    escaped, zeros = plain != data, b"\0" in data
    return _pattern(
        frozenset(
            form
            for form in _forms(secrets)
            if (zeros or not form.wide)  # seldom true, and much sooner known than whether a marker is there
            and (form.unescaped_marker in plain if escaped and form.escapable else form.marker in data)
        ),
        escaped,
    )


def _plain(escape: re.Match[bytes]) -> bytes:
    """The letter or digit that is escaped."""
    return bytes([int(escape[1], 16) if escape[1] else int(escape[2])])


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


def _longest(form: _SecretForm, escaped: bool) -> int:
    """Bytes of a match at most."""
    text = form.text + "=" * form.padding
    if not escaped:
        return sum(max(map(len, _encoded(char, form.encoding))) for char in text)
    return sum(_LONGEST_ESCAPE if _is_plain(char) else max(map(len, _encoded(char, "utf-8"))) for char in text)


def _is_plain(char: str) -> bool:
    """True for letters and digits, which few services escape."""
    return char.isascii() and char.isalnum()


@lru_cache(maxsize=4096)
def _character(char: str, encoding: str, escaped: bool) -> bytes:
    """A pattern for a character in any spelling. Letters and digits have more than one only if they are `escaped`."""
    if not (escaped and _is_plain(char)):
        return _any_of(_encoded(char, encoding))
    plain, decimal, number = char.encode(), str(ord(char)).encode(), f"{ord(char):x}"
    digits = f"{number[0]}[{number[1]}{number[1].upper()}]".encode()
    return (
        rb"(?:(?:%(?:25)?|=|\\{1,3}(?:x|u00)|%u00)" + digits + rb"|\\{1,3}u\{(?:00)?" + digits + rb"\}"
        rb"|&(?:amp;)?#(?:[xX]0{0,2}" + digits + rb"|0?" + decimal + rb"(?!\d));?|" + plain + rb")"
    )


def _any_of(texts: Collection[bytes]) -> bytes:
    """A pattern for any of these texts, the longest first; common beginnings are in it once: it compiles faster."""
    rests: dict[bytes, list[bytes]] = {}
    for text in texts:
        rests.setdefault(text[:1], []).append(text[1:])
    ends = rests.pop(b"", None)
    branches = [re.escape(first) + _any_of(rest) for first, rest in sorted(rests.items())]
    if not branches or (len(branches) == 1 and ends is None):
        return b"".join(branches)
    return b"(?:" + b"|".join(branches) + b")" + (b"" if ends is None else b"?")


@lru_cache(maxsize=4096)
def _encoded(char: str, encoding: str) -> frozenset[bytes]:
    """The spellings of a character, letters and digits as they are, in an encoding."""
    encodings = set()
    for text in (char,) if _is_plain(char) else _spellings(char):
        with suppress(UnicodeEncodeError):
            encodings.add(text.encode(encoding))
    return frozenset(encodings)


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
        for sign in ("%", "=", "\\x"):
            spellings.add("".join(f"{sign}{byte:02{case}}" for byte in data))
            if number < 256:
                spellings.add(f"{sign}{number:02{case}}")
    spellings |= {f"&{name}" for name in _HTML_NAMES.get(char, ())}
    units = char.encode("utf-16-be").hex()
    for unit in (units, units.upper()):
        spellings.add("".join(f"%u{unit[start : start + 4]}" for start in range(0, len(unit), 4)))
        spellings.add("".join(f"\\u{unit[start : start + 4]}" for start in range(0, len(unit), 4)))
    spellings.add("".join(f"\\{byte:03o}" for byte in data))
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
