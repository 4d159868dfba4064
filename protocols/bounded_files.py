"""Files read to their end, whatever a path leads to: as a whole up to a size, and no pipe that nobody writes to.

A name may come from a stranger's settings, and a person may name any file. Without a bound one of gigabytes would fill
the memory, and a pipe in a folder would be waited for without end.
"""

from __future__ import annotations

import errno
from pathlib import Path

__all__ = ["read_bounded", "read_whole", "refuse_pipe"]


def read_bounded(path: Path, most: int = 1 << 20) -> str:
    """The text of a file that a person writes. Raises: OSError: As `read_whole`; UnicodeError."""
    return read_whole(path, most).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def read_whole(path: Path, most: int = 1 << 28) -> bytes:
    """The bytes of a file. Raises: OSError: Also if it has more than `most` bytes, and as `refuse_pipe`."""
    refuse_pipe(path)
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes, and no such file has", str(path))
    return data


def refuse_pipe(path: Path) -> None:
    """See that reading a file ends. Raises: OSError: It is a pipe that lies in a folder: nobody need ever write to it.

    One that a shell made for this command, as in `--api <(curl ...)`, is below /dev.
    """
    if path.is_fifo() and not path.absolute().is_relative_to("/dev"):
        raise OSError(errno.ESPIPE, "it is a pipe, and no file", str(path))
