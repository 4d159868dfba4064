"""The journal of a solve: each call is written down before it leaves, so that no later program repeats a write.

A call of one attempt is the call of another when both have the same fingerprint (see sandbox.egress.decide) and the
same place among equal calls. That place is the task of the program that made it, and the number of equal calls before
it in that task. Where no earlier call has that place, one with the same numbers in it stands for it (a function was
renamed, a loop became a pool), and last the earliest equal one that is not taken. So a repaired program, whose lines
have moved, finds the replies of its predecessors.

A row is planned, then sent (on disk before the request leaves), then confirmed (a 2xx reply, with it on disk), failed
(the service did nothing: a 4xx, or the request never left) or unknown (it may have done it: no reply, or a 5xx). After
a process was killed in the middle, a sent write is unknown. All that is in the file came through the broker, and so it
holds no credential."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import threading
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from protocols.errors import UsageError
from sandbox.body_store import LargeBody, parts
from sandbox.records import CallRecord

__all__ = ["Entry", "Journal", "JournalAttempt", "JournalUnavailableError", "Mark", "State"]

State = Literal["planned", "sent", "confirmed", "failed", "unknown"]
Lookup = Literal["replay", "open", "new"]

_PART = 256 * 1024
"""Bytes of a body that are read at once."""

_APPLICATION = 0x61746A31
_VERSION = 3
_TABLES = """
CREATE TABLE calls (
    number INTEGER PRIMARY KEY, attempt INTEGER NOT NULL, key TEXT NOT NULL, task TEXT NOT NULL, nth INTEGER NOT NULL,
    write INTEGER NOT NULL, state TEXT NOT NULL, before TEXT NOT NULL, token TEXT, record TEXT NOT NULL,
    reply TEXT, body BLOB
);
CREATE TABLE attempts (number INTEGER PRIMARY KEY, program TEXT NOT NULL, over INTEGER NOT NULL DEFAULT 0);
CREATE TABLE answers (position INTEGER PRIMARY KEY, asked TEXT NOT NULL, answer TEXT NOT NULL);
CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


class JournalUnavailableError(UsageError):
    """The file cannot be written now: the disk is full, say, or another process has it. Later it may be."""


@dataclass(slots=True, eq=False)
class Entry:
    """One row of the journal. `token` is the idempotency key it was sent with, `owner` the attempt that made it, None
    if that was in an earlier process; `before` says which writes came before a read."""

    number: int
    attempt: int
    key: str
    task: str
    nth: int
    write: bool
    state: State
    before: str
    token: str | None
    has_reply: bool = False
    """True if the reply, or the reason why there was none, is on disk."""
    owner: JournalAttempt | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """A point in a run: how many equal calls were made at each place, and which rows were taken."""

    counts: Mapping[tuple[str, str], int]
    touched: Mapping[Entry, None]


@dataclass(frozen=True, slots=True)
class _Turn:
    """A question of a chat: its number, the attempts and model answers before it, and whether it recalls reads."""

    number: int = 0
    attempts: int = 0
    answers: int = 0
    recalls: bool = True


def _digest(writes: Sequence[str]) -> str:
    """The digest of a multiset; empty for none."""
    return hashlib.sha256("\n".join(sorted(writes)).encode()).hexdigest() if writes else ""


def _scoped(name: str, turn: int) -> str:
    """The name of a note of a turn; outside of a chat it is the name itself."""
    return f"turn {turn}: {name}" if turn else name


