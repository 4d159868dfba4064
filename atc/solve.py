"""One question from its first prompt to its Solution: the tries of a mode, the model's answers, the journal."""

from __future__ import annotations

import platform
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Literal

from atc.answer_type import AnswerType
from atc.assist.language.question import Question
from atc.assist.rules import inspect
from atc.assist.rules.agreement import disagreement
from atc.assist.rules.write_reasons import challenge_write
from atc.diagnosis.provenance import flows
from atc.events import (
    CallBegan,
    CallMade,
    Event,
    EventSink,
    ModelProgress,
    OutputPrinted,
    RunStarted,
    SolveEnded,
    SolveStarted,
)
from atc.evidence import Finding, is_unsupported
from atc.fault import Fault
from atc.hooks import AfterCall, BeforeCall
from atc.interruption import Interruption
from atc.knowledge import Knowledge
from atc.models import Completion, Message, Model, Usage
from atc.models.base import FunctionSpec, Layout, ModelRequest, Progress, answer, calls_functions
from atc.models.replay import request_hash
from atc.modes import LOOP, mode_function
from atc.modes.api import NO_ATTRIBUTION
from atc.modes.toolbox import Toolbox
from atc.options import Effort, SearchSettings
from atc.profile import Profile
from atc.prompting.prompt import Opening, opening
from atc.question_limits import Deadline, LimitName, QuestionLimitReached, QuestionLimits, Spending
from atc.resume import (
    close_request,
    cut_answers,
    lost_requests,
    note_cut_answer,
    note_open_request,
    note_question,
    note_solution,
    note_time,
    recorded_completion,
    unresolved_writes,
)
from atc.search_tree import SearchNode
from atc.solution import Attempt, Solution, Status
from atc.turns import Turn, conversation_so_far
from atc.write_gate import ConfirmPlan, WriteGate
from protocols.calls.credentials import Credential
from protocols.errors import APIError, LimitReached, ModelError, PromptRefused
from sandbox import CallRecord, Journal, Limits, Run, Sandbox
from sandbox.egress.egress_rules import BaseURL
from sandbox.egress.network import Network
from sandbox.egress.write_plan import WriteLedger
from sandbox.egress.writes import Writes

if TYPE_CHECKING:
    from atc.models.prices import Prices

__all__ = ["Service", "Solve", "SolveSettings", "first_prompt"]


_SHARE_OF_TURNS = 5
"""The part of a prompt that the turns before in a chat may take: a fifth."""
_ASIDE = "this program only checks an answer, and writes nothing of its own"


@dataclass(frozen=True, slots=True)
class Service:
    """Where calls go, as whom, and with which certificates. `base_url` is None where the document names the server."""

    base_url: BaseURL
    credentials: tuple[Credential, ...]
    simulated: bool
    network: Network | None = None


@dataclass(frozen=True, slots=True)
class SolveSettings:
    """What decides how questions are solved, worked out from an agent's Options."""

    mode: str
    tries: int
    max_reflections: int
    profile: Profile
    tools: int
    seed: int
    now: datetime | None
    limits: Limits
    allow: tuple[str, ...]
    strict_sandbox: bool
    writes: Writes | Literal["plan"]
    confirm: Callable[[CallRecord], bool] | None
    before_call: BeforeCall | None = None
    after_call: AfterCall | None = None
    confirm_plan: ConfirmPlan | None = None
    search: SearchSettings = field(default_factory=SearchSettings)
    effort: Effort = "normal"
    question_limits: QuestionLimits = field(default_factory=QuestionLimits)
    prices: Prices | None = None

    @property
    def today(self) -> str:
        """The date that the model is told, as YYYY-MM-DD."""
        return (self.now or datetime.now(UTC)).date().isoformat()


def first_prompt(
    question: Question,
    knowledge: Knowledge,
    settings: SolveSettings,
    tools: Sequence[str] | None,
    today: str | None = None,
    called: Sequence[str] = (),
) -> Opening:
    """What the model is asked first. `tools` are those to offer, by default the best, and those `called` before in a
    chat; `today` as YYYY-MM-DD."""
    first = opening(
        question,
        knowledge.candidates,
        knowledge.vocabulary,
        today or settings.today,
        tools,
        settings.tools,
        settings.profile,
        knowledge.demonstrations,
        called,
    )
    calls = settings.limits.calls
    says_limit = settings.profile.documentation == "full" or calls != Limits().calls
    return replace(first, most_calls=calls) if says_limit else first


