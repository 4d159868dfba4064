"""Redact secret and personal values in responses by values of the same shape.

Examples of responses go into documents, reports and programs, which are shared. A placeholder would violate the formats
of their schemas. So an e-mail address stays one, and each value has one replacement.
"""

from __future__ import annotations

import ipaddress
import json
import keyword
import random
import re
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import quote, quote_plus

from probing.redact import KEYS
from probing.redact.documented import DocumentedValue
from probing.redact.names import CARD_LINE, INITIALS, TITLED, is_persons, looks_like_name, name_forms
from protocols.text.words import WRAPPERS, is_identifier, noun_of, singular, words

__all__ = ["FIRST_WORDS", "Redactor"]

FIRST_WORDS = ("a", "the", "love", "new")
"""Initial search terms, which are nobody's name."""

_Rule = Literal["", "secret", "personal", "person", "number", "mixed"]
"""
secret: any text
personal: any text but a URL or path
person: a text that looks like somebody's name
number: a text with a digit in it (but a URL or path), or a whole number
mixed: a text with a digit in it (but a URL or path)
"""

_NAMES_OF_PERSONS = {("name",), ("title", "name"), ("label",), ("full", "name"), ("public", "name")}
"""Keys of a person's name in a record about the person."""
_BELOW: dict[str, _Rule] = {
    **dict.fromkeys(("address", "name", "street"), "personal"),
    **dict.fromkeys(("cookie", "credential", "secret"), "secret"),
    **dict.fromkeys(("fax", "mobile", "phone", "telephone"), "number"),
    **dict.fromkeys(("api key", "password", "token"), "mixed"),
}
"""Rules for the members of an object, by its key."""

# Values, whatever their key.
_PREFIX = (
    r"(?:sk-|[sr]k_(?:live|test)_|gh[oprsu]_|github_pat_|gl[a-z]{1,5}-|xox[a-z]-|xapp-|AIza|A[KS]IA|ya29\.|hf_|npm_"
    r"|shp(?:at|ca|pa|ss)_|SG\.|dop_v1_|pypi-|whsec_|hv[sb]\.|dckr_pat_|tskey-|nvapi-|figd_|lin_api_|xkeysib-|ATATT"
    r"|sq0[a-z]{3}-|EAAC|key-|AGE-SECRET-KEY-)"
)
_CALLING = r"\+(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})"
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]++(@|%40)(?!\d+x\.)(?:[\w-]+\.)+[^\W\d_]{2,}")
_EVIDENT = (
    _EMAIL,
    re.compile(r"-----BEGIN ([A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?)-----.+?(?:-----END \1-----|\Z)", re.DOTALL),
    re.compile(r"(?<![\w-])eyJ[\w-]{5,}+(?:\.[\w-]*+){2,4}"),
    re.compile(rf"(?<![\w-]){_PREFIX}(?=[\w.-]{{0,99}}\d)[\w.-]{{12,}}"),
    re.compile(r"(?<![\w+])\+[1-9](?:[ ()./-]{0,3}\d){6,14}(?!\d)"),
)
_BEARER = re.compile(r"\b(?i:Bearer|Basic)\s+(?=\S*\d|\S*[a-z][A-Z]|\S{20})([\w.~+/-]{8,}=*)")
_LOGIN = re.compile(r"://([^\s/:@{}\"'<>]+:[^\s/@{}\"'<>]+)@")
_QUERY = re.compile(r"[?&;#]([\w.-]+)=([\w%.~+/=:-]{3,})")
_CARD = re.compile(r"(?<![\w.+])\d(?:[ -]?\d){12,22}(?!\w)")
_IBAN = re.compile(r"(?<![^\W_])[A-Z]{2}\d\d(?: ?[A-Z0-9]){11,40}(?![^\W_])")
_ADDRESSES = (
    re.compile(r"(?<![\w.])(?<!(?<![:/])/)\d{1,3}(?:\.\d{1,3}){3}(?!\w|\.\d)"),  # not the version in `Mozilla/5.0.0.1`
    re.compile(r"(?<![\w.:])[\da-f]{3,4}:[\da-f:.]*(?:[\da-f]|::)(?![\w:])", re.IGNORECASE),
)
_TOKEN = re.compile(r"(?<![\w+/.-])[\w+/-](?:[\w+/-]{31,}+={0,2}|[\w+/-]{21,30}={1,2}(?![\w=]))", re.ASCII)
"""32 characters, or 16 bytes in base64 with its padding."""
_UUID = re.compile(r"[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}", re.IGNORECASE)
_HEX = re.compile(r"(?:0x)?[\da-f:-]{8,}", re.IGNORECASE)
_LINK = re.compile(r"(?:[a-z][\w+.-]*:/)?/\S*", re.IGNORECASE)

