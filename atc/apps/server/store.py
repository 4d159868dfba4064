"""The requests of a server, their states and results, in one SQLite file.

A row is committed before its request is accepted. The file is in WAL mode without fsync, as the journals of solves are:
it survives the process, not the machine. Only one process may use it, from one thread at a time.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sqlite3
import time
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atc.apps.server.keys import Client
from atc.apps.server.requests import BadRequestError, SolveRequest
from protocols.errors import UsageError
from protocols.private_files import make_private_folder, not_ours

__all__ = ["RequestStore", "StoredSolve"]

BACKLOG = 10_000
"""Solves that may be accepted and not over."""

KEPT_DAYS = 7
"""Days for which a result can be had."""

RESERVE = 64 * 1024 * 1024
"""Bytes that stay free on the disk, for the solves that were accepted: nothing more is accepted below that."""

_VERSION = 2
"""Version 1 had no `status`."""
_TABLES = """
CREATE TABLE solves (
    id TEXT PRIMARY KEY, client TEXT NOT NULL, idempotency TEXT, digest TEXT NOT NULL, request TEXT NOT NULL,
    durable INTEGER NOT NULL, state TEXT NOT NULL, starts INTEGER NOT NULL DEFAULT 0, accepted REAL NOT NULL,
    ended REAL, solution BLOB, status TEXT, UNIQUE (client, idempotency)
);
CREATE INDEX by_time ON solves (client, accepted);
CREATE INDEX unfinished ON solves (client) WHERE state IN ('pending', 'running');
"""
_COLUMNS = "id, client, request, durable, starts"
_UNFINISHED = "FROM solves WHERE state IN ('pending', 'running')"


@dataclass(frozen=True, slots=True)
class StoredSolve:
    """One accepted request.

    Args:
        durable: It ends though nobody waits for it: it is in the background, or has an idempotency key.
        starts: How often it was handed to a solver process.
    """

    id: str
    client: str
    request: SolveRequest
    durable: bool
    starts: int


class RequestStore:
    """The file `requests.sqlite` in a folder, made if it is not there.

    Raises: UsageError: The folder cannot be used, or another server uses it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "requests.sqlite"
        self.solves = folder / "solves"
        try:
            make_private_folder(self.solves)
            self._lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise UsageError(f"the journal folder {folder} cannot be used: {error.strerror}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"another server uses the journal folder {folder}; name another with --journal") from None
        self._base = self._opened()

    def _opened(self) -> sqlite3.Connection:
        if (why := not_ours(self.file)) is not None:
            raise UsageError(f"{self.file} {why}")
        try:
            with suppress(FileExistsError):
                os.close(os.open(self.file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            base = sqlite3.connect(self.file, isolation_level=None, check_same_thread=False)
            base.execute("PRAGMA locking_mode = EXCLUSIVE")
            base.execute("PRAGMA journal_mode = WAL")
            base.execute("PRAGMA synchronous = NORMAL")
            (version,) = base.execute("PRAGMA user_version").fetchone()
            (tables,) = base.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if not tables:
                base.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = {_VERSION}; COMMIT;")
            elif version == 1:
                base.executescript(
                    f"BEGIN; ALTER TABLE solves ADD COLUMN status TEXT; PRAGMA user_version = {_VERSION}; COMMIT;"
                )
            elif version != _VERSION:
                raise UsageError(f"{self.file} is of another version of atc; name another folder with --journal")
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"{self.file} cannot be used: {error}; name another folder with --journal") from None
        return base

    def close(self) -> None:
        """Give the folder back."""
        self._base.close()
        os.close(self._lock)

    def journal(self, solve: str) -> Path:
        """The file of the journal of a solve."""
        return self.solves / f"{solve}.journal"

    def _write(self, statement: str, *values: object) -> None:
        """Change the table by one statement, which is a transaction of its own.

        Raises: BadRequestError: 507 if the disk is full, 503 if the file cannot be written.
        """
        try:
            self._base.execute(statement, values)
        except sqlite3.Error as error:
            full = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
            message = f"the request cannot be recorded ({error}), and was not accepted; make room in the journal folder"
            raise BadRequestError(507 if full else 503, message, retry_after=None if full else 10) from None

    def accept(
        self, id: str, client: Client, request: SolveRequest, idempotency: str | None
    ) -> tuple[StoredSolve, bool]:
        """Record a request; gives its row, or that of an earlier one with its idempotency key, and whether it is new.

        The recorded request has the limits of the client. Raises: BadRequestError: 422 for a key that was used with
            another request, or a limit above the client's, 429 at a limit of the client, 503 where too much is waiting,
            507 or 503 where nothing can be recorded.
        """
        if idempotency is not None and (earlier := self._earlier(client, idempotency, request)) is not None:
            return earlier, False
        self._check_room(client)
        durable = request.background or idempotency is not None
        digest, request = request.digest(), request.limited(client.limits)
        self._write(
            "INSERT INTO solves (id, client, idempotency, digest, request, durable, state, accepted)"
            " VALUES (?, ?, ?, ?, ?, ?, 'pending', ?)",
            *(id, client.name, idempotency, digest, request.model_dump_json(), durable, time.time()),
        )
        return StoredSolve(id, client.name, request, durable, 0), True

    def _earlier(self, client: Client, idempotency: str, request: SolveRequest) -> StoredSolve | None:
        statement = f"SELECT {_COLUMNS}, digest FROM solves WHERE client = ? AND idempotency = ?"
        row = self._base.execute(statement, (client.name, idempotency)).fetchone()
        if row is None:
            return None
        if row[-1] != request.digest():
            raise BadRequestError(422, "this Idempotency-Key was used with another request", "Idempotency-Key")
        return _stored(row[:-1])

    def _check_room(self, client: Client) -> None:
        """Raises: BadRequestError."""
        waiting = f"SELECT count(*) {_UNFINISHED}"
        (unfinished,) = self._base.execute(f"{waiting} AND client = ?", (client.name,)).fetchone()
        if client.concurrent and unfinished >= client.concurrent:
            limit = f"{client.concurrent} solves of this key are not over, which is its limit"
            raise BadRequestError(429, limit, retry_after=1)
        if client.per_minute:
            since = time.time() - 60
            statement = "SELECT count(*), min(accepted) FROM solves WHERE client = ? AND accepted > ?"
            recent, first = self._base.execute(statement, (client.name, since)).fetchone()
            if recent >= client.per_minute:
                limit = f"{client.per_minute} solves of this key in a minute are its limit"
                raise BadRequestError(429, limit, retry_after=max(1, round(first - since + 0.5)))
        if self._base.execute(waiting).fetchone()[0] >= BACKLOG:
            raise BadRequestError(503, f"{BACKLOG} solves are waiting; try again later", retry_after=30)
        if shutil.disk_usage(self.folder).free < RESERVE:
            raise BadRequestError(507, "the disk of the journal folder is full; the request was not accepted")

    def started(self, id: str) -> None:
        """Record that a solve was handed to a process."""
        self._write("UPDATE solves SET state = 'running', starts = starts + 1 WHERE id = ?", id)

    def finish(self, id: str, solution: str, status: str) -> None:
        """Record a solution, given as JSON, unless the solve is over; its journal is then not needed any longer."""
        text = zlib.compress(solution.encode("utf-8"), 1)
        statement = (
            "UPDATE solves SET state = 'done', ended = ?, solution = ?, status = ? WHERE id = ? AND state != 'done'"
        )
        self._write(statement, time.time(), text, status, id)
        self._remove_journal(id)

    def cancel(self, id: str) -> None:
        """Record that nobody waits for a solve any longer."""
        statement = "UPDATE solves SET state = 'cancelled', ended = ? WHERE id = ? AND state != 'done'"
        self._write(statement, time.time(), id)
        self._remove_journal(id)

    def _remove_journal(self, id: str) -> None:
        for end in ("", "-wal", "-shm"):
            Path(f"{self.journal(id)}{end}").unlink(missing_ok=True)

    def recent(self, client: Client, most: int) -> list[dict[str, object]]:
        """The latest solves of a client, newest first; `accepted` in seconds since 1970, `status` of a Solution."""
        names = ("id", "query", "state", "status", "accepted")
        statement = (
            "SELECT id, json_extract(request, '$.query'), state, status, accepted FROM solves WHERE client = ?"
            " ORDER BY accepted DESC LIMIT ?"
        )
        rows = self._base.execute(statement, (client.name, most))
        return [dict(zip(names, row, strict=True)) for row in rows]

    def find(self, client: Client, id: str) -> tuple[str, str | None] | None:
        """The state of a client's solve, and its solution as JSON once it is done; None if there is no such solve."""
        statement = "SELECT state, solution FROM solves WHERE id = ? AND client = ?"
        row = self._base.execute(statement, (id, client.name)).fetchone()
        if row is None:
            return None
        state, solution = row
        return state, zlib.decompress(solution).decode("utf-8") if solution is not None else None

    def recover(self) -> list[StoredSolve]:
        """The durable solves that a stopped server has left, oldest first; what others waited for is cancelled.

        Old results are deleted. Raises: UsageError: The file cannot be written.
        """
        try:
            statement = "UPDATE solves SET state = 'cancelled', ended = ? WHERE NOT durable AND ended IS NULL"
            self._write(statement, time.time())
            self._write("DELETE FROM solves WHERE ended < ?", time.time() - KEPT_DAYS * 24 * 3600)
        except BadRequestError as error:
            raise UsageError(f"{self.file}: {error}") from None
        try:
            return [_stored(row) for row in self._base.execute(f"SELECT {_COLUMNS} {_UNFINISHED} ORDER BY accepted")]
        except (sqlite3.Error, ValueError, RecursionError):
            raise UsageError(f"{self.file} is damaged: a request is none; name another folder with --journal") from None


def _stored(row: Any) -> StoredSolve:
    id, client, request, durable, starts = row
    return StoredSolve(id, client, SolveRequest.model_validate(json.loads(request)), bool(durable), starts)
