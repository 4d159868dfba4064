"""Write result files atomically, so that no reader and no resumed run ever finds half of one."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from protocols.bounded_files import read_bounded
from protocols.errors import UsageError
from protocols.private_files import make_private_folder, not_ours, write_whole
from protocols.quoting import escaped

__all__ = [
    "append_line",
    "cut_unfinished",
    "make_folder",
    "open_to_append",
    "read_lines",
    "to_json",
    "write_json",
    "write_text",
]

_MOST_READ = 1 << 28
"""Bytes of a file of lines; it takes several times as much in memory."""


def to_json(data: object) -> str:
    """Indented JSON with a line end. Non-ASCII text is escaped only where it is not seen, or has no UTF-8 form."""
    return f"{escaped(json.dumps(data, indent=2, ensure_ascii=False))}\n"


def write_json(path: Path, data: object, *, private: bool = False) -> None:
    """Write `data` to `path` as JSON; see `write_text`. Raises: UsageError."""
    write_text(path, to_json(data), private=private)


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """Write a text to `path` as a whole or not at all. Raises: UsageError.

    A pipe or device is written to directly. A symbolic link is refused: its author would choose what is overwritten.
    Nobody else may read the file, whatever the umask; without `private` an existing one keeps its mode.
    """
    if path.is_symlink():
        raise UsageError(f"{path} is a symbolic link, which is not followed; name the file that it leads to")
    if private and not path.is_file() and (why := not_ours(path)) is not None:  # a pipe at whose end somebody reads
        raise UsageError(f"{path} {why}")
    if path.exists() and not path.is_file():
        try:
            path.write_text(text, "utf-8")
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error
        return
    try:
        mode = 0o600 if private or not path.exists() else path.stat().st_mode & 0o777
        write_whole(path, text, mode)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, where it is missing, for oneself alone. Raises: UsageError."""
    try:
        make_private_folder(path)
    except OSError as error:
        raise UsageError(f"the folder {path} cannot be made: {error.strerror or error}; name another one") from error


def append_line(path: Path, line: str) -> None:
    """Append a line to a file, as a whole or not at all. Raises: UsageError.

    The file has to be ours alone, and gets the mode 600.

    One write appends it, so lines of several threads or processes do not mix. It never joins an unfinished last line.
    """
    data = line.encode("utf-8", "backslashreplace") + b"\n"
    try:
        descriptor = open_to_append(path)
        try:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                data = b"\n" + data
            written = os.write(descriptor, data)
            if written < len(data):
                if os.fstat(descriptor).st_size == size + written:
                    os.ftruncate(descriptor, size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.close(descriptor)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error


def open_to_append(path: Path) -> int:
    """A descriptor for appending to a file, created if missing. Raises: OSError, UsageError: see `append_line`."""
    if not path.is_symlink() and (why := not_ours(path)) is not None:
        raise UsageError(f"{path} {why}")
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.fchmod(descriptor, 0o600)
    return descriptor


def cut_unfinished(path: Path) -> None:
    """Remove an unfinished last line of a file, which a stop may have left. Raises: UsageError: It cannot be removed.

    A file without one is not written to; there need be none.
    """
    try:
        content = path.read_bytes() if path.exists() else b""
        if not content.endswith(b"\n") and content:
            with path.open("r+b") as stream:
                stream.truncate(content.rfind(b"\n") + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error


def read_lines(path: Path, *, growing: bool = True) -> Iterator[tuple[str, Any]]:
    """The JSON values of a file's lines, each with its place in words: `FILE, line N`.

    A missing file has none. Empty lines are left out. NaN and infinities become None: an API may have sent them, but no
    figure can be one.

    Args:
        growing: The file may be in use: an unfinished last line is left out, and no error.
    Raises: UsageError: The file cannot be read, or a line is no JSON.
    """
    try:
        lines = read_bounded(path, _MOST_READ).removesuffix("\n").split("\n")
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            data = json.loads(line, parse_constant=lambda name: None)
        except (ValueError, RecursionError) as error:
            if growing and number == len(lines):
                return
            raise UsageError(f"{path}, line {number}: no JSON: {error}; delete the line") from None
        yield f"{path}, line {number}", data