@dataclass
class Solve:
    """One question on its way.

    Args:
        open_model: Gives the model; called when it is needed. Raises: ModelError.
        model_name: For the record, also where the model cannot be had.
        tools: Names of the tools to offer, and the only ones that may be called. By default some are chosen for the
            question, and any of the protocol may be called.
        answer_type: The type that the answer has to have.
        interruption: What another thread may end the solve with.
        turns: The questions before in a chat, oldest first.
    """

    question: Question
    knowledge: Knowledge
    service: Service
    settings: SolveSettings
    open_model: Callable[[], Model]
    model_name: str
    on_event: EventSink
    tools: Sequence[str] | None
    journal: Journal | None
    attempts: list[Attempt] = field(default_factory=list)
    nodes: list[SearchNode] = field(default_factory=list)
    program: str = ""
    calls: list[CallRecord] = field(default_factory=list)
    requests: int = 0
    tried: int = 1
    toolbox: Toolbox | None = None
    answer: str | None = None
    usage: Usage = field(default_factory=Usage)
    run_seconds: float = 0.0
    interruption: Interruption | None = None
    answer_type: AnswerType | None = None
    turns: Sequence[Turn] = ()
    value: Any = None

    def __post_init__(self) -> None:
        self.id = secrets.token_hex(6)
        self.limit: LimitName | None = None
        self.hold_to_limits()
        self.calls_functions = self.aside = False
        with suppress(ModelError):  # the first question to the model says so
            self.calls_functions = calls_functions(self.open_model())
            profile = self.settings.profile.within(getattr(self.open_model(), "context", None))
            self.settings = replace(self.settings, profile=profile)
        self.today = self.settings.today
        if self.journal is not None:
            if (cut := cut_answers(self.journal)).model_calls:
                self.count(cut)
            if (lost := lost_requests(self.journal)).model_calls:
                self.lose(lost)
            self.today = note_question(self.journal, self.question.text, self.knowledge.protocol, self.today)
        opened = first_prompt(
            self.question, self.knowledge, self.settings, self.tools, self.today, self.called_before()
        )
        self.opening = replace(
            opened,
            answer_schema=self.answer_type.schema if self.answer_type is not None else "",
            earlier=conversation_so_far(self.turns, self.settings.profile.prompt_tokens // _SHARE_OF_TURNS),
        )
        self.guarded = self.settings.writes == "allow" and not self.service.simulated
        self.gate: WriteGate | None = None
        # What is run again must find the same time, and the same chance.
        self.now = self.settings.now or (datetime.now(UTC) if self.settings.mode == "codeact" else None)
        if self.settings.writes == "plan" and self.journal is not None:
            self.gate = WriteGate(
                WriteLedger(),
                self.journal,
                self.knowledge.protocol,
                self.question,
                self.settings.confirm_plan,
                self.emit,
            )
            self.now = self.settings.now or note_time(self.journal, datetime.now(UTC))
        self.started = time.perf_counter()

    def hold_to_limits(self) -> None:
        """Count what is spent from now on. Raises: UsageError: There is a limit of cost, and the model has no price."""
        limits, prices = self.settings.question_limits, self.settings.prices
        price = prices.of(self.model_name) if prices is not None else None
        if limits.max_cost is not None and prices is not None:
            price = prices.required(self.model_name)
        self.spending = Spending(limits, price)
        if limits.max_seconds is not None:
            outer, self.interruption = self.interruption, Interruption()
            if outer is not None:
                outer.add(self.interruption.set)
        self.deadline = Deadline(limits.max_seconds, self.interruption.set if self.interruption is not None else None)
        settings, unhurried = self.settings, self.deadline.unhurried
        self.settings = replace(
            settings,
            confirm=unhurried(settings.confirm),
            writes=unhurried(settings.writes) if callable(settings.writes) else settings.writes,
            confirm_plan=unhurried(settings.confirm_plan),
        )

    def called_before(self) -> list[str]:
        """The tools that were called for the questions before in a chat."""
        protocol = self.knowledge.protocol
        return [name for name in dict.fromkeys(name for turn in self.turns for name in turn.tools) if name in protocol]

    def emit(self, event: Event) -> None:
        """Hand an event to the reader, with the id of this solve in it."""
        self.on_event(replace(event, solve=self.id))

    @property
    def number(self) -> int:
        """The number of the attempt that is under way, from 1."""
        return self.toolbox.number if self.toolbox is not None else len(self.attempts) + 1

    def run(self) -> Solution:
        """Solve the question."""
        settings = self.settings
        self.emit(SolveStarted(self.question.text, self.opening.tools, self.model_name))
        status: Status = "failed"
        message = ""
        try:
            with (
                self.deadline,
                Sandbox(
                    self.knowledge.protocol,
                    base_url=self.service.base_url,
                    allow=settings.allow,
                    credentials=self.service.credentials,
                    limits=settings.limits,
                    now=self.now,
                    seed=settings.seed,
                    tools=self.opening.tools if self.tools is not None else None,
                    strict=settings.strict_sandbox,
                    journal=self.journal,
                    writes=self.writes(),
                    before_call=settings.before_call,
                    on_call=self.called,
                    on_begin=self.began_call,
                    on_output=self.printed,
                    network=self.service.network,
                ) as sandbox,
            ):
                if self.interruption is not None:
                    self.interruption.add(sandbox.interrupt)
                status, message = self.solved(sandbox)
            if self.deadline.expired and status != "answered":  # what was cut off may look like a failure
                raise self.deadline.reached()
        except (LimitReached, PromptRefused) as error:
            status, message = "limit", str(error)
            self.limit = error.limit if isinstance(error, QuestionLimitReached) else None
        except ModelError as error:
            status, message = "model_error", str(error)
        except APIError as error:  # no access token
            status, message = "api_error", str(error)
        except KeyboardInterrupt:
            status, message = "interrupted", "interrupted"
            if self.deadline.expired:
                status, message, self.limit = "limit", str(self.deadline.reached()), "max_seconds"
        solution = self.solution(status, message)
        if self.journal is not None:
            note_solution(self.journal, solution)
        self.emit(SolveEnded(solution))
        return solution

    def writes(self) -> Writes:
        """The writes policy; at a real service a write that the question gives no reason for is asked about."""
        protocol, confirm = self.knowledge.protocol, self.settings.confirm
        if self.settings.writes == "plan":
            return self.gate.ledger if self.gate is not None else "deny"
        if not self.guarded:
            allowed = self.settings.writes
            if self.settings.effort == "high" and allowed == "allow":
                return lambda call: not self.aside or _ASIDE
            return allowed

        def founded(call: CallRecord) -> bool | str:
            if self.aside:
                return _ASIDE
            tool = protocol.tool(call.tool) if call.tool is not None else None
            why = challenge_write(self.question, self.program, [*self.calls, call], tool, protocol)
            if why is None or (confirm is not None and confirm(call)):
                return True
            return why if confirm is not None else f"{why}; nobody is there to confirm it"

        return founded

    def run_aside(self, sandbox: Sandbox, program: str) -> Run:
        """Run a program that counts for nothing; it gets the replies of earlier calls, and new writes are refused."""
        calls, self.aside = self.calls, True
        try:
            with (
                self.journal.aside() if self.journal is not None else nullcontext(),
                self.gate.aside() if self.gate is not None else nullcontext(),
            ):
                if self.journal is not None:
                    self.journal.over()
                return sandbox.run(program)
        finally:
            self.calls, self.aside = calls, False

    def printed(self, stream: str, text: str) -> None:
        """A program printed."""
        if not self.aside:
            self.emit(OutputPrinted(self.number, stream, text))

    def began_call(self, index: int, tool: str | None, line: int | None) -> None:
        """A call begins."""
        if not self.aside:
            self.emit(CallBegan(self.number, index, tool, line))

    def called(self, call: CallRecord) -> None:
        """A call was made."""
        if self.settings.after_call is not None:
            self.settings.after_call(call)
        if self.aside:
            return
        self.calls.append(call)
        self.emit(CallMade(self.number, call))

    def began(self, program: str) -> None:
        """A program is about to run."""
        self.program, self.calls = program, []
        self.emit(RunStarted(self.number))

    def solved(self, sandbox: Sandbox) -> tuple[Status, str]:
        """Try until there is an answer, or another try would not help, or all are used up (the paper's ReAct@N)."""
        while True:
            status, message = self.attempt(sandbox)
            refused = any(call.refused for attempt in self.attempts for call in attempt.calls)
            refused = refused or (self.gate is not None and bool(self.gate.declined))
            if status not in ("failed", "limit", "refused") or refused or self.tried == self.settings.tries:
                return status, message
            self.tried += 1
            if self.journal is not None:
                self.journal.over()

    def attempt(self, sandbox: Sandbox) -> tuple[Status, str]:
        """One try of the mode."""
        settings = self.settings
        self.toolbox = toolbox = Toolbox(
            question=self.question,
            today=self.today,
            opening=self.opening,
            callable_tools=frozenset(
                self.opening.tools if self.tools is not None else (tool.name for tool in self.knowledge.protocol.tools)
            ),
            knowledge=self.knowledge,
            profile=settings.profile,
            sandbox=sandbox,
            limits=settings.limits,
            journal=self.journal,
            complete=self.complete,
            emit=self.emit,
            attempts=self.attempts,
            max_reflections=settings.max_reflections,
            guarded=self.guarded,
            signed=any(sent.secrets() for sent in self.service.credentials),
            elsewhere=bool(settings.allow or self.service.base_url),
            on_program=self.began,
            run_aside=lambda program: self.run_aside(sandbox, program),
            search=settings.search,
            nodes=self.nodes,
            trial=self.tried,
            calls_functions=self.calls_functions,
            gate=self.gate,
            effort=settings.effort,
            answer_type=self.answer_type,
        )
        try:
            mode = mode_function(settings.mode)
            status, message, self.answer = toolbox.run(mode, records=settings.mode in LOOP)
        finally:
            self.run_seconds += toolbox.api.seconds
        if status == "answered" and (fault := self.misfit()) is not None:
            self.answer = None
            return "failed", f"{fault.type}: {fault.message}"
        return status, message

    def misfit(self) -> Fault | None:
        """The fault of an answer of the wrong type, which its attempt then has; else its value is taken."""
        if self.answer_type is None or self.toolbox is None:
            return None
        last = self.attempts[-1]
        printed = last.run.stdout if last.run is not None else ""
        text = (self.answer if self.answer is not None else printed).strip()
        fault = self.toolbox.misfit(text)
        if fault is None:
            self.value = self.answer_type.read(text)
        else:
            self.attempts[-1] = replace(last, stage="answer", fault=fault, attribution=NO_ATTRIBUTION)
        return fault

    def complete(
        self,
        messages: Sequence[Message],
        *,
        stop: Sequence[str] = (),
        max_tokens: int,
        sampled: bool = False,
        functions: Sequence[FunctionSpec] = (),
        layout: Layout = "chat",
    ) -> Completion:
        """Ask the model, unless the journal has its answer; either way it counts.

        The first try takes the likeliest answer, later ones a sample, lest it be the same.
        Raises: LimitReached: The answer would go beyond a limit of the question, or was cut by one. ModelError.
        """
        most = self.settings.search.max_model_calls
        if most and self.requests >= most:
            raise LimitReached(f"no answer within {most} model calls; --max-model-calls allows more")
        self.requests += 1
        request = request_hash(messages, stop, max_tokens, functions, layout)
        journal = self.journal
        completion = recorded_completion(journal, self.requests - 1, request) if journal is not None else None
        if completion is not None:
            self.count(completion.usage, messages, functions, completion.text)
            return completion
        room = self.spending.room(messages, functions, max_tokens)
        likeliest = self.tried == 1 and not sampled
        seed = self.settings.seed + self.tried - 1 + (self.requests if sampled else 0)
        chance = None if likeliest else seed
        unlimited = max_tokens if room < max_tokens else None
        completion = self.asked(
            ModelRequest(messages, stop, room, chance, self.progressed, functions, layout, unlimited), request
        )
        self.count(completion.usage, messages, functions, completion.text)
        if (reached := self.spending.cut(completion.finish)) is not None:
            if journal is not None:
                note_cut_answer(journal, completion.usage)
                close_request(journal)
            raise reached
        if journal is not None:
            journal.answer(self.requests - 1, request, asdict(completion))
        return completion

    def count(
        self, usage: Usage, messages: Sequence[Message] = (), functions: Sequence[FunctionSpec] = (), text: str = ""
    ) -> None:
        """Count what a request to the model cost."""
        self.usage += usage
        self.spending.add(usage, messages, functions, text)

    def lose(self, usage: Usage) -> None:
        """Count requests whose answers nobody took, by their estimate."""
        self.usage += usage
        self.spending.add_lost(usage)

    def asked(self, request: ModelRequest, key: str) -> Completion:
        """Ask the model; where another thread may end the solve, in a thread that is then left behind."""
        model, interruption = self.open_model(), self.interruption
        if interruption is not None:
            interruption.check()  # what is not sent costs nothing
        lost = self.spending.lost(request.messages, request.functions)
        if self.journal is not None:
            note_open_request(self.journal, self.requests - 1, key, lost)
        try:
            if interruption is None:
                return answer(model, request)
            return interruption.call(lambda: answer(model, request))
        except ModelError:
            if self.journal is not None:
                close_request(self.journal)
            raise
        except KeyboardInterrupt:
            self.lose(lost)
            if interruption is not None:
                interruption.set()  # ends what is left behind, too
            if self.deadline.expired:
                raise self.deadline.reached() from None
            raise

    def progressed(self, progress: Progress) -> None:
        """The model has read or written more."""
        if self.interruption is not None:
            self.interruption.check()
        self.emit(ModelProgress(self.number, progress))

    def solution(self, status: Status, message: str) -> Solution:
        """What came of it."""
        last = self.attempts[-1].run if self.attempts else None
        answer = self.answer
        if status == "answered" and answer is None and last is not None:
            answer = last.stdout.strip()
        warnings = dict.fromkeys(self.knowledge.protocol.warnings)
        warnings.update(dict.fromkeys(w for attempt in self.attempts if attempt.run for w in attempt.run.warnings))
        findings: tuple[Finding, ...] = ()
        unsupported = False
        if status == "answered" and last:
            program = self.attempts[-1].program
            contrary = disagreement(self.toolbox.second_answers) if self.toolbox is not None else None
            findings = (*([contrary] if contrary else []), *self.findings(program, last))
            unsupported = is_unsupported(program, last)
            warnings.update((finding.warning(), None) for finding in findings)
            if unsupported and not findings:
                warnings["the answer rests on no reply of the API"] = None
            elif not findings and self.answer_type is None and not self.turns:
                warnings.update(dict.fromkeys(self.knowledge.keep_solved(self.question.text, program, last)))
        followed = self.settings.mode in LOOP or (last is not None and last.provenance is not None)
        journal = self.journal
        warnings.update(dict.fromkeys(unresolved_writes(journal) if journal is not None else ()))
        warnings.update(dict.fromkeys(self.gate.unmade if self.gate is not None else ()))
        if status == "answered" and self.toolbox is not None and self.toolbox.look_ended:
            warnings[f"the second look at the answer was cut short: {self.toolbox.look_ended}"] = None
        seconds = {
            "total": time.perf_counter() - self.started,
            "model": self.usage.seconds,
            "run": self.run_seconds,
        }
        return Solution(
            query=self.question.text,
            status=status,
            answer=answer,
            attempts=tuple(self.attempts),
            warnings=tuple(warnings),
            usage=self.usage,
            seconds={name: round(value, 3) for name, value in seconds.items()},
            versions=self.versions(),
            message=message,
            abandoned=journal.abandoned if journal is not None else (),
            flow=flows(self.question, last, self.knowledge.graph) if last and followed else (),
            findings=findings,
            unsupported=unsupported,
            tree=tuple(self.nodes),
            second_answers=tuple(self.toolbox.second_answers) if self.toolbox is not None else (),
            value=self.value,
            write_plan=self.gate.plan if self.gate is not None else None,
            cost=self.spending.cost,
            limit=self.limit,
        )

    def findings(self, program: str, run: Run) -> tuple[Finding, ...]:
        """What speaks against the answer; nothing in a mode without programs."""
        if self.settings.mode not in LOOP:
            return ()
        if self.toolbox is not None:
            return self.toolbox.findings(program, run)
        return inspect(program, run, self.question, self.knowledge.graph)

    def versions(self) -> Mapping[str, str]:
        """What the solution depends on."""
        return {
            "atc": _version(),
            "python": platform.python_version(),
            "model": self.model_name,
            "protocol": self.knowledge.protocol.digest,
        }


@cache
def _version() -> str:
    try:
        return version("atc-toolchain")
    except PackageNotFoundError:
        return "unknown"