class Journal:
    """The model's answers and the calls of one solve, or of the solves of a chat; safe to use from several threads.

    Args:
        file: Where it is kept, made if it is not there; None: nowhere for longer than this object lives.
        refresh: Send all reads, whatever is known of them.
    Raises:
        UsageError: The file is no journal, or of another version.
        JournalUnavailableError: It is in use, or cannot be written.
    """

    def __init__(self, file: Path | None = None, *, refresh: bool = False) -> None:
        self.file = file
        self.refresh = refresh
        self._lock = threading.RLock()
        self._entries: dict[str, list[Entry]] = defaultdict(list)
        self._base = _opened(file)
        self._over = self._recovered()
        self._attempts = 0
        self._latest: JournalAttempt | None = None
        self._accepted: JournalAttempt | None = None
        self._turn = _Turn()
        self._turns_before: list[str] = []
        self._until_write = False
        saved_id = self.noted("id")
        self.id = str(saved_id) if saved_id else uuid.uuid4().hex
        if not saved_id:
            self.note("id", self.id)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back. What a straggling thread still reports is lost, which leaves its write unknown."""
        with self._lock:
            self._base.close()

    def attempt(self, program: str = "") -> JournalAttempt:
        """The next run of a program, which is the view that its calls are matched in.

        A run of an earlier process that is over: the same program, run again under its number, gets the replies it
        got, errors included.
        """
        with self._lock:
            self._attempts += 1
            text = hashlib.sha256(program.encode("utf-8", "surrogatepass")).hexdigest()
            over = self._over.get(self._attempts) == text
            self._run("INSERT OR REPLACE INTO attempts VALUES (?, ?, ?)", self._attempts, text, over)
            self._latest = JournalAttempt(self, self._attempts, over)
            return self._latest

    def over(self) -> None:
        """Note that the latest attempt has ended; the next one rests on how it went."""
        with self._lock:
            self._run("UPDATE attempts SET over = 1 WHERE number = ?", self._attempts)

    def accept(self, *, until_write: bool = False) -> None:
        """The runs to come begin as the latest one did: at the same places they get the same replies, errors included,
        and send nothing for them.

        `until_write`: that holds for the reads before their first write.
        """
        with self._lock:
            self._accepted, self._until_write = self._latest, until_write

    def restart(self) -> None:
        """Let the runs to come begin from nothing, not as those accepted."""
        with self._lock:
            self._accepted, self._until_write = None, False

    # The turns of a chat

    @property
    def turn(self) -> int:
        """The number of the turn, from 1; 0 outside of a chat."""
        return self._turn.number

    def begin_turn(self, *, recalls: bool = True) -> None:
        """Begin with the next question of a chat, a solve of its own in this journal.

        A read gets the reply that it had in an earlier turn, unless a write came after it, or the turn does not recall.
        A write is a new one also where an earlier turn made an equal one; but one of which nobody knows whether it was
        done is not sent again.
        """
        with self._lock:
            ((attempts,),) = self._read("SELECT coalesce(max(number), 0) FROM attempts")
            ((answers,),) = self._read("SELECT coalesce(max(position) + 1, 0) FROM answers")
            last = self.noted("turns", 0) or 0
            turn = _Turn(last + 1, attempts, answers, recalls)
            self._note(_scoped("begin", turn.number), asdict(turn))
            self._note("turns", turn.number)
            self._enter(turn)

    def resume_turn(self) -> None:
        """Go on with the last turn, which has not ended, as its solve would in another process."""
        with self._lock:
            noted = self.noted("begin", self.noted("turns", 0))
            try:
                self._enter(_Turn(**noted))
            except TypeError:
                raise self._damaged() from None

    def _enter(self, turn: _Turn) -> None:
        self._turn, self._attempts = turn, turn.attempts
        self._latest = self._accepted = None
        self._over = dict(self._read("SELECT number, program FROM attempts WHERE over"))
        entries = self._every()
        for entry in entries:
            entry.owner = None
        held = [e for e in entries if e.write and e.attempt <= turn.attempts and e.state not in ("planned", "failed")]
        self._turns_before = [f"{entry.key} {entry.state}" for entry in held]

    def _every(self) -> list[Entry]:
        with self._lock:
            return [entry for entries in self._entries.values() for entry in entries]

    def _is_earlier(self, entry: Entry) -> bool:
        """True for a call of an earlier turn."""
        return entry.attempt <= self._turn.attempts

    # Notes and answers of a solve, or of a turn

    def note(self, name: str, value: object) -> None:
        self._note(_scoped(name, self.turn), value)

    def _note(self, name: str, value: object) -> None:
        with self._lock:
            self._run("INSERT OR REPLACE INTO notes VALUES (?, ?)", name, json.dumps(value))

    def noted(self, name: str, turn: int | None = None) -> Any:
        """What was noted in a turn, the present one by default; None if nothing was."""
        with self._lock:
            rows = self._read(
                "SELECT value FROM notes WHERE name = ?", _scoped(name, self.turn if turn is None else turn)
            )
        return self._data(rows[0][0]) if rows else None

    def answer(self, position: int, request: str, answer: Mapping[str, object]) -> None:
        """Keep what a model answered to the request at a position (from 0); what was kept after it is dropped."""
        position += self._turn.answers
        with self._lock:
            self._run("DELETE FROM answers WHERE position > ?", position)
            self._run("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", position, request, json.dumps(answer))

    def answered(self, position: int, request: str) -> Any:
        """The model's answer at a position, if the same was asked there."""
        position += self._turn.answers
        with self._lock:
            rows = self._read("SELECT asked, answer FROM answers WHERE position = ?", position)
        return self._data(rows[0][1]) if rows and rows[0][0] == request else None

    # Outcomes of writes

    @property
    def unknown(self) -> tuple[CallRecord, ...]:
        """Writes of which it is not known whether the service did them."""
        return tuple(self._record(entry) for entry in self._writes("unknown", "sent"))

    @property
    def abandoned(self) -> tuple[CallRecord, ...]:
        """Writes that were done, or may have been, and that the latest attempt neither made nor got replayed."""
        held = self._latest.touched if self._latest else frozenset()
        writes = self._writes("confirmed", "unknown", "sent")
        return tuple(self._record(entry) for entry in writes if entry not in held)

    @property
    def repeated(self) -> tuple[CallRecord, ...]:
        """Writes of this turn that an earlier turn of the chat made as well."""
        done = {entry.key for entry in self._every() if self._is_earlier(entry) and entry.state == "confirmed"}
        return tuple(self._record(entry) for entry in self._writes("confirmed", "unknown", "sent") if entry.key in done)

    def _writes(self, *states: State) -> list[Entry]:
        writes = [entry for entry in self._every() if entry.write and not self._is_earlier(entry)]
        return sorted((entry for entry in writes if entry.state in states), key=lambda entry: entry.number)

    def _record(self, entry: Entry) -> CallRecord:
        with self._lock:
            ((text, reply_text),) = self._read("SELECT record, reply FROM calls WHERE number = ?", entry.number)
        try:
            record = CallRecord(**self._data(text))
            reply = self._data(reply_text or '{"status": null, "error": "no reply is known"}')
            return replace(record, status=reply["status"], error=reply["error"])
        except (TypeError, KeyError):
            raise self._damaged() from None

    # The file

    def _recovered(self) -> dict[int, str]:
        """Read what an earlier process left; gives the attempts that were over, by their numbers."""
        with self._lock:
            self._run("UPDATE calls SET state = 'unknown' WHERE state = 'sent' AND write")
            self._run("DELETE FROM calls WHERE state IN ('planned', 'sent')")
            columns = "number, attempt, key, task, nth, write, state, before, token, reply IS NOT NULL"
            for row in self._read(f"SELECT {columns} FROM calls ORDER BY number"):
                entry = Entry(*row)
                self._entries[entry.key].append(entry)
            return dict(self._read("SELECT number, program FROM attempts WHERE over"))

    def _read(self, statement: str, *values: object) -> list[Any]:
        """The rows that a statement gives. Raises: UsageError: The file is damaged."""
        try:
            return self._base.execute(statement, values).fetchall()
        except (sqlite3.DatabaseError, UnicodeError):
            raise self._damaged() from None

    def _data(self, text: str) -> Any:
        """Parse the JSON of a row. Raises: UsageError: It is none."""
        try:
            return json.loads(text)
        except (ValueError, TypeError, RecursionError):
            raise self._damaged() from None

    def _damaged(self) -> UsageError:
        return UsageError(f"{self.file} is damaged; move it away and start a new one")

    def _run(self, statement: str, *values: object) -> int:
        """Execute and commit one statement; gives the number of the row it inserted. Raises: JournalUnavailableError:
        The disk is full, or the like: a call that cannot be written down is not sent."""
        try:
            return int(self._base.execute(statement, values).lastrowid or 0)
        except sqlite3.ProgrammingError:  # closed meanwhile
            raise
        except sqlite3.DatabaseError as error:
            raise JournalUnavailableError(f"the journal {self.file} cannot be written: {error}") from None