# What of a value stays.
_SCHEME = re.compile(r"\A(?:(?:Bearer|Basic|Digest|Token)(?:\s+|\Z))+", re.IGNORECASE)
_HEAD = re.compile(rf"\A(?:eyJ|0x|-(?!-)|{_PREFIX}|{_CALLING}|[A-Z]{{2}}(?=\d\d[ \dA-Z]{{11,}}\Z))")
_FIXED = re.compile(r"(-----[A-Z ]+-----|\\[nrt]|\[secret\])")
"""Marks of a key, escapes, and the placeholder of `protocols.calls.redaction`."""
_DATE = re.compile(r"(\d{4}([-/.])\d\d?\2\d\d?|\d\d?([-/.])\d\d?\3\d{4})([T ].*)?")
_NETWORKS = ("192.0.2", "198.51.100", "203.0.113")

_START = r"(?:(?<!(?<!\\)[^\W_])|(?<=%[\dA-F]{2}))"
"""Not preceded by a letter, except in an escape such as `\\n` or `%20`."""
_WORDS = frozenset(
    " ".join(KEYS["secret"] | KEYS["number"] | KEYS["personal"] | KEYS["birth"] | {"false none null true"}).split()
)


class Redactor:
    """Replaces secret and personal values by others of the same shape, consistently.

    The mapping is kept in memory only. Bodies come first: `text` learns secret values from them.
    """

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)
        self._replacements: dict[str, str] = {}
        self._replaced_spellings: dict[str, str] = {}
        self._own_values: set[str] = set()
        self._identifiers: set[str] = set()
        self._words = {*_WORDS, *FIRST_WORDS}  # a search term of the probe is nobody's name

    def body(self, value: object, documented: DocumentedValue | None = None, noun: str = "") -> object:
        """A redacted copy of a JSON body. Values that are no JSON stay.

        Args:
            documented: What the document says of the body.
            noun: The entity of the body: the `name` of a speaker is personal.
        """
        root: list[object] = [value]
        objects, leaves = _copy_parts(root, documented, noun)
        for leaf in leaves:
            if leaf.is_secret:
                self._replacement(_digits(leaf.value))
            if leaf.is_secret and leaf.rule in ("person", "personal") and isinstance(leaf.value, str):
                self._add_name(leaf.value, leaf.rule == "person" or words(leaf.key) in _NAMES_OF_PERSONS)
            if isinstance(leaf.value, str):
                self._collect(leaf.value, leaf.key)
        keys = dict.fromkeys(key for copied in objects for key in copied)
        for key in keys:
            self._collect(key, "id")
        replaced = {key for key in keys if key in self._replacements and not _is_name(key)}
        data = [key for key in keys if key in replaced or any(_evident_secrets(key, "id"))]
        self._words.update(word for key in keys.keys() - data for word in words(key))
        sought = self._values_in("\n".join(leaf.value for leaf in leaves if isinstance(leaf.value, str)))
        for leaf in leaves:
            leaf.holder[leaf.place] = self._redacted(leaf, sought)
        names = {key: self._replacements.get(key) or self._substitute(key, self._values_in(key)) for key in data}
        for copied in objects:
            if names.keys() & copied.keys():
                members = [(names.get(key, key), part) for key, part in copied.items()]
                copied.clear()
                copied.update(members)
        return root[0]

    def text(self, text: str) -> str:
        """A text without any value replaced so far, or any that is secret by its form."""
        self._collect(text, "")
        return self._substitute(text, self._values_in(text))

    def again(self, value: object) -> object:
        """A copy of a redacted value without those that were found to be secret or personal since then."""
        if isinstance(value, str):
            return self._substitute(value, self._values_in(value))
        if isinstance(value, list):
            return [self.again(part) for part in value]
        return {key: self.again(part) for key, part in value.items()} if isinstance(value, dict) else value

    def _add_name(self, name: str, alone: bool) -> None:
        """Let other forms of a name be replaced in longer texts: `A. Harris`; `alone`: its single words, too."""
        if not looks_like_name(name) or name not in self._replacements:
            return
        new = self._replacements[name]
        for old, form in zip(name_forms(name, alone), name_forms(new, alone), strict=True):
            if old.lower() not in self._words and old not in self._own_values:
                self._own_values.add(form)
                self._replaced_spellings.setdefault(old, form)

    def _redacted(self, leaf: _BodyPart, sought: list[str]) -> object:
        value = leaf.value
        if isinstance(value, str):
            return self._replacement(value) if leaf.is_secret else self._substitute(value, sought)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return value
        if leaf.is_secret or (isinstance(value, int) and abs(value) > 99_999 and str(value) in self._replacements):
            return type(value)(self._replacement(_digits(value)))
        return value

    def _collect(self, text: str, key: str) -> None:
        """Find replacements for all values in a text that are secret by their form."""
        for value in _evident_secrets(text, key):
            if value not in self._own_values:
                self._replacement(value)
                self._add_name(value, False)
        for match in filter(_is_random, _TOKEN.finditer(text)):
            if _is_usable(match, key):
                self._identifiers.add(match[0])
            elif match[0] not in self._identifiers:
                self._replacement(match[0])

    def _values_in(self, text: str) -> list[str]:
        """The values replaced so far that a text contains, the longest first."""
        values = [value for value in self._replaced_spellings if value in text and not self._is_word(value)]
        return sorted(values, key=len, reverse=True)

    def _substitute(self, text: str, sought: list[str]) -> str:
        values = [value for value in sought if value in text]
        if not values:
            return text
        return re.sub("|".join(map(_value_pattern, values)), lambda match: self._replaced_spellings[match[0]], text)

    def _is_word(self, value: str) -> bool:
        """True for values too common to be sought in a text: `1`, `None`, or `title` if it is also a key."""
        if len(value) < 2 or (value.isdigit() and len(value) < 3) or keyword.iskeyword(value):
            return True
        return _is_name(value) and value in self._words

    def _replacement(self, value: str) -> str:
        """The replacement of a value. A value of ours stays, if it is too long to be a real one by chance."""
        if value in self._replacements or (len(value) > 7 and value in self._own_values):
            return self._replacements.get(value, value)
        core = _SCHEME.sub("", value.strip())
        if not any(map(str.isalnum, _FIXED.sub("", _HEAD.sub("", core)))):
            return value
        if core != value:
            before, _, after = value.rpartition(core)
            return f"{before}{self._replacement(core)}{after}"
        for _ in range(200):  # all other short values may be in use
            replacement = self._sampled(value)
            taken = replacement == value or replacement in self._own_values or replacement in self._replacements
            if not (taken or _is_card(replacement) or _is_iban(replacement)):
                break
        self._replacements[value] = replacement
        for old, new in zip(_spellings(value), _spellings(replacement), strict=True):
            self._own_values.add(new)
            self._replaced_spellings.setdefault(old, new)
        return replacement

    def _sampled(self, value: str) -> str:
        """A random value of the same shape."""
        if email := _EMAIL.fullmatch(value):
            name = value[: email.start(1)]
            return f"{self._masked(name if len(name) > 5 else 'x' * 8)}{email[1]}example.com"
        if address := _address(value):
            if address.version == 4:
                return f"{self._random.choice(_NETWORKS)}.{self._random.randint(1, 254)}"
            return ":".join(["2001:db8", *(f"{self._random.randint(1, 0xFFFF):x}" for _ in range(6))])
        if date := _DATE.fullmatch(value):
            return re.sub(r"\d+", self._part_of_date, date[1]) + (date[4] or "")
        rest = _HEAD.sub("", value)
        return value.removesuffix(rest) + self._masked(rest)

    def _masked(self, text: str) -> str:
        """A text with other letters and digits; hexadecimal stays so."""
        letters = "abcdef" if _HEX.fullmatch(text) and re.search(r"\d", text) else string.ascii_lowercase

        def other(match: re.Match[str]) -> str:
            if match[0].isdecimal():
                return self._random.choice("123456789" if match[0] != "0" and match.start() == 0 else string.digits)
            letter = self._random.choice(letters)
            return letter.upper() if match[0].isupper() else letter

        parts = _FIXED.split(text)
        parts[::2] = [re.sub(r"[^\W_]", other, part) for part in parts[::2]]
        return "".join(parts)

    def _part_of_date(self, match: re.Match[str]) -> str:
        """A year, or a number that is valid as day and month."""
        if len(match[0]) == 4:
            return str(self._random.randint(1930, 2009))
        return f"{self._random.randint(1, 12 if len(match[0]) == 2 else 9):0{len(match[0])}}"


