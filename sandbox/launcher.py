"""Starts the child's interpreter: the command line, and what of the machine it gets to see.

The interpreter runs without site packages and without the current folder on its path (`-S -s -P`). The environment
holds one variable, the fixed hash seed, which `-I` would ignore. The package `sandbox` is set up there by hand, so
that importing the worker loads only what the worker itself imports.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

__all__ = ["readable_folders", "start"]

_BOOT = """
import sys, types
package = types.ModuleType("sandbox")
package.__path__ = [sys.argv[1]]
sys.modules["sandbox"] = package
from sandbox.worker import main
main(int(sys.argv[2]))
"""


def start(descriptor: int, folder: str) -> subprocess.Popen[bytes]:
    """Start a worker that talks on `descriptor`, in `folder`, as the leader of a session and process group of its own.

    Raises: OSError: The interpreter can't be started.
    """
    here = str(Path(__file__).resolve().parent)
    interpreter = getattr(sys, "_base_executable", None) or sys.executable
    return subprocess.Popen(
        [interpreter, "-S", "-s", "-P", "-c", _BOOT, here, str(descriptor)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PYTHONHASHSEED": "0"},
        cwd=folder,
        pass_fds=(descriptor,),
        start_new_session=True,
    )


@functools.cache
def readable_folders() -> tuple[str, ...]:
    """What a child may read once its walls are up: Python's own library, our worker, time zones."""
    paths = sysconfig.get_paths()
    folders = [paths["stdlib"], paths["platstdlib"], str(Path(__file__).resolve().parent)]
    folders += ["/usr/share/zoneinfo", "/etc/localtime"]
    return tuple(dict.fromkeys(os.path.realpath(folder) for folder in folders if Path(folder).exists()))
