"""Write one program, run it, and revise it: the modes `attribute`, `naive` and `none`.

Eq. 1 of the paper writes the program from the tools' protocols. Eq. 2 revises it from what went wrong and the
documentation of the tool that the failure was attributed to.

Source: ATC paper (arXiv:2405.16533), section 3.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from atc.assist.check import Diagnostic
from atc.assist.check.precheck import Precheck, fault_of, further_problems
from atc.assist.rules import describe_silent_writes
from atc.assist.rules.agreement import SecondAnswer, agree, values_of, writes_of
from atc.assist.rules.write_reasons import intent_mismatch, missing_names
from atc.assist.unused_reads import without_unused_reads
from atc.diagnosis.api_health import api_health_problem
from atc.diagnosis.attribution import attribute as attribute_fault
from atc.diagnosis.runtime_values import run_facts
from atc.events import FaultFound, ModelWaiting, ProgramWritten
from atc.evidence import Finding, judge, made_writes
from atc.fault import Attribution, Fault, Stage
from atc.models import Completion, Message, Usage
from atc.models.repetition import repetition_start
from atc.modes.rules import TryEnded
from atc.modes.toolbox import Toolbox
from atc.program.edits import line_diff
from atc.program.source import called, calls_of, extract, parsed, renamed, same, without_fence
from atc.prompting import templates
from atc.prompting.conversation import PREFILL, Conversation
from atc.resume import refused_write
from atc.solution import Attempt, Status
from atc.write_gate import WriteGate
from protocols.dataflow.operations import looks_like_read
from protocols.errors import LimitReached
from sandbox import CallRecord, Run
from sandbox.sandbox import snippet

__all__ = ["attribute", "naive", "none"]

_UNSUPPORTED = frozenset({"NoCall", "NoOutput", "NoProgram"})
"""Faults of answers that rest on nothing, however often they are given."""

_FURTHER_PROGRAMS = 3
"""Programs of a second look at an answer."""

_WITHOUT_DATA = (
    _UNSUPPORTED | {"WrongType"} | {"NoEvidence", "ErrorPrinted", "ErrorSwallowed", "NothingFound", "NothingNew"}
)
"""Faults of answers that are worse than none."""


def attribute(toolbox: Toolbox) -> str | None:
    """Tell a revision which tool is to blame, with its documentation. Raises: TryEnded, ModelError."""
    return _Revision(toolbox).run()


def naive(toolbox: Toolbox) -> str | None:
    """Tell a revision the error text alone. Raises: TryEnded, ModelError."""
    return _Revision(toolbox, naive=True).run()


def none(toolbox: Toolbox) -> str | None:
    """Write one program, and revise nothing. Raises: TryEnded, ModelError."""
    return _Revision(toolbox).run()


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What speaks against a run; `answer` stands for the output of one that wrote and printed nothing."""

    fault: Fault | None
    finding: Finding | None
    unhealthy: str
    answer: str

    @property
    def is_answer(self) -> bool:
        return self.fault is None and not self.unhealthy


