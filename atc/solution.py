"""The outcome of a solve: enough by itself to show what happened, without a log file."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal

from atc.costs import LimitName, dollars
from atc.diagnosis.provenance import ArgumentFlow, lookup
from atc.evidence import Finding
from atc.fault import Attribution, Fault, Stage
from atc.models.base import Usage
from protocols.quoting import visible
from sandbox.records import CallRecord, Run, Source

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from atc.program.choices import Choice
    from atc.search_tree import SearchNode
    from sandbox.egress.write_plan import WritePlan

    Value = TypeVar("Value", default=Any, covariant=True)  # a bare Solution is one of any type
else:
    from typing import TypeVar

    Value = TypeVar("Value", covariant=True)

__all__ = ["EXIT_CODES", "Attempt", "Evidence", "Solution", "Standing", "Status"]

Status = Literal["answered", "failed", "refused", "limit", "model_error", "api_error", "interrupted"]

Standing = Literal["supported", "qualified", "doubtful", "unsupported"]

EXIT_CODES: Mapping[Status, int] = {
    "answered": 0,
    "failed": 1,
    "refused": 3,
    "limit": 4,
    "model_error": 5,
    "api_error": 6,
    "interrupted": 130,
}


_BULLET = re.compile(r"^(?:\d+[.)]|[\s#>*_•-])+")
_QUALIFICATION = re.compile(r"(?:assumptions?|not possible)\W*:(?!\W*(?:none|nothing)\W*$)", re.IGNORECASE)
_WIDE = 120
"""Characters of an answer in `repr`."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One turn of the loop: a program, how it went, and who was to blame if it went wrong.

    In a mode that makes one call at a time, the program has a line for each call of a path, and `calls` those of them
    that are in no other attempt; its `run` has no provenance.

    `stage` is where it ended: "done", or the stage of its fault. `run` is None when the model wrote no program.
    `diff` is what was changed in the program of the attempt before without the model, as unified diff lines; it is
    empty for a program as the model wrote it. `details` is what a revision is told of it beside the fault. `note` is
    what the model said beside the program.
    """

    program: str
    stage: Stage | Literal["done"]
    run: Run | None
    fault: Fault | None
    attribution: Attribution | None
    diff: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    note: str = ""

    @property
    def mended(self) -> bool:
        """The program was put right without the model."""
        return bool(self.diff)

    @property
    def calls(self) -> tuple[CallRecord, ...]:
        """The calls of this attempt, oldest first."""
        return self.run.calls if self.run else ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """A place in a call's response that the answer rests on; see `sandbox.records.Source`.

    `said` is the text of the answer that is the value there; None where the answer was computed from it or decided by
    it.
    """

    call: int
    path: tuple[str | int, ...]
    how: Literal["exact", "made", "decided"]
    said: str | None


@dataclass(frozen=True, slots=True, repr=False)
class Solution(Generic[Value]):
    """All attempts at a question, with the answer of the last.

    `answer` is what the final program printed, stripped; None without an answer. `seconds` has total, model and run.
    `message` says in one line why there is no answer. `flow` says where each argument of the final attempt's calls came
    from. `abandoned` are the writes that earlier attempts made, or may have made, and that the final program did not
    repeat. `findings` are the reasons to doubt the answer, each also a warning. `unsupported` says that nothing of the
    answer rests on a reply. `tree` has every message of the model in a mode that makes one call at a time, in their
    order; it is empty in the other modes. `value` is the answer as the type that was asked for (`answer_type`), None
    where `answer` is None, and no part of the JSON.
    `write_plan` has the planned writes of the last program, and what became of each, with `writes="plan"`. `cost` is in
    US dollars, by the price table; None where the model has no price in it, or its endpoint does not count tokens.
    `limit` is the limit of the question that ended the solve, with the status "limit"; such a solve can go on.
    """

    query: str
    status: Status
    answer: str | None
    attempts: tuple[Attempt, ...]
    warnings: tuple[str, ...]
    usage: Usage
    seconds: Mapping[str, float]
    versions: Mapping[str, str]
    message: str = ""
    abandoned: tuple[CallRecord, ...] = ()
    flow: tuple[ArgumentFlow, ...] = ()
    findings: tuple[Finding, ...] = ()
    unsupported: bool = False
    tree: tuple[SearchNode, ...] = ()
    write_plan: WritePlan | None = None
    value: Value = None  # type: ignore[assignment] # None where there is no answer
    cost: float | None = None
    limit: LimitName | None = None

    def __repr__(self) -> str:
        """One line: the status, and the answer or the reason without one, shortened."""
        outcome = f"answer={self.answer!r}" if self.answer is not None else f"message={self.message!r}"
        outcome = outcome if len(outcome) <= _WIDE else f"{outcome[: _WIDE - 1]}…"
        counts = f"attempts={len(self.attempts)}, calls={len(self.calls)}"
        return f"<Solution {self.status}: {outcome}, {counts}>"

    def _repr_html_(self) -> str:
        """The notebook view: question, answer, program and calls, all escaped."""
        outcome = self.answer if self.answer is not None else f"{self.status}: {self.message}"
        calls = "".join(
            f"<li><code>{_escaped(call.tool or f'{call.method} {call.url}')}</code> "
            f"{call.status if call.status is not None else 'no reply'}</li>"
            for call in self.calls
        )
        program = _escaped(self.program.rstrip())
        summary = _escaped(self.standing or self.status)
        spent = f"{len(self.attempts)} attempt(s), {self.usage.prompt_tokens:,} tokens read, "
        spent += f"{self.usage.completion_tokens:,} written, {self.seconds.get('total', 0.0):.1f} s"
        spent += f", {dollars(self.cost)}" if self.cost is not None else ""
        return (
            f"<div><p><b>{_escaped(self.query)}</b></p>"
            f'<pre style="white-space: pre-wrap">{_escaped(outcome)}</pre>'
            f"<details><summary>{summary}: {spent}</summary><pre>{program}</pre><ol>{calls}</ol>"
            "</details></div>"
        )

    @property
    def standing(self) -> Standing | None:
        """How far the answer can be relied on; None without an answer.

        It is `unsupported` where nothing of it rests on a reply, `doubtful` where a finding speaks against it, and
        `qualified` where the model itself says that it assumed something, or that something was not possible.
        """
        if self.answer is None:
            return None
        if self.unsupported or self.findings:
            return "unsupported" if self.unsupported else "doubtful"
        return "qualified" if self.qualifications else "supported"

    @property
    def note(self) -> str:
        """What the model said beside the last program."""
        return self.attempts[-1].note if self.attempts else ""

    @property
    def qualifications(self) -> tuple[str, ...]:
        """The lines of the note that begin with `Assumption:` or `Not possible:`."""
        lines = (_BULLET.sub("", line).rstrip(" *_") for line in self.note.splitlines())
        return tuple(line for line in lines if _QUALIFICATION.match(line))

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The filters, orders and limits by which the last program chose what it printed."""
        from atc.program.choices import choices

        return choices(self.program)

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The places in the final attempt's responses that the answer rests on, nearest first."""
        final_run = self.attempts[-1].run if self.attempts else None
        printed = final_run.provenance.printed if final_run and final_run.provenance else ()
        return tuple(Evidence(source.call, source.path, source.how, self._quoted_text(source)) for source in printed)

    def _quoted_text(self, source: Source) -> str | None:
        """The value at a source, if it is a part of the answer."""
        value = lookup(self.calls[source.call].response, source.path) if source.how == "exact" else None
        text = str(value).strip() if isinstance(value, str | int | float) else ""
        return text if text and text in (self.answer or "") else None

    @property
    def program(self) -> str:
        """The last program of the model; empty without one."""
        return self.attempts[-1].program if self.attempts else ""

    @property
    def calls(self) -> tuple[CallRecord, ...]:
        """The calls of the final attempt."""
        return self.attempts[-1].calls if self.attempts else ()

    @property
    def reflections(self) -> int:
        """The number of revisions by the model."""
        return sum(not attempt.mended for attempt in self.attempts[1:])

    @property
    def exit_code(self) -> int:
        """The exit code of a command that ends with this solution; an unsupported answer counts as none."""
        return EXIT_CODES["failed"] if self.standing == "unsupported" else EXIT_CODES[self.status]

    def to_json(self) -> dict[str, object]:
        """Plain data for `json.dumps`; the keys are part of the interface."""
        return {
            "query": self.query,
            "status": self.status,
            "answer": self.answer,
            "standing": self.standing,
            "note": self.note,
            "message": self.message,
            "program": self.program,
            "calls": [asdict(call) for call in self.calls],
            "abandoned": [asdict(call) for call in self.abandoned],
            "flow": [asdict(flow) for flow in self.flow],
            "evidence": [asdict(source) for source in self.evidence],
            "choices": [asdict(choice) for choice in self.choices],
            "findings": [asdict(finding) for finding in self.findings],
            "attempts": [
                {
                    "program": attempt.program,
                    "stage": attempt.stage,
                    "run": _run(attempt.run),
                    "fault": asdict(attempt.fault) if attempt.fault else None,
                    "attribution": asdict(attempt.attribution) if attempt.attribution else None,
                    "mended": attempt.mended,
                    "diff": list(attempt.diff),
                    "details": list(attempt.details),
                    "note": attempt.note,
                    "calls": [asdict(call) for call in attempt.calls],
                }
                for attempt in self.attempts
            ],
            "write_plan": self.write_plan.to_json() if self.write_plan is not None else None,
            "tree": [asdict(node) for node in self.tree],
            "reflections": self.reflections,
            "warnings": list(self.warnings),
            "usage": self.usage.counts(),
            "cost": self.cost,
            "limit": self.limit,
            "seconds": dict(self.seconds),
            "versions": dict(self.versions),
        }


def _run(run: Run | None) -> dict[str, object] | None:
    """A run without its calls, which the attempt already lists."""
    if run is None:
        return None
    data = asdict(run)
    del data["calls"]
    return data


def _escaped(text: str) -> str:
    """Text for HTML, with signs in place of characters that act."""
    return html.escape(visible(text))
