"""A finding: something that speaks against an answer, with its place in the program or in a response."""

from __future__ import annotations

from dataclasses import dataclass

from protocols.json_path import Step
from sandbox.records import CallRecord, Run

__all__ = ["Finding", "failed", "made_writes", "name_of"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A reason to doubt an answer; `kind` is its name in one word, such as FirstPage.

    `message` is told to the user. `line` is a line of the program, `call` the index of a
    call, and `path` a place in its response, where the finding is about one.
    """

    kind: str
    message: str
    line: int | None = None
    call: int | None = None
    path: tuple[Step, ...] = ()

    @classmethod
    def of_call(cls, kind: str, message: str, call: CallRecord, path: tuple[Step, ...] = ()) -> Finding:
        """A finding about a call, or about a place in its response."""
        return cls(kind, message, call.line, call.index, path)

    def warning(self) -> str:
        """The finding as a warning for the reader of the answer."""
        return f"the answer is doubtful ({self.kind}): {self.message}"


def failed(call: CallRecord) -> bool:
    """True if a call has no good response."""
    return call.status is None or call.status >= 300


def made_writes(run: Run) -> bool:
    """True if the service accepted a write: the task is then done, whatever is printed."""
    return any(call.writes and not failed(call) for call in run.calls)


def name_of(call: CallRecord) -> str:
    """The name of a call's tool, else its address."""
    return call.tool or call.url
