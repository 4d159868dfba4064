"""Make text from outside safe to show: an API, a model or a program must not control the user's terminal.

An escape sequence in a movie title could clear the screen, set the window's title or type an answer. So each control
character is shown as a visible sign instead of being sent.
"""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from typing import TextIO

__all__ = ["first_line", "for_stream", "format_answer", "shorten", "value_text", "visible"]

_VALUE_WIDTH = 48
"""Longest argument shown in a call."""

_UNSAFE = re.compile(r"[^\n\t\x20-\x7e]")


def visible(text: str) -> str:
    """Replace control characters by visible signs; line ends and tabs stay.

    C0 characters become their control pictures (ESC is one sign). All other characters that act instead of being shown
    (C1, direction marks, lone surrogates, odd line separators) become their code point: `<U+202E>`.
    """
    return _UNSAFE.sub(_sign, text.replace("\r\n", "\n"))


def for_stream(text: str, stream: TextIO) -> str:
    """The text for a stream: visible signs on a terminal, unchanged in a file or pipe."""
    return visible(text) if stream.isatty() else text


def first_line(text: str, width: int) -> str:
    """The first non-empty line, with visible signs and at most `width` characters long."""
    lines = [line.strip() for line in visible(text).splitlines() if line.strip()]
    return shorten(lines[0], width) if lines else ""


def shorten(text: str, width: int) -> str:
    """The text, cut with an ellipsis to `width` characters."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def value_text(value: object) -> str:
    """An argument of a call as JSON, at most 48 characters long."""
    return shorten(json.dumps(value, ensure_ascii=False, default=str), _VALUE_WIDTH)


def format_answer(answer: str) -> str:
    """The answer, with a line for each item of a list or key of a dictionary.

    Only an answer that is exactly one such value is changed; nested values stay as Python writes them.
    """
    if not answer.startswith(("[", "{", "(")):
        return answer
    try:
        value = ast.literal_eval(answer)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return answer
    if isinstance(value, dict):
        return "\n".join(f"{key}: {_entry(entry)}" for key, entry in value.items()) or answer
    if isinstance(value, list | tuple | set):
        entries = sorted(value, key=repr) if isinstance(value, set) else value
        return "\n".join(f"- {_entry(entry)}" for entry in entries) or answer
    return answer


def _entry(value: object) -> str:
    """Format one entry; its further lines are indented."""
    if isinstance(value, dict) and value:
        text = ", ".join(f"{key}: {entry}" for key, entry in value.items())
    elif isinstance(value, list | tuple) and value and all(isinstance(entry, str | int | float) for entry in value):
        text = ", ".join(str(entry) for entry in value)
    else:
        text = str(value)
    return text.replace("\n", "\n  ")


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


_JOINERS = {"\u200c", "\u200d", "\u00ad"}
"""Format characters of ordinary text (Persian, Indic scripts, emoji, hyphenation) that do nothing to a terminal."""
