"""What the calls of one run may still use: their number, their bytes, and the time until the run ends."""

from __future__ import annotations

import threading
import time

from sandbox.body_store import MEMORY_LIMIT
from sandbox.egress.stages import LimitExceeded
from sandbox.egress.writes import WriteApproval
from sandbox.records import Limits

__all__ = ["Allowance"]

RECORDS_LIMIT = 2 * 1024 * 1024
"""Bytes of arguments and replies that the records of one run keep, parsed (up to 24 times that in memory); what comes
after lies in files."""


class Allowance:
    """The limits of one run and what is used of them; may be used from several threads.

    Args:
        approval: Who is asked to confirm writes, and takes time for it that is not the program's.
        deadline: `time.monotonic()` at which the run ends; None if it has no end.
    """

    def __init__(self, limits: Limits, approval: WriteApproval, deadline: float | None) -> None:
        self.limits = limits
        self.call_seconds = limits.call_seconds
        self.deadline = deadline
        self._approval = approval
        self._lock = threading.Lock()
        self._cancelled = threading.Event()
        self._calls = self._repeated = 0
        self._kept_bytes = 0
        self._moved_bytes = 0

    @property
    def cancelled(self) -> bool:
        """True once the run is over."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """End the waiting for a busy service."""
        self._cancelled.set()

    def remaining(self) -> float | None:
        """Seconds until the run ends; None where it has no end."""
        return None if self.deadline is None else self.deadline + self._approval.waited - time.monotonic()

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
