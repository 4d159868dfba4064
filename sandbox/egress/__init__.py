"""The only way out of the sandbox: which calls leave, how they are sent and recorded.

Here is the writes policy: which of the calls that may change something at the service are sent there. A read is never
asked about. A simulated write is answered by a simulated API made from the protocol; it has a world of its own, which
the real service's reads know nothing of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeAlias

from sandbox.records import CallRecord

if TYPE_CHECKING:
    from sandbox.egress.write_plan import WriteLedger

__all__ = ["POLICIES", "Writes"]

POLICIES = ("ask", "allow", "deny", "simulate", "plan")

Writes: TypeAlias = "Literal['ask', 'allow', 'deny', 'simulate'] | Callable[[CallRecord], bool | str] | WriteLedger"
"""What becomes of writes. A function is asked for each one, from another thread, and gives whether it may be sent, or
why not; anything but True and a text is a no. "ask" alone stands for a place where nobody can be asked. A ledger holds
writes to a plan; it needs a journal.
"""
