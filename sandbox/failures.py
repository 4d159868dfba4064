"""Puts what ended a program into words: a refusal, a limit with the option that allows more, the line that failed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any
from urllib.parse import urlsplit

from protocols.errors import ProgramRefused
from protocols.model import Protocol
from protocols.text.words import name_similarity
from sandbox.child import channel
from sandbox.child.exit_frame import Failure
from sandbox.records import CallRecord, Limits, ProgramError, Resources, Run

__all__ = ["limit_text", "longer_call_option", "program_error", "run_not_started", "snippet"]

SNIPPET = 3
"""Lines shown before and after the failing one."""


def run_not_started(program: str, error: ProgramRefused | SyntaxError, seconds: float) -> Run:
    """The run of a program that cannot be compiled."""
    resources = Resources(round(seconds, 4), 0.0, 0.0, 0)
    if isinstance(error, ProgramRefused):
        fault = ProgramError("ProgramRefused", str(error), error.line, snippet(program, error.line), (error.line,))
        return Run("refused", "", "", fault, (), resources, exit_status=1)
    message = error.msg if isinstance(error.msg, str) else str(error)
    fault = ProgramError("SyntaxError", message, error.lineno, snippet(program, error.lineno))
    return Run("error", "", "", fault, (), resources, exit_status=1)


def program_error(
    failure: Failure, program: str, calls: Sequence[CallRecord], tools: Any, protocol: Protocol | None
) -> ProgramError:
    """The error of a program, with its line.

    Args:
        calls: Those of the run. tools: The names that the program could call.
    """
    line = failure.trace[-1] if failure.trace else None
    suggestion = _suggestion(failure.name, tools, protocol) if failure.name is not None else ""
    record = next((call for call in calls if call.index == failure.call), None)
    return ProgramError(
        type=failure.type,
        message=failure.message + suggestion,
        line=line,
        snippet=snippet(program, line),
        trace=failure.trace,
        call=record.index if record else None,
        tool=record.tool if record else None,
    )


def snippet(program: str, line: int | None) -> str:
    """The lines around `line` (from 1) with their numbers, the line itself marked; empty if it is not known."""
    lines = re.split(r"\r\n?|\n", program.rstrip("\r\n"))
    if line is None or not 1 <= line <= len(lines):
        return ""
    numbers = range(max(1, line - SNIPPET), min(len(lines), line + SNIPPET) + 1)
    width = len(str(numbers[-1]))
    return "\n".join(f"{'-->' if n == line else '   '} {n:>{width}} {lines[n - 1]}".rstrip() for n in numbers)


def _suggestion(name: str, tools: Collection[str], protocol: Protocol | None) -> str:
    """Why the tool of a name was left out, or `; did you mean …?` for one with the words of a tool, in any order."""
    if protocol is not None and (why := protocol.why_left_out(name)) is not None:
        return f": {why}"
    best = max(
        (tool for tool in tools if protocol is None or tool in protocol),
        key=lambda tool: name_similarity(name, tool),
        default=None,
    )
    return f"; did you mean {best}?" if best is not None and name_similarity(name, best) >= 0.7 else ""


def limit_text(limit: str, limits: Limits, calls: Sequence[CallRecord]) -> str:
    """The message for a limit by its name in `Run.limit`; `calls` are those of the run."""
    return {
        "wall": f"the program ran longer than the {limits.wall:g} s allowed{_unanswered(limits, calls)}",
        "cpu": f"the program used more than the {limits.cpu:g} s of CPU time allowed",
        "memory": f"the program needed more than the {limits.memory} MiB of memory allowed",
        "output": f"the program printed more than the {limits.output} bytes allowed",
        "calls": f"the program made more than the {limits.calls} calls allowed{_most_called(limits, calls)}",
        "request": f"a request was larger than the {limits.request} bytes allowed ({channel.HEAD_LIMIT} for "
        "the arguments of a tool, or a form)",
        "response": f"a reply was larger than the {limits.response} bytes allowed; ask for less at a time",
        "traffic": f"the calls moved more than the {limits.traffic} bytes allowed in all; ask for less",
    }[limit]


def longer_call_option(limits: Limits) -> str:
    """The option that gives a call more time: of a program whose time was given, only that time does."""
    usual = Limits().wall
    has_own_wall = limits.wall not in (usual, usual + (limits.request_timeout or 0.0))
    return "--wall" if has_own_wall and limits.call_seconds >= limits.wall else "--call-timeout"


def _unanswered(limits: Limits, calls: Sequence[CallRecord]) -> str:
    """The call that the run ended in, and the option for such calls."""
    last = calls[-1] if calls else None
    if last is None or last.status is not None or not last.attempts:
        return ""
    return f", and {_name(last)} had no reply yet; {longer_call_option(limits)} allows more"


def _most_called(limits: Limits, calls: Sequence[CallRecord]) -> str:
    """The operation that most calls were of, and what helps."""
    name, count = Counter(map(_name, calls)).most_common(1)[0] if calls else ("", 0)
    if count <= limits.calls / 2:
        return "; --max-calls allows more"
    return f", most of them {name}; ask for larger pages or a list that has all items, or allow more with --max-calls"


def _name(call: CallRecord) -> str:
    return call.tool or f"{call.method} {urlsplit(call.url).path}"
