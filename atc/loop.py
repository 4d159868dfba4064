"""The way of one question: a program from the model, its run, and on a failure whose fault it was and another program.

This is the paper's loop (arXiv:2405.16533): Eq. 1 writes the program from the tools' protocols, Eq. 2 revises it from
what went wrong and the documentation of the tool that the failure was attributed to.
"""

from __future__ import annotations

import ast
import platform
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Literal

from atc.check import Diagnostic
from atc.check.precheck import Gate, fault_of
from atc.diagnosis.api_health import api_trouble
from atc.diagnosis.attribution import attribute
from atc.diagnosis.provenance import flows
from atc.diagnosis.suggestions import Remedy, by_replies, remedy, remedy_of
from atc.events import (
    CallMade,
    Event,
    FaultFound,
    ModelProgress,
    ModelWaiting,
    OutputPrinted,
    ProgramWritten,
    RunEnded,
    SolveEnded,
    SolveStarted,
)
from atc.fault import Attribution, Fault, Stage
from atc.models import Completion, Message, Usage
from atc.models.base import AllowedCalls, ModelRequest, answer
from atc.models.grammar import first_arguments
from atc.models.replay import request_hash
from atc.modes import LOOP, baseline
from atc.modes.work import Work
from atc.program.source import calls_of, extract, parsed, renamed, same
from atc.prompting.conversation import PREFILL, Dialogue
from atc.resume import note_question, note_solution, recorded_completion, refused_write, unresolved_writes
from atc.retrieval.demonstrations import Demonstration
from atc.solution import Attempt, Solution, Status
from atc.verify import Finding, describe_silent_writes, inspect, is_unsupported, judge, made_writes
from atc.verify.write_reasons import challenge_write, intent_mismatch, missing_names
from protocols.contracts.contract import Contract
from protocols.contracts.store import ObservedEdge
from protocols.dataflow.operations import looks_like_read
from protocols.errors import LimitReached, ModelError, PromptRefused, UsageError
from sandbox import CallRecord, Journal, Run, Sandbox
from sandbox.egress.writes import Writes

if TYPE_CHECKING:
    from atc.agent import Agent

__all__ = ["Loop"]

_BASELESS = frozenset({"NoCall", "NoOutput", "NoProgram"})
"""Faults of answers that rest on nothing, however often they are given."""
_REPAIRS = 8
"""Times in a try that a program is put right by what replies held."""
_ROUNDS = 3
"""Times that more of a program is put right as far as that goes."""
_PROGRAM_TOKENS = 512
"""Room for one program; a small model that has not ended by then is going round in circles."""


