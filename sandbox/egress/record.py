"""Keeps the records of one run: each call from its number to its end, within the run's limits and without its secrets.

What is known of a call that is under way lies here as a draft of its record, so that a call which is cut off has one.
"""

from __future__ import annotations

import codecs
import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from protocols.calls.credentials import Credential
from protocols.calls.redaction import holds_secret, redact, redact_stream
from sandbox.body_forms import text_encoding, xml_encoding
from sandbox.body_store import MEMORY_LIMIT
from sandbox.egress.egress_rules import EgressRules
from sandbox.egress.signing import Signer
from sandbox.egress.stages import OVER, Begun, Bound, LimitExceeded, Style, TransportReply, charset_of
from sandbox.records import CallRecord, Limits, cut_record

__all__ = ["Allowance", "CallContext", "CallRecorder", "Redaction"]

RECORDS_LIMIT = 2 * 1024 * 1024
"""Bytes of arguments and replies that the records of one run keep, parsed (up to 24 times that in memory); what comes
after lies in files."""

WARNINGS_LIMIT = 50
CANCEL_TIMEOUT = 0.05
"""Seconds that a cancelled call has to come to its end."""


class Allowance:
    """The limits of one run and what is used of them; may be used from several threads.

    Args:
        deadline: `time.monotonic()` at which the run ends; None if it has no end.
    """

    def __init__(self, limits: Limits, deadline: float | None) -> None:
        self.limits = limits
        self.call_seconds = limits.call_seconds
        self.deadline = deadline
        self._waited = 0.0
        self._since: float | None = None
        self._lock = threading.Lock()
        self._cancelled = threading.Event()
        self._calls = self._repeated = 0
        self._kept_bytes = 0
        self._moved_bytes = 0

    @property
    def waited(self) -> float:
        """Seconds that the run has waited for somebody's answers so far; they are not the program's."""
        since = self._since
        return self._waited + (time.monotonic() - since if since is not None else 0.0)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Add the time that the block takes to `waited`; one block at a time."""
        self._since = time.monotonic()
        try:
            yield
        finally:
            self._waited, self._since = self.waited, None

    @property
    def cancelled(self) -> bool:
        """True once the run is over."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """End the waiting for a busy service."""
        self._cancelled.set()

    def remaining(self) -> float | None:
        """Seconds until the run ends; None where it has no end."""
        return None if self.deadline is None else self.deadline + self.waited - time.monotonic()

    def number(self) -> tuple[int, bool]:
        """The number of the next call, and whether it is one too many."""
        with self._lock:
            index = self._calls
            self._calls += 1
            return index, index + self._repeated >= self.limits.calls

    def wait_to_repeat(self, seconds: float) -> bool:
        """Wait before a request is sent again; False if it must not be, for the number of calls or the time."""
        remaining = self.remaining()
        if remaining is not None and seconds >= remaining:
            return False
        with self._lock:
            if self._calls + self._repeated >= self.limits.calls:
                return False
            self._repeated += 1
        return not self._cancelled.wait(seconds)

    def reserve(self, size: int) -> bool:
        """Take room for so many bytes in the records; False if there is none."""
        with self._lock:
            fits = size <= MEMORY_LIMIT and self._kept_bytes + size <= RECORDS_LIMIT
            self._kept_bytes += size if fits else 0
        return fits

    def count_traffic(self, size: int) -> None:
        """Count bytes of bodies. Raises: LimitExceeded: They are too many in all."""
        with self._lock:
            self._moved_bytes += size
            if self._moved_bytes > self.limits.traffic:
                text = f"the calls moved more than the {self.limits.traffic} bytes allowed in all"
                raise LimitExceeded("traffic", text)


# Secrets


@dataclass(frozen=True, slots=True)
class Redaction:
    """Knows the secrets of a run: its credentials, and the passwords of its proxies."""

    credentials: tuple[Credential, ...] = ()

    def text(self, text: str) -> str:
        """A text without a secret."""
        return redact(text, self.credentials) if self.credentials else text

    def sent_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """The headers of a planned request without a secret in their values."""
        return dict(zip(headers, self.texts(list(headers.values())), strict=True))

    def texts(self, texts: Sequence[str]) -> list[str]:
        """Texts without a secret; they are looked through together, and one by one only where there is one."""
        together = "\n".join(texts)
        return list(texts) if self.text(together) == together else [self.text(text) for text in texts]

    def value(self, value: Any) -> Any:
        """A value whose texts and names are without a secret."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(name)): self.value(item) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        return value

    def content(self, content: bytes) -> bytes:
        """Bytes of a text without a secret."""
        return b"".join(redact_stream((content,), self.credentials))

    def heading(self, response: TransportReply) -> TransportReply:
        """A response without a secret in its texts; its body is not touched."""
        encoding = charset_of(response.headers) or (response.encoding and text_encoding(response.encoding))
        reason, named, *texts = self.texts(
            [response.reason, encoding or ""]
            + [text for pairs in (response.headers, response.cookies) for item in pairs.items() for text in item]
        )
        pairs = list(zip(texts[::2], texts[1::2], strict=True))
        count = len(response.headers)
        return replace(
            response,
            reason=reason,
            headers=dict(pairs[:count]),
            cookies=dict(pairs[count:]),
            encoding=named or None,
        )

    def body(self, response: TransportReply) -> Iterator[bytes]:
        """The body without a secret. An encoding that hides one is read as UTF-8 first and encoded again after."""
        parts: Callable[[], Iterator[bytes]] = response.parts
        if not self.credentials:
            return parts()
        if response.size <= MEMORY_LIMIT:
            content = b"".join(parts())
            parts = partial(iter, (content,))
        for encoding in _encodings(response.headers, response.encoding, parts()):
            if not _shows_secrets(encoding) and holds_secret(_transcode(parts(), encoding, "utf-8"), self.credentials):
                parts = partial(self._in_utf_8, encoding, parts)
        return redact_stream(parts(), self.credentials)

    def _in_utf_8(self, encoding: str, parts: Callable[[], Iterator[bytes]]) -> Iterator[bytes]:
        return _transcode(redact_stream(_transcode(parts(), encoding, "utf-8"), self.credentials), "utf-8", encoding)


