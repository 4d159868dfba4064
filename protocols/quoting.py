"""Quote what is not ours on its way to a reader: a model, a terminal, an instruction of a server.

A document, a service and a program may write line ends, code fences and characters that act instead of being seen. In a
prompt they would begin a section of their own, on a terminal a line like one of ours. So what they say is one line,
with a visible sign for each such character; a text without them stays as it is.
"""

from __future__ import annotations

import json
import re
import unicodedata

__all__ = ["MOST_TITLE", "escaped", "json_text", "one_line", "shorten", "unfenced", "visible", "words_of_service"]

_UNSAFE = re.compile(r"[^\n\t\x20-\x7e]")
_FENCE = re.compile(r"`{3,}")
MOST_TITLE = 100
"""Characters of the title of a document or a server."""
_MOST_SAID = 600
"""Characters of what a service says: six wrong fields of a form fit, and a prompt bears it."""
_JOINERS = {"\u200c", "\u200d", "\u00ad"}
"""Format characters of ordinary text (Persian, Indic scripts, emoji, hyphenation) that do nothing to a terminal."""


def visible(text: str) -> str:
    """Replace control characters by visible signs; line ends and tabs stay.

    C0 characters become their control pictures (ESC is one sign). All other characters that act instead of being shown
    (C1, direction marks, tags, lone surrogates, odd line separators) become their code point: `<U+202E>`.
    """
    return _UNSAFE.sub(_sign, text.replace("\r\n", "\n"))


def unfenced(text: str) -> str:
    """The text with quotation marks in place of the fences that could end a block of ours, or begin one."""
    return _FENCE.sub(lambda fence: "'" * len(fence[0]), text)


def one_line(text: str, most: int | None = None) -> str:
    """The text as one line, visible, without fences and in at most so many characters."""
    beginning = text if most is None else text[: 4 * most]
    line = unfenced(visible(" ".join(beginning.split())))
    return line if most is None else shorten(line, most)


def json_text(value: object) -> str:
    """A value as JSON that is read back exactly, in one line, with escapes for fences and for what is not seen."""
    text = escaped(json.dumps(value, ensure_ascii=False, default=str))
    return _FENCE.sub(lambda fence: r"\u0060" * len(fence[0]), text)


def escaped(text: str) -> str:
    """A text in JSON, with escapes for what is not seen and for lone surrogates; it is read back exactly."""
    return _UNSAFE.sub(lambda match: match[0] if _sign(match) == match[0] else json.dumps(match[0])[1:-1], text)


def words_of_service(text: str) -> str:
    """What a service says, marked as its own words: `the service said "…"`; empty where it says nothing."""
    line = one_line(text, _MOST_SAID).replace('"', "'")
    return f'the service said "{line}"' if line else ""


def shorten(text: str, width: int) -> str:
    """The text, cut with an ellipsis to `width` characters."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def _sign(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and character not in _JOINERS:
        return f"<U+{code:04X}>"
    return character
