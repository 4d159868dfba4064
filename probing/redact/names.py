"""Names of persons: keys and entities that have them, and their forms in a longer text."""

from __future__ import annotations

import re

from probing.redact import KEYS
from protocols.text.words import singular, words

__all__ = ["CARD_LINE", "INITIALS", "TITLED", "is_persons", "looks_like_name", "name_forms"]

_PARTICLES = r"(?:(?:al|bin|da|de|del|della|den|der|di|do|dos|du|el|la|le|ten|ter|van|von|zu)[ ]){0,3}"
_WORD = r"[^\W\d_a-z](?:[^\W\d_]|['\u2019-](?=[^\W\d_]))*"
_NAME = re.compile(rf"{_WORD}\.?(?:[ ]{_PARTICLES}{_WORD}\.?){{1,3}}")
_NO_INITIALS = r"(?!U\.[ ]?[KNS]\.|E\.[ ]?U\.|D\.[ ]?C\.)"
_INITIALLED = rf"(?P<name>{_NO_INITIALS}(?:[A-Z]\.[ ]?){{1,3}}{_PARTICLES}[A-Z][^\W\d_]{{2,}}(?:-[A-Z][^\W\d_]+)?)"
_BEFORE = r"(?:(?<=[-\u2013\u2014,:;(\">&/|][ ])|(?<=[(\">:;|])|(?<=\bby[ ])|(?<=\band[ ])|(?<=\bmit[ ]))"
INITIALS = re.compile(rf"(?:\A(?={_INITIALLED.replace('?P<name>', '?:')}\s*\Z)|{_BEFORE}){_INITIALLED}(?![^\W_])")
"""Initials and a surname, after a separator or alone: `Opening - A. Harris`, and not `Vitamin C. The`."""
TITLED = re.compile(rf"\b(?:Mr|Mrs|Ms|Dr|Prof)\.?[ ](?P<name>{_WORD}(?:[ ]{_PARTICLES}{_WORD})?)(?![^\W_])")
"""The name after a form of address."""
CARD_LINE = re.compile(
    r"^(?:item\d+\.)?(?:FN|N|NICKNAME|ADR|TEL|BDAY|CONTACT|EMAIL)(?:;[^:\r\n]*)?:(?P<card>\S[^\r\n]*)"
    r"|;CN=\"?(?P<name>[^\":;,\r\n]+)",
    re.MULTILINE | re.IGNORECASE,
)
"""A line of a vCard or an iCalendar file that holds personal values."""


def is_persons(key: str) -> bool:
    """True for a key or an entity that is a private person: `speakers`, `created_by`."""
    parts = words(key)
    parts = parts[:-1] if parts[-1:] == ("name",) else parts
    return bool(parts) and (singular(parts[-1]) in KEYS["persons"] or (len(parts) > 1 and parts[-1] == "by"))


def looks_like_name(text: str) -> bool:
    """True for two to four words, each with a capital letter."""
    return len(text) < 60 and _NAME.fullmatch(text) is not None


def name_forms(name: str, alone: bool) -> list[str]:
    """Other forms of a name, the same for each name of as many words: initials, the surname first, single words."""
    first, *rest = name.split(" ")
    last = rest[-1]
    forms = [f"{first[0]}. {' '.join(rest)}", f"{first[0]}. {last}", f"{first[0]}.{last}"]
    forms += [f"{last}, {first}", f"{last}, {first[0]}.", f"{last} {first}"]
    return [*forms, *(part for part in (first, last) if alone)]
