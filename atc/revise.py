"""Write one program, run it, and revise it: the modes `attribute`, `naive` and `none`.

Eq. 1 of the paper writes the program from the tools' protocols. Eq. 2 revises it from what went wrong and the
documentation of the tool that the failure was attributed to. A help may look at a program before its run, and at an
answer after it; without one, a program runs as it was written, and its first good output is the answer.

Source: ATC paper (arXiv:2405.16533), section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from atc.diagnosis.provenance import failed
from atc.events import ModelWaiting
from atc.evidence import judge
from atc.fault import Attribution, Fault, Stage
from atc.help import Reject, Rewrite
from atc.models import Completion, Message, Usage
from atc.modes import Mode
from atc.program.source import extract, note_beside, renamed, without_fence
from atc.prompting import PREFILL, Offer, fill, requests_tools
from atc.query import Query
from atc.session import NO_ATTRIBUTION, SolveSession, TryEnded
from atc.solution import Attempt, Status
from protocols.quoting import one_line
from sandbox import Run

if TYPE_CHECKING:
    from atc.write_gate import WriteGate

__all__ = ["ATTRIBUTE", "NAIVE", "NONE"]

_MAX_NOTE = 300
"""Characters of an answer without a program that its fault repeats."""


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What speaks against a run; `answer` stands for the output of one that wrote and printed nothing."""

    fault: Fault | None
    unhealthy: str
    answer: str

    @property
    def is_answer(self) -> bool:
        return self.fault is None and not self.unhealthy


def revise(query: Query, offer: Offer, session: SolveSession, *, naive: bool = False) -> str | None:
    """Write and revise until there is an answer; None where the output of the last run is it.

    Args:
        naive: Tell a revision the error text alone.
    Raises: TryEnded, ModelError, KeyboardInterrupt.
    """
    return _Loop(query, offer, session, naive).run()


ATTRIBUTE = Mode(revise, revises=True, helped=True)
"""Tell a revision which tool is to blame, with its documentation."""
NAIVE = Mode(partial(revise, naive=True), revises=True)
"""Tell a revision the error text alone."""
NONE = Mode(revise, revises=True, reflections=False)
"""Write one program, and revise nothing."""


