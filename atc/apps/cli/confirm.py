"""Ask on the terminal whether a write, or a plan of writes, may be sent: what it is, where it goes, and a word or no.

The word is made up for each question. A program that prints a question of its own, earlier or beside ours, does not
know it, so that an answer to that question is none to ours.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import secrets
import select
import sys
import termios
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Self

import click

from atc.apps.tui.plan import MOST, WIDEST, place_text, plan_lines, shortened, unhidden
from protocols.functions.prints import prints_held
from protocols.json_path import Step
from sandbox.egress.write_plan import WritePlan
from sandbox.records import CallRecord

__all__ = ["Confirmation", "can_ask"]

_FEW = 8
"""Values that leave the request in sight, which else is shown once more."""

WORD = "bcdfghjkmnpqrstvwxz"
"""Letters of the word that is typed for a yes. Three of them make 6,859 words, and none is an English one."""

TICK = 0.1
"""Seconds after which a question notices that the command is over."""


def can_ask() -> bool:
    """Whether somebody sits at a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


class Confirmation:
    """Asks about one thing at a time, until the block ends.

    Args:
        pause: Keeps what else is drawn out of the way.
        query: The question of the user, which is shown beside a write; empty where there is none.
    """

    def __init__(self, pause: Callable[[], AbstractContextManager[None]] = nullcontext, query: str = "") -> None:
        self._pause = pause
        self._query = query
        self._over = threading.Event()
        self._turn = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        with self._turn:  # a question that stood has given the terminal back
            pass

    def write(self, call: CallRecord) -> bool:
        """Whether the write may be sent."""
        arguments = list(itertools.islice(_value_lines((), call.arguments), MOST + 1))
        if len(arguments) > MOST:
            arguments = [*arguments[:MOST], "and more values, which are NOT shown here"]
        request = f"  {call.method} {call.url}"
        question_line = [f"You asked: {shortened(self._query)}"] if self._query else []
        lines = [*question_line, f"The program wants to write: {call.tool or call.method}", request, *arguments]
        return self._confirmed([*lines, *([request] if len(arguments) > _FEW else [])], "Send it?")

    def plan(self, plan: WritePlan) -> bool:
        """Whether the writes in `plan.asked` may be sent."""
        return self._confirmed(plan_lines(plan), "Send them?" if len(plan.asked) > 1 else "Send it?")

    def _confirmed(self, lines: Sequence[str], question: str) -> bool:
        """Whether the word of the question is typed; n or an empty line is a no, and anything else is asked again."""
        word = "".join(secrets.choice(WORD) for _ in range(3))
        with self._turn, self._pause(), prints_held():
            for line in lines:
                click.echo(unhidden(line), err=True)
            while not self._over.is_set():
                click.echo(f"{question} Type {word} for yes, Enter for no: ", err=True, nl=False)
                answer = self._typed()
                if answer in (word, "", "n", "no"):
                    return answer == word
        return False

    def _typed(self) -> str:
        """The next line that is typed, without blanks; empty at the end of input, or once the block has ended."""
        with contextlib.suppress(termios.error):  # what was typed before the question is no answer to it
            termios.tcflush(sys.stdin, termios.TCIFLUSH)
        while not self._over.is_set():
            if select.select([sys.stdin], [], [], TICK)[0]:
                return sys.stdin.readline().strip().lower()
        return ""


def _value_lines(place: tuple[Step, ...], value: object) -> Iterator[str]:
    """Each value in a line of its own, cut by itself: a long one does not hide the others."""
    is_long = len(json.dumps(value, ensure_ascii=False, default=str)) > WIDEST
    if isinstance(value, Mapping) and value and (not place or is_long):
        for name, part in value.items():
            yield from _value_lines((*place, str(name)), part)
    elif isinstance(value, list | tuple) and value and is_long:
        for index, part in enumerate(value):
            yield from _value_lines((*place, index), part)
    elif place:
        yield f"{place_text(place)}: {shortened(value)}"
