"""What a journal keeps of a solve besides its calls, so that one that was cut off goes on where it was.

The question and the document it is asked of, what the model answered, and how it ended. A solve that ended for a reason
that may be gone the next time (no model, no API, ctrl-C, a write that was not allowed) counts as cut off.
"""

from __future__ import annotations

from typing import Any

from atc.models.base import Completion, Usage
from atc.solution import Solution
from protocols.errors import UsageError
from protocols.model import Protocol
from sandbox.journal.journal import Journal
from sandbox.records import CallRecord, Run

__all__ = [
    "note_question",
    "note_solution",
    "recorded_completion",
    "recorded_solution",
    "refused_write",
    "unresolved_writes",
]

_RETRYABLE = ("model_error", "api_error", "interrupted")


def note_question(journal: Journal, query: str, protocol: Protocol, today: str) -> str:
    """Note what is asked; gives the day on which it was asked first, which the prompt names.

    Raises: UsageError: The journal is that of another question, or its document has changed.
    """
    noted = journal.noted("solve")
    if noted is None:
        journal.note("solve", {"query": query, "protocol": protocol.digest, "today": today})
        return today
    where = f"the journal {journal.file or 'in memory'}"
    if noted["query"] != query:
        raise UsageError(f"{where} belongs to another question: {noted['query']}")
    if noted["protocol"] != protocol.digest:
        raise UsageError(f"{where} belongs to another document, or it has changed since; start anew with a new journal")
    return str(noted["today"])


def recorded_completion(journal: Journal, position: int, request_key: str) -> Completion | None:
    """What the model said at this point, if it was asked the same."""
    entry = journal.answered(position, request_key)
    return Completion(entry["text"], Usage(**entry["usage"]), entry["finish"]) if entry else None


def note_solution(journal: Journal, solution: Solution) -> None:
    """Note how it ended, if that is final, for who resumes from the file."""
    if journal.file is None:
        return
    undecided = any(refused_write(attempt.run) for attempt in solution.attempts if attempt.run)
    if solution.status not in _RETRYABLE and not undecided:
        journal.note("solution", {**solution.to_json(), "exit_code": solution.exit_code})


def recorded_solution(journal: Journal) -> dict[str, Any] | None:
    """The solution as JSON, with its `exit_code`; None while there is none."""
    data: dict[str, Any] | None = journal.noted("solution")
    return data


def refused_write(run: Run) -> CallRecord | None:
    """The first write that the writes policy did not let pass."""
    return next((call for call in run.calls if call.refused), None)


def unresolved_writes(journal: Journal) -> list[str]:
    """What the user should look at: writes that may or may not have been done, and those that nothing rests on."""
    uncertain = [
        f"it is not known whether this write was done, and it was not sent again: {_describe_call(call)}"
        for call in journal.unknown
    ]
    abandoned = [
        f"an earlier program made this write, and the last one did not repeat it: {_describe_call(call)}"
        for call in journal.abandoned
        if call not in journal.unknown
    ]
    return [*uncertain, *abandoned]


def _describe_call(call: CallRecord) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
    text = f"{call.tool}({arguments})" if call.tool else f"{call.method} {call.url}"
    return text if len(text) <= 200 else text[:199] + "…"
