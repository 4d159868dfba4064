"""A command on a pseudo-terminal, and the screen that somebody in front of it would see."""

from __future__ import annotations

import os
import pty
import select
import signal
import termios
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Self

import pyte

from tests.warm import warm_commands
from tests.warm_client import start

__all__ = ["PtyScreen"]

TIMEOUT = 30.0
"""Seconds to wait for something to appear."""


class PtyScreen:
    """Runs an `atc` command on a terminal of so many columns and lines; `sent` is all that it wrote there."""

    def __init__(
        self, command: list[str], env: Mapping[str, str | None] | None = None, columns: int = 80, lines: int = 24
    ) -> None:
        wanted = {
            **os.environ,
            "TERM": "xterm-256color",
            "NO_COLOR": None,
            "COLUMNS": None,
            "LINES": None,
            **(env or {}),
        }
        environment = {name: value for name, value in wanted.items() if value is not None}
        self._terminal, theirs = pty.openpty()
        attributes = termios.tcgetattr(theirs)
        attributes[3] &= ~termios.ECHO
        termios.tcsetattr(theirs, termios.TCSANOW, attributes)
        termios.tcsetwinsize(theirs, (lines, columns))
        self._replies = start(str(warm_commands() / "socket"), command, [theirs] * 3, environment, terminal=True)
        os.close(theirs)
        self._process = int(self._replies.readline())
        self._screen = pyte.HistoryScreen(columns, lines, history=10_000, ratio=1.0)
        self._stream = pyte.ByteStream(self._screen)
        self.sent = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._terminal)
        if not select.select([self._replies], [], [], 0)[0]:  # else it has ended, and its number may be another's
            with suppress(ProcessLookupError):
                os.kill(self._process, signal.SIGKILL)
        self._replies.close()

    @property
    def lines(self) -> list[str]:
        """The lines of the screen, without blanks at their ends."""
        return [line.rstrip() for line in self._screen.display]

    @property
    def scrolled(self) -> list[str]:
        """The lines that scrolled off, and those of the screen."""
        above = ["".join(row[column].data for column in sorted(row)).rstrip() for row in self._screen.history.top]
        return [*above, *self.lines]

    @property
    def reversed(self) -> list[str]:
        """The reversed parts of the lines of the screen: how a cursor is seen without colours."""
        columns, rows = range(self._screen.columns), (self._screen.buffer[line] for line in range(self._screen.lines))
        return ["".join(row[column].data for column in columns if row[column].reverse) for row in rows]

    def press(self, keys: str) -> None:
        """Type, a moment later: whoever asks may be about to change the terminal's mode, which drops what was typed."""
        time.sleep(0.05)
        os.write(self._terminal, keys.encode())

    def resize(self, columns: int, lines: int) -> None:
        """Change the size of the window."""
        termios.tcsetwinsize(self._terminal, (lines, columns))
        self._screen.resize(lines, columns)

    def wait(self, text: str) -> None:
        """Read until the text is on the screen."""
        self.wait_until(lambda: any(text in line for line in self.lines), text)

    def wait_until(self, shown: Callable[[], bool], what: str) -> None:
        """Read until the screen is as it should be."""
        end = time.monotonic() + TIMEOUT
        while not shown():
            assert time.monotonic() < end, f"{what!r} did not appear:\n" + "\n".join(self.lines)
            if not self._read():
                assert shown(), f"{what!r} did not appear before the end:\n" + "\n".join(self.scrolled)
                return

    def finish(self) -> int:
        """Read to the end; the exit code of the command, or its signal below zero."""
        while self._read():
            pass
        return int(self._replies.readline())

    def _read(self) -> bool:
        """Take what came; False at the end."""
        if not select.select([self._terminal], [], [], 0.2)[0]:
            return True
        try:
            data = os.read(self._terminal, 65536)
        except OSError:  # how Linux says that nobody holds the other end any more
            return False
        self.sent += data
        self._stream.feed(data)
        return True
