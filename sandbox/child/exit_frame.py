"""The last frame of a child, on the end of its program, checked before anything relies on it.

The frame was written by a process that ran a stranger's program: what it holds may have any type, size and name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from protocols.quoting import one_line
from sandbox.records import cut

__all__ = ["ExitFrame", "Failure", "parse_exit_frame"]

LIMITS = frozenset({"wall", "cpu", "memory", "output", "request"})
"""Limits that a child may say it has hit; the others are counted in the host."""

MESSAGE = 100_000
NAME = 200
TRACE = 50
NOTES = 10


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception as the child tells it: class, text, program lines outermost first, the index of the call behind
    it, and the name that was not found."""

    type: str
    message: str
    trace: tuple[int, ...] = ()
    call: int | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class ExitFrame:
    """The end of a program: well, with a failure, or at a limit; CPU seconds, memory in MiB.

    `notes` are warnings about large replies. `provenance` is the report of a tracked run on its values, unchecked.
    """

    failure: Failure | None = None
    limit: str | None = None
    trace: tuple[int, ...] = ()
    exit_status: int = 0
    cpu: float = 0.0
    memory: float = 0.0
    notes: tuple[str, ...] = ()
    provenance: object = None


def parse_exit_frame(head: Mapping[str, Any]) -> ExitFrame:
    """Read the head of a DONE frame. Raises: ValueError: It is not one of ours."""
    limit = head.get("limit")
    if limit is not None and limit not in LIMITS:
        raise ValueError("a limit that there is not")
    error_data = head.get("error")
    failure = _failure(error_data) if error_data is not None else None
    status = head.get("exit_status")
    return ExitFrame(
        failure,
        limit,
        _lines(head.get("trace")),
        (status if type(status) is int and 0 < status < 256 else 1) if failure is not None else 0,
        _amount(head.get("cpu")),
        _amount(head.get("memory")),
        _notes(head.get("notes")),
        head.get("provenance"),
    )


def _failure(data: object) -> Failure:
    kind = data.get("type") if isinstance(data, Mapping) else None
    message = data.get("message") if isinstance(data, Mapping) else None
    if not isinstance(data, Mapping) or not isinstance(kind, str) or not isinstance(message, str):
        raise ValueError("an error without a type or a message")
    call, name = data.get("call"), data.get("name")
    return Failure(
        cut(kind, NAME),
        cut(message, MESSAGE),
        _lines(data.get("trace")),
        call if type(call) is int else None,
        cut(name, NAME) if isinstance(name, str) else None,
    )


def _notes(data: object) -> tuple[str, ...]:
    notes = data if isinstance(data, list) else []
    return tuple(one_line(note, NAME * 2) for note in notes[:NOTES] if isinstance(note, str))


def _lines(data: object) -> tuple[int, ...]:
    lines = data if isinstance(data, list) else []
    return tuple(line for line in lines[-TRACE:] if type(line) is int and 0 < line < 2**31)


def _amount(value: object) -> float:
    good = isinstance(value, (int, float)) and math.isfinite(value) and 0 <= value < 2**31
    return float(value) if good else 0.0  # type: ignore[arg-type]
