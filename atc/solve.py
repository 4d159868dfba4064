"""One question from its first prompt to its Solution: the tries of a mode, the limits, the journal, the sandbox."""

from __future__ import annotations

import platform
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, NamedTuple

from atc.costs import Deadline, LimitName, Price, QuestionLimitReached, Spending
from atc.diagnosis.provenance import flows
from atc.events import Event, EventSink, ModelProgress, SolveEnded, SolveStarted
from atc.evidence import Finding, facts, is_unsupported
from atc.evidence.answers import call_text
from atc.help import NO_HELP, Help, open_help
from atc.knowledge import Knowledge
from atc.models import Model
from atc.models.base import calls_functions
from atc.options import worded
from atc.prompting import Offer, make_offer
from atc.query import Query
from atc.resolved import Resolved
from atc.session import NO_ATTRIBUTION, Completions, SessionSettings, SolveSession, TryEnded
from atc.solution import Solution, Status
from protocols.calls.credentials import Credential
from protocols.errors import APIError, LimitReached, MissingExtraError, ModelError, PromptRefused
from protocols.quoting import one_line
from sandbox import Journal, Limits, Run
from sandbox.egress import Writes
from sandbox.egress.egress_rules import BaseURL

if TYPE_CHECKING:
    from atc.answer_type import AnswerType
    from atc.background import Interruption
    from atc.chat import Turn
    from atc.write_gate import WriteGate
    from protocols.simulator import Session
    from sandbox.egress.network import Network

__all__ = ["Asked", "Service", "Solve", "first_prompt"]

_SHARE_OF_TURNS = 5
"""The part of a prompt that the turns before in a chat may take: a fifth."""


@dataclass(frozen=True, slots=True)
class Service:
    """Where calls go, as whom, and with which certificates. `base_url` is None where the document names the server.

    `rehearsal` is the simulated world that grows by what each program looks for, if there is one.
    """

    base_url: BaseURL
    credentials: tuple[Credential, ...]
    simulated: bool
    network: Network | None = None
    rehearsal: Session | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with what belongs to it.

    Args:
        tools: Names of the tools to offer, and the only ones that may be called. By default some are chosen for the
            question, and any of the protocol may be called.
        answer_type: The type that the answer has to have.
        journal: Where calls are kept. goes_on: It is the caller's, so that another solve may go on with it.
        turns: The questions before in a chat, oldest first.
    """

    query: Query
    tools: Sequence[str] | None = None
    journal: Journal | None = None
    answer_type: AnswerType | None = None
    turns: Sequence[Turn] = ()
    goes_on: bool = False

    @property
    def notes(self) -> Journal | None:
        """Where the question and the model's answers are kept; None where no solve will go on with them."""
        return self.journal if self.goes_on else None


class _Outcome(NamedTuple):
    """How a solve ended."""

    status: Status
    message: str
    answer: str | None = None
    value: Any = None
    limit: LimitName | None = None