@dataclass(frozen=True, slots=True)
class _BodyPart:
    """A part of a body, and the place of its copy. `below` is the rule for members of the enclosing object."""

    holder: Any
    place: Any
    value: object
    key: str = ""
    rule: _Rule = ""
    below: _Rule = ""
    documented: DocumentedValue | None = None
    noun: str = ""

    @property
    def is_secret(self) -> bool:
        """True if its key makes it secret."""
        value = self.value
        if isinstance(value, str):
            if self.rule in ("number", "mixed") and not re.search(r"\d", value):
                return False
            if self.rule == "person":
                return looks_like_name(value)
            repository = self.key.lower().endswith("name") and re.fullmatch(r"[^\s/]+/[^\s/]+", value)
            return self.rule == "secret" or (self.rule != "" and not repository and not _LINK.fullmatch(value))
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        return self.rule == "number" and whole and not isinstance(value, bool)


def _copy_parts(
    root: list[object], documented: DocumentedValue | None, noun: str
) -> tuple[list[dict[str, object]], list[_BodyPart]]:
    """Copy the only item of a list in place, without recursion. Returns its objects, and the leaves to redact."""
    objects: list[dict[str, object]] = []
    leaves: list[_BodyPart] = []
    pending = [_BodyPart(root, 0, root[0], documented=documented, noun=noun)]
    while pending:
        part = pending.pop()
        inner: list[_BodyPart] = []
        if isinstance(part.value, dict):
            copy: Any = dict.fromkeys(part.value)
            objects.append(copy)
            private = _is_private(part.value)
            inner = [_member(copy, key, value, part, private) for key, value in part.value.items()]
        elif isinstance(part.value, list):
            copy = [None] * len(part.value)
            documented = part.documented.items() if part.documented is not None else None
            rule: _Rule = "secret" if documented is not None and documented.is_secret else part.rule
            item = replace(part, holder=copy, rule=rule, documented=documented)
            inner = [replace(item, place=place, value=value) for place, value in enumerate(part.value)]
        else:
            copy = part.value
            leaves.append(part)
        part.holder[part.place] = copy
        pending += reversed(inner)
    return objects, leaves


