"""Quote what is not ours on its way to a reader: a model, a terminal, an instruction of a server.

A document, a service and a program may write line ends, code fences and characters that act instead of being seen. In a
prompt they would begin a section of their own, on a terminal a line like one of ours. So what they say is one line,
with a visible sign for each such character; a text without them stays as it is. A description of a document is read as
plain text besides: without markup, in whole sentences.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterator

__all__ = [
    "MOST_TITLE",
    "escaped",
    "estimate",
    "first_sentence",
    "json_text",
    "one_line",
    "plain",
    "sentences",
    "shorten",
    "unfenced",
    "visible",
    "words_of_service",
]

_UNSAFE = re.compile(r"[^\n\t\x20-\x7e]")
_FENCE = re.compile(r"`{3,}")
MOST_TITLE = 100
"""Characters of the title of a document or a server."""
_MOST_SAID = 600
"""Characters of what a service says: six wrong fields of a form fit, and a prompt bears it."""
_JOINERS = {"\u200c", "\u200d", "\u00ad"}
"""Format characters of ordinary text (Persian, Indic scripts, emoji, hyphenation) that do nothing to a terminal."""
_TAG = re.compile(
    r"</?(?:a|b|blockquote|br|code|dd|details|div|dl|dt|em|font|h[1-6]|hr|i|img|li|ol|p|pre|small|span|strong|sub|summary"
    r"|sup|table|tbody|td|th|thead|tr|u|ul)\b[^<>]*>",
    re.IGNORECASE,
)
_LINK = re.compile(r"\[([^\[\]\n]{0,300})\]\([^)\s]{0,1000}\)")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_MARKUP = re.compile(r"\*\*|^#+\s|^\s*[-*]\s", re.MULTILINE)
_TABLE = re.compile(r"(?:^[ \t]*\|.*\n){3,}", re.MULTILINE)
_STOP = re.compile(r"[.!?][\"')\]]*(?=\s+[\"'(\[]?[A-Z0-9`])")


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


def estimate(text: str) -> int:
    """The approximate number of tokens in a text, the same for every model."""
    return len(text) // 3


def plain(text: str) -> str:
    """A description without HTML, headings, emphasis and tables, in one line; names in backquotes stay.

    So do examples between two fences: within a line they begin no block, and no fence is left open.
    """
    text = _TABLE.sub(lambda table: f"\n[a table of {table[0].strip().count(chr(10)) - 1} rows]\n", f"{text}\n")
    text = _LINK.sub(r"\1", _TAG.sub(" ", text))
    line = visible(" ".join(_CONTROL.sub("", html.unescape(_MARKUP.sub(" ", text))).split()))
    return unfenced(line) if line.count("```") % 2 else line


def sentences(text: str, most: int) -> str:
    """As many whole sentences of a plain text as fit in so many characters; empty if the first one does not."""
    if len(text) <= most:
        return text
    return text[: max((end for end in _ends(text) if end <= most), default=0)].strip()


def first_sentence(text: str, most: int) -> str:
    """The first sentence of a plain text; empty if it has more characters."""
    first = text[: next(_ends(text), len(text))]
    return first if len(first) <= most else ""


def _ends(text: str) -> Iterator[int]:
    """Where sentences end: not in brackets, and not behind an abbreviation such as e.g."""
    depth, start = 0, 0
    for match in _STOP.finditer(text):
        depth += text.count("(", start, match.start()) - text.count(")", start, match.start())
        start = match.start()
        word = text[: match.start()].rpartition(" ")[2]
        if depth <= 0 and "." not in word and len(word) > 1:
            yield match.end()