class Loop:
    """One question on its way through the loop, or through another mode."""

    def __init__(self, agent: Agent, query: str, tools: Sequence[str] | None, journal: Journal | None) -> None:
        self.agent = agent
        self.id = secrets.token_hex(6)
        self.query = query
        self.journal = journal
        self.asked = 0
        self.today = agent.today
        if journal is not None:
            self.today = note_question(journal, query, agent.protocol, self.today)
        self.opened = agent.opening(query, tools, self.today)
        self.tools = self.opened.tools
        self.aliases = agent.protocol.aliases
        self.attempts: list[Attempt] = []
        self.program = ""
        self.made: list[CallRecord] = []
        self.guarded = agent.writes == "allow" and not agent.simulated
        self.told_unsaid = False
        self.tried = 1
        self.earlier = 0
        self.work: Work | None = None
        self.answer: str | None = None
        self.usage = Usage()
        self.run_seconds = 0.0
        self.started = time.perf_counter()
        self.reset()

    def reset(self) -> None:
        """Forget the conversation: a try knows nothing of those before it."""
        agent = self.agent
        self.dialogue = Dialogue(self.opened, agent.graph, agent.profile)
        elsewhere = bool(agent.allow or agent.base_url)
        self.gate = Gate(agent.graph, self.contract, self.tools, self.query, self.opened.examples, elsewhere)
        self.doubted: set[str] = set()
        self.doubtful: list[str] = []
        self.inspected: tuple[Run, tuple[Finding, ...]] | None = None
        self.drawn = 0
        self.repairs = 0
        self.escaped = False
        self.earlier = len(self.attempts)
        self.mended = False

    def contract(self) -> Contract:
        """What is known of the responses: also the replies of this solve, which the document may be wrong about."""
        runs = [attempt.run for attempt in self.attempts if attempt.run is not None]
        bodies: dict[str, list[object]] = {}
        for call in (call for run in runs for call in run.calls if not call.simulated):
            good = call.tool and call.status in range(200, 300)
            if good and isinstance(call.response, dict | list):
                bodies.setdefault(call.tool or "", []).append(call.response)
        return self.agent.contract.with_bodies(bodies)

    def emit(self, event: Event) -> None:
        """Hand an event to the reader, with the id of this solve in it."""
        self.agent.on_event(replace(event, solve=self.id))

    @property
    def number(self) -> int:
        """The number of the attempt that is under way, from 1."""
        return self.work.number if self.work is not None else len(self.attempts) + 1

    @property
    def revisions(self) -> int:
        """How many programs the model has written in this try; those that were put right without it are not counted."""
        return sum(not attempt.mended for attempt in self.attempts[self.earlier :])

    def run(self) -> Solution:
        agent = self.agent
        self.emit(SolveStarted(self.query, self.tools))
        status: Status = "failed"
        message = ""
        try:
            with Sandbox(
                agent.protocol,
                base_url=agent.base_url,
                allow=agent.allow,
                credentials=agent.credentials,
                limits=agent.limits,
                # What CodeAct runs again must find the same time, and the same chance.
                now=agent.now or (datetime.now(UTC) if agent.mode == "codeact" else None),
                seed=agent.seed,
                tools=self.tools,
                strict=agent.strict_sandbox,
                journal=self.journal,
                writes=self.writes(),
                on_call=self.called,
                on_output=lambda stream, text: self.emit(OutputPrinted(self.number, stream, text)),
            ) as sandbox:
                status, message = self.solved(sandbox)
        except (LimitReached, PromptRefused) as error:
            status, message = "limit", str(error)
        except ModelError as error:
            status, message = "model_error", str(error)
        except KeyboardInterrupt:
            status, message = "interrupted", "interrupted"
        solution = self.solution(status, message)
        if self.journal is not None:
            note_solution(self.journal, solution)
        self.emit(SolveEnded(solution))
        return solution

    def writes(self) -> Writes:
        """What becomes of writes: at a real service one that the question gives no reason for is asked about."""
        agent = self.agent
        if not self.guarded:
            return agent.writes

        def founded(call: CallRecord) -> bool | str:
            tool = agent.protocol.tool(call.tool) if call.tool is not None else None
            why = challenge_write(self.query, self.program, [*self.made, call], tool, agent.protocol)
            if why is None or (agent.confirm is not None and agent.confirm(call)):
                return True
            return why if agent.confirm is not None else f"{why}; nobody is there to confirm it"

        return founded

    def called(self, call: CallRecord) -> None:
        """A call was made."""
        self.made.append(call)
        self.emit(CallMade(self.number, call))

    def solved(self, sandbox: Sandbox) -> tuple[Status, str]:
        """Try until there is an answer, or another try would not help, or all are used up (the paper's ReAct@N)."""
        while True:
            status, message = self.loop(sandbox) if self.agent.mode in LOOP else self.baseline(sandbox)
            undone = any(call.refused for attempt in self.attempts for call in attempt.calls)
            if status not in ("failed", "limit", "refused") or undone or self.tried == self.agent.tries:
                return status, message
            self.tried += 1
            self.reset()
            if self.journal is not None:
                self.journal.over()

    def baseline(self, sandbox: Sandbox) -> tuple[Status, str]:
        """One try of another mode than the loop's."""
        self.work = work = Work(
            query=self.query,
            today=self.today,
            tools=tuple(dict.fromkeys([*self.opened.ranked, *self.tools])),
            details=self.opened.details,
            speaks_of=self.opened.speaks_of,
            graph=self.agent.graph,
            sandbox=sandbox,
            limits=self.agent.limits,
            journal=self.journal,
            complete=self.complete,
            emit=self.emit,
            first=len(self.attempts) + 1,
        )
        try:
            status, message, self.answer = work.run(baseline(self.agent.mode))
        finally:
            self.attempts += work.attempts
            self.run_seconds += work.api.seconds
        return status, message

    def loop(self, sandbox: Sandbox) -> tuple[Status, str]:
        sandbox.prepare()
        other: str | None = None
        while True:
            program = other or self.checked(self.write())
            other = None
            if program is None:
                if self.revisions > self.agent.max_reflections and (last := self.attempts[-1].fault) is not None:
                    return "failed", f"{last.type}: {last.message}"
                continue
            run = self.execute(sandbox, program) if program else None
            if run is not None and run.outcome == "interrupted":
                self.attempts.append(self.attempt(program, "run", run, None, None))
                return "interrupted", "interrupted"
            if run is not None and (call := refused_write(run)) is not None:
                return self.refused(program, run, call)
            fault = judge(program, run)
            if fault is not None and run is not None and (done := describe_silent_writes(run, self.query, self.agent.protocol)):
                fault, self.answer = None, done
            limited = run is not None and run.outcome == "limit"
            hopeless = self.trouble(run, limited) if run else ""
            finding = self.doubt(program, run) if fault is None and run is not None else None
            if finding is not None:
                fault = finding.fault()
            if fault is None and not hopeless:
                self.attempts.append(self.attempt(program, "done", run, None, None))
                return "answered", ""
            fault = fault or Fault("run", "APIError", hopeless)
            try:
                attribution = attribute(fault, run, self.agent.graph)
            except BaseException:
                self.attempts.append(self.attempt(program, fault.stage, run, fault, None))
                raise
            self.attempts.append(self.attempt(program, fault.stage, run, fault, attribution))
            self.emit(FaultFound(len(self.attempts), fault, attribution))
            if hopeless:
                return "api_error", hopeless
            if self.revisions > self.agent.max_reflections:
                return _status(run), f"{fault.type}: {fault.message}" if fault.message else fault.type
            if self.journal is not None and run is not None:
                self.journal.over()
            sandbox.prepare()
            if fault.stage == "run" and run is not None and not made_writes(run):
                other = self.repaired(program, fault, run) or self.another()
            if other is None:
                self.drawn = 0
                self.reflect(program, run, fault, attribution, finding)

    def checked(self, program: str) -> str | None:
        """What of a program is to be run: itself, a mended one, or None where the model is to write another first.

        The last program is run in any case, but for one that would write to what somebody made up.
        """
        agent = self.agent
        found = (self.gate.look(program) or self.unsaid(program)) if program and agent.profile.check else []
        if not found:
            return program
        shown = self.opened.ranked
        helps = agent.profile.suggestions
        known = remedy_of(found, program, agent.graph, shown, agent.vocabulary) if helps else Remedy()
        better = self.put_right(program, found, known) if agent.profile.autofix else None
        if better is not None and self.is_known(better):
            better = None
        # What a program takes as run before it began is put there, whatever else is wrong with it.
        begun = self.gate.completed(program, found) if better is None and agent.profile.autofix else None
        begun = None if begun is None or self.is_known(begun) else begun
        last = self.revisions >= agent.max_reflections or self.gate.is_told(found)
        if better is None and begun is None and last and not self.gate.harmful(found):
            return program
        fault, attribution = fault_of(program, found)
        self.attempts.append(self.attempt(program, "check", None, fault, attribution))
        self.emit(FaultFound(len(self.attempts), fault, attribution))
        if (better := better or begun) is not None:
            self.mended = True
            self.dialogue.wrote(better)
            self.emit(ProgramWritten(self.number, better, Usage()))
            return self.checked(better) if begun is not None else better
        if (other := self.another()) is not None:
            return other
        self.drawn = 0
        self.gate.tell(found)
        self.dialogue.failed(program, fault, attribution.tool, known)
        return None

    def trouble(self, run: Run, limited: bool) -> str:
        """Why nothing gets further with this API; empty where something may."""
        agent = self.agent
        return api_trouble(agent.protocol, run.calls, stopped=limited, signed=bool(agent.credentials))

    def repaired(self, program: str, fault: Fault, run: Run) -> str | None:
        """The program as the replies leave one way to write it, where they are not as the document says."""
        if not (self.agent.profile.autofix and self.agent.profile.suggestions) or self.repairs == _REPAIRS:
            return None
        better = by_replies(program, fault.line, run)
        if better is None or self.is_known(better):
            return None
        self.repairs += 1
        self.mended = True
        self.dialogue.instead(better)
        self.emit(ProgramWritten(self.number, better, Usage()))
        return better

    def unsaid(self, program: str) -> list[Diagnostic]:
        """Why a program that writes at a real service should not; told once."""
        if not self.guarded or self.told_unsaid:
            return []
        calls = calls_of(parsed(program) or ast.Module([], []), self.tools)
        tools = [(call.lineno, self.agent.protocol.tool(name)) for call, name in calls]
        writing = [(line, tool) for line, tool in tools if tool.writes and not looks_like_read(tool)]
        for line, tool in writing:
            if why := intent_mismatch(self.query, tool, self.agent.protocol):
                self.told_unsaid = True
                return [Diagnostic(line, 0, "unsaid-name", f"{tool.name} writes, and {why}", tool.name)]
        names = missing_names(self.query, program) if writing else []
        if not names:
            return []
        self.told_unsaid = True
        line, tool = writing[0]
        said = ", ".join(f'"{name}"' for name in names)
        text = f"the program writes and does not name {said}; look for it by that, and write to what was found"
        return [Diagnostic(line, 0, "unsaid-name", text, tool.name)]

    def put_right(self, program: str, found: Sequence[Diagnostic], known: Remedy) -> str | None:
        """The program with all that is wrong put right, and what shows only then; None where that needs the model."""
        for _ in range(_ROUNDS):
            better = self.gate.mend(program, found) or (self.gate.mended(known.whole) if known.whole else None)
            if better is not None:
                return better
            partly = self.gate.partly(known.whole or program)
            if same(partly, program) or not self.agent.profile.suggestions:
                return None
            program, found = partly, self.gate.look(partly)
            if not found:  # what nobody put right is only hidden
                return None
            known = remedy_of(found, program, self.agent.graph, self.opened.ranked, self.agent.vocabulary)
        return None

    def attempt(
        self,
        program: str,
        stage: Stage | Literal["done"],
        run: Run | None,
        fault: Fault | None,
        attribution: Attribution | None,
    ) -> Attempt:
        """The attempt that has just ended."""
        return Attempt(program, stage, run, fault, attribution, self.mended)

    def another(self) -> str | None:
        """Another program for the one that was found wrong: the next one drawn with which nothing seems wrong."""
        while self.drawn < self.agent.samples - 1:
            self.drawn += 1
            program, usage = self.ask_program(drawn=True, messages=self.dialogue.messages[:-1])
            if program and not self.is_known(program) and not self.gate.look(program):
                self.mended = False
                self.dialogue.instead(program)
                self.emit(ProgramWritten(self.number, program, usage))
                return program
        return None

    def refused(self, program: str, run: Run, call: CallRecord) -> tuple[Status, str]:
        """The end of a solve whose program may not write, whatever the program made of it: no revision helps."""
        fault = judge(program, run)
        if fault is None or run.error is None or run.error.call != call.index:
            fault = Fault("run", "ToolError", call.error or "", call.line)
        attribution = Attribution(call.tool, call.index, None, "call", (call.tool,) if call.tool else ())
        self.attempts.append(self.attempt(program, "run", run, fault, attribution))
        self.emit(FaultFound(len(self.attempts), fault, attribution))
        return "refused", call.error or ""

    def doubt(self, program: str, run: Run) -> Finding | None:
        """Why an answer is to be looked at again; None when it is to be taken.

        Each kind of finding is told once, as long as there is a turn left, and who says the same again is believed.
        What was written cannot be undone, so a program that wrote is not followed by another one. The paper's modes
        never look again.
        """
        answer = run.stdout.strip()
        if not self.agent.profile.challenge or self.revisions >= self.agent.max_reflections:
            return None
        if answer in self.doubtful or made_writes(run):
            return None
        findings = self.findings(program, run)
        found = next((finding for finding in findings if finding.kind not in self.doubted), None)
        if found is not None:
            self.doubted.add(found.kind)
            self.doubtful.append(answer)
        return found

    def write(self) -> str:
        """Ask for the next program; empty when the model's answer holds none.

        A small model tends to repeat what it reads, its own failed program most of all. Where it does so although it
        was told what is wrong, it is asked once more with the facts but without the program. That is done once: who
        goes on repeating programs has nothing else to say, and each answer costs as much as the first.
        """
        self.emit(ModelWaiting(self.number))
        self.mended = False
        talk = self.dialogue
        program, usage = self.ask_program()
        again = bool(program) and self.is_known(program) and not self.insists()
        if again and not self.escaped and self.agent.profile.restart:
            self.escaped = True
            if talk.facts:
                talk.afresh()
                program, more = self.ask_program()
                usage += more
            if program and self.is_known(program):  # the likeliest program is the wrong one; any other is worth more
                program, more = self.ask_program(drawn=True)
                usage += more
        talk.wrote(program)
        if program:
            self.emit(ProgramWritten(self.number, program, usage))
        return program

    def insists(self) -> bool:
        """Whether the last program was answered with nothing but a doubt, and the answer rests on the API after all:
        who gives such an answer again is believed."""
        fault = self.attempts[-1].fault if self.attempts else None
        return fault is not None and fault.stage == "answer" and fault.type not in _BASELESS

    def ask_program(self, drawn: bool = False, messages: Sequence[Message] | None = None) -> tuple[str, Usage]:
        """One program and what it cost.

        `drawn`: not the likeliest one, but one drawn with a seed. `messages`: what to ask, instead of all of it.
        """
        asked = self.dialogue.messages if messages is None else messages
        prefilled = [*asked, Message("assistant", PREFILL)]
        tools = self.dialogue.tools if self.agent.profile.grammar else ()
        held = {name: first_arguments(self.agent.protocol.tool(name)) for name in tools}
        completion = self.complete(prefilled, stop=("\n```",), max_tokens=_PROGRAM_TOKENS, drawn=drawn, functions=held)
        return renamed(extract(completion.text), self.aliases), completion.usage

    def complete(
        self,
        messages: Sequence[Message],
        *,
        stop: Sequence[str] = (),
        max_tokens: int,
        drawn: bool = False,
        functions: AllowedCalls | None = None,
    ) -> Completion:
        """Ask the model, unless the journal has its answer; either way it counts."""
        self.asked += 1
        asked = request_hash(messages, stop, max_tokens)
        completion = recorded_completion(self.journal, self.asked - 1, asked) if self.journal is not None else None
        if completion is None:
            completion = self.said(messages, stop, max_tokens, drawn, functions)
            if self.journal is not None:
                self.journal.answer(self.asked - 1, asked, asdict(completion))
        self.usage += completion.usage
        return completion

    def said(
        self,
        messages: Sequence[Message],
        stop: Sequence[str],
        max_tokens: int,
        drawn: bool,
        functions: AllowedCalls | None,
    ) -> Completion:
        """What the model answers: at the first try what it thinks best, later something drawn, lest it be the same."""
        model = self.agent.model
        likeliest = self.tried == 1 and not drawn
        seed = self.agent.seed + self.tried - 1 + (self.asked if drawn else 0)
        return answer(
            model,
            ModelRequest(
                messages,
                stop,
                max_tokens,
                None if likeliest else seed,
                functions or None,
                lambda progress: self.emit(ModelProgress(self.number, progress)),
            ),
        )

    def is_known(self, program: str) -> bool:
        """Whether the program was tried before, comments and layout aside."""
        return any(same(program, attempt.program) for attempt in self.attempts)

    def execute(self, sandbox: Sandbox, program: str) -> Run:
        started = time.perf_counter()
        self.program, self.made = program, []
        run = sandbox.run(program)
        self.run_seconds += time.perf_counter() - started
        edges = list(self.edges(run)) if self.agent.learn or self.agent.store is not None else []
        for edge in edges if self.agent.learn else ():
            self.agent.graph.observe(edge.tool, edge.argument, edge.source, edge.path)
        if self.agent.store is not None:
            calls = [call for call in run.calls if not call.replayed and not call.simulated]
            replies = [(call.tool, call.status, call.response) for call in calls]
            seen = [(tool, status, body) for tool, status, body in replies if tool and status is not None]
            self.agent.store.record(self.agent.protocol, seen, edges)
            self.agent.__dict__.pop("contract", None)
        self.emit(RunEnded(self.number, run))
        return run

    def edges(self, run: Run) -> Iterator[ObservedEdge]:
        """Where the arguments of calls that were answered well came from: others are likely to find them there."""
        for flow in flows(self.query, run, self.agent.graph):
            call = run.calls[flow.call]
            giver = run.calls[flow.source].tool if flow.source is not None else None
            good = call.status is not None and call.status < 300 and not call.replayed and not call.simulated
            if giver and call.tool and good:
                path = tuple(0 if isinstance(step, int) else step for step in flow.path)
                yield ObservedEdge(call.tool, flow.argument, giver, path)

    def reflect(
        self, program: str, run: Run | None, fault: Fault, attribution: Attribution, finding: Finding | None
    ) -> None:
        """Tell the model what went wrong, and what is known about it (Eq. 2)."""
        agent = self.agent
        if finding is not None:
            about = run.calls[finding.call].tool if run is not None and finding.call is not None else None
            self.dialogue.doubted(program, fault, about)
            return
        if agent.mode == "naive":
            self.dialogue.naive(fault)
            return
        shown = self.opened.ranked
        known = Remedy()
        if agent.profile.suggestions:
            known = remedy(fault, attribution, program, run, self.query, agent.graph, shown, agent.vocabulary)
        rejected = run.calls[run.error.call].tool if run and run.error and run.error.call is not None else None
        tool = (rejected or attribution.tool) if attribution.tool else None
        self.dialogue.failed(program, fault, tool, known)

    def solution(self, status: Status, message: str) -> Solution:
        last = self.attempts[-1].run if self.attempts else None
        answer = self.answer
        if status == "answered" and answer is None and last is not None:
            answer = last.stdout.strip()
        warnings = dict.fromkeys(self.agent.protocol.warnings)
        warnings.update(dict.fromkeys(w for attempt in self.attempts if attempt.run for w in attempt.run.warnings))
        if status == "answered" and last:
            doubts = self.doubts(last)
            warnings.update(dict.fromkeys(doubts or self.keep_solved(last)))
        followed = self.agent.mode in LOOP or (last is not None and last.provenance is not None)
        journal = self.journal
        warnings.update(dict.fromkeys(unresolved_writes(journal) if journal is not None else ()))
        seconds = {
            "total": time.perf_counter() - self.started,
            "model": self.usage.seconds,
            "run": self.run_seconds,
        }
        return Solution(
            query=self.query,
            status=status,
            answer=answer,
            attempts=tuple(self.attempts),
            warnings=tuple(warnings),
            usage=self.usage,
            seconds={name: round(value, 3) for name, value in seconds.items()},
            versions=self.versions(status),
            message=message,
            abandoned=journal.abandoned if journal is not None else (),
            flow=flows(self.query, last, self.agent.graph) if last and followed else (),
        )

    def keep_solved(self, run: Run) -> list[str]:
        """Keep the program that answered, for questions like this one; what speaks of it if that fails."""
        tools = tuple(dict.fromkeys(call.tool for call in run.calls if call.tool))
        pretended = any(call.simulated for call in run.calls)
        if self.agent.solved is None or not self.agent.profile.demonstrations or not tools or pretended:
            return []
        try:
            self.agent.solved.add(Demonstration(self.query, self.attempts[-1].program, tools))
        except UsageError as error:
            return [str(error)]
        return []

    def doubts(self, run: Run) -> list[str]:
        """What speaks against the answer; in a mode without programs only that nothing stands behind it."""
        if self.agent.mode in LOOP:
            return [one.warning() for one in self.findings(self.attempts[-1].program, run)]
        return ["the answer rests on no reply of the API"] if is_unsupported(run) else []

    def findings(self, program: str, run: Run) -> tuple[Finding, ...]:
        """What speaks against the answer of a run; looked for once."""
        if self.inspected is None or self.inspected[0] is not run:
            self.inspected = (run, inspect(program, run, self.query, self.agent.graph))
        return self.inspected[1]

    def versions(self, status: Status) -> Mapping[str, str]:
        chosen = self.agent._model
        name = chosen if isinstance(chosen, str) else getattr(chosen, "name", type(chosen).__name__) if chosen else None
        if name is None and status != "model_error":
            name = self.agent.model.name
        return {
            "atc": _ours(),
            "python": platform.python_version(),
            "model": name or "default",
            "protocol": self.agent.protocol.digest,
        }


@cache
def _ours() -> str:
    try:
        return version("atc-toolchain")
    except PackageNotFoundError:
        return "unknown"


def _status(run: Run | None) -> Status:
    if run is not None and run.outcome == "refused":
        return "refused"
    return "limit" if run is not None and run.outcome == "limit" else "failed"
