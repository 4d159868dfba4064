"""Ask on the terminal whether a write, or a plan of writes, may be sent: what it is, where it goes, and y or N."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import select
import sys
import termios
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Self

import click

from atc.apps.tui.plan import MOST, WIDEST, plan_lines, unhidden
from sandbox.egress.write_plan import WritePlan
from sandbox.records import CallRecord

__all__ = ["PlanConfirmation", "WriteConfirmation", "can_ask"]

_FEW = 8
"""Values that leave the request in sight, which else is shown once more."""

TICK = 0.1
"""Seconds after which a question notices that the command is over."""


def can_ask() -> bool:
    """Whether somebody sits at a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


class _Confirmation:
    """Asks one question at a time, until the block ends; `pause` keeps what else is drawn out of the way."""

    def __init__(self, pause: Callable[[], AbstractContextManager[None]] = nullcontext) -> None:
        self._pause = pause
        self._over = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()

    def _confirmed(self, lines: Sequence[str], question: str) -> bool:
        """Whether the answer is y or yes; anything else is a no."""
        with self._pause():
            for line in lines:
                click.echo(unhidden(line), err=True)
            with contextlib.suppress(termios.error):  # what was typed before the question is no answer to it
                termios.tcflush(sys.stdin, termios.TCIFLUSH)
            click.echo(f"{question} [y/N] ", err=True, nl=False)
            while not self._over.is_set():
                if select.select([sys.stdin], [], [], TICK)[0]:
                    return sys.stdin.readline().strip().lower() in ("y", "yes")
        return False


class WriteConfirmation(_Confirmation):
    """Asks about one write at a time."""

    def __call__(self, call: CallRecord) -> bool:
        """Whether the write may be sent."""
        arguments = _argument_lines(call.arguments)
        request = f"  {call.method} {call.url}"
        lines = [f"The program wants to write: {call.tool or call.method}", request, *arguments]
        return self._confirmed([*lines, *([request] if len(arguments) > _FEW else [])], "Send it?")


class PlanConfirmation(_Confirmation):
    """Asks about all planned writes at once."""

    def __call__(self, plan: WritePlan) -> bool:
        """Whether the writes in `plan.asked` may be sent."""
        return self._confirmed(plan_lines(plan), "Send them?" if len(plan.asked) > 1 else "Send it?")


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


_NAME = re.compile(r"[A-Za-z_][\w.-]*( [\w.-]+)?", re.ASCII)
