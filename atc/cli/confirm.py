"""Ask on the terminal whether a write may be sent: what it is, where it goes, and y or N."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import select
import sys
import termios
import threading
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType

import click

from atc.tui.text import visible
from sandbox.records import CallRecord

__all__ = ["WriteConfirmation", "can_ask"]

WIDEST = 200
"""Characters of one value that are shown; its name and how long it is are shown in any case."""

MOST = 60
"""Values that are shown."""

_FEW = 8
"""Values that leave the request in sight, which else is shown once more."""

TICK = 0.1
"""Seconds after which a question notices that the command is over."""


def can_ask() -> bool:
    """Whether somebody sits at a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


class WriteConfirmation:
    """Asks about one write at a time, until the block ends; `pause` keeps what else is drawn out of the way."""

    def __init__(self, pause: Callable[[], AbstractContextManager[None]] = nullcontext) -> None:
        self._pause = pause
        self._over = threading.Event()

    def __enter__(self) -> WriteConfirmation:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()

    def __call__(self, call: CallRecord) -> bool:
        """Whether the write may be sent. Anything but y or yes is a no."""
        arguments = _argument_lines(call.arguments)
        request = f"  {call.method} {call.url}"
        with self._pause():
            lines = [f"The program wants to write: {call.tool or call.method}", request, *arguments]
            for line in [*lines, *([request] if len(arguments) > _FEW else [])]:
                click.echo(_seen(line), err=True)
            with contextlib.suppress(termios.error):  # what was typed before the question is no answer to it
                termios.tcflush(sys.stdin, termios.TCIFLUSH)
            click.echo("Send it? [y/N] ", err=True, nl=False)
            while not self._over.is_set():
                if select.select([sys.stdin], [], [], TICK)[0]:
                    return sys.stdin.readline().strip().lower() in ("y", "yes")
        return False


def _argument_lines(arguments: Mapping[str, object]) -> list[str]:
    """Each value in a line of its own, cut by itself: a long one does not hide the others."""
    lines = list(itertools.islice(_lines("", arguments), MOST + 1))
    return lines if len(lines) <= MOST else [*lines[:MOST], "and more values, which are NOT shown here"]


def _lines(place: str, value: object) -> Iterator[str]:
    text = json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, Mapping) and value and (not place or len(text) > WIDEST):
        for name, part in value.items():
            plain = str(name) if _NAME.fullmatch(str(name)) else json.dumps(str(name), ensure_ascii=False)
            plain = plain if len(plain) <= WIDEST else f"{plain[:WIDEST]}…"
            yield from _lines(f"{place}.{plain}" if place else plain, part)
    elif isinstance(value, list | tuple) and value and len(text) > WIDEST:
        for index, part in enumerate(value):
            yield from _lines(f"{place}[{index}]", part)
    elif place:
        cut_text = text if len(text) <= WIDEST else f"{text[:WIDEST]}… ({len(text)} characters)"
        yield f"{place}: {cut_text}"


def _seen(line: str) -> str:
    """A line in which everything is seen: what takes no room, blanks that are none, and letters of another alphabet
    among Latin ones are spelled out."""
    line = _UNSEEN.sub(lambda match: f"<U+{ord(match[0]):04X}>", visible(line.replace("\n", "\\n")))
    return _MIXED.sub(_spelled, line)


def _spelled(word: re.Match[str]) -> str:
    """A word with Latin letters, the others of which may only look like such."""
    letters = [(char, unicodedata.name(char, "").partition(" ")[0]) for char in word[0]]
    if not {"LATIN"} < {script for _, script in letters} & {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"}:
        return word[0]
    return "".join(char if script == "LATIN" else f"<U+{ord(char):04X}>" for char, script in letters)


_NAME = re.compile(r"[A-Za-z_][\w.-]*( [\w.-]+)?", re.ASCII)
_MIXED = re.compile(r"[^\W\d_]{2,}")
_UNSEEN = re.compile(
    "[\u00a0\u00ad\u034f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u202f\u205f\u2800\u3000\u3164"
    "\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
