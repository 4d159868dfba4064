"""Descriptions as plain text: without markup, in whole sentences, and about how many tokens a text has."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from protocols.quoting import unfenced, visible

__all__ = ["estimate", "first_sentence", "plain", "sentences"]

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
