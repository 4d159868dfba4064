"""The record of a run: every call that left the sandbox, and the end of the program.

Frozen values that turn into JSON with `dataclasses.asdict`; secrets were removed before they got here. A record is
printed, compared and turned into JSON later, by code that does not expect a name of a megabyte or six hundred nested
lists: so texts and data from programs and services are cut to a sane length, depth and number.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from protocols.model import READS

__all__ = ["CallRecord", "Layer", "Limits", "ProgramError", "Provenance", "Resources", "Run", "Source"]
__all__ += ["cut", "cut_arguments", "cut_record", "nested", "size_of"]

TEXT = 2000
"""Characters of a URL or an error that a record keeps."""

NESTING = 100
"""Lists and objects in one another, beyond which data is kept as text."""

ENTRIES = 100
"""Arguments of a call that a record keeps when they are cut; characters of the name and of the value of each."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One of the walls around a program; `reason` says why it is not active."""

    name: str
    active: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a program. Times in seconds, sizes in bytes (`memory` in MiB).

    `request` and `response` are for the body of one call, `traffic` for all bodies of a run. A request that a busy
    service is sent again counts as one of the `calls`. A call may take as long as the run, unless `request_timeout`
    says otherwise.
    """

    wall: float = 15.0
    cpu: float = 10.0
    memory: int = 512
    output: int = 1_000_000
    calls: int = 100
    request: int = 16 * 1024 * 1024
    response: int = 16 * 1024 * 1024
    traffic: int = 256 * 1024 * 1024
    request_timeout: float | None = None

    def adjusted(self, call_timeout: float | None = None, max_calls: int | None = None) -> Limits:
        """The limits with another time for one call, or number of calls.

        A call that may take longer than the default run gives the run that time besides.
        """
        limits = self
        if call_timeout is not None:
            more = call_timeout if call_timeout > limits.wall else 0.0
            limits = replace(limits, request_timeout=call_timeout, wall=limits.wall + more)
        return limits if max_calls is None else replace(limits, calls=max_calls)

    @property
    def call_seconds(self) -> float:
        """The time that one call may take."""
        return self.wall if self.request_timeout is None else self.request_timeout


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call that a program made, in the order of `index` (from 0).

    `tool` is None when a `requests` call matched no operation. `status` is None when no reply came; `error` then says
    why. For a function of this process `method` is READ or CALL, `url` is `function:` and its name, and `status` is
    200, or 400 where it raised an exception. `ms` is wall-clock time with retries, `attempts` the number of requests
    sent for it (0: refused before). `line` is the program line of the call. `arguments` are by argument name; `url`
    holds no secret. `response` is parsed JSON, text for other media types, None for an empty body; a
    sandbox.body_store.LargeBody for one over 256 KiB, and for all once the records of the run hold 2 MiB. Of arguments
    as large as that, the beginnings are kept.

    `replayed`: the reply is that of an earlier call, from the journal; no request was sent. `refused`: a write that the
    writes policy did not let pass. `simulated`: a write that a simulated API answered, on this machine. `uncertain`: a
    read after such a write, of which the service knew nothing. `retry_after`: the seconds that a busy service (429 or
    503) asks to wait, where the run could not wait so long. `reads`: the method may write, and the operation is
    declared to read. `more`: a `Link` header of the reply leads to a next page (RFC 8288).
    """

    index: int
    tool: str | None
    method: str
    url: str
    arguments: dict[str, object]
    line: int | None
    status: int | None
    ms: float
    attempts: int
    style: Literal["function", "requests"]
    response: object = None
    error: str | None = None
    replayed: bool = False
    refused: bool = False
    simulated: bool = False
    retry_after: float | None = None
    uncertain: bool = False
    reads: bool = False
    more: bool = False

    @property
    def writes(self) -> bool:
        """True if the call may have changed something."""
        return self.method not in READS and not self.reads


