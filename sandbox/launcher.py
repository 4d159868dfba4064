"""Starts the child's interpreter: the command line, and what of the machine it gets to see.

The interpreter runs without site packages and without the current folder on its path (`-S -s -P`). The environment
holds one variable, the fixed hash seed, which `-I` would ignore. The package `sandbox` is set up there by hand, so
that importing the worker loads only what the worker itself imports.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Child", "readable_folders", "start"]

_BOOT = """
import sys, types
package = types.ModuleType("sandbox")
package.__path__ = [sys.argv[1]]
sys.modules["sandbox"] = package
from sandbox.worker import main
main(int(sys.argv[2]))
"""


@dataclass(frozen=True, slots=True)
class Child:
    """A worker that waits for its program: its process, our end of the socket, and its empty folder."""

    process: subprocess.Popen[bytes]
    socket: socket.socket
    folder: str

    def stop(self, *, wait: bool = False) -> tuple[int, Any]:
        """End the whole process group and collect its leader; gives exit status (negative: signal) and what it used.

        A child that has said how its program ended is leaving by itself: `wait` gives it a moment, so that its own
        exit status and its use of time are what is told.
        """
        deadline = time.monotonic() + 0.2
        gone, status, usage = 0, 0, None
        with contextlib.suppress(ChildProcessError):  # someone else in this process waits for all children
            while wait and not gone and time.monotonic() < deadline:
                gone, status, usage = os.wait4(self.process.pid, os.WNOHANG)
                if not gone:
                    time.sleep(0.0005)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            if not gone:
                _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)  # so that subprocess does not wait for it again
        return self.process.returncode, usage

    def clear(self) -> None:
        """Give back the socket and the folder; the process is gone by then."""
        self.socket.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def start() -> Child:
    """Start a worker in a new folder, as the leader of a session and process group of its own.

    Raises: OSError: The interpreter can't be started.
    """
    here = str(Path(__file__).resolve().parent)
    interpreter = getattr(sys, "_base_executable", None) or sys.executable
    folder = tempfile.mkdtemp(prefix="atc-")
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            process = subprocess.Popen(
                [interpreter, "-S", "-s", "-P", "-c", _BOOT, here, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PYTHONHASHSEED": "0"},
                cwd=folder,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
    except BaseException:
        ours.close()
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return Child(process, ours, folder)


@functools.cache
def readable_folders() -> tuple[str, ...]:
    """What a child may read once its walls are up: Python's own library, our worker, time zones."""
    paths = sysconfig.get_paths()
    folders = [paths["stdlib"], paths["platstdlib"], str(Path(__file__).resolve().parent)]
    folders += ["/usr/share/zoneinfo", "/etc/localtime"]
    return tuple(dict.fromkeys(os.path.realpath(folder) for folder in folders if Path(folder).exists()))
