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

__all__ = [
    "folder_locked",
    "make_private_folder",
    "not_ours",
    "not_trusted",
    "write_whole",
]


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


def make_private_folder(path: Path) -> None:
    """Make a folder, and those above it, where it is missing, for oneself alone whatever the umask. Raises: OSError."""
    if path.is_dir():
        return
    make_private_folder(path.parent)
    try:
        path.mkdir()
    except FileExistsError:
        if not path.is_dir():
            raise
    else:
        path.chmod(0o700)


def not_trusted(path: Path) -> str | None:
    """The reason against following what a file says; None if only its user, and root, can have written it.

    Raises: OSError: There is no such file.
    """
    for status in (path.lstat(), path.stat()):
        if status.st_uid not in (0, os.geteuid()):
            return "belongs to somebody else"
    open_to = "everybody" if status.st_mode & stat.S_IWOTH else "a group" if status.st_mode & stat.S_IWGRP else ""
    if not open_to or (open_to == "a group" and status.st_gid == os.getegid() == os.geteuid()):  # a group of its own
        return None
    return f"can be written by {open_to}"


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