class _Revision:
    """The state of one try."""

    def __init__(self, toolbox: Toolbox, naive: bool = False) -> None:
        self.toolbox = toolbox
        self.profile = toolbox.profile
        self.naive = naive
        self.conversation = Conversation(toolbox.opening, toolbox.graph, self.profile)
        self.precheck = Precheck(
            toolbox.graph,
            toolbox.contract,
            toolbox.opening.tools,
            toolbox.callable_tools,
            toolbox.question,
            toolbox.opening.plans,
            toolbox.elsewhere,
        )
        self.challenged: set[str] = set()
        self.challenged_answers: list[str] = []
        self.restarted = False
        self.diff: tuple[str, ...] = ()
        self.cut_at: int | None = None
        self.write_challenged = False

    @property
    def revisions(self) -> int:
        """Programs that the model wrote in this try; those that were fixed without it are not counted."""
        return sum(not attempt.mended for attempt in self.toolbox.attempts[self.toolbox.earlier :])

    @property
    def exhausted(self) -> bool:
        return self.revisions > self.toolbox.max_reflections

    def run(self) -> str | None:
        """Write and revise until there is an answer; None where the output of the last run is it. Raises: TryEnded."""
        toolbox = self.toolbox
        toolbox.sandbox.prepare()
        while True:
            program = self.checked(self.write())
            if program is None:
                if self.exhausted and (last := toolbox.attempts[-1].fault) is not None:
                    if self.restore_answer():
                        return None
                    raise TryEnded("failed", last.type, f"{last.type}: {last.message}")
                continue
            program = self.without_unused_reads(program)
            run, verdict = self.tried(program)
            if verdict.is_answer:
                self.add_attempt(program, "done", run)
                if toolbox.effort == "high" and run is not None:
                    try:
                        self.look_again(run)
                    except LimitReached as reached:  # the answer is there
                        toolbox.look_ended = str(reached)
                return verdict.answer or None
            fault, finding = verdict.fault or Fault("run", "APIError", verdict.unhealthy), verdict.finding
            attribution = self.blame(program, run, fault)
            if verdict.unhealthy:
                raise TryEnded("api_error", "APIError", verdict.unhealthy)
            if self.exhausted:
                ended: Status = "limit" if run is not None and run.outcome == "limit" else "failed"
                if run is not None and run.outcome == "refused":
                    ended = "refused"
                elif self.restore_answer():
                    return None
                raise TryEnded(ended, fault.type, f"{fault.type}: {fault.message}" if fault.message else fault.type)
            if toolbox.journal is not None and run is not None:
                toolbox.journal.over()
            toolbox.sandbox.prepare()
            self.reflect(program, run, fault, attribution, finding)

    def tried(self, program: str) -> tuple[Run | None, _Verdict]:
        """Run a program; with a gate once more, to send the writes that the first run planned.

        Raises: TryEnded: A write was refused, or the plan was not confirmed. KeyboardInterrupt.
        """
        gate = self.toolbox.gate
        if gate is None or not program or not gate.resumes(program):
            run = self.executed(program)
            verdict = self.judged(program, run)
            if gate is None or run is None or not verdict.is_answer:
                return run, verdict
            if not self.approved(gate, program, run):
                return run, verdict
        with gate.executing():
            run = self.executed(program)
        return run, self.judged(program, run)

    def approved(self, gate: WriteGate, program: str, run: Run) -> bool:
        """Whether a program is to be run again, to send what it planned. Raises: TryEnded: Nobody confirms it."""
        try:
            approved = gate.approves(program, run, self.toolbox.number)
        except KeyboardInterrupt:
            self.add_attempt(program, "run", run)
            raise
        if gate.declined:
            self.fail(program, Fault("run", "NotConfirmed", gate.declined), Attribution(None, None, None, "none"), run)
            raise TryEnded("refused", "NotConfirmed", gate.declined)
        return approved

    def executed(self, program: str) -> Run | None:
        """The run of a program; None without one. Raises: TryEnded: A write was refused. KeyboardInterrupt."""
        run = self.toolbox.execute(program) if program else None
        if run is not None and run.outcome == "interrupted":
            self.add_attempt(program, "run", run)
            raise KeyboardInterrupt
        if run is not None and (call := refused_write(run)) is not None:
            self.refuse(program, run, call)
        return run

    def judged(self, program: str, run: Run | None) -> _Verdict:
        """Whether a run is an answer, and what speaks against it."""
        toolbox = self.toolbox
        fault, answer = judge(program, run), ""
        if fault is not None and run is not None:
            answer = describe_silent_writes(run, toolbox.question, toolbox.protocol) or ""
            fault = None if answer else fault
        stopped = run is not None and run.outcome == "limit"
        calls = run.calls if run is not None else ()
        unhealthy = api_health_problem(toolbox.protocol, calls, stopped=stopped, signed=toolbox.signed)
        if run is not None and (answer or fault is None):  # text of ours is no answer of the type asked for
            fault = toolbox.misfit(run.stdout)
        finding = self.challenge(program, run) if fault is None and run is not None else None
        if finding is not None:
            fault = finding.fault()
        return _Verdict(fault, finding, unhealthy, answer)

    def look_again(self, run: Run) -> None:
        """Sample further programs from the first prompt, and compare what they answer, or what they write.

        Nothing new is written: a write that the answer made is answered from the journal, any other one is refused. For
        an answer that only reads, a program that would write is not run.

        Source: self-consistency (Wang et al., arXiv:2203.11171), on values of replies.
        """
        toolbox, made = self.toolbox, writes_of(run)
        self.conversation = Conversation(toolbox.opening, toolbox.graph, self.profile)
        for _ in range(_FURTHER_PROGRAMS):
            toolbox.emit(ModelWaiting(toolbox.number))
            program, _usage = self.ask(sampled=True)
            if program and self.profile.check and (diagnostics := self.precheck.diagnose(program)):
                program = self.precheck.fixed(program, diagnostics) or "" if self.profile.autofix else ""
            tools = calls_of(parsed(program) or ast.Module([], []), toolbox.callable_tools)
            if not tools or (not made and any(toolbox.protocol.tool(name).writes for _, name in tools)):
                continue
            further_run = toolbox.run_aside(program)
            refused = refused_write(further_run)
            if made and refused is not None:
                other = f"{refused.tool} with {refused.arguments}"
                toolbox.second_answers.append(SecondAnswer(other, (), False))
            elif judge(program, further_run) is None or (made and further_run.outcome == "ok"):
                values = tuple(sorted(writes_of(further_run) if made else values_of(further_run)))
                agrees = writes_of(further_run) == made if made else agree(run, further_run)
                toolbox.second_answers.append(SecondAnswer(further_run.stdout.strip(), values, agrees))

    def restore_answer(self) -> bool:
        """Take the last doubted answer, where no later program answered; it then comes last, and stays doubtful.

        False without one, and where a later program wrote.
        """
        attempts = self.toolbox.attempts
        for place in range(len(attempts) - 1, self.toolbox.earlier - 1, -1):
            attempt = attempts[place]
            if attempt.run is not None and made_writes(attempt.run):
                return False
            fault = attempt.fault
            if fault is not None and fault.stage == "answer" and fault.type not in _WITHOUT_DATA:
                attempts.append(replace(attempts.pop(place), stage="done", fault=None, attribution=None))
                return True
        return False

    def blame(self, program: str, run: Run | None, fault: Fault) -> Attribution:
        """Attribute a fault, and record the attempt in any case."""
        try:
            attribution = attribute_fault(fault, run, self.toolbox.graph)
        except BaseException:
            self.add_attempt(program, fault.stage, run, fault)
            raise
        self.fail(program, fault, attribution, run)
        return attribution

    def fail(self, program: str, fault: Fault, attribution: Attribution, run: Run | None = None) -> None:
        """Record the attempt that has just failed, and say so."""
        self.add_attempt(program, fault.stage, run, fault, attribution)
        self.toolbox.emit(FaultFound(len(self.toolbox.attempts), fault, attribution))

    def autofixed(self, program: str, fixed: str) -> None:
        """Take a program that was fixed without the model."""
        self.diff = line_diff(program, fixed)
        self.toolbox.emit(ProgramWritten(self.toolbox.number, fixed, Usage(), self.diff))

    def add_attempt(
        self,
        program: str,
        stage: Stage | Literal["done"],
        run: Run | None,
        fault: Fault | None = None,
        attribution: Attribution | None = None,
    ) -> None:
        self.toolbox.attempts.append(Attempt(program, stage, run, fault, attribution, self.diff))

    # Before the run

    def checked(self, program: str) -> str | None:
        """The program to run: itself or a fixed one; None where the model is to write another one first.

        The last program is run in any case, but for one that would write to a hallucinated identifier.
        """
        toolbox = self.toolbox
        self.conversation.offer(called(program, toolbox.callable_tools))
        if self.cut_at is not None:
            message = f"the answer was cut at {self.cut_at} tokens; write a shorter program"
            fault, attribution = Fault("write", "TokenLimit", message), Attribution(None, None, None, "none")
            self.fail(program, fault, attribution)
            self.reflect(program, None, fault, attribution, None)
            return None
        diagnostics = self.precheck.diagnose(program) if program and self.profile.check else []
        if program and not diagnostics:
            diagnostics = self.unfounded_write(program)
        if not diagnostics:
            return program
        better = self.new(self.precheck.fixed(program, diagnostics)) if self.profile.autofix else None
        # What a program takes as run before it began is put there, whatever else is wrong with it.
        completed = None
        if better is None and self.profile.autofix:
            completed = self.new(self.precheck.completed(program, diagnostics))
        last = self.revisions >= toolbox.max_reflections or self.precheck.all_reported(diagnostics)
        if better is None and completed is None and last and not self.precheck.any_harmful(diagnostics):
            return program
        fault, attribution = fault_of(program, diagnostics)
        self.fail(program, fault, attribution)
        if (fixed := better or completed) is not None:
            self.conversation.wrote(fixed)
            self.autofixed(program, fixed)
            return self.checked(fixed) if completed is not None else fixed
        self.precheck.mark_reported(diagnostics)
        for diagnostic in diagnostics:
            if diagnostic.tool is not None and diagnostic.rule in ("missing-argument", "wrong-value"):
                self.toolbox.sandbox.doubts.tell(diagnostic.tool)
        self.conversation.failed(program, fault, attribution.tool, further_problems(diagnostics))
        return None

    def without_unused_reads(self, program: str) -> str:
        """The program to run, without reads that nothing uses; those that the question speaks of stay."""
        toolbox = self.toolbox
        if not self.profile.autofix or not program:
            return program
        lean, left_out = without_unused_reads(program, toolbox.protocol, toolbox.callable_tools, toolbox.question)
        if not left_out or self.new(lean) is None:
            return program
        line, name = left_out[0]
        lines = ", ".join(str(call.line) for call in left_out)
        message = f"nothing uses {name}(…); left out: line{'s' * (len(left_out) > 1)} {lines}"
        if self.diff:  # it was fixed before, and both are one change
            program = toolbox.attempts[-1].program
        else:
            fault = Fault("check", "UnusedRead", message, line, snippet(program, line))
            self.fail(program, fault, Attribution(name, None, None, "check", (name,)))
        self.conversation.wrote(lean)
        self.autofixed(program, lean)
        return lean

    def unfounded_write(self, program: str) -> list[Diagnostic]:
        """Why a program that writes at a real service should not; reported once."""
        toolbox = self.toolbox
        if not toolbox.guarded or self.write_challenged:
            return []
        calls = calls_of(parsed(program) or ast.Module([], []), toolbox.callable_tools)
        tools = [(call.lineno, toolbox.protocol.tool(name)) for call, name in calls]
        writing = [(line, tool) for line, tool in tools if tool.writes and not looks_like_read(tool)]
        problems = [
            (line, tool, f"{tool.name} writes, and {why}")
            for line, tool in writing
            if (why := intent_mismatch(toolbox.question, tool, toolbox.protocol))
        ]
        if writing and not problems and (names := missing_names(toolbox.question, program)):
            quoted = ", ".join(f'"{name}"' for name in names)
            text = f"the program writes and does not name {quoted}; look for it by that, and write to what was found"
            problems = [(*writing[0], text)]
        self.write_challenged = bool(problems)
        return [Diagnostic(line, 0, "unsaid-name", text, tool.name) for line, tool, text in problems[:1]]

    # After the run

    def refuse(self, program: str, run: Run, call: CallRecord) -> None:
        """End a solve whose program may not write, whatever the program made of it. Raises: TryEnded."""
        fault = judge(program, run)
        if fault is None or run.error is None or run.error.call != call.index:
            fault = Fault("run", "ToolError", call.error or "", call.line)
        attribution = Attribution(call.tool, call.index, None, "call", (call.tool,) if call.tool else ())
        self.add_attempt(program, "run", run, fault, attribution)
        self.toolbox.emit(FaultFound(len(self.toolbox.attempts), fault, attribution))
        raise TryEnded("refused", fault.type, call.error or "")

    def challenge(self, program: str, run: Run) -> Finding | None:
        """The finding for which an answer is asked for again; None where the answer is accepted.

        Each kind of finding is reported once, and an answer that the model confirms is accepted. A program that wrote
        is not followed by another one.
        """
        answer = run.stdout.strip()
        spent = self.revisions >= self.toolbox.max_reflections
        if not self.profile.challenge or spent or answer in self.challenged_answers or made_writes(run):
            return None
        findings = (finding for finding in self.toolbox.findings(program, run) if finding.kind not in self.challenged)
        finding = next(findings, None)
        if finding is not None:
            self.challenged.add(finding.kind)
            self.challenged_answers.append(answer)
        return finding

    def reflect(
        self, program: str, run: Run | None, fault: Fault, attribution: Attribution, finding: Finding | None
    ) -> None:
        """Tell the model what went wrong, and what is known about it (Eq. 2)."""
        if finding is not None:
            about = run.calls[finding.call].tool if run is not None and finding.call is not None else None
            self.conversation.challenged(program, fault, about)
            return
        if self.naive:
            self.conversation.naive(fault)
            return
        rejected = run.calls[run.error.call].tool if run and run.error and run.error.call is not None else None
        tool = (rejected or attribution.tool) if attribution.tool else None
        self.conversation.failed(program, fault, tool, run_facts(fault, attribution, program, run))

    # The model

    def write(self) -> str:
        """Ask for the next program; empty when the model's answer holds none.

        A small model tends to repeat what it reads, its own failed program most of all. Where it does so although it
        was told what is wrong, it is asked once more with the facts but without the program, and then for a sample.
        """
        toolbox = self.toolbox
        toolbox.emit(ModelWaiting(toolbox.number))
        self.diff = ()
        program, usage = self.ask()
        repeated = bool(program) and self.is_tried(program) and not self.confirms()
        if repeated and not self.restarted and self.profile.restart:
            self.restarted = True
            if self.conversation.facts:
                self.conversation.restart()
                program, further_usage = self.ask()
                usage += further_usage
            if program and self.is_tried(program):  # any other program is worth more than the likeliest one
                program, further_usage = self.ask(sampled=True)
                usage += further_usage
        self.conversation.wrote(program)
        if program:
            toolbox.emit(ProgramWritten(toolbox.number, program, usage))
        return program

    def confirms(self) -> bool:
        """Whether the last program was answered with nothing but a challenge, and the answer rests on the API."""
        attempts = self.toolbox.attempts
        fault = attempts[-1].fault if attempts else None
        return fault is not None and fault.stage == "answer" and fault.type not in _UNSUPPORTED

    def ask(self, sampled: bool = False) -> tuple[str, Usage]:
        """One program and what it cost; `sampled`: with a seed, instead of the likeliest one.

        An answer that is cut at the token limit is continued once. `cut_at` is set where that is not enough.
        """
        messages = self.conversation.messages
        completion = self.complete(messages, "", sampled)
        text, usage = completion.text, completion.usage
        self.cut_at = None
        if completion.finish == "length":
            limit = self.profile.output_tokens
            if repetition_start(text) is None:
                completion = self.complete(messages, text, sampled)
                usage, limit = usage + completion.usage, 2 * limit
                text += completion.text if self.profile.prefill else without_fence(text, completion.text)
            if completion.finish == "length":
                self.cut_at = limit
        return renamed(extract(text, last=not self.profile.prefill), self.toolbox.protocol.aliases), usage

    def complete(self, messages: Sequence[Message], text: str, sampled: bool) -> Completion:
        """What the model writes after `text`, the first part of its answer."""
        toolbox, stop = self.toolbox, ("\n```",) if self.profile.prefill else ()
        if self.profile.prefill:
            messages = [*messages, Message("assistant", PREFILL + text)]
        elif text:
            further = templates.render("continue").strip()
            messages = [*messages, Message("assistant", text), Message("user", further)]
        return toolbox.complete(messages, stop=stop, max_tokens=self.profile.output_tokens, sampled=sampled)

    def new(self, program: str | None) -> str | None:
        """The program, unless it was tried before."""
        return None if program is None or self.is_tried(program) else program

    def is_tried(self, program: str) -> bool:
        """Whether a program was tried before, comments and layout aside."""
        return any(same(program, attempt.program) for attempt in self.toolbox.attempts)
