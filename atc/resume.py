"""The record of a solve in a journal, beside its calls, from which an interrupted solve resumes.

It has the question, the digest of its document, the model's answers, and the solution. A solve that ended for a
passing reason (no model, no API, Ctrl-C, a limit, a write that was not allowed) counts as interrupted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from typing import Any

from atc.models.base import Completion, Usage, read_calls
from atc.solution import Solution
from protocols.errors import UsageError
from protocols.model import Protocol
from sandbox.journal.journal import Journal

__all__ = [
    "close_request",
    "cut_answers",
    "lost_requests",
    "note_cut_answer",
    "note_open_request",
    "note_question",
    "note_solution",
    "note_time",
    "recorded_completion",
    "recorded_solution",
]

_RETRYABLE = ("model_error", "api_error", "interrupted")


@contextmanager
def _readable(journal: Journal) -> Iterator[None]:
    """A journal whose notes have another form than they are written in is a UsageError."""
    try:
        yield
    except (TypeError, KeyError, ValueError, AttributeError, IndexError):
        where = journal.file or "the journal in memory"
        raise UsageError(f"{where} is damaged; move it away and start a new one") from None


def note_question(journal: Journal, query: str, protocol: Protocol, today: str) -> str:
    """Record the question; returns the day on which it was asked first, which the prompt names.

    Raises: UsageError: The journal belongs to another question, or its document has changed.
    """
    noted = journal.noted("solve")
    if noted is None:
        journal.note("solve", {"query": query, "protocol": protocol.digest, "today": today})
        return today
    where = f"the journal {journal.file or 'in memory'}"
    with _readable(journal):
        if noted["query"] != query:
            raise UsageError(f"{where} belongs to another question: {noted['query']}")
        if noted["protocol"] != protocol.digest:
            text = f"{where} belongs to another document, or it has changed since; start anew with a new journal"
            raise UsageError(text)
        return str(noted["today"])


def note_time(journal: Journal, now: datetime) -> datetime:
    """Record the time that programs are given; returns the one that was given first."""
    noted = journal.noted("now")
    if noted is None:
        journal.note("now", now.isoformat())
        return now
    with _readable(journal):
        return datetime.fromisoformat(noted)


def recorded_completion(journal: Journal, position: int, request_key: str) -> Completion | None:
    """The recorded completion at a position, if its request is the same."""
    entry = journal.answered(position, request_key)
    if not entry:
        return None
    with _readable(journal):
        return Completion(entry["text"], Usage(**entry["usage"]), entry["finish"], read_calls(entry.get("calls", ())))


def note_cut_answer(journal: Journal, usage: Usage) -> None:
    """Record what an answer cost that a limit of the question cut: it is asked for again when the solve goes on."""
    journal.note("cut answers", asdict(cut_answers(journal) + usage))


def cut_answers(journal: Journal) -> Usage:
    """What the answers cost that were cut."""
    with _readable(journal):
        return Usage(**(journal.noted("cut answers") or {}))


def note_open_request(journal: Journal, position: int, request_key: str, usage: Usage) -> None:
    """Record that a request is about to be sent, with its estimate, which counts if no answer is ever recorded."""
    journal.note("open request", {"position": position, "request": request_key, "usage": asdict(usage)})


def close_request(journal: Journal) -> None:
    """Record that the request which was open costs nothing, or what it cost is noted."""
    journal.note("open request", None)


def lost_requests(journal: Journal) -> Usage:
    """The estimate of the requests of earlier runs that were sent, and whose answers nobody took."""
    entry = journal.noted("open request")
    with _readable(journal):
        lost = Usage(**(journal.noted("lost requests") or {}))
        is_open = entry and journal.answered(entry["position"], entry["request"]) is None
        if is_open:
            lost += Usage(**entry["usage"])
    if is_open:
        journal.note("lost requests", asdict(lost))
        close_request(journal)
    return lost


def note_solution(journal: Journal, solution: Solution) -> None:
    """Record a final solution in the journal's file."""
    if journal.file is None:
        return
    undecided = any(attempt.run.refused_write for attempt in solution.attempts if attempt.run)
    undecided = undecided or bool(solution.write_plan and solution.write_plan.asked) or solution.status == "limit"
    if solution.status not in _RETRYABLE and not undecided:
        journal.note("solution", {**solution.to_json(), "exit_code": solution.exit_code})


def recorded_solution(journal: Journal) -> dict[str, Any] | None:
    """The solution as JSON, with its `exit_code`; None without one."""
    data: dict[str, Any] | None = journal.noted("solution")
    if data is not None:
        from atc.solution_file import solution_of

        with _readable(journal):
            solution_of(data, str(journal.file))
            int(data["exit_code"])
    return data