class _Loop:
    """One try; what has happened in it is `session.attempts`."""

    def __init__(self, query: Query, offer: Offer, session: SolveSession, naive: bool) -> None:
        self.query = query
        self.offer = offer
        self.session = session
        self.naive = naive
        self.text = self.note = ""

    @property
    def attempt(self) -> partial[Attempt]:
        """Makes an attempt, with what the model said beside its last program."""
        return partial(Attempt, note=self.note)

    @property
    def revisions(self) -> int:
        """Programs that the model wrote in this try; those that were put right without it are not counted."""
        return sum(not attempt.mended for attempt in self.session.attempts)

    @property
    def exhausted(self) -> bool:
        return self.revisions > self.session.settings.max_reflections

    def run(self) -> str | None:
        """As `revise`."""
        session = self.session
        session.sandbox.prepare()
        while True:
            written = self.reviewed(*self.write())
            if written is None:
                last = session.attempts[-1].fault
                if self.exhausted and last is not None:
                    raise _ended("failed", last)
                continue
            program, diff = written
            run, verdict = self.tried(program, diff)
            if verdict.is_answer:
                session.record(self.attempt(program, "done", run, None, None, diff))
                return verdict.answer or None
            fault = verdict.fault or Fault("run", "APIError", verdict.unhealthy)
            self.blame(self.attempt(program, fault.stage, run, fault, None, diff))
            if verdict.unhealthy:
                raise TryEnded("api_error", "APIError", verdict.unhealthy)
            if self.exhausted:
                outcomes: dict[str, Status] = {"limit": "limit", "refused": "refused"}
                raise _ended(outcomes.get(run.outcome if run is not None else "", "failed"), fault)
            if session.journal is not None and run is not None:
                session.journal.over()
            session.sandbox.prepare()

    # The run

    def tried(self, program: str, diff: tuple[str, ...]) -> tuple[Run | None, _Verdict]:
        """Run a program; with a gate once more, to send the writes that the first run planned.

        Raises: TryEnded: A write was refused, or the plan was not confirmed. KeyboardInterrupt.
        """
        gate = self.session.gate
        if gate is None or not program or not gate.resumes(program):
            run = self.executed(program, diff)
            verdict = self.judged(program, run)
            if gate is None or run is None or not verdict.is_answer:
                return run, verdict
            if not self.approved(gate, self.attempt(program, "run", run, None, None, diff)):
                return run, verdict
        with gate.executing():
            run = self.executed(program, diff)
        return run, self.judged(program, run)

    def approved(self, gate: WriteGate, attempt: Attempt) -> bool:
        """Whether a program is to be run again, to send what it planned. Raises: TryEnded: Nobody confirms it."""
        assert attempt.run is not None, "only a run has writes"
        try:
            approved = gate.approves(attempt.program, attempt.run, self.session.number)
        except KeyboardInterrupt:
            self.session.record(attempt)
            raise
        if gate.declined:
            fault = Fault("run", "NotConfirmed", gate.declined)
            self.session.fail(replace(attempt, fault=fault, attribution=NO_ATTRIBUTION))
            raise TryEnded("refused", "NotConfirmed", gate.declined)
        return approved

    def executed(self, program: str, diff: tuple[str, ...]) -> Run | None:
        """The run of a program; None without one. Raises: TryEnded: A write was refused. KeyboardInterrupt."""
        run = self.session.execute(program) if program else None
        if run is not None and run.outcome == "interrupted":
            self.session.record(self.attempt(program, "run", run, None, None, diff))
            raise KeyboardInterrupt
        if run is not None and (call := run.refused_write) is not None:
            # The solve ends, whatever the program made of it.
            fault = judge(program, run)
            if fault is None or run.error is None or run.error.call != call.index:
                fault = Fault("run", "ToolError", call.error or "", call.line)
            attribution = Attribution(call.tool, call.index, None, "call", (call.tool,) if call.tool else ())
            self.session.fail(self.attempt(program, "run", run, fault, attribution, diff))
            raise TryEnded("refused", fault.type, call.error or "")
        return run

    def judged(self, program: str, run: Run | None) -> _Verdict:
        """Whether a run is an answer, and what speaks against it."""
        protocol, settings = self.offer.graph.protocol, self.session.settings
        fault, answer = judge(program, run), ""
        if fault is not None and run is None and self.note:
            words = one_line(self.note, _MAX_NOTE)
            fault = replace(fault, message=f"{fault.message}; it held only this: {words}")
        elif fault is not None and run is None and requests_tools(self.text):
            fault = replace(fault, message=f"{fault.message}, of the functions above: there are no more to show")
        if fault is not None and run is not None:
            from atc.evidence.silence import accepted_writes, found_nothing

            answer = accepted_writes(run, protocol)
            if not answer and found_nothing(program, run) and (not self.offer.profile.help or self.exhausted):
                answer = "none"
            fault = None if answer else fault
        unhealthy = ""
        if run is not None and any(failed(call) or isinstance(call.response, str) for call in run.calls):
            from atc.evidence.api_health import api_health_problem, silent_service

            stopped, signed = run.outcome == "limit", settings.signed
            unhealthy = silent_service(run) or api_health_problem(protocol, run.calls, stopped=stopped, signed=signed)
        if run is not None and (answer or fault is None):  # text of ours is no answer of the type asked for
            fault = settings.misfit(run.stdout)
        return _Verdict(fault, unhealthy, answer)

    def blame(self, attempt: Attempt) -> None:
        """Attribute a fault, and record the attempt in any case, with what a revision is told beside the fault."""
        fault, run = attempt.fault, attempt.run
        assert fault is not None, "only a fault has a culprit"
        from atc.diagnosis.attribution import attribute as attribute_fault
        from atc.diagnosis.runtime_values import run_facts

        try:
            attribution = attribute_fault(fault, run, self.offer.graph)
            details = tuple(run_facts(fault, attribution, attempt.program, run))
        except BaseException:
            self.session.record(attempt)
            raise
        self.session.fail(replace(attempt, attribution=attribution, details=details))

    # Before the run

    def reviewed(self, program: str, cut_at: int | None) -> tuple[str, tuple[str, ...]] | None:
        """The program to run, and what was put right in it; None where the model is to write another one first.

        The last program is run in any case, but for one that is certain to do harm.
        """
        session = self.session
        diff: tuple[str, ...] = ()
        if cut_at is not None:
            message = f"the answer was cut at {cut_at} tokens; write a shorter program"
            if not self.text.strip():
                message = f"{cut_at} tokens went into thoughts before an answer; think less (output_tokens: more room)"
            fault = Fault("write", "TokenLimit", message)
            session.fail(self.attempt(program, "write", None, fault, NO_ATTRIBUTION))
            return None
        while program:
            review = session.help.review(program, self.query, self.offer, session.attempts)
            if isinstance(review, Rewrite):
                session.fail(self.attempt(program, review.fault.stage, None, review.fault, review.attribution, diff))
                from atc.program.source import line_diff

                program, diff = review.program, line_diff(program, review.program)
                session.wrote(program, Usage(), diff)
            elif isinstance(review, Reject) and (review.certain or self.revisions < session.settings.max_reflections):
                for tool in review.doubtful_tools:
                    session.sandbox.doubts.tell(tool)
                stage: Stage | Literal["done"] = review.fault.stage
                session.fail(self.attempt(program, stage, None, review.fault, review.attribution, diff, review.details))
                return None
            else:
                break
        return program, diff

    # The model

    def write(self) -> tuple[str, int | None]:
        """Ask for the next program; empty when the model's answer holds none. Beside it, the tokens that cut it."""
        session, attempts = self.session, self.session.attempts
        session.emit(ModelWaiting(session.number))
        messages = session.help.next_prompt(self.query, self.offer, attempts) if attempts else None
        program, cut_at, usage = self.ask(messages or self.conversation())
        if not program and cut_at is None and (names := self.offer.requested(self.text)):
            self.offer = self.offer.showing(names)
            program, cut_at, further = self.ask(self.conversation())
            usage += further
        if program:
            session.wrote(program, usage)
        return program, cut_at

    def conversation(self) -> list[Message]:
        """The first prompt, with the attempts of this try behind it."""
        if not self.session.attempts:
            return self.offer.messages()
        from atc.prompting.conversation import conversation

        return conversation(self.offer, self.session.attempts, naive=self.naive)

    def ask(self, messages: Sequence[Message]) -> tuple[str, int | None, Usage]:
        """One program, the tokens at which it was cut, if it was, and what it cost.

        An answer that is cut at the token limit is continued once.
        """
        profile = self.offer.profile
        completion = self.complete(messages, "")
        text, usage, cut_at = completion.text, completion.usage, None
        if completion.finish == "length":
            limit = profile.output_tokens
            from atc.models.repetition import repetition_start

            if text.strip() and repetition_start(text) is None:
                completion = self.complete(messages, text)
                usage, limit = usage + completion.usage, 2 * limit
                text += completion.text if profile.prefill else without_fence(text, completion.text)
            if completion.finish == "length":
                cut_at = limit
        self.text = text
        self.note = ""
        if requests_tools(text):
            return "", cut_at, usage
        program = renamed(extract(text, last=not profile.prefill), self.offer.graph.protocol.aliases)
        if not profile.prefill:
            self.note = note_beside(text) if program else text.strip()
        return program, cut_at, usage

    def complete(self, messages: Sequence[Message], text: str) -> Completion:
        """What the model writes after `text`, the first part of its answer."""
        profile = self.offer.profile
        stop: tuple[str, ...] = ()
        if profile.prefill:
            messages, stop = [*messages, Message("assistant", PREFILL + text)], ("\n```",)
        elif text:
            further = fill("continue").strip()
            messages = [*messages, Message("assistant", text), Message("user", further)]
        return self.session.complete(messages, stop=stop, max_tokens=profile.output_tokens)


def _ended(status: Status, fault: Fault) -> TryEnded:
    """The end of a try with its last fault."""
    return TryEnded(status, fault.type, one_line(f"{fault.type}: {fault.message}" if fault.message else fault.type))
