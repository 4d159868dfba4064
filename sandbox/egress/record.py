"""Keeps the records of one run: each call from its number to its end, and what was told of calls that went otherwise.

What is known of a call that is under way lies here as a draft of its record, so that a call which is cut off has one.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from sandbox.egress.allowance import Allowance
from sandbox.egress.redaction import Redaction
from sandbox.egress.stages import OVER, Begun, Bound, LimitExceeded, Style
from sandbox.records import CallRecord
from sandbox.truncation import cut_record

__all__ = ["CallRecorder"]

WARNINGS_LIMIT = 50
CANCEL_TIMEOUT = 0.05
"""Seconds that a cancelled call has to come to its end."""


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
        self.redact = redactor.text
        self._allowance = allowance
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
        index, exceeded = self._allowance.number()
        call = Begun(index, style, line, tuple(task), time.monotonic(), threading.get_ident())
        with self._call_ended:
            self._under_way[index] = call, CallRecord(index, tool, "", "", {}, line, None, 0.0, 0, style)
        if exceeded:
            text = f"the limit of {self._allowance.limits.calls} calls is reached"
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
        record = cut_record(replace(draft, ms=ms, error=error, **outcome), self._allowance.reserve)
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
        for (
            call
        ) in unfinished:  # their threads hang where nothing can be cancelled, as in the resolution of a host's name
            self.finish(call, OVER)

    def give_up(self, error: BaseException) -> None:
        """Record the call of this thread as failed with an error that nobody foresaw."""
        with self._call_ended:
            calls = [call for call, _ in self._under_way.values() if call.thread == threading.get_ident()]
        for call in calls:
            self.note(call, arguments={})
            with contextlib.suppress(Exception):  # from `on_call`: `on_call_error` has it
                self.finish(call, self.redact(f"{type(error).__name__}: {error}"))

    @contextlib.contextmanager
    def _callers_errors(self) -> Iterator[None]:
        """Keep the exception that the block raises, which is the caller's own."""
        try:
            yield
        except BaseException as error:
            self.on_call_error = error
            raise
