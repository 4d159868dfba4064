"""Ask on the terminal whether a write may be sent: what it is, where it goes, and y or N."""

from __future__ import annotations

import json
import select
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType

import click

from atc.tui.text import visible
from sandbox.records import CallRecord

__all__ = ["Confirm", "can_ask"]

WIDEST = 200
"""Characters of one argument that are shown; its name and how long it is are shown in any case."""

TICK = 0.1
"""Seconds after which a question notices that the command is over."""


def can_ask() -> bool:
    """Whether somebody sits at a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


class Confirm:
    """Asks about one write at a time, until the block ends; `pause` keeps what else is drawn out of the way."""

    def __init__(self, pause: Callable[[], AbstractContextManager[None]] = nullcontext) -> None:
        self._pause = pause
        self._over = threading.Event()

    def __enter__(self) -> Confirm:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()

    def __call__(self, call: CallRecord) -> bool:
        """Whether the write may be sent. Anything but y or yes is a no."""
        given = _given(call.arguments)
        with self._pause():
            click.echo(visible(f"The program wants to write: {call.tool or call.method}"), err=True)
            click.echo(visible(f"  {call.method} {call.url}"), err=True)
            for line in given:
                click.echo(visible(f"  {line}"), err=True)
            click.echo("Send it? [y/N] ", err=True, nl=False)
            while not self._over.is_set():
                if select.select([sys.stdin], [], [], TICK)[0]:
                    return sys.stdin.readline().strip().lower() in ("y", "yes")
        return False


def _given(arguments: Mapping[str, object]) -> list[str]:
    """Each argument in a line of its own, cut by itself: a long one does not hide the others."""
    lines = []
    for name, value in arguments.items():
        text = json.dumps(value, ensure_ascii=False, default=str)
        shown = text if len(text) <= WIDEST else f"{text[:WIDEST]}… ({len(text)} characters)"
        lines.append(f"{name if len(name) <= WIDEST else f'{name[:WIDEST]}…'}: {shown}")
    return lines
