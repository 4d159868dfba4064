"""A command on a terminal of its own, to expect and to type: it is no fork of the process that runs the tests.

That one holds engines in threads, and a fork of it may die before it becomes the command.
"""

from __future__ import annotations

import os
import pty
import termios

import pexpect
from pexpect.fdpexpect import fdspawn  # type: ignore[import-untyped]

from tests.warm import warm_commands
from tests.warm_client import start

__all__ = ["TerminalCommand"]


class TerminalCommand(fdspawn):  # type: ignore[misc]
    """Starts a command; `finish` reads to its end."""

    def __init__(self, command: list[str], columns: int = 100, lines: int = 40) -> None:
        ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (lines, columns))
        environment = {**os.environ, "TERM": "xterm"}
        self._replies = start(str(warm_commands() / "socket"), command, [theirs] * 3, environment, terminal=True)
        os.close(theirs)
        self._replies.readline()
        super().__init__(ours, encoding="utf-8", timeout=60)

    def finish(self) -> int:
        """The exit code."""
        self.expect(pexpect.EOF)
        code = int(self._replies.readline())
        self._replies.close()
        self.close()
        return code