class JournalAttempt:
    """The calls of one run. A row is taken once at most, so that equal calls are told apart."""

    def __init__(self, journal: Journal, number: int, over: bool) -> None:
        self._journal = journal
        self._number = number
        self._over = over
        self._beginning = journal._accepted
        self._until_write = journal._until_write
        self._made: dict[tuple[str, str], int] = defaultdict(int)
        self._touched: dict[Entry, None] = {}

    @property
    def touched(self) -> frozenset[Entry]:
        """The rows that calls of this run made or took."""
        with self._journal._lock:
            return frozenset(self._touched)

    def begin(self, key: str, task: Sequence[str], record: CallRecord) -> tuple[Entry, Lookup]:
        """Find the row of a call, or plan one.

        Args:
            key: What the call asks for. task: The path of the task that makes it. record: As far as it is known.
        Returns: The row, and what to do: replay its reply; find out about an earlier write whose outcome is open; or
            send it, the row being new.
        """
        place = json.dumps(list(task))
        write = record.writes
        with self._journal._lock:
            nth = self._made[key, place]
            self._made[key, place] += 1
            candidates = self._journal._entries[key]
            before = "" if write else self._before()
            wrote = write or before != _digest(self._journal._turns_before)
            beginning = None if self._until_write and wrote else self._beginning
            earlier = [e for e in beginning._touched if e.key == key] if beginning is not None else []
            if self._over and (write or not self._journal.refresh):
                own = (e for e in candidates if e.owner is None and e.attempt == self._number)
                earlier += [entry for entry in own if entry not in self._touched]
            for entry in earlier:
                if entry.has_reply and (entry.task, entry.nth) == (place, nth):
                    self._touched[entry] = None
                    return entry, "replay"
            chosen = self._chosen(candidates, write, before, place, nth)
            if chosen is not None:
                self._touched[chosen] = None
                if write and self._journal._is_earlier(chosen):  # it is now found out about for this turn
                    chosen.attempt = self._number
                    self._journal._run("UPDATE calls SET attempt = ? WHERE number = ?", self._number, chosen.number)
                return chosen, "replay" if chosen.state == "confirmed" else "open"
            return self._planned(key, place, nth, write, before, record), "new"

    def mark(self) -> Mark:
        """The present point of this run, for `backtrack`."""
        with self._journal._lock:
            return Mark(dict(self._made), dict(self._touched))

    def backtrack(self, mark: Mark) -> None:
        """Go back: what was called since then counts as called by an earlier attempt. It cannot be undone, but it is
        not repeated either."""
        with self._journal._lock:
            for entry in self._touched:
                if entry.owner is self and entry not in mark.touched:
                    entry.owner = None
            self._made = defaultdict(int, mark.counts)
            self._touched = dict(mark.touched)

    def plan_again(self, entry: Entry, record: CallRecord) -> Entry:
        """A new row for a call whose earlier row turned out not to have been done."""
        with self._journal._lock:
            self.finish(entry, "failed")
            self._touched.pop(entry, None)
            return self._planned(entry.key, entry.task, entry.nth, entry.write, entry.before, record)

    def sent(self, entry: Entry, token: str | None = None) -> None:
        with self._journal._lock:
            entry.state, entry.token = "sent", token
            self._journal._run("UPDATE calls SET state = 'sent', token = ? WHERE number = ?", token, entry.number)

    def finish(
        self, entry: Entry, state: State, reply: Mapping[str, object] | None = None, body: bytes | LargeBody = b""
    ) -> None:
        """Record the outcome. `reply` has at least status and error."""
        with self._journal._lock, contextlib.suppress(sqlite3.ProgrammingError):  # closed meanwhile
            entry.state = state
            if reply is None:
                self._journal._run("UPDATE calls SET state = ? WHERE number = ?", state, entry.number)
                return
            entry.has_reply = True
            text = json.dumps(reply)
            if isinstance(body, bytes):
                statement = "UPDATE calls SET state = ?, reply = ?, body = ? WHERE number = ?"
                self._journal._run(statement, state, text, body, entry.number)
                return
            self._journal._run("BEGIN IMMEDIATE")  # in parts, such that no large body is in memory as a whole
            statement = "UPDATE calls SET state = ?, reply = ?, body = zeroblob(?) WHERE number = ?"
            self._journal._run(statement, state, text, body.size, entry.number)
            with self._journal._base.blobopen("calls", "body", entry.number) as blob:
                for part in parts(body):
                    blob.write(part)
            self._journal._run("COMMIT")

    def drop(self, entry: Entry) -> None:
        """Forget a planned row: the call was refused."""
        with self._journal._lock:
            self._touched.pop(entry, None)
            self._journal._entries[entry.key].remove(entry)
            self._journal._run("DELETE FROM calls WHERE number = ?", entry.number)

    def reply(self, entry: Entry) -> tuple[dict[str, Any], int]:
        """The reply that `finish` was given, and the size of its body."""
        with self._journal._lock:
            statement = "SELECT reply, length(body) FROM calls WHERE number = ?"
            ((text, size),) = self._journal._read(statement, entry.number)
        return self._journal._data(text), size or 0

    def body(self, entry: Entry) -> Iterator[bytes]:
        start = 0
        while True:
            with self._journal._lock, self._journal._base.blobopen("calls", "body", entry.number) as blob:
                blob.seek(start)
                part = blob.read(_PART)
            if not part:
                return
            yield part
            start += len(part)

    def token(self, entry: Entry) -> str:
        """An idempotency key for a row: always the same for the same call of the same solve."""
        turn = f" {self._journal.turn}" if self._journal.turn > 1 else ""
        text = f"{self._journal.id} {entry.key} {entry.task} {entry.nth}{turn}"
        return str(uuid.UUID(bytes=hashlib.sha256(text.encode()).digest()[:16], version=4))

    def _chosen(self, candidates: Sequence[Entry], write: bool, before: str, place: str, nth: int) -> Entry | None:
        """The earlier row that stands for a call; None if there is none."""
        journal = self._journal
        able = [entry for entry in candidates if entry.owner is not self and entry not in self._touched]
        if write:
            able = [entry for entry in able if entry.state in ("confirmed", "unknown", "sent")]
            able = [entry for entry in able if entry.state != "confirmed" or not journal._is_earlier(entry)]
        elif journal.refresh:
            return None
        else:
            able = [entry for entry in able if entry.state == "confirmed" and entry.before == before]
            able = [entry for entry in able if journal._turn.recalls or not journal._is_earlier(entry)]
        exact = [entry for entry in able if (entry.task, entry.nth) == (place, nth)]
        if exact or able:
            alike = [entry for entry in able if _numbers(entry.task, entry.nth) == _numbers(place, nth)]
            return exact[-1] if exact else (alike or able)[0]
        # The program tries once more what it was told is not known: that is the same write.
        return next((entry for entry in candidates if entry.write and entry.state == "unknown"), None)

    def _planned(self, key: str, place: str, nth: int, write: bool, before: str, record: CallRecord) -> Entry:
        text = json.dumps(asdict(record), default=str)
        number = self._journal._run(
            "INSERT INTO calls (attempt, key, task, nth, write, state, before, record)"
            " VALUES (?, ?, ?, ?, ?, 'planned', ?, ?)",
            *(self._number, key, place, nth, write, before, text),
        )
        entry = Entry(number, self._number, key, place, nth, write, "planned", before, None, owner=self)
        self._journal._entries[key].append(entry)
        self._touched[entry] = None
        return entry

    def _before(self) -> str:
        """The multiset of the writes begun so far, as a digest."""
        begun = [f"{e.key} {e.state}" for e in self._touched if e.write and e.state not in ("planned", "failed")]
        return _digest([*self._journal._turns_before, *begun])


