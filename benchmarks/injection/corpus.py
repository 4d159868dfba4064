"""The corpus of programs that fail by themselves, as a model might write them, with the call to blame.

Attribution is measured with it. To blame is, for a value that is missing, empty or of the wrong type, the call whose
response it is in; for a call that the service refuses because of an argument, that call; for an identifier of the wrong
kind of thing, the call that it was taken from; for a 5xx, the call that got it; for all else nobody but the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from benchmarks.injection.replies import Amendment, CannedReply, RequestPattern, path_steps
from sandbox import CallRecord

__all__ = ["DATA", "FailingProgram", "Half", "failing_programs"]

Half = Literal["seen", "held"]
"""The half to look at while rules are worked on, and the half for the figures at the end."""

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class FailingProgram:
    """A program that fails, and why.

    `culprit` is the tool of the call to blame, `call` the index of that call among those of the run; None when it is
    the program's own fault. `path` is where in the culprit's response the bad value is, or would be:
    `["results"][0]["title"]`. `twin`: the same value occurs in another response, too, where it does not come from.
    `chosen` names an argument of the culprit's call and its value where calls go side by side, so that their order is
    not certain. `answers` and `amendments` are what the service says other than it would.
    """

    name: str
    half: Half
    kind: str
    api: str
    program: str
    culprit: str | None = None
    call: int | None = None
    path: str | None = None
    twin: bool = False
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


@cache
def failing_programs(half: Half | None = None) -> tuple[FailingProgram, ...]:
    """All cases in the order of their files, or those of one half."""
    if half is None:
        return (*failing_programs("seen"), *failing_programs("held"))
    return tuple(_read(half, record) for record in yaml.safe_load((DATA / f"{half}.yaml").read_text("utf-8")))


def _read(half: Half, record: Mapping[str, Any]) -> FailingProgram:
    answers = tuple(
        CannedReply(RequestPattern.read(answer["request"]), answer["status"], answer["body"])
        for answer in record.get("answers", ())
    )
    amendments = tuple(
        Amendment(
            RequestPattern.read(change["request"]),
            path_steps(change["place"]),
            (change["value"],) if "value" in change else (),
        )
        for change in record.get("amendments", ())
    )
    chosen = tuple(record["chosen"]) if "chosen" in record else None
    return FailingProgram(half=half, **{**record, "answers": answers, "amendments": amendments, "chosen": chosen})
