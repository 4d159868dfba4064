"""The help for models of a few billion parameters: plan sketches, checks with autofix, doubts, and short revisions.

Each part can be turned off, to measure what it is worth: `SmallHelp(planner=False)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from atc.assist.check.precheck import Precheck, fault_of, further_problems
from atc.assist.language.intent import asks_the_same
from atc.assist.language.question import Question
from atc.assist.leaning import leanings
from atc.assist.likely_tools import plans_for
from atc.assist.revision import revision
from atc.assist.rules import readings
from atc.evidence import Finding
from atc.help import Accept, Reject, Review, Rewrite
from atc.models import Message
from atc.program.plan import Plan, sketch
from atc.program.source import same
from atc.prompting import Offer, fill
from atc.query import Query
from atc.solution import Attempt
from protocols.dataflow.graph import ProtocolGraph
from protocols.errors import DoubtfulCall
from sandbox.records import Run

__all__ = ["SmallHelp", "plans_of", "question_of"]


@lru_cache(maxsize=64)
def question_of(query: Query) -> Question:
    """The question as English; in a chat it follows the last one that asks for something of its own."""
    own = (text for text in reversed(query.before) if not asks_the_same(text))
    before = next(own, query.before[-1] if query.before else "")
    return Question(query.text, query.context, before)


@lru_cache(maxsize=16)
def plans_of(query: Query, offer: Offer) -> tuple[Plan, ...]:
    """The likely plans for a question, from the data flow between the tools."""
    return plans_for(question_of(query), query.today, offer)


def _part(text: str) -> Any:
    """A part that can be turned off; `text` is the reference of `--without`."""
    return field(default=True, metadata={"part": text})


@dataclass(frozen=True, slots=True)
class SmallHelp:
    """As `atc.help.Help`."""

    check: bool = _part("check programs before they run")
    autofix: bool = _part("fix what is wrong where there is one way to do it")
    planner: bool = _part("show plan sketches: a few lines of a program from the data flow")
    focus: bool = _part("show a revision the functions that it needs, and not the whole conversation")

    def leanings(self, text: str, graph: ProtocolGraph, *, choosing: bool) -> Mapping[str, float]:
        """What the words of the question say for or against tools."""
        return leanings(Question(text), graph, choosing=choosing)

    def sections(self, query: Query, offer: Offer) -> Sequence[str]:
        """The plan sketches."""
        plans = plans_of(query, offer) if self.planner else ()
        if not plans:
            return ()
        sketches = "\n\n".join(sketch(plan.with_names) for plan in plans)
        return (fill("chains", chains=sketches).strip(),)

    def review(self, program: str, query: Query, offer: Offer, attempts: Sequence[Attempt]) -> Review:
        """What is wrong with a program in any case; put right where there is one way to do it."""
        plans = plans_of(query, offer) if self.planner else ()
        precheck = Precheck(offer, question_of(query), plans, _reported(attempts))
        diagnostics = precheck.diagnose(program) if self.check else []
        if not diagnostics:
            return Accept()
        fault, attribution = fault_of(program, diagnostics)
        if self.autofix:
            # What a program takes as run before it began is put there, whatever else is wrong with it.
            for fix in (precheck.fixed, precheck.completed):
                fixed = fix(program, diagnostics)
                if fixed is not None and not _is_tried(fixed, attempts):
                    return Rewrite(fixed, fault, attribution)
        harmful = precheck.any_harmful(diagnostics)
        if precheck.all_reported(diagnostics) and not harmful:
            return Accept()
        rules = ("missing-argument", "wrong-value")
        doubtful_tools = [entry.tool for entry in diagnostics if entry.tool is not None and entry.rule in rules]
        return Reject(fault, attribution, tuple(further_problems(diagnostics)), harmful, tuple(doubtful_tools))

    def doubts(self, program: str, run: Run, query: Query, offer: Offer) -> Sequence[Finding]:
        """What the question asks for and an answer does not give."""
        return readings(program, run, question_of(query), offer.graph)

    def next_prompt(self, query: Query, offer: Offer, attempts: Sequence[Attempt]) -> Sequence[Message] | None:
        """Nothing but the functions concerned, the last program and what is wrong with it."""
        return revision(offer, attempts) if self.focus else None


def _reported(attempts: Sequence[Attempt]) -> Iterator[str]:
    """The messages of diagnostics that the model was told before: the document may be the one that is wrong."""
    for attempt in attempts:
        if attempt.fault is not None and attempt.fault.stage == "check":
            yield attempt.fault.message.removesuffix(f"; {DoubtfulCall.REMEDY}")
            yield from (line.partition(": ")[2].removesuffix(f"; {DoubtfulCall.REMEDY}") for line in attempt.details)


def _is_tried(program: str, attempts: Sequence[Attempt]) -> bool:
    """Whether a program was tried before, comments and layout aside."""
    return any(same(program, attempt.program) for attempt in attempts)
