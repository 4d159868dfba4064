"""Whether a file is ours alone: who else could have made or linked it would read what is in it, or choose it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

__all__ = ["not_ours"]


def not_ours(path: Path) -> str | None:
    """Why something private must not be written there; None where nothing speaks against it, or nothing is there."""
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