def _encodings(headers: Mapping[str, str], encoding: str | None, parts: Iterable[bytes]) -> tuple[str, ...]:
    """Every encoding in which a program may get a body: the one named, that of `requests`, the one declared in XML."""
    start = next(iter(parts), b"")
    declared = xml_encoding(start) if b"<?xml" in start[:300] else None
    names = (charset_of(headers), text_encoding(encoding), text_encoding(declared))
    return tuple(dict.fromkeys(name for name in names if name is not None))


_AS_BYTES = ("ascii", "iso8859", "utf-8", "utf-16", "utf-32", "cp125")
"""Encodings in which a secret looks as it does in UTF-8, -16, -32 or Latin 1 (if it has but ASCII, in the others)."""


def _shows_secrets(encoding: str) -> bool:
    """True if a secret can be found in the encoded text itself; also for an unknown encoding."""
    try:
        b"".decode(encoding)
        return codecs.lookup(encoding).name.startswith(_AS_BYTES)
    except (LookupError, ValueError):
        return True


def _transcode(parts: Iterable[bytes], source: str, target: str) -> Iterator[bytes]:
    """The same text in another encoding; what can't be read or written there is replaced."""
    decoder = codecs.getincrementaldecoder(source)("replace")
    encoder = codecs.getincrementalencoder(target)("replace")
    for part in parts:
        yield encoder.encode(decoder.decode(part))
    yield encoder.encode(decoder.decode(b"", True), True)


# Records


