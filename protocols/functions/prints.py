"""What functions of a file print goes to stderr: stdout is for the program that calls them, and for JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TextIO

__all__ = ["stdout_to_stderr"]

_lock = Lock()
_inside = 0
_stdout: TextIO | None = None


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Send what Python code writes to `sys.stdout` to stderr meanwhile, in all threads; several may be inside at once.

    A process that the code starts has the stdout of this one.
    """
    global _inside, _stdout
    with _lock:
        if not _inside:
            _stdout, sys.stdout = sys.stdout, sys.stderr
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside and _stdout is not None:
                sys.stdout = _stdout
