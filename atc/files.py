"""Write result files so that a reader, or a run that goes on after a stop, never finds half of one."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from protocols.errors import UsageError

__all__ = ["append_line", "read_lines", "to_json", "write_json", "write_text"]


def to_json(data: object) -> str:
    """Indented JSON with a line end. Anything outside ASCII is escaped only where it has no UTF-8 form."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        # A lone surrogate, which an API may well send inside a string.
        text = json.dumps(data, indent=2)
    return text + "\n"


def write_json(path: Path, data: object) -> None:
    """Write `data` to `path` as JSON; see `write_text`. Raises: UsageError."""
    write_text(path, to_json(data))


def write_text(path: Path, text: str) -> None:
    """Write a text to `path`, which is then there as a whole or as it was before. Raises: UsageError.

    What is there and is no file (a pipe, a device) is written to as it is.
    """
    if path.exists() and not path.is_file():
        try:
            path.write_text(text, "utf-8")
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error
        return
    path = path.resolve()  # a link stays one
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, "utf-8")
        temporary.replace(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def append_line(path: Path, line: str, mode: int = 0o644) -> None:
    """Add a line to a file of lines, all of it or nothing; `mode` is that of a new file. Raises: UsageError.

    It is one write at the end of the file, so lines of several threads or processes do not mix. A last line that a stop
    cut off stays apart from it.
    """
    data = line.encode("utf-8", "backslashreplace") + b"\n"
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, mode)
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


def read_lines(path: Path) -> Iterator[tuple[str, Any]]:
    """What the lines of a file hold, which are JSON, each with words for where it is: `FILE, line N`.

    Without the file there are none. Empty lines are left out, and a last one that a stop cut off. NaN and infinities
    are None: an API may have sent them, but no figure can be one.
    Raises: UsageError: The file cannot be read, or a line is no JSON.
    """
    try:
        lines = path.read_text("utf-8").removesuffix("\n").split("\n")
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
            if number == len(lines):
                return
            raise UsageError(f"{path}, line {number}: no JSON: {error}; delete the line") from None
        yield f"{path}, line {number}", data
