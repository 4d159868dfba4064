"""Files that several processes of one user share: written as a whole, readable for their owner alone, one at a time."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["folder_locked", "write_private"]


def write_private(path: Path, text: str) -> None:
    """Write a text as a whole or not at all. Raises: OSError."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:50]}.", suffix=".tmp", dir=path.parent)  # mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(descriptor)
        Path(name).replace(path)
    except OSError:
        with suppress(OSError):
            Path(name).unlink()
        raise


@contextmanager
def folder_locked(folder: Path) -> Iterator[None]:
    """One process at a time in the block. Raises: OSError: There is no such folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