class CallRecorder:
    """The records of one run; all methods may be used from several threads.

    Args:
        on_call: Told of each call when it is over.
        on_begin: Told of each call when it begins: its index, the tool if it was named, and the line of the program.
    """

    def __init__(
        self,
        allowance: Allowance,
        redactor: Redaction,
        on_call: Callable[[CallRecord], object] | None = None,
        on_begin: Callable[[int, str | None, int | None], None] | None = None,
    ) -> None:
        self.on_call_error: BaseException | None = None
        """The exception that `on_call` or `on_begin` raised."""
        self.allowance = allowance
        self._redactor = redactor
        self._on_call = on_call
        self._on_begin = on_begin
        self._call_ended = threading.Condition()
        self._under_way: dict[int, tuple[Begun, CallRecord]] = {}
        self._records: dict[int, CallRecord] = {}
        self._warnings: list[str] = []

    @property
    def records(self) -> tuple[CallRecord, ...]:
        """The calls that are over, in the order in which they began."""
        with self._call_ended:
            return tuple(self._records[index] for index in sorted(self._records))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was told so far, each once."""
        return tuple(self._warnings)

    def warn(self, text: str) -> None:
        """Tell the user of something, if it is new and not one of too many."""
        if text not in self._warnings and len(self._warnings) < WARNINGS_LIMIT:
            self._warnings.append(text)

    def warn_of_doubt(self, bound: Bound, done: str) -> None:
        """Say that a call which the document speaks against was `done` all the same, where the program insists."""
        if bound.insists:
            self.warn(f"{done} although the document speaks against it: {bound.insists}")

    def begin(self, style: Style, line: int | None, tool: str | None, task: Sequence[str]) -> Begun:
        """Give a call its number. Raises: LimitExceeded: It is one too many."""
        index, exceeded = self.allowance.number()
        call = Begun(index, style, line, tuple(task), time.monotonic(), threading.get_ident())
        with self._call_ended:
            self._under_way[index] = call, CallRecord(index, tool, "", "", {}, line, None, 0.0, 0, style)
        if exceeded:
            text = f"the limit of {self.allowance.limits.calls} calls is reached"
            self.finish(call, text)
            raise LimitExceeded("calls", text)
        if self._on_begin is not None:
            with self._callers_errors():
                self._on_begin(index, tool, line)
        return call

    def note(self, call: Begun, **facts: Any) -> CallRecord:
        """Add what is known now to the draft of a call's record; gives the draft."""
        with self._call_ended:
            if call.index not in self._under_way:  # it was cut off
                return self._records[call.index]
            draft = replace(self._under_way[call.index][1], **facts)
            self._under_way[call.index] = call, draft
            return draft

    def note_bound(self, bound: Bound, **facts: Any) -> CallRecord:
        """Add what the binding of a call says."""
        tool = {"tool": bound.target.tool.name if bound.target.tool else None} if bound.call.style == "requests" else {}
        about = {"method": bound.planned.method, "url": bound.url, "arguments": bound.arguments, "reads": bound.reads}
        return self.note(bound.call, **tool, **about, **facts)

    def attempted(self, call: Begun) -> int:
        """Count a request of a call; gives how many it has sent."""
        with self._call_ended:
            if call.index not in self._under_way:
                return self._records[call.index].attempts
            begun, draft = self._under_way[call.index]
            self._under_way[call.index] = begun, replace(draft, attempts=draft.attempts + 1)
            return draft.attempts + 1

    def finish(self, call: Begun, error: str | None = None, **outcome: Any) -> CallRecord:
        """Give a call its record, with further fields of it; the one it has if it is over already."""
        ms = round((time.monotonic() - call.started) * 1000, 3)
        draft = self.note(call)
        record = cut_record(replace(draft, ms=ms, error=error, **outcome), self.allowance.reserve)
        with self._call_ended:
            if self._under_way.pop(call.index, None) is None:
                return self._records[call.index]
            self._records[call.index] = record
            self._call_ended.notify_all()
        if self._on_call is not None:
            with self._callers_errors():
                self._on_call(record)
        return record

    def cancel(self) -> None:
        """Wait a moment for the calls under way; when this returns, each has its record."""
        with self._call_ended:
            self._call_ended.wait_for(lambda: not self._under_way, CANCEL_TIMEOUT)
            unfinished = [call for call, _ in self._under_way.values()]
        for call in unfinished:  # their threads hang where nothing can be cancelled, as in the search for a host
            self.finish(call, OVER)

    def give_up(self, error: BaseException) -> None:
        """Record the call of this thread as failed with an error that nobody foresaw."""
        with self._call_ended:
            calls = [call for call, _ in self._under_way.values() if call.thread == threading.get_ident()]
        for call in calls:
            self.note(call, arguments={})
            with contextlib.suppress(Exception):  # from `on_call`: `on_call_error` has it
                self.finish(call, self._redactor.text(f"{type(error).__name__}: {error}"))

    @contextlib.contextmanager
    def _callers_errors(self) -> Iterator[None]:
        """Keep the exception that the block raises, which is the caller's own."""
        try:
            yield
        except BaseException as error:
            self.on_call_error = error
            raise


@dataclass(frozen=True, slots=True)
class CallContext:
    """What all steps of the calls to one API have in common."""

    rules: EgressRules
    signer: Signer
    redactor: Redaction
    recorder: CallRecorder
