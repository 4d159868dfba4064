"""What a program is told of the limit that ended it: how far it went, and what helps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from urllib.parse import urlsplit

from sandbox.child import channel
from sandbox.records import CallRecord, Limits

__all__ = ["limit_text", "longer_call_option"]


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
    given = limits.wall not in (usual, usual + (limits.request_timeout or 0.0))
    return "--wall" if given and limits.call_seconds >= limits.wall else "--call-timeout"


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