def _member(holder: object, key: str, value: object, around: _BodyPart, private: bool) -> _BodyPart:
    """A member of an object, with the rule of the document, of its key, or else of the object."""
    below = around.below
    documented = around.documented.member(key) if around.documented is not None else None
    noun = noun_of(key)
    noun = around.noun if not noun or noun in WRAPPERS else noun
    short = isinstance(value, str) and len(value) < 3  # such as the code of a state
    if short or KEYS["labels"] & set(words(key)) or (below == "secret" and words(key)[-1:] == ("name",)):
        below = ""
    rule = _rule(key, private)
    if not rule and (is_persons(key) or (words(key) in _NAMES_OF_PERSONS and is_persons(around.noun))):
        rule = "person"
    if documented is not None and documented.is_secret:
        rule = "secret"
    inside = next((_BELOW[phrase] for phrase in _phrases(key) if rule and phrase in _BELOW), below)
    return _BodyPart(holder, key, value, key, rule or below, inside, documented, noun)


@lru_cache(maxsize=8192)
def _phrases(key: str) -> tuple[str, ...]:
    """The last one to three words of a key, with and without fillers."""
    parts = [*words(key)]
    phrases: dict[str, None] = {}
    while parts:
        last = [*parts[:-1], singular(parts[-1])]
        phrases |= {" ".join(last[-length:]): None for length in (3, 2, 1)}
        if not (parts[-1] in KEYS["fillers"] or parts[-1].isdecimal()):
            break
        parts.pop()
    return tuple(phrases)


def _rule(key: str, private: bool) -> _Rule:
    """The rule of a key, in an object that is a private person's record or not."""
    phrases = set(_phrases(key))
    if phrases & KEYS["harmless"]:
        return ""
    if words(key) == ("tokens",):  # maybe of a tokenizer
        return "mixed"
    if phrases & KEYS["secret"]:
        return "secret"
    if phrases & KEYS["number"]:
        return "number"
    is_personal = phrases & KEYS["personal"] or (private and (phrases & KEYS["birth"] or words(key) == ("name",)))
    return "personal" if is_personal else ""


def _is_private(record: dict[str, object]) -> bool:
    """True if an object looks like the record of a private person."""
    phrases = {phrase for key, value in record.items() if not isinstance(value, bool) for phrase in _phrases(key)}
    return bool(phrases & KEYS["reached"] or (phrases & KEYS["birth"] and phrases & {"address", "street"}))


