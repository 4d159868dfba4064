"""The corpus of programs that fail by themselves, as a model might write them, with the call to blame.

Attribution is measured with it. To blame is, for a value that is missing, empty or of the wrong type, the call whose
response it is in; for a call that the service refuses because of an argument, that call; for an identifier of the wrong
kind of thing, the call that it was taken from; for a 5xx, the call that got it; for all else nobody but the program.

A section of `seen.txt` and `held.txt` is a line `### name`, lines `key: value`, an empty line, and a program.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from benchmarks.injection.replies import Amendment, CannedReply, RequestPattern, path_steps
from sandbox import CallRecord

__all__ = ["DATA", "FailingProgram", "Half", "failing_programs"]

Half = Literal["seen", "held"]
"""The half to look at while rules are worked on, and the half for the figures at the end."""

DATA = Path(__file__).parent / "data"
_HEADER = re.compile(r"(?P<key>[a-z]+): (?P<value>.+)")
_KEYS = {"kind", "api", "query", "culprit", "call", "chosen", "second", "path", "twin", "answer", "amend"}


@dataclass(frozen=True, slots=True)
class FailingProgram:
    """A program that fails, and why.

    `culprit` is the tool of the call to blame, `call` the index of that call among those of the run; None when it is
    the program's own fault. `second` is the tool of the call that comes next in question. `path` is where in the
    culprit's response the bad value is, or would be: `["results"][0]["title"]`. `twin`: the same value occurs in
    another response, too, where it does not come from. `chosen` names an argument of the culprit's call and its value
    where calls go side by side, so that their order is not certain; `call` is then the usual one. `answers` and
    `amendments` are what the service says other than it would. `style` is that of its calls.
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
    style: Literal["function", "requests", "mixed"]
    chosen: tuple[str, str] | None = None
    answers: tuple[CannedReply, ...] = ()
    amendments: tuple[Amendment, ...] = ()

    def find(self, calls: Sequence[CallRecord]) -> CallRecord | None:
        """The call to blame among those of a run; None if there is none, or the run did not make it."""
        of_culprit = (call for call in calls if self.culprit is not None and call.tool == self.culprit)
        if self.chosen is not None:
            name, value = self.chosen
            return next((call for call in of_culprit if str(call.arguments.get(name)) == value), None)
        return next((call for call in of_culprit if call.index == self.call), None)


@dataclass(frozen=True, slots=True)
class _Section:
    """One program of a file. `headers` has the last value of each key, `listed` all of them."""

    name: str
    headers: dict[str, str]
    listed: list[tuple[str, str]]
    program: str


def _sections(file: str) -> Iterator[_Section]:
    """The sections of a file. Raises: ValueError: A line before the program is no header."""
    for section in (DATA / file).read_text("utf-8").split("\n### ")[1:]:
        head, _, program = section.partition("\n\n")
        name, *lines = head.splitlines()
        listed = []
        for line in lines:
            header = _HEADER.fullmatch(line)
            if header is None:
                raise ValueError(f"{file}, {name}: {line!r} is no header")
            listed.append((header["key"], header["value"]))
        yield _Section(name.strip(), dict(listed), listed, program.strip("\n") + "\n")


def failing_programs(half: Half | None = None) -> list[FailingProgram]:
    """All cases in the order of their files, or those of one half."""
    halves: tuple[Half, ...] = ("seen", "held") if half is None else (half,)
    return [case for name in halves for case in _failing_programs(name)]


@lru_cache(maxsize=2)
def _failing_programs(half: Half) -> tuple[FailingProgram, ...]:
    return tuple(_failing_program(half, section) for section in _sections(f"{half}.txt"))


def _failing_program(half: Half, section: _Section) -> FailingProgram:
    """Raises: ValueError: A header is unknown, or cannot be read."""
    headers, program = section.headers, section.program
    if unknown := headers.keys() - _KEYS:
        raise ValueError(f"{half}.txt, {section.name}: there is no header {', '.join(sorted(unknown))}")
    name, _, value = headers.get("chosen", "").partition("=")
    functions = re.search(r"\b(GET|POST|DELETE)_\w+", program) is not None
    http = re.search(r"^(import|from) requests\b", program, re.MULTILINE) is not None
    return FailingProgram(
        name=section.name,
        half=half,
        kind=headers["kind"],
        api=headers["api"],
        query=headers["query"],
        program=program,
        culprit=headers.get("culprit"),
        call=int(headers["call"]) if "call" in headers else None,
        second=headers.get("second"),
        path=headers.get("path"),
        twin=headers.get("twin") == "yes",
        style="mixed" if functions and http else "requests" if http else "function",
        chosen=(name, value) if name else None,
        answers=tuple(_answer(text) for key, text in section.listed if key == "answer"),
        amendments=tuple(_amendment(text) for key, text in section.listed if key == "amend"),
    )


def _answer(text: str) -> CannedReply:
    """`GET /films/popular 503 {"message": "later"}`."""
    method, path, status, body = text.split(" ", 3)
    return CannedReply(RequestPattern.read(f"{method} {path}"), int(status), json.loads(body))


def _amendment(text: str) -> Amendment:
    """`GET /films/\\d+ ["runtime"] "two hours"`, or `removed` in place of the value."""
    method, path, place, value = text.split(" ", 3)
    values = () if value == "removed" else (json.loads(value),)
    return Amendment(RequestPattern.read(f"{method} {path}"), path_steps(place), values)
