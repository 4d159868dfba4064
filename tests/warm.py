"""The commands `atc` and `python` without the seconds of their imports: forks of one process that has made them."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["warm_commands"]

ROOT = Path(__file__).resolve().parent.parent
CLIENT = """#!{python} -IS
import sys
sys.path.insert(0, {tests!r})
from warm_client import start
with start({address!r}, sys.argv, range(3)) as replies:
    sys.exit(int(replies.read().split()[1]))
"""


@functools.cache
def warm_commands() -> Path:
    """A folder for PATH, with `atc` and `python`. A command is a process of its own, but controls no terminal.

    What it loads is seen by no test that uses it; nor is what a variable of its environment changes in Python itself.
    """
    folder = Path(tempfile.mkdtemp(prefix="atc-warm-"))
    address = str(folder / "socket")
    command = [sys.executable, str(ROOT / "tests" / "warm_server.py"), address]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    server = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, **pipes)  # type: ignore[call-overload]
    assert server.stdout.readline() == b"ready\n"
    python = getattr(sys, "_base_executable", sys.executable)  # without the packages, and so sooner
    for name in ("atc", "python"):
        (folder / name).write_text(CLIENT.format(python=python, address=address, tests=str(ROOT / "tests")))
        (folder / name).chmod(0o755)
    return folder
