"""Solve a question: one program from the model, run it, and on a failure attribute it to a tool and revise.

This is the paper's loop (arXiv:2405.16533): Eq. 1 writes the program from the tools' protocols, Eq. 2 revises it from
all earlier programs, their results, and the documentation of the tool that the failure was attributed to.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from atc import prompts
from atc.attribution import attribute
from atc.candidates import Candidates
from atc.check import Diagnostic, check, mended
from atc.events import (
    CallMade,
    EventSink,
    FaultFound,
    ModelWaiting,
    OutputPrinted,
    ProgramWritten,
    RunEnded,
    SolveEnded,
    SolveStarted,
)
from atc.faults import Attribution, Fault
from atc.models import Completion, Message, Model, Usage, open_model
from atc.models.base import Request, answer
from atc.models.replay import request_hash
from atc.modes import LOOP, MODES, baseline, parse
from atc.modes.work import Work
from atc.opening import PROMPT_TOKENS, Opening, opening
from atc.programs import extract, fenced, same
from atc.provenance import flows
from atc.remedy import Remedy, remedy, remedy_of
from atc.resume import answered, begin, keep, open_writes, refused_write
from atc.solution import Attempt, Solution, Status
from atc.trouble import api_trouble
from atc.verify import Finding, changed, done_silently, inspect, judge, rests_on_nothing
from protocols import load
from protocols.contract import Contract
from protocols.errors import LimitReached, ModelError, UsageError
from protocols.graph import ProtocolGraph
from protocols.model import Protocol
from protocols.render import estimate, render
from protocols.store import ContractStore
from protocols.vocabulary import vocabulary
from sandbox import CallRecord, Journal, Limits, Run, Sandbox
from sandbox.reach import origin
from sandbox.sandbox import snippet
from sandbox.writes import POLICIES, Writes

if TYPE_CHECKING:
    from protocols.simulator import Session

__all__ = ["MODES", "SIMULATED_NOW", "Agent"]

WritesPolicy = Literal["ask", "allow", "deny", "simulate"]
SIMULATED_NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
"""What time it is in a rehearsal, unless one says otherwise."""

_PREFILL = "```python\n"
_PROGRAM_TOKENS = 512
"""Room for one program; a small model that has not ended by then is going round in circles."""
_SHORT = 600
_MENDINGS = 3
"""Rounds of mending; a name that is put right may show what else is wrong."""
_RULES = {
    "syntax": "SyntaxError",
    "unknown-tool": "NameError",
    "unknown-name": "NameError",
    "possibly-unbound": "NameError",
    "unknown-key": "KeyError",
}
"""What Python would say of a diagnostic, in a word that every model knows; of the others, TypeError."""


class Agent:
    """Answers questions with the tools of a protocol.

    Args:
        protocol: What the API offers; from a document with `Agent.from_openapi`.
        model: A name such as "openai:gpt-4.1" or "local:qwen2.5-coder-1.5b", or any object with `complete`. By default
            what `ATC_MODEL` names, else the local model. A model that this agent opened it also closes.
        mode: How a failed program is repaired: "attribute" names the tool to blame and shows its documentation again,
            "naive" shows the error text alone, "none" does not repair. Or a method to compare with: "react", "codeact",
            "dfsdt", "restgpt" or "conagents" (see atc.modes). `MODE@N` is up to N tries, ended by the first answer;
            after the first try the model's answers are drawn, with a seed of each try.
        max_reflections: How often a program may be revised (the paper's alpha); 3 allows four programs. The methods
            to compare with have budgets of their own.
        base_url: Where the API is, when that is not where its document says.
        allow: Origins such as "https://cdn.example.com" that programs may reach besides the API, without credentials;
            the API's own is named here when it has a private address.
        auth: Credentials as `KIND:SOURCE`, such as "bearer:env:MY_TOKEN".
        simulate: Rehearse against a simulated API made from the protocol; no request leaves this machine. Or a session
            of one, a world of its own, which this agent closes.
        seed: Of the simulated API, the model, and a program's random numbers.
        tools: How many tools the model is shown at most, or "all".
        now: What time it is for the program and the model; the real time by default, a fixed one with `simulate`.
        limits: What a program may use.
        check: Look at each program before it is run (mode attribute); what is wrong in any case then costs no call.
        store: A folder in which what responses really hold is kept; programs are held to that besides the document.
        learn: Let the data flow of good calls guide later questions to this agent; off where runs are compared.
        strict_sandbox: Refuse to run programs where a layer of the sandbox cannot be had; else that is a warning.
        on_event: Called with every event as it happens.
        writes: What becomes of calls that may change something: "allow" sends them, "deny" ends the solve, "simulate"
            has a simulated API answer them, "ask" asks `confirm`, and is "deny" without it. By default "ask", and
            "allow" with `simulate`.
        confirm: Given a write that is not sent yet, from another thread; says whether it may be.
    Raises: UsageError: An unknown mode, a credential that cannot be read, or something in `allow` that is no origin.
    """

    def __init__(
        self,
        protocol: Protocol,
        model: str | Model | None = None,
        mode: str = "attribute",
        max_reflections: int = 3,
        base_url: str | None = None,
        auth: Sequence[str] = (),
        simulate: bool | Session = False,
        seed: int = 0,
        *,
        tools: int | Literal["all"] = 20,
        now: datetime | None = None,
        allow: Sequence[str] = (),
        limits: Limits | None = None,
        learn: bool = False,
        check: bool = True,
        store: Path | None = None,
        strict_sandbox: bool = False,
        on_event: EventSink | None = None,
        writes: WritesPolicy | None = None,
        confirm: Callable[[CallRecord], bool] | None = None,
    ) -> None:
        if writes is not None and writes not in POLICIES:
            raise UsageError(f"unknown writes policy {writes!r}: choose one of {', '.join(POLICIES)}")
        name, tries = parse(mode)
        if max_reflections < 0:
            raise UsageError(f"max_reflections is {max_reflections}: it must be 0 or more")
        if simulate and base_url:
            raise UsageError("a simulated API has its own base URL: give either simulate or base_url")
        for one in allow:
            origin(one)
        from protocols.auth import credential

        self.protocol = protocol
        self.mode = name
        self.tries = tries
        self.max_reflections = max_reflections if name != "none" else 0
        self.seed = seed
        self.tools = tools
        self.now = now or (SIMULATED_NOW if simulate else None)
        self.limits = limits or Limits()
        self.allow = tuple(allow)
        self.learn = learn
        self.check = check
        self.store = ContractStore(store) if store is not None else None
        self.strict_sandbox = strict_sandbox
        self.on_event: EventSink = on_event or (lambda event: None)
        policy: WritesPolicy = writes or ("allow" if simulate else "ask")
        self.writes: Writes = confirm if policy == "ask" and confirm is not None else policy
        self._closing = ExitStack()
        self._model: str | Model | None = model
        self.credentials = tuple(credential(spec, protocol) for spec in auth)
        self.base_url = base_url
        if simulate:
            from protocols.simulator import Simulator

            made: Simulator | Session = (
                simulate if simulate is not True else Simulator(protocol, seed=seed, now=self.now)
            )
            self._closing.enter_context(made)
            self.base_url = made.url
            self.credentials = (*made.credentials, *self.credentials)

    @classmethod
    def from_openapi(
        cls,
        source: str | Path | dict[str, object],
        model: str | Model | None = None,
        mode: str = "attribute",
        max_reflections: int = 3,
        base_url: str | None = None,
        auth: Sequence[str] = (),
        simulate: bool | Session = False,
        seed: int = 0,
        *,
        tools: int | Literal["all"] = 20,
        now: datetime | None = None,
        allow: Sequence[str] = (),
        limits: Limits | None = None,
        learn: bool = False,
        check: bool = True,
        store: Path | None = None,
        strict_sandbox: bool = False,
        on_event: EventSink | None = None,
        writes: WritesPolicy | None = None,
        confirm: Callable[[CallRecord], bool] | None = None,
    ) -> Self:
        """An agent for the API that a document describes: a file, a URL, or the parsed document.

        Raises: ProtocolError: The document cannot be read.
        """
        return cls(
            load(source),
            model,
            mode,
            max_reflections,
            base_url,
            auth,
            simulate,
            seed,
            tools=tools,
            now=now,
            allow=allow,
            limits=limits,
            learn=learn,
            check=check,
            store=store,
            strict_sandbox=strict_sandbox,
            on_event=on_event,
            writes=writes,
            confirm=confirm,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the simulated API and the model, where this agent started them."""
        self._closing.close()

    @cached_property
    def graph(self) -> ProtocolGraph:
        """The data flow between the tools of the protocol."""
        return ProtocolGraph(self.protocol)

    @cached_property
    def contract(self) -> Contract:
        """What is known of the responses, to which programs are held. Raises: UsageError: The store is damaged."""
        return self.store.contract(self.protocol) if self.store is not None else Contract(self.protocol)

    @cached_property
    def candidates(self) -> Candidates:
        """What chooses the tools to show for a question."""
        return Candidates(self.graph)

    @cached_property
    def vocabulary(self) -> Mapping[str, frozenset[str]]:
        """The fixed words that fields of the API draw on."""
        return vocabulary(self.protocol)

    @cached_property
    def model(self) -> Model:
        """The model, opened at its first use. Raises: ModelError."""
        if isinstance(self._model, str) or self._model is None:
            opened = open_model(self._model, seed=self.seed)
            self._closing.callback(opened.close)
            return opened
        return self._model

    def solve(self, query: str, tools: Sequence[str] | None = None, journal: Journal | None = None) -> Solution:
        """Answer a question.

        Args:
            query: The question, in plain words.
            tools: Names of the tools to show the model, in this order; chosen for the query by default.
            journal: Where calls and answers are kept, so that no attempt repeats a write; in memory by default. With
                the journal of a solve that was cut off, that one goes on.
        Returns: A Solution, also when there is no answer: its `status` says why, its `attempts` what was tried.
        Raises: UsageError: An empty question, an unknown tool, or a journal of another question or document.
        """
        if not query.strip():
            raise UsageError("the question is empty")
        unknown = [name for name in tools or () if name not in self.protocol]
        if unknown:
            raise UsageError(f"{self.protocol.title} has no tool {', '.join(unknown)}")
        kept = journal if journal is not None else self.new_journal()
        if kept is None and self.mode == "codeact":  # its snippets are run again on the journal
            kept = Journal()
        try:
            return _Solve(self, query.strip(), tools, kept).run()
        finally:
            if journal is None and kept is not None:
                kept.close()

    def opening(self, query: str, tools: Sequence[str] | None = None) -> Opening:
        """What the model would be asked with first; it is not asked. `tools`: those to offer, by default the best."""
        most = len(self.protocol.tools) if self.tools == "all" else self.tools
        return opening(query, self.candidates, self.vocabulary, tools, most)

    def new_journal(self) -> Journal | None:
        """The journal of a solve that is given none; a subclass may do without one."""
        return Journal()


class _Solve:
    """One question on its way through the loop, or through another mode."""

    def __init__(self, agent: Agent, query: str, tools: Sequence[str] | None, journal: Journal | None) -> None:
        self.agent = agent
        self.query = query
        self.journal = journal
        self.asked = 0
        self.today = (agent.now or datetime.now(UTC)).date().isoformat()
        if journal is not None:
            self.today = begin(journal, query, agent.protocol, self.today)
        self.opened = agent.opening(query, tools)
        self.tools, self.ranked, self.speaks_of = self.opened.tools, self.opened.ranked, self.opened.speaks_of
        self.attempts: list[Attempt] = []
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
        self.messages: list[Message] = []
        self.first = 0
        self.facts: list[str] = []
        self.told: set[tuple[str, str]] = set()
        self.begin = ""
        self.doubted: set[str] = set()
        self.doubtful: list[str] = []
        self.earlier = len(self.attempts)

    @property
    def number(self) -> int:
        """The number of the attempt that is under way, from 1."""
        return self.work.number if self.work is not None else len(self.attempts) + 1

    @property
    def revisions(self) -> int:
        """How many programs this try has had."""
        return len(self.attempts) - self.earlier

    def run(self) -> Solution:
        agent = self.agent
        agent.on_event(SolveStarted(self.query, self.tools))
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
                writes=agent.writes,
                on_call=lambda call: agent.on_event(CallMade(self.number, call)),
                on_output=lambda stream, text: agent.on_event(OutputPrinted(self.number, stream, text)),
            ) as sandbox:
                status, message = self.solved(sandbox)
        except ModelError as error:
            status, message = "model_error", str(error)
        except LimitReached as error:
            status, message = "limit", str(error)
        except KeyboardInterrupt:
            status, message = "interrupted", "interrupted"
        solution = self.solution(status, message)
        if self.journal is not None:
            keep(self.journal, solution)
        agent.on_event(SolveEnded(solution))
        return solution

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
            tools=tuple(dict.fromkeys([*self.ranked, *self.tools])),
            details=self.opened.details,
            speaks_of=self.speaks_of,
            graph=self.agent.graph,
            sandbox=sandbox,
            limits=self.agent.limits,
            journal=self.journal,
            complete=self.complete,
            emit=self.agent.on_event,
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
        self.messages = self.opened.messages(self.today)
        self.first = len(self.messages)
        while True:
            program = self.checked(self.write())
            if program is None:
                continue
            run = self.execute(sandbox, program) if program else None
            if run is not None and run.outcome == "interrupted":
                self.attempts.append(Attempt(program, "run", run, None, None))
                return "interrupted", "interrupted"
            if run is not None and (call := refused_write(run)) is not None:
                return self.refused(program, run, call)
            fault = judge(program, run)
            if fault is not None and run is not None and (done := done_silently(run, self.query)):
                fault, self.answer = None, done
            limited = run is not None and run.outcome == "limit"
            hopeless = api_trouble(self.agent.protocol, run.calls, stopped=limited) if run else ""
            finding = self.doubt(program, run) if fault is None and run is not None else None
            if finding is not None:
                fault = finding.fault()
            if fault is None and not hopeless:
                self.attempts.append(Attempt(program, "done", run, None, None))
                return "answered", ""
            fault = fault or Fault("run", "APIError", hopeless)
            try:
                attribution = attribute(fault, run, self.agent.graph)
            except BaseException:
                self.attempts.append(Attempt(program, fault.stage, run, fault, None))
                raise
            self.attempts.append(Attempt(program, fault.stage, run, fault, attribution))
            self.agent.on_event(FaultFound(len(self.attempts), fault, attribution))
            if hopeless:
                return "api_error", hopeless
            if self.revisions > self.agent.max_reflections:
                return _status(run), f"{fault.type}: {fault.message}" if fault.message else fault.type
            if self.journal is not None and run is not None:
                self.journal.over()
            sandbox.prepare()
            self.reflect(run, fault, attribution, finding)

    def checked(self, program: str) -> str | None:
        """What of a program is to be run: itself, a mended one, or None where the model is to write another first.

        The document may be wrong: what was told once is not told again, and the last program is run in any case.
        """
        agent = self.agent
        if not program or agent.mode != "attribute" or not agent.check or self.revisions >= agent.max_reflections:
            return program
        found = self.diagnosed(program)
        if not found:
            return program
        self.told.update((one.rule, one.message) for one in found if not self.is_harmful(one))
        first = found[0]
        shown = snippet(program, first.line)
        fault = Fault("check", _RULES.get(first.rule, "TypeError"), first.message, first.line, shown)
        tools = tuple(dict.fromkeys(one.tool for one in found if one.tool))
        attribution = Attribution(first.tool, None, None, "check" if first.tool else "none", tools)
        self.attempts.append(Attempt(program, "check", None, fault, attribution))
        agent.on_event(FaultFound(len(self.attempts), fault, attribution))
        better = self.mended(program, found)
        if better is not None and not self.is_known(better):
            self.messages.append(Message("assistant", f"{_PREFILL}{better}\n```"))
            agent.on_event(ProgramWritten(self.number, better, Usage()))
            return better
        known = remedy_of(found, program, agent.graph, self.ranked, agent.vocabulary)
        self.begin = known.begin
        self.facts.extend(line for line in (first.message, *known.facts) if line not in self.facts)
        self.ask_again(fault, first.tool, known)
        return None

    def is_harmful(self, one: Diagnostic) -> bool:
        """Whether a program with it would write to what somebody made up."""
        made_up = one.rule == "made-up-identifier" and one.tool is not None
        return made_up and self.agent.protocol.tool(one.tool or "").writes

    def mended(self, program: str, found: Sequence[Diagnostic]) -> str | None:
        """The program with all that is wrong put right, and what shows only then; None where that needs the model."""
        better: str | None = program
        for _ in range(_MENDINGS):
            better = mended(better, found) if better is not None else None
            found = self.diagnosed(better) if better is not None else []
            if not found:
                return better
        return None

    def diagnosed(self, program: str) -> list[Diagnostic]:
        """What is wrong with a program, without what the model was told before."""
        found = check(program, self.agent.contract, self.tools, self.query, self.agent.graph)
        passed = {"syntax", "unknown-url"} if self.agent.allow or self.agent.base_url else {"syntax"}
        return [one for one in found if (one.rule, one.message) not in self.told and one.rule not in passed]

    def refused(self, program: str, run: Run, call: CallRecord) -> tuple[Status, str]:
        """The end of a solve whose program may not write, whatever the program made of it: no revision helps."""
        fault = judge(program, run)
        if fault is None or run.error is None or run.error.call != call.index:
            fault = Fault("run", "ToolError", call.error or "", call.line)
        attribution = Attribution(call.tool, call.index, None, "call", (call.tool,) if call.tool else ())
        self.attempts.append(Attempt(program, "run", run, fault, attribution))
        self.agent.on_event(FaultFound(len(self.attempts), fault, attribution))
        return "refused", call.error or ""

    def doubt(self, program: str, run: Run) -> Finding | None:
        """Why an answer is to be looked at again; None when it is to be taken.

        Each kind of finding is told once, as long as there is a turn left, and who says the same again is believed.
        What was written cannot be undone, so a program that wrote is not followed by another one. The paper's modes
        never look again.
        """
        answer = run.stdout.strip()
        if self.agent.mode != "attribute" or self.revisions >= self.agent.max_reflections:
            return None
        if answer in self.doubtful or changed(run):
            return None
        findings = inspect(program, run, self.query, self.agent.graph)
        found = next((finding for finding in findings if finding.kind not in self.doubted), None)
        if found is not None:
            self.doubted.add(found.kind)
            self.doubtful.append(answer)
        return found

    def write(self) -> str:
        """Ask for the next program; empty when the model's answer holds none.

        A small model tends to repeat what it reads, its own failed program most of all. Where it does so although it
        was told what is wrong, it is asked once more from the beginning, with the facts but without the programs.
        """
        self.agent.on_event(ModelWaiting(self.number))
        program, usage = self.ask_program(self.messages, self.begin)
        self.begin = ""
        if program and self.facts and self.is_known(program):
            self.messages = self.opened.messages(self.today, self.facts)
            self.first = len(self.messages)
            program, more = self.ask_program(self.messages)
            usage += more
            if program and self.is_known(program):  # the likeliest program is the wrong one; any other is worth more
                program, more = self.ask_program(self.messages, drawn=True)
                usage += more
        self.messages.append(Message("assistant", f"{_PREFILL}{program}\n```"))
        if program:
            self.agent.on_event(ProgramWritten(self.number, program, usage))
        return program

    def ask_program(self, messages: Sequence[Message], begin: str = "", drawn: bool = False) -> tuple[str, Usage]:
        """One program and what it cost. With `begin` it starts with that text, which the model need not write.

        `drawn`: not the likeliest one, but one drawn with a seed.
        """
        prefilled = [*messages, Message("assistant", _PREFILL + begin)]
        held = self.tools if self.agent.mode == "attribute" and self.agent.check else ()
        completion = self.complete(prefilled, stop=("\n```",), max_tokens=_PROGRAM_TOKENS, drawn=drawn, names=held)
        whole = completion.text if fenced(completion.text) is not None else begin + completion.text
        return extract(whole), completion.usage

    def complete(
        self,
        messages: Sequence[Message],
        *,
        stop: Sequence[str] = (),
        max_tokens: int,
        drawn: bool = False,
        names: Sequence[str] = (),
    ) -> Completion:
        """Ask the model, unless the journal has its answer; either way it counts."""
        self.asked += 1
        asked = request_hash(messages, stop, max_tokens)
        completion = answered(self.journal, self.asked - 1, asked) if self.journal is not None else None
        if completion is None:
            completion = self.said(messages, stop, max_tokens, drawn, names)
            if self.journal is not None:
                self.journal.answer(self.asked - 1, asked, asdict(completion))
        self.usage += completion.usage
        return completion

    def said(
        self, messages: Sequence[Message], stop: Sequence[str], max_tokens: int, drawn: bool, names: Sequence[str]
    ) -> Completion:
        """What the model answers: at the first try what it thinks best, later something drawn, lest it be the same."""
        model = self.agent.model
        likeliest = self.tried == 1 and not drawn
        seed = self.agent.seed + self.tried - 1 + (self.asked if drawn else 0)
        return answer(model, Request(messages, stop, max_tokens, None if likeliest else seed, tuple(names) or None))

    def is_known(self, program: str) -> bool:
        """Whether the program was tried before, comments and layout aside."""
        return any(same(program, attempt.program) for attempt in self.attempts)

    def execute(self, sandbox: Sandbox, program: str) -> Run:
        started = time.perf_counter()
        run = sandbox.run(program)
        self.run_seconds += time.perf_counter() - started
        if self.agent.learn:
            self.learn(run)
        if self.agent.store is not None:
            replies = [(call.tool, call.status, call.response) for call in run.calls if not call.replayed]
            seen = [(tool, status, body) for tool, status, body in replies if tool and status is not None]
            self.agent.store.learn(self.agent.protocol, seen)
            self.agent.__dict__.pop("contract", None)
        self.agent.on_event(RunEnded(self.number, run))
        return run

    def learn(self, run: Run) -> None:
        """Where the arguments of calls that were answered well came from is where others are likely to find them."""
        for flow in flows(self.query, run, self.agent.graph):
            call = run.calls[flow.call]
            giver = run.calls[flow.source].tool if flow.source is not None else None
            if giver and call.tool and call.status is not None and call.status < 300:
                self.agent.graph.observe(call.tool, flow.argument, giver, flow.path)

    def known(self, run: Run | None, fault: Fault, attribution: Attribution) -> Remedy:
        """What is known about the last failure; where it tells how the revision begins, that is kept for it."""
        program, graph = self.attempts[-1].program, self.agent.graph
        found = remedy(fault, attribution, program, run, self.query, graph, self.ranked, self.agent.vocabulary)
        self.begin = found.begin
        return found

    def reflect(self, run: Run | None, fault: Fault, attribution: Attribution, finding: Finding | None) -> None:
        """Add what went wrong to the conversation (Eq. 2), and shorten its oldest parts when it grows too long."""
        error = _error_text(fault)
        if finding is not None:
            text = prompts.render(
                "reflect_answer", finding=error, documentation=self.documented(run, finding), query=self.query
            )
        elif self.agent.mode == "naive":
            text = prompts.render("reflect_naive", error=error, query=self.query)
        elif attribution.tool:
            known = self.known(run, fault, attribution)
            rejected = run.calls[run.error.call].tool if run and run.error and run.error.call is not None else None
            self.facts.extend(line for line in known.facts if line not in self.facts)
            self.ask_again(fault, rejected or attribution.tool, known)
            return
        else:
            if error not in self.facts:
                self.facts.append(error)
            self.known(run, fault, attribution)
            text = prompts.render("reflect_program", error=error, query=self.query)
        self.messages.append(Message("user", text))
        self.shorten()

    def ask_again(self, fault: Fault, tool: str | None, known: Remedy) -> None:
        """Add what went wrong with a tool to the conversation, with its documentation and what is known."""
        if tool is None:
            text = prompts.render("reflect_program", error=_error_text(fault), query=self.query)
        else:
            text = prompts.render(
                "reflect",
                error=_error_text(fault),
                tool=tool,
                documentation=render([self.agent.protocol.tool(tool)], self.agent.graph, budget=800),
                remedy="\n".join(known.facts),
                query=self.query,
            )
        self.messages.append(Message("user", text))
        self.shorten()

    def shorten(self) -> None:
        """Cut the oldest turns where the conversation has become too long."""
        turn = self.first
        while turn < len(self.messages) - 2 and estimate("".join(m.content for m in self.messages)) > PROMPT_TOKENS:
            old = self.messages[turn]
            if len(old.content) > _SHORT:
                self.messages[turn] = Message(old.role, old.content[:_SHORT].rstrip() + "\n…")
            turn += 1

    def documented(self, run: Run | None, finding: Finding) -> str:
        """The tool that a finding is about, as the model reads it; empty when it is about none."""
        tool = run.calls[finding.call].tool if run is not None and finding.call is not None else None
        return render([self.agent.protocol.tool(tool)], self.agent.graph, budget=800) if tool else ""

    def solution(self, status: Status, message: str) -> Solution:
        last = self.attempts[-1].run if self.attempts else None
        answer = self.answer
        if status == "answered" and answer is None and last is not None:
            answer = last.stdout.strip()
        warnings = dict.fromkeys(self.agent.protocol.warnings)
        warnings.update(dict.fromkeys(w for attempt in self.attempts if attempt.run for w in attempt.run.warnings))
        if status == "answered" and last:
            warnings.update(dict.fromkeys(self.doubts(last)))
        followed = self.agent.mode in LOOP or (last is not None and last.provenance is not None)
        journal = self.journal
        warnings.update(dict.fromkeys(open_writes(journal) if journal is not None else ()))
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

    def doubts(self, run: Run) -> list[str]:
        """What speaks against the answer; in a mode without programs only that nothing stands behind it."""
        if self.agent.mode in LOOP:
            return [one.warning() for one in inspect(self.attempts[-1].program, run, self.query, self.agent.graph)]
        return ["the answer rests on no reply of the API"] if rests_on_nothing(run) else []

    def versions(self, status: Status) -> Mapping[str, str]:
        try:
            ours = version("atc-toolchain")
        except PackageNotFoundError:
            ours = "unknown"
        chosen = self.agent._model
        name = chosen if isinstance(chosen, str) else getattr(chosen, "name", type(chosen).__name__) if chosen else None
        if name is None and status != "model_error":
            name = self.agent.model.name
        return {
            "atc": ours,
            "python": platform.python_version(),
            "model": name or "default",
            "protocol": self.agent.protocol.digest,
        }


def _status(run: Run | None) -> Status:
    if run is not None and run.outcome == "refused":
        return "refused"
    return "limit" if run is not None and run.outcome == "limit" else "failed"


def _error_text(fault: Fault) -> str:
    """The error as the model reads it; what a program can make as long as it likes is cut."""
    message = fault.message if len(fault.message) <= _SHORT else fault.message[:_SHORT].rstrip() + "…"
    snippet = [line if len(line) <= _SHORT else line[:_SHORT] + "…" for line in fault.snippet.rstrip().split("\n")]
    text = f"{fault.type}: {message}" if message else fault.type
    return "\n".join([*snippet, text]) if fault.snippet else text
