"""Files of one user alone, which several processes share: written as a whole, one at a time, where nobody else can.

Anybody who could have made or linked a file could read or choose its content.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["folder_locked", "not_ours", "write_whole"]


def write_whole(path: Path, text: str, mode: int = 0o600) -> None:
    """Write a text as a whole or not at all, for oneself alone or with another mode. Raises: OSError."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:50]}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            os.fchmod(descriptor, mode)
            file.write(text)
            file.flush()
            os.fsync(descriptor)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)


@contextmanager
def folder_locked(folder: Path) -> Iterator[None]:
    """One process at a time in the block. Raises: OSError: There is no such folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def not_ours(path: Path) -> str | None:
    """The reason against writing something private to a path; None if there is none, or no file yet."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(status.st_mode):
        return "is a symbolic link, which is not followed; name the file that it leads to"
    if status.st_uid not in (0, os.geteuid()):
        return "belongs to somebody else; name a file of your own"
    if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
        return "has another name, too (a hard link); name another file"
    return None
