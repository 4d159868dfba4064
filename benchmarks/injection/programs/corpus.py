"""Programs that fail, and the call that is to blame for each: what attribution is measured with.

The programs lie in `seen.txt` and `held.txt` (see `injection.sections`), as a model might write them.

To blame is, for a value that is missing, empty or of the wrong type, the call whose response it is in; for a call that
the service refuses because of an argument, that call; for an identifier of the wrong kind of thing, the call that it
was taken from; for a 5xx, the call that got it; for all else nobody but the program.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from benchmarks.injection.programs.replies import Amendment, CannedReply, RequestPattern, path_steps
from benchmarks.injection.sections import Half, Section, read_sections
from sandbox import CallRecord

__all__ = ["FailingProgram", "Style", "failing_programs"]

Style = Literal["function", "requests", "mixed"]


@dataclass(frozen=True, slots=True)
class FailingProgram:
    """A program that fails, and why.

    `culprit` is the tool of the call to blame, `call` the index of that call among those of the run; None when it is
    the program's own fault. `second` is the tool of the call that comes next in question. `path` is where in the
    culprit's response the bad value is, or would be: `["results"][0]["title"]`. `twin`: the same value occurs in
    another response, too, where it does not come from. `chosen` names an argument of the culprit's call and its value
    where calls go side by side, so that their order is not certain; `call` is then the usual one. `answers` and
    `amendments` are what the service says other than it would.
    """

    name: str
    half: Half
    kind: str
    api: str
    query: str
    program: str
    culprit: str | None
    call: int | None
    second: str | None
    path: str | None
    twin: bool
    style: Style
    chosen: tuple[str, str] | None = None
    answers: tuple[CannedReply, ...] = ()
    amendments: tuple[Amendment, ...] = ()

    def find(self, calls: Sequence[CallRecord]) -> CallRecord | None:
        """The call to blame among those of a run; None if there is none, or the run did not make it."""
        if self.culprit is None:
            return None
        if self.chosen is not None:
            name, value = self.chosen
            matching = (c for c in calls if c.tool == self.culprit and str(c.arguments.get(name)) == value)
            return next(matching, None)
        return next((c for c in calls if c.index == self.call and c.tool == self.culprit), None)


def failing_programs(half: Half | None = None) -> list[FailingProgram]:
    """All cases in the order of their files, or those of one half."""
    halves: tuple[Half, ...] = ("seen", "held") if half is None else (half,)
    return [case for name in halves for case in _read(name)]


@lru_cache(maxsize=2)
def _read(half: Half) -> tuple[FailingProgram, ...]:
    sections = read_sections(Path(__file__).parent / f"{half}.txt")
    return tuple(_failing_program(half, section) for section in sections)


def _failing_program(half: Half, section: Section) -> FailingProgram:
    """Raises: ValueError: A header is unknown, or cannot be read."""
    headers = {key: value for key, value in section.headers if key not in ("answer", "amend")}
    if unknown := headers.keys() - {"kind", "api", "query", "culprit", "call", "chosen", "second", "path", "twin"}:
        raise ValueError(f"{half}.txt, {section.name}: there is no header {', '.join(sorted(unknown))}")
    chosen = headers["chosen"].partition("=") if "chosen" in headers else None
    return FailingProgram(
        name=section.name,
        half=half,
        kind=headers["kind"],
        api=headers["api"],
        query=headers["query"],
        program=section.program,
        culprit=headers.get("culprit"),
        call=int(headers["call"]) if "call" in headers else None,
        second=headers.get("second"),
        path=headers.get("path"),
        twin=headers.get("twin") == "yes",
        style=_style(section.program),
        chosen=(chosen[0], chosen[2]) if chosen else None,
        answers=tuple(_answer(value) for key, value in section.headers if key == "answer"),
        amendments=tuple(_amendment(value) for key, value in section.headers if key == "amend"),
    )


def _answer(text: str) -> CannedReply:
    """`GET /films/popular 503 {"message": "later"}`."""
    method, path, status, body = text.split(" ", 3)
    return CannedReply(RequestPattern.read(f"{method} {path}"), int(status), json.loads(body))


def _amendment(text: str) -> Amendment:
    """`GET /films/\\d+ ["runtime"] "two hours"`, or `removed` in place of the value."""
    method, path, place, value = text.split(" ", 3)
    if value == "removed":
        return Amendment(RequestPattern.read(f"{method} {path}"), path_steps(place))
    return Amendment(RequestPattern.read(f"{method} {path}"), path_steps(place), (json.loads(value),))


def _style(program: str) -> Style:
    """The style of a program's calls: functions, `requests`, or both."""
    functions = re.search(r"\b(GET|POST|DELETE)_\w+", program) is not None
    http = re.search(r"^(import|from) requests\b", program, re.MULTILINE) is not None
    if functions and http:
        return "mixed"
    return "requests" if http else "function"
