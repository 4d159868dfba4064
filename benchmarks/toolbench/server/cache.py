"""The published cache of responses: a JSON file for each API, from the text of the arguments to the reply.

Several servers may write one cache. A file is read, extended and replaced under one lock, so an entry is never lost,
and a reader never finds half a file. Equal arguments find the same entry, whatever their order and spelling.

Source: StableToolBench (arXiv:2403.07714) and its released files.
"""

from __future__ import annotations

import ast
import json
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from atc.files import write_text
from benchmarks.toolbench.server.address import APIAddress
from protocols.errors import UsageError
from protocols.private_files import folder_locked, make_private_folder

__all__ = ["ResponseCache", "canonical"]

_MAX_FILES = 2_000
"""Files that are held in memory."""

_MAX_WAITING = 1_000
"""Entries that could be made again wait until there are so many, and are then written."""

_Stamp = tuple[int, int, int]


def canonical(arguments: Mapping[str, Any]) -> str:
    """One text for all arguments that mean the same: order of names, `1` and `"1"` and `1.0`, `True` and `"true"`."""
    return json.dumps(_plain(arguments), sort_keys=True, ensure_ascii=False)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bool) or value in ("True", "False"):
        return str(value).lower()
    return str(value)


@dataclass(slots=True)
class _File:
    """The entries of a file as they were at its stamp (time, size, inode); `keys` finds them by canonical text."""

    stamp: _Stamp | None
    broken: bool
    entries: dict[str, Any] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)

    def find(self, arguments: Mapping[str, Any], exact: bool) -> Any:
        """The reply to these arguments; None if there is none."""
        key = str(dict(arguments))
        if key not in self.entries and not exact:
            key = self.keys.get(canonical(arguments), key)
        return self.entries.get(key)

    def add(self, key: str, reply: Any) -> None:
        self.entries[key] = reply
        self.keys.setdefault(_canonical_key(key), key)


def _canonical_key(key: str) -> str:
    """The canonical text of a key of a file; the key itself where it is no literal."""
    try:
        arguments = ast.literal_eval(key)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return key
    return canonical(arguments) if isinstance(arguments, dict) else key


class ResponseCache:
    """Replies by API and arguments; all methods may be used from several threads.

    Args:
        root: The folder; None keeps the replies in memory alone.
        exact: Find only arguments with the same text, as the published server does.
    Raises: UsageError: The folder cannot be made.
    """

    def __init__(self, root: Path | None, *, exact: bool = False) -> None:
        self.root = root
        self.exact = exact
        self.warnings: list[str] = []
        self._files: OrderedDict[str, _File] = OrderedDict()
        self._waiting: dict[str, dict[str, Any]] = {}
        self._lock = threading.RLock()
        if root is not None:
            try:
                make_private_folder(root)
            except OSError as error:
                raise UsageError(f"--cache {root}: {error.strerror or error}") from None

    def get(self, address: APIAddress, arguments: Mapping[str, Any]) -> Any:
        """The reply that is kept for a call; None if there is none."""
        with self._lock:
            return self._file(address.file).find(arguments, self.exact)

    def examples(self, address: APIAddress, count: int) -> list[tuple[str, Any]]:
        """The first entries of an API: text of the arguments, reply."""
        with self._lock:
            return list(self._file(address.file).entries.items())[:count]

    def put(self, address: APIAddress, arguments: Mapping[str, Any], reply: Any, *, remake: bool) -> None:
        """Keep a reply. One that can be made again (`remake`) is written later, with others of its file.

        Raises: UsageError: The file cannot be written.
        """
        if self.root is None and remake:
            return
        key = str(dict(arguments))
        with self._lock:
            file = self._file(address.file)
            if file.broken:
                return
            file.add(key, reply)
            if self.root is None:
                return
            self._waiting.setdefault(address.file, {})[key] = reply
            if not remake:
                self._write(address.file)
            elif sum(map(len, self._waiting.values())) >= _MAX_WAITING:
                self.close()

    def close(self) -> None:
        """Write what waits. Raises: UsageError."""
        with self._lock:
            for name in list(self._waiting):
                self._write(name)

    # Reading

    def _file(self, name: str) -> _File:
        """The entries of a file as it is now, with those that wait to be written."""
        files, stamp = self._files, self._stamp(name)
        file = files.get(name)
        if file is None or file.stamp != stamp:
            entries, broken = self._read(name) if stamp is not None else ({}, False)
            file = files[name] = _File(stamp, broken)
            for key, reply in {**entries, **self._waiting.get(name, {})}.items():
                file.add(key, reply)
        files.move_to_end(name)
        if self.root is not None and len(files) > _MAX_FILES:
            files.popitem(last=False)
        return file

    def _stamp(self, name: str) -> _Stamp | None:
        """What changes with a file; None where there is none."""
        if self.root is None:
            return None
        try:
            status = (self.root / name).stat()
        except (OSError, ValueError):
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _read(self, name: str) -> tuple[dict[str, Any], bool]:
        """The entries of a file, and whether it is broken."""
        assert self.root is not None
        try:
            entries = json.loads((self.root / name).read_bytes())
            if isinstance(entries, dict):
                return entries, False
            problem = "it holds no JSON object"
        except (ValueError, RecursionError) as error:
            problem = str(error)
        except OSError as error:
            problem = error.strerror or str(error)
        text = f"{self.root / name} is left alone, and not used: {problem}"
        if text not in self.warnings:
            self.warnings.append(text)
        return {}, True

    def _write(self, name: str) -> None:
        """Add the entries that wait to a file; what another server has written meanwhile stays. Raises: UsageError."""
        assert self.root is not None
        waiting, path = self._waiting.pop(name), self.root / name
        try:
            make_private_folder(path.parent)
            with folder_locked(self.root):
                stored, broken = self._read(name) if path.exists() else ({}, False)
                if not broken:
                    write_text(path, _as_text({**stored, **waiting}))
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror or error}") from None


def _as_text(entries: Mapping[str, Any]) -> str:
    """A file of the cache, with an entry on each line."""
    lines = (f"{json.dumps(key)}: {json.dumps(reply)}" for key, reply in entries.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"
