"""Bodies of replies: small ones in memory, large ones in a file, so that no reply can fill the host's memory."""

from __future__ import annotations

import atexit
import hashlib
import itertools
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["MEMORY_LIMIT", "LargeBody", "beginning", "parts", "store_body"]

MEMORY_LIMIT = 256 * 1024
"""Bytes of a body up to which a record keeps it."""

CHUNK = 64 * 1024
BEGINNING = 1000
"""Bytes of a large body that its record shows."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class LargeBody:
    """A body that lies in a file, for as long as anything refers to it: SHA-256, size in bytes, how it begins."""

    sha256: str
    size: int
    beginning: str

    @property
    def path(self) -> Path:
        return _folder() / self.sha256

    def read(self) -> bytes:
        return self.path.read_bytes()


def store_body(chunks: Iterable[bytes], most: int = MEMORY_LIMIT) -> bytes | LargeBody:
    """A body from its parts, in memory if it has at most so many bytes."""
    source = iter(chunks)
    small = bytearray()
    for part in source:
        small += part
        if len(small) > most:
            break
    else:
        return bytes(small)
    digest = hashlib.sha256()
    size = 0
    handle, name = tempfile.mkstemp(dir=_folder())
    with os.fdopen(handle, "wb") as file:
        for part in itertools.chain((bytes(small),), source):
            file.write(part)
            digest.update(part)
            size += len(part)
    name_of = digest.hexdigest()
    with _lock:
        body = _bodies.get(name_of)
        if body is not None:
            Path(name).unlink()
            return body
        body = _bodies[name_of] = LargeBody(name_of, size, beginning(bytes(small[:BEGINNING])))
        Path(name).replace(body.path)
        weakref.finalize(body, _forget, name_of, os.getpid()).atexit = False
    return body


def beginning(body: bytes) -> str:
    return body[:BEGINNING].decode("utf-8", "replace")


def parts(body: bytes | LargeBody) -> Iterator[bytes]:
    """A body in parts, none of which is empty."""
    if isinstance(body, bytes):
        if body:
            yield body
        return
    with body.path.open("rb") as file:
        yield from iter(lambda: file.read(CHUNK), b"")


_lock = threading.RLock()
_bodies: weakref.WeakValueDictionary[str, LargeBody] = weakref.WeakValueDictionary()
_folders: dict[int, Path] = {}


def _folder() -> Path:
    with _lock:
        if os.getpid() not in _folders:
            _folders[os.getpid()] = Path(tempfile.mkdtemp(prefix="atc-bodies-"))
        return _folders[os.getpid()]


def _forget(name: str, process: int) -> None:
    """Remove the file of a body that nothing refers to, unless the same body came again in the meantime."""
    with _lock:
        if process == os.getpid() and name not in _bodies:
            (_folder() / name).unlink(missing_ok=True)


@atexit.register
def _end() -> None:
    if os.getpid() in _folders:  # and not those of a process that this one was forked from
        shutil.rmtree(_folders[os.getpid()], ignore_errors=True)