def _numbers(place: str, nth: int) -> list[str]:
    """The numbers in a place: the same for the third call of a loop and that of the third task of a pool."""
    numbers = [task.rpartition("#")[2] for task in json.loads(place)] + [str(nth)]
    while numbers and numbers[-1] == "0":
        numbers.pop()
    return numbers


def _check(file: Path) -> None:
    """See that the file, and those that the database keeps beside it, are ours alone. Raises: UsageError."""
    from protocols.private_files import not_ours

    for path in (file, *(file.with_name(file.name + end) for end in ("-wal", "-shm", "-journal"))):
        if (why := not_ours(path)) is not None:
            raise UsageError(f"{path} {why}")
        if path.exists() and not path.is_file():
            raise UsageError(f"{path} is no file, and so no journal of atc")


def _opened(file: Path | None) -> sqlite3.Connection:
    """The database, ours alone from now on. Raises: UsageError."""
    try:
        if file is not None:
            _check(file)
            with contextlib.suppress(FileExistsError):
                os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            file.chmod(0o600)
        # Without a name it is a temporary file, of which a small one is never written.
        base = sqlite3.connect(file or "", timeout=0, isolation_level=None, check_same_thread=False)
    except (OSError, sqlite3.Error) as error:
        raise JournalUnavailableError(f"{file} cannot be opened as a journal: {error}") from None
    try:
        base.execute("PRAGMA locking_mode = EXCLUSIVE")
        (application,) = base.execute("PRAGMA application_id").fetchone()
        (version,) = base.execute("PRAGMA user_version").fetchone()
        (tables,) = base.execute("SELECT count(*) FROM sqlite_master").fetchone()
        empty = not (application or version or tables)
        if not empty and application != _APPLICATION:
            raise UsageError(f"{file} is no journal of atc")
        if not empty and version != _VERSION:
            raise UsageError(f"{file} is a journal of version {version}, not {_VERSION}; start a new one")
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("PRAGMA synchronous = NORMAL")
        base.execute("BEGIN EXCLUSIVE")
        if empty:
            for statement in (*_TABLES.split(";"), f"PRAGMA application_id = {_APPLICATION}"):
                base.execute(statement)
            base.execute(f"PRAGMA user_version = {_VERSION}")
        base.execute("COMMIT")
    except sqlite3.OperationalError as error:
        base.close()
        busy = "locked" in str(error)
        why = "is in use by another process; wait for its end" if busy else f"cannot be used as a journal: {error}"
        raise JournalUnavailableError(f"{file} {why}") from None
    except sqlite3.DatabaseError as error:
        base.close()
        problem = "is damaged" if "malformed" in str(error) else "is no journal of atc"
        raise UsageError(f"{file} {problem}; move it away and start a new one") from None
    except UsageError:
        base.close()
        raise
    return base
