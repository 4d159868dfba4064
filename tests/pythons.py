"""The Pythons of this machine."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path

__all__ = ["interpreter"]


@functools.cache
def interpreter(version: str) -> str | None:
    """A Python of this version, of uv or of pyenv; None where this machine has none."""
    command = [sys.executable, "-m", "uv", "python", "find", "--system", "--no-python-downloads", version]
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode == 0:
        return process.stdout.strip()
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    return next(map(str, sorted(root.glob(f"versions/{version}.*/bin/python"))), None)
