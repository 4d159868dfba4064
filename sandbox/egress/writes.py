"""The writes policy: which of the calls that may change something at the service are sent there.

A read is never asked about. A simulated write is answered by a simulated API made from the protocol; it has a world of
its own, which the real service's reads know nothing of.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeAlias

from sandbox.records import CallRecord

if TYPE_CHECKING:
    from sandbox.egress.write_plan import WriteLedger

__all__ = ["POLICIES", "WriteApproval", "Writes", "ledger_of"]

POLICIES = ("ask", "allow", "deny", "simulate", "plan")

Writes: TypeAlias = "Literal['ask', 'allow', 'deny', 'simulate'] | Callable[[CallRecord], bool | str] | WriteLedger"
"""What becomes of writes. A function is asked for each one, from another thread, and gives whether it may be sent, or
why not; anything but True and a text is a no. "ask" alone stands for a place where nobody can be asked. A ledger holds
writes to a plan; it needs a journal.
"""

_DENIED = "a write, which --writes deny refuses"
_NOBODY = "a write, and nobody is there to confirm it; --writes allow allows it"
_NOT_CONFIRMED = "a write that was not confirmed"


def ledger_of(writes: Writes) -> WriteLedger | None:
    """The ledger, where that is the policy."""
    return None if isinstance(writes, str) or callable(writes) else writes


class WriteApproval:
    """Asks the policy of one run, one question at a time."""

    def __init__(self, writes: Writes) -> None:
        self.writes = writes
        self._turn = threading.Lock()
        self._waited = 0.0
        self._since: float | None = None

    @property
    def asks(self) -> bool:
        """True if somebody is asked, which takes time."""
        return callable(self.writes)

    @property
    def waited(self) -> float:
        """Seconds that the run has waited for answers so far; they are not the program's."""
        since = self._since
        return self._waited + (time.monotonic() - since if since is not None else 0.0)

    def refusal(self, call: CallRecord) -> str | None:
        """The reason against sending a write; None if it may be sent."""
        if self.writes == "allow":
            return None
        if not callable(self.writes):
            return _DENIED if self.writes == "deny" else _NOBODY
        with self._turn:
            self._since = time.monotonic()
            try:
                answer = self.writes(call)
                return answer if isinstance(answer, str) else None if answer is True else _NOT_CONFIRMED
            finally:
                self._waited, self._since = self.waited, None
