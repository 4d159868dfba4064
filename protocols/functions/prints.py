"""What functions of a file print goes to stderr: stdout is for the program that calls them, and for JSON.

While a question stands on the terminal it is kept, and comes after the answer.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, TextIO, cast

__all__ = ["prints_held", "stdout_to_stderr"]

_lock = Lock()
_inside = 0
_stdout: TextIO | None = None
_held: list[str] | None = None
"""What is printed while a question stands; None while none does."""


class _Prints:
    """Stderr, as `print` uses it."""

    def write(self, text: str) -> int:
        if not isinstance(text, str):  # libraries try whether bytes can be written
            raise TypeError(f"write() takes a text, not {type(text).__name__}")
        with _lock:
            if _held is None:
                return sys.stderr.write(text)
            _held.append(text)
            return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    @property
    def buffer(self) -> _Bytes:
        return _Bytes()

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr, name)


class _Bytes:
    """The same for `sys.stdout.buffer`."""

    def write(self, data: bytes) -> int:
        _Prints().write(bytes(data).decode("utf-8", "replace"))
        return len(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr.buffer, name)


@contextmanager
def prints_held() -> Iterator[None]:
    """Keep what functions print until the end of the block; one question stands at a time."""
    global _held
    with _lock:
        _held = []
    try:
        yield
    finally:
        with _lock:
            held, _held = _held, None
            sys.stderr.write("".join(held or ()))


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Send what Python code writes to `sys.stdout` to stderr meanwhile, in all threads; several may be inside at once.

    A process that the code starts has the stdout of this one.
    """
    global _inside, _stdout
    with _lock:
        if not _inside:
            _stdout, sys.stdout = sys.stdout, cast(TextIO, _Prints())
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside and _stdout is not None:
                sys.stdout = _stdout
