"""Tells whether a file is ours alone: anybody who could have made or linked it could read or choose its content."""

from __future__ import annotations

import os
import stat
from pathlib import Path

__all__ = ["not_ours"]


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
