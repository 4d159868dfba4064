"""Make text from outside safe to show: an API, a model or a program must not control the user's terminal.

An escape sequence in a movie title could clear the screen, set the window's title or type an answer. So each control
character is shown as a visible sign instead of being sent.
"""

from __future__ import annotations

import ast
import json
from typing import TextIO

from protocols.quoting import shorten, visible

__all__ = ["first_line", "for_stream", "format_answer", "value_text"]

_VALUE_WIDTH = 48
"""Longest argument shown in a call."""


def for_stream(text: str, stream: TextIO) -> str:
    """The text for a stream: visible signs on a terminal, unchanged in a file or pipe."""
    return visible(text) if stream.isatty() else text


def first_line(text: str, width: int) -> str:
    """The first non-empty line, with visible signs and at most `width` characters long."""
    lines = [line.strip() for line in visible(text).splitlines() if line.strip()]
    return shorten(lines[0], width) if lines else ""


def value_text(value: object) -> str:
    """An argument of a call as JSON, at most 48 characters long."""
    return shorten(json.dumps(value, ensure_ascii=False, default=str), _VALUE_WIDTH)


def format_answer(answer: str) -> str:
    """The answer, with a line for each item of a list or key of a dictionary.

    Only an answer that is exactly one such value is changed; nested values stay as Python writes them.
    """
    try:
        return _listed(ast.literal_eval(answer)) or answer if answer.startswith(("[", "{", "(")) else answer
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):  # `{[1]: 2}`, or a number too long
        return answer


def _listed(value: object) -> str:
    """A line for each entry; empty for what has none."""
    if isinstance(value, dict):
        return "\n".join(f"{key}: {_entry(entry)}" for key, entry in value.items())
    if isinstance(value, list | tuple | set):
        entries = sorted(value, key=repr) if isinstance(value, set) else value
        return "\n".join(f"- {_entry(entry)}" for entry in entries)
    return ""


def _entry(value: object) -> str:
    """Format one entry; its further lines are indented."""
    if isinstance(value, dict) and value:
        text = ", ".join(f"{key}: {entry}" for key, entry in value.items())
    elif isinstance(value, list | tuple) and value and all(isinstance(entry, str | int | float) for entry in value):
        text = ", ".join(str(entry) for entry in value)
    else:
        text = str(value)
    return text.replace("\n", "\n  ")