def _evident_secrets(text: str, key: str) -> Iterator[str]:
    """The values in a text that are secret by their form, except random tokens."""
    yield from (match[1] for pattern in (_LOGIN, _BEARER) for match in pattern.finditer(text))
    text = _LOGIN.sub("://@", text)  # or the password and the host would be an e-mail address
    for pattern in _EVIDENT:
        yield from (match[0] for match in pattern.finditer(text) if not match[0].startswith("git@"))
    for match in _QUERY.finditer(text):
        last = words(match[1])[-1:]
        if _rule(match[1], False) == "secret" or (KEYS["signs"] & set(last) and re.search(r"\d|.{16}", match[2])):
            yield match[2]
    last = words(key)[-1:]
    for match in _CARD.finditer(text):
        if not (match[0].isdigit() and KEYS["numbered"] & set(last)):
            yield _valid_prefix(match[0], _is_card)
    yield from (match["name"] for pattern in (INITIALS, TITLED) for match in pattern.finditer(text))
    if "BEGIN:V" in text:
        yield from (match["card"] or match["name"] for match in CARD_LINE.finditer(text))
    for match in _IBAN.finditer(text):
        yield _valid_prefix(match[0], _is_iban)
    for match in (match for pattern in _ADDRESSES for match in pattern.finditer(text)):
        address = None if "version" in words(key) else _address(match[0])
        if address and not (address.is_loopback or address.is_unspecified or match[0].startswith("255.")):
            yield match[0]


def _is_random(match: re.Match[str]) -> bool:
    """True if a text looks random: letters and digits alternate more than in words."""
    text = _UUID.sub("", match[0])
    parts = [re.sub(r"[+/=]", "", text)] if text.endswith("=") or "+" in text else re.split(r"[^A-Za-z0-9]", text)
    part = max(parts, key=len)
    if len(part) < 12 or not re.search(r"\d.*\d", part) or part.isdigit():
        return False
    turns = len(re.findall(r"[a-z]+|[A-Z]+|\d+", part))
    return turns > len(part) / 4 and len(set(part)) > 6


def _is_usable(match: re.Match[str], key: str) -> bool:
    """True if a random text is an identifier, a cursor or a hash, by its key or by its place in a URL."""
    if (is_identifier(key) and words(key)[-1:] != ("key",)) or set(_phrases(key)) & (KEYS["harmless"] | KEYS["opaque"]):
        return True
    if KEYS["hashes"] & set(words(key)) and _HEX.fullmatch(match[0]):
        return True
    return bool(re.search(r"[?&;][\w.-]+=\Z", match.string[max(0, match.start() - 80) : match.start()]))


def _valid_prefix(text: str, valid: Callable[[str], bool]) -> str:
    """The longest valid prefix of a text that ends at a blank; empty if there is none."""
    while text and not valid(text):
        text = text.rpartition(" ")[0]
    return text


def _is_card(text: str) -> bool:
    """True for a card number: the first digit of a network, 13 to 19 digits, the Luhn checksum."""
    digits = re.sub(r"[ -]", "", text)
    if not re.fullmatch(r"(?:[3-6]|2[2-7])\d{12,18}", digits):
        return False
    doubled = (sum(divmod(int(digit) * (1 + place % 2), 10)) for place, digit in enumerate(reversed(digits)))
    return sum(doubled) % 10 == 0


def _is_iban(text: str) -> bool:
    """True for the checksum of an IBAN (ISO 13616)."""
    plain = text.replace(" ", "")
    if not re.fullmatch(r"[A-Z]{2}\d\d[A-Z0-9]{11,30}", plain):
        return False
    return int("".join(str(int(char, 36)) for char in plain[4:] + plain[:4])) % 97 == 1


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _digits(value: object) -> str:
    """A text, or the digits of a whole number."""
    return str(int(value)) if isinstance(value, float) else str(value)


def _spellings(value: str) -> tuple[str, ...]:
    """The forms of a value in a program, in JSON and in a URL."""
    inside = (json.dumps(value), json.dumps(value, ensure_ascii=False), repr(value))
    quoted = (quote(value, "", errors="replace"), quote(value, errors="replace"), quote_plus(value, errors="replace"))
    return (value, *(literal[1:-1] for literal in inside), *quoted)


def _is_name(text: str) -> bool:
    """True if a text may be the name of a field."""
    return text.islower() and text.isalpha()


def _value_pattern(value: str) -> str:
    """A pattern for a value; short and plain ones match as a whole: not the `Mark` in `Marketing`."""
    named = " " in value and value[-1:].isalpha()  # not the `A. Harris` in `A. Harrison`
    whole = named or len(value) < 4 or (len(value) < 8 and (value.isalpha() or value.isdigit()))
    return rf"{_START}{re.escape(value)}(?![^\W_])" if whole else re.escape(value)
