"""The commands `atc` and `python` without the seconds of their imports: forks of one process that has made them."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["warm_commands"]

ROOT = Path(__file__).resolve().parent.parent
CLIENT = """#!{python} -IS
import array, json, os, socket, sys
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect({address!r})
    request = {{"arguments": sys.argv, "folder": os.getcwd(), "environment": dict(os.environ)}}
    streams = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", range(3)))]
    text = json.dumps(request).encode() + b"\\n"
    connection.sendall(text[connection.sendmsg([text], streams) :])
    code = connection.recv(16)
sys.exit(int(code or 70))
"""


@functools.cache
def warm_commands() -> Path:
    """A folder for PATH, with `atc` and `python`. A command is a process of its own, but has no terminal to control.

    What it loads is seen by no test that uses it; nor is what a variable of its environment changes in Python itself.
    """
    folder = Path(tempfile.mkdtemp(prefix="atc-warm-"))
    address = str(folder / "socket")
    command = [sys.executable, str(ROOT / "tests" / "warm_server.py"), address]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    server = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, **pipes)  # type: ignore[call-overload]
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    assert server.stdout.readline() == b"ready\n"
    python = getattr(sys, "_base_executable", sys.executable)  # without the packages, and so sooner
    for name in ("atc", "python"):
        (folder / name).write_text(CLIENT.format(python=python, address=address))
        (folder / name).chmod(0o755)
    return folder