@dataclass(frozen=True, slots=True)
class ProgramError:
    """The error that ended a program: `type` is the exception's class name, `message` its text.

    `line` (from 1) and `snippet` are the place in the program nearest to the failure; `trace` are all program lines
    of the traceback, outermost first. `call` is the index of the call that raised it, for a ToolError or an error of
    `requests`.
    """

    type: str
    message: str
    line: int | None = None
    snippet: str = ""
    trace: tuple[int, ...] = ()
    call: int | None = None
    tool: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A source of a value: the index of a call, and the keys and indices in its response that lead to it.

    `how` is exact (it is what lies there), made (it was made from it) or decided (it was set in a branch or a loop
    which that value decided about).
    """

    call: int
    path: tuple[str | int, ...]
    how: Literal["exact", "made", "decided"]


@dataclass(frozen=True, slots=True)
class Provenance:
    """The responses that a run's values come from, nearest first; found by running it again on the recorded replies.

    `fault` are the sources of what the failing operation worked on. `arguments` has those of each argument of each
    call, by index of the call and name of the argument (its position as text where it has no name; `params.x` for
    the member x of a dict). `printed` are the sources of all that was printed.
    """

    fault: tuple[Source, ...] = ()
    arguments: Mapping[int, Mapping[str, tuple[Source, ...]]] = field(default_factory=dict)
    printed: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources that a run used: wall-clock and CPU seconds, peak memory in MiB, bytes printed."""

    wall: float
    cpu: float
    memory: float
    output: int


@dataclass(frozen=True, slots=True)
class Run:
    """The course of a program.

    `outcome` is ok, error (it raised, or left with a non-zero exit), refused (by policy, nothing was executed),
    limit (`limit` names which: wall, cpu, memory, output, calls, request, response or traffic) or interrupted.
    `provenance` is None where no call was made, and where it could not be found.
    """

    outcome: Literal["ok", "error", "refused", "limit", "interrupted"]
    stdout: str
    stderr: str
    error: ProgramError | None
    calls: tuple[CallRecord, ...]
    resources: Resources
    limit: str | None = None
    exit_status: int = 0
    warnings: tuple[str, ...] = ()
    provenance: Provenance | None = None

    @property
    def missing_layers(self) -> tuple[str, ...]:
        """The warnings about layers of the sandbox that were not active."""
        return tuple(warning for warning in self.warnings if " is not active: " in warning)

    @property
    def refused_write(self) -> CallRecord | None:
        """The first write that the writes policy refused."""
        return next((call for call in self.calls if call.refused), None)

    @property
    def reply_warnings(self) -> tuple[str, ...]:
        """The warnings about what was lost or guessed in the reading of a reply."""
        return tuple(warning for warning in self.warnings if re.match(r"\S+: .*\bthe reply\b", warning))


# Cut to size


def cut(text: str, most: int = TEXT) -> str:
    """A text of at most so many characters, every one of which can be written out."""
    shortened = text if len(text) <= most else text[: most - 1] + "…"
    return shortened if shortened.isascii() else shortened.encode("utf-8", "replace").decode()


def nested(value: object, most: int = NESTING) -> bool:
    """True if lists and dicts are nested deeper than `most`; found without recursion."""
    level: list[Any] = [value] if isinstance(value, (dict, list)) else []
    for _ in range(most):
        if not level:
            return False
        insides = (outer if isinstance(outer, list) else outer.values() for outer in level if outer)
        level = [inner for inside in insides for inner in inside if isinstance(inner, (dict, list))]
    return bool(level)


def cut_record(record: CallRecord, reserve: Callable[[int], bool]) -> CallRecord:
    """A record whose texts have a sane length; its arguments are whole if there is room for them."""
    arguments = record.arguments
    if arguments and (nested(arguments) or not reserve(size_of(arguments))):
        arguments = cut_arguments(arguments)
    return replace(
        record,
        tool=record.tool and cut(record.tool, 200),
        method=cut(record.method, 50),
        url=cut(record.url),
        arguments=arguments,
        error=record.error and cut(record.error),
    )


def size_of(arguments: Mapping[str, object]) -> int:
    """Bytes that the text of arguments takes in memory, where one character may take four."""
    return sys.getsizeof(str(arguments))


def cut_arguments(arguments: Mapping[str, object]) -> dict[str, object]:
    """Arguments with their names and large values cut, and no more than `ENTRIES` of them."""
    shortened: dict[str, object] = {}
    for name, value in arguments.items():
        if len(shortened) == ENTRIES:
            shortened["…"] = f"{len(arguments) - ENTRIES} more"
            break
        deep = nested(value)
        text = "…" if deep else str(value)
        size = f" ({len(text)} characters)" if len(text) > ENTRIES + 1 else ""
        shortened[cut(name, ENTRIES)] = value if len(text) < ENTRIES and not deep else cut(text, ENTRIES + 1) + size
    return shortened