def first_prompt(query: Query, knowledge: Knowledge, settings: Resolved, help: Help, asked: Asked) -> Offer:
    """What the model is asked first; `asked` tells the tools to offer, and those called before in a chat."""
    protocol, profile = knowledge.protocol, settings.profile
    called = dict.fromkeys(name for turn in asked.turns for name in turn.tools if name in protocol)
    offer = make_offer(
        query,
        knowledge,
        profile,
        most=settings.tools,
        tools=asked.tools,
        called=tuple(called),
        leanings=lambda text, graph, choosing: help.leanings(text, graph, choosing=choosing),
    )
    earlier = ""
    if asked.turns:
        from atc.chat import conversation_so_far

        earlier = conversation_so_far(asked.turns, profile.prompt_tokens // _SHARE_OF_TURNS)
    says_limit = profile.documentation == "full" or settings.limits.calls != Limits().calls
    offer = replace(
        offer,
        answer_type=asked.answer_type.text if asked.answer_type is not None else "",
        earlier=earlier,
        limits=settings.limits if says_limit else None,
    )
    return replace(offer, sections=tuple(help.sections(query, offer)))


class Solve:
    """One question on its way.

    Args:
        open_model: Gives the model; called when it is needed. Raises: ModelError.
        model_name: For the record, also where the model cannot be had.
        interruption: What another thread may end the solve with.
    """

    def __init__(
        self,
        asked: Asked,
        knowledge: Knowledge,
        service: Service,
        settings: Resolved,
        open_model: Callable[[], Model],
        model_name: str,
        on_event: EventSink,
        interruption: Interruption | None = None,
    ) -> None:
        self.asked = asked
        self.knowledge = knowledge
        self.service = service
        self.model_name = model_name
        self.emit: EventSink = partial(_emit, on_event, secrets.token_hex(6))
        self.started = time.perf_counter()
        limits, price = settings.question_limits, _price(settings, model_name)  # before a model is opened
        self.interruption = _ended_in_time(interruption) if limits.max_seconds is not None else interruption
        self.deadline = Deadline(limits.max_seconds, self.interruption.set if self.interruption is not None else None)
        settings, functions, no_model = _fitted(settings, open_model)
        self.settings, options, journal = settings, settings.options, asked.journal
        completions = Completions(
            open_model,
            asked.notes,
            self.interruption,
            self.progressed,
            seed=options.seed,
            most=options.search.max_model_calls,
            spending=Spending(limits, price),
            deadline=self.deadline,
        )
        query = replace(asked.query, today=self._first_asked(completions, asked.notes))
        self.help = open_help(settings.profile.help, dict.fromkeys(settings.profile.help_off, False))
        try:
            offer = first_prompt(query, knowledge, settings, self.help, asked)
        except MissingExtraError as error:  # that of the model brings it, too
            raise no_model or error from None
        self.offer = replace(offer, contract=lambda: knowledge.contract_with(self.runs))
        self.session = SolveSession(
            SessionSettings(
                settings.max_reflections,
                settings.limits,
                options.search,
                asked.answer_type,
                any(sent.secrets() for sent in service.credentials),
                functions,
            ),
            completions,
            lambda run: knowledge.observe(query, run),
            self.emit,
            self.help if settings.mode.helped else NO_HELP,
            journal,
            self.gate_of(journal),
            options.after_call,
            self.rehearse,
        )

    def _first_asked(self, completions: Completions, notes: Journal | None) -> str:
        """Count what the model was asked before the process ended; returns the day of the question.

        Raises: UsageError: The journal belongs to another question, or its document has changed.
        """
        if notes is None:
            return self.settings.today
        from atc.resume import cut_answers, lost_requests, note_question

        if (cut := cut_answers(notes)).model_calls:
            completions.count(cut)
        if (lost := lost_requests(notes)).model_calls:
            completions.lose(lost)
        return note_question(notes, self.asked.query.text, self.knowledge.protocol, self.settings.today)

    def gate_of(self, journal: Journal | None) -> WriteGate | None:
        """What holds the writes to a plan, under that policy."""
        if self.settings.writes != "plan" or journal is None:
            return None
        from atc.write_gate import WriteGate
        from sandbox.egress.write_plan import WriteLedger

        confirm = self.deadline.unhurried(self.settings.options.confirm_plan)
        return WriteGate(WriteLedger(), journal, self.knowledge.protocol, self.offer.query, confirm, self.emit)

    def rehearse(self, program: str) -> None:
        """Have the simulated world, or that of planned writes, hold what a program is about to look for."""
        world, gate = self.service.rehearsal, self.session.gate
        if world is None and gate is None:
            return
        from atc.program.demands import demands_of

        demands = demands_of(program, self.knowledge.protocol, self.settings.now)
        if world is not None:
            world.satisfy(demands)
        if gate is not None:
            gate.expect(demands)

    @property
    def runs(self) -> list[Run]:
        """The runs so far."""
        return [attempt.run for attempt in self.session.state.attempts if attempt.run is not None]

    def progressed(self, progress: Any) -> None:
        """The model has read or written more."""
        self.emit(ModelProgress(self.session.number, progress))

    def now(self) -> datetime | None:
        """The time for programs. What is run again must find the same time, and the same chance."""
        if self.settings.now is None and self.session.gate is not None and self.asked.journal is not None:
            from atc.resume import note_time

            return note_time(self.asked.journal, datetime.now(UTC))
        return self.settings.now or (datetime.now(UTC) if self.settings.mode.reruns else None)

    def writes(self) -> Writes:
        """The writes policy; the time in which somebody is asked does not count."""
        policy = self.settings.writes
        if policy == "plan":
            return self.session.gate.ledger if self.session.gate is not None else "deny"
        return self.deadline.unhurried(policy) if callable(policy) else policy

    def run(self) -> Solution:
        """Solve the question."""
        self.emit(SolveStarted(self.offer.query.text, self.offer.tools, self.model_name))
        try:
            outcome = self.ended()
        except (LimitReached, PromptRefused) as error:
            limit = error.limit if isinstance(error, QuestionLimitReached) else None
            outcome = _Outcome("limit", str(error), limit=limit)
        except ModelError as error:
            outcome = _Outcome("model_error", str(error))
        except APIError as error:  # no access token
            outcome = _Outcome("api_error", str(error))
        except KeyboardInterrupt:
            outcome = _Outcome("interrupted", "interrupted")
            if self.deadline.expired:
                outcome = _Outcome("limit", str(self.deadline.reached()), limit="max_seconds")
        solution = self.solution(outcome)
        if self.asked.notes is not None:
            from atc.resume import note_solution

            note_solution(self.asked.notes, solution)
        self.emit(SolveEnded(solution))
        return solution

    def ended(self) -> _Outcome:
        """How the tries ended. Raises: LimitReached, PromptRefused, ModelError, APIError, KeyboardInterrupt."""
        options, service = self.settings.options, self.service
        with (
            self.deadline,
            self.session.running(
                self.knowledge.protocol,
                base_url=service.base_url,
                allow=options.allow,
                credentials=service.credentials,
                limits=self.settings.limits,
                now=self.now(),
                seed=options.seed,
                tools=self.offer.tools if self.asked.tools is not None else None,
                strict=options.strict_sandbox,
                writes=self.writes(),
                before_call=options.before_call,
                network=service.network,
            ) as sandbox,
        ):
            if self.interruption is not None:
                self.interruption.add(sandbox.interrupt)
            outcome = self.solved()
        if self.deadline.expired and outcome.status != "answered":  # what was cut off may look like a failure
            raise self.deadline.reached()
        return outcome

    def solved(self) -> _Outcome:
        """Try until there is an answer, or another try would not help, or all are used up (the paper's ReAct@N)."""
        session = self.session
        while True:
            outcome = self.tried()
            refused = any(run.refused_write is not None for run in self.runs)
            refused = refused or (session.gate is not None and bool(session.gate.declined))
            can_change = outcome.status in ("failed", "limit", "refused")
            if not can_change or refused or session.state.trial == self.settings.tries:
                return outcome
            session.try_again()
            if self.asked.journal is not None:
                self.asked.journal.over()

    def tried(self) -> _Outcome:
        """One try of the mode."""
        try:
            answer = self.settings.mode.run(self.offer.query, self.offer, self.session)
        except TryEnded as end:
            return _Outcome(end.status, str(end))
        kind = self.asked.answer_type
        if kind is None:
            return _Outcome("answered", "", answer)
        last = self.session.state.attempts[-1]
        text = (answer if answer is not None else last.run.stdout if last.run is not None else "").strip()
        fault = self.session.settings.misfit(text)
        if fault is None:
            return _Outcome("answered", "", answer, kind.read(text))
        wrong = replace(last, stage="answer", fault=fault, attribution=NO_ATTRIBUTION)
        self.session.retell([*self.session.attempts[:-1], wrong])
        return _Outcome("failed", one_line(f"{fault.type}: {fault.message}"))

    def solution(self, outcome: _Outcome) -> Solution:
        """What came of it."""
        status, message, answer, value, limit = outcome
        state, journal, gate, graph = self.session.state, self.asked.journal, self.session.gate, self.knowledge.graph
        last = state.attempts[-1].run if state.attempts else None
        if status == "answered" and answer is None and last is not None:
            answer = last.stdout.strip()
        warnings = dict.fromkeys([*self.knowledge.protocol.warnings, *(w for run in self.runs for w in run.warnings)])
        findings: tuple[Finding, ...] = ()
        unsupported = False
        if status == "answered" and last:
            program = state.attempts[-1].program
            findings = self.findings(program, last) if self.settings.mode.revises else ()
            unsupported = is_unsupported(program, last)
            warnings.update((finding.warning(), None) for finding in findings)
            if unsupported and not findings:
                warnings["the answer rests on no reply of the API"] = None
            elif not findings and self.asked.answer_type is None and not self.asked.turns:
                warnings.update(dict.fromkeys(self.knowledge.keep_solved(self.offer.query.text, program, last)))
        followed = self.settings.mode.revises or (last is not None and last.provenance is not None)
        warnings.update(dict.fromkeys(_unresolved_writes(journal) if journal is not None else ()))
        warnings.update(dict.fromkeys(gate.unmade if gate is not None else ()))
        usage, total = self.session.completions.usage, time.perf_counter() - self.started
        seconds = {"total": total, "model": usage.seconds, "run": state.run_seconds}
        return Solution(
            query=self.offer.query.text,
            status=status,
            answer=answer,
            attempts=state.attempts,
            warnings=tuple(map(worded, warnings)),
            usage=usage,
            seconds={name: round(entry, 3) for name, entry in seconds.items()},
            versions=self.versions(),
            message=message and worded(message),
            abandoned=journal.abandoned if journal is not None else (),
            flow=flows(self.offer.query, last, graph) if last and followed else (),
            findings=findings,
            unsupported=unsupported,
            tree=state.tree,
            value=value,
            write_plan=gate.plan if gate is not None else None,
            cost=self.session.completions.spending.cost,
            limit=limit,
        )

    def findings(self, program: str, run: Run) -> tuple[Finding, ...]:
        """What speaks against an answer: the facts, and what a help doubts; one of each kind."""
        doubts = self.help.doubts(program, run, self.offer.query, self.offer)
        every = [*facts(program, run, self.knowledge.graph, self.offer.query.text), *doubts]
        unmet = self.service.rehearsal.unmet[:1] if self.service.rehearsal is not None else ()
        every += [Finding("Unmet", f"{problem}, so that it finds none") for problem in unmet]
        return tuple({finding.kind: finding for finding in reversed(every)}.values())[::-1]

    def versions(self) -> Mapping[str, str]:
        """What the solution depends on."""
        return {
            "atc": _version(),
            "python": platform.python_version(),
            "model": self.model_name,
            "protocol": self.knowledge.protocol.digest,
        }


def _ended_in_time(outer: Interruption | None) -> Interruption:
    """An interruption for the time limit, which one from another thread sets, too."""
    from atc.background import Interruption

    interruption = Interruption()
    if outer is not None:
        outer.add(interruption.set)
    return interruption


def _fitted(settings: Resolved, open_model: Callable[[], Model]) -> tuple[Resolved, bool, ModelError | None]:
    """The settings for a model, whether it calls functions, and why it cannot be had: its first request says so."""
    try:
        functions = calls_functions(open_model())
        return settings.fitted(getattr(open_model(), "context", None)), functions, None
    except ModelError as error:
        return settings, False, error


def _price(settings: Resolved, model_name: str) -> Price | None:
    """The price of a model. Raises: UsageError: There is a limit of cost, and the model has none."""
    if settings.prices is None or settings.question_limits.max_cost is None:
        return settings.prices.of(model_name) if settings.prices is not None else None
    return settings.prices.required(model_name)


def _emit(sink: EventSink, solve: str, event: Event) -> None:
    """Hand an event to its reader, with the id of its solve in it."""
    sink(replace(event, solve=solve))


@cache
def _version() -> str:
    try:
        return version("atc-toolchain")
    except PackageNotFoundError:
        return "unknown"


def _unresolved_writes(journal: Journal) -> list[str]:
    """Warnings for the user: writes with an unknown outcome, those that the final program did not repeat, and those
    that a chat made again."""
    uncertain = [
        f"it is not known whether this write was done, and it was not sent again: {call_text(call)}"
        for call in journal.unknown
    ]
    abandoned = [
        f"an earlier program made this write, and the last one did not repeat it: {call_text(call)}"
        for call in journal.abandoned
        if call not in journal.unknown
    ]
    repeated = [
        f"an earlier question of this chat made this write, and it was made again: {call_text(call)}"
        for call in journal.repeated
    ]
    return [*uncertain, *abandoned, *repeated]
