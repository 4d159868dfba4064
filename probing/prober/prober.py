"""Learn what the tools of an API return by calling them (ATC paper, section 4 and Algorithm 1).

Tools without required arguments come first. Schemas inferred from their responses extend the data flow
(protocols.dataflow.graph), from which follow programs for tools that need an identifier. Observed values are tried
before a model, and a model is asked only for the tools that are left when nothing new is learned without it.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from atc.models import Model
from atc.program.plan import Call, Literal
from atc.program.source import called
from probing.prober.findings import ProbeReport, ToolFinding
from probing.prober.llm_prober import LLMProber
from probing.prober.observations import Observations
from probing.prober.permission import WritePermission
from probing.prober.programs import ProgramWriter, printing, question, unprovided_arguments
from probing.prober.values import documented_value
from probing.prober.variants import MAX_ITEMS, argument_variants, item_variants
from probing.schema.infer import MIN_SAMPLES
from protocols.dataflow.graph import ProtocolGraph
from protocols.errors import APIError, ATCError, LimitReached, ModelError, UsageError
from protocols.model import Parameter, Protocol, Tool
from protocols.text.words import SEARCHES
from sandbox import Run, Sandbox

__all__ = ["MAX_WAIT", "Prober"]

_EMPTY_RETRIES = 2
"""Programs per round for a list that was empty before."""
_DEMANDS = frozenset({"400", "422"})
"""Statuses of a call that lacks an argument."""
_NOT_ALLOWED = "the call was not allowed: what it changes or names may be somebody else's"
MAX_WAIT = 600.0
"""The longest wait in seconds that a busy service may ask for."""


class Prober:
    """Probes the tools of a protocol.

    Args:
        model: Writes programs for the tools that are not reached without it; None for no model.
        sandbox: Runs the programs. If writes may be allowed, its write policy is `permission`, and its calls are passed
            to `permission.observe`.
        permission: The tools that may be called; by default none that writes.
        iterations: Rounds after the first over the tools without an answer (the paper's beta).
        samples: Programs for a tool in each round (the paper's N).
        budget_calls: The most requests in all; None for no limit. Created objects are removed beyond it.
        budget_tokens: The most tokens the model reads and writes; None for no limit.
        only: The tools to probe; others are called only for their values. All by default.
        log: A file to resume from and to append to (see probing.prober.observations).
        documentation: The protocol with its responses, where `protocol` hides them: it says what is secret.
        on_finding: Called with each completed tool.
        on_try: Called with each tool and program before it runs.
    """

    def __init__(
        self,
        protocol: Protocol,
        model: Model | None,
        sandbox: Sandbox,
        *,
        permission: WritePermission | None = None,
        iterations: int = 4,
        samples: int = 3,
        budget_calls: int | None = None,
        budget_tokens: int | None = None,
        only: Collection[str] = (),
        seed: int = 0,
        log: Path | None = None,
        service: str = "",
        documentation: Protocol | None = None,
        on_finding: Callable[[ToolFinding], None] = lambda finding: None,
        on_try: Callable[[str, str], None] = lambda tool, program: None,
    ) -> None:
        self.protocol = protocol
        self.observations = Observations(protocol, log, seed, service, documentation)
        self._model = model.name if model is not None else None
        self._llm_prober = LLMProber(model, self.observations, budget_tokens) if model is not None else None
        self._sandbox = sandbox
        self._permission = permission or WritePermission(protocol)
        self._permission.created.extend(self.observations.created)
        self._permission.unremovable.extend(self.observations.unremovable)
        self._permission.on_change = self._save_created
        self._iterations, self._samples = iterations, samples
        self._budget = budget_calls
        self._only = frozenset(protocol.tool(name).name for name in only or [tool.name for tool in protocol.tools])
        self._seed = seed
        self._on_finding, self._on_try = on_finding, on_try
        self._call_problems: dict[str, str] = {}
        self._search_words: dict[tuple[str, str], str] = {}
        self._created_before: dict[tuple[str, str], int] = {}
        self._empty_programs: dict[str, str] = {}
        self._is_unreachable = False
        self._programs: dict[str, str] = {}
        self._asked_after: dict[str, int] = {}
        self._limit_reached = ""
        self._own_errors: dict[str, str] = {}

    @property
    def findings(self) -> dict[str, ToolFinding]:
        """The finding of each tool."""
        return self.observations.findings

    def probe(self) -> ProbeReport:
        """Run rounds until every tool answered, nothing new is learned, or a budget ends it."""
        rounds, ended, left_behind, explained = 0, "", [], False
        for tool in self.protocol.tools:
            if not self._permission.allows(tool) and not self.findings[tool.name].is_complete:
                self.findings[tool.name].outcome = "refused_by_policy"
                self.findings[tool.name].reason = self._permission.why_refused(tool)
        try:
            while rounds <= self._iterations and self._open_findings():
                if not self._run_round(rounds) and not self._run_model_round(rounds):
                    break
                rounds += 1
            explained = not self._limit_reached  # open tools have their reason; enriching follows
            for name, finding in self.findings.items():
                if finding.outcome == "documented" and name in self._only:
                    with self._guarded(name):
                        self._enrich(name)
            self._finish_empty()
            ended = self._limit_reached
        except KeyboardInterrupt:
            ended = "interrupted"
        except LimitReached as reached:
            ended = str(reached)
        except APIError as error:
            ended, self._is_unreachable = str(error), True
        finally:
            left_behind = self._remove_created()
            for name in self.findings:
                with self._guarded(name):
                    self.observations.summarize(name)
        for finding in self._open_findings() if ended else ():
            if ended == "interrupted":
                finding.reason = finding.reason or "it was not tried: interrupted"
            elif self._is_unreachable and not finding.requests:
                finding.outcome, finding.reason = "unreachable_service", ended
            elif self._is_unreachable:
                finding.outcome, finding.reason = "only_errors", finding.reason or ended
            elif not explained and finding.outcome != "internal_error":
                finding.outcome, finding.reason = "budget", ended
        tools = tuple(self.findings[tool.name] for tool in self.protocol.tools if tool.name in self._only)
        return ProbeReport(
            tools,
            rounds,
            self.observations.requests,
            self.protocol.digest,
            self._seed,
            self._model,
            ended,
            tuple(left_behind),
            self._is_unreachable,
            tuple(f"{name}: {error}" for name, error in self._own_errors.items()),
        )

    @contextmanager
    def _guarded(self, name: str) -> Iterator[None]:
        """Keep an error of our own while a tool is probed with its finding, so that the probe goes on.

        The message of the error is left out: it may hold a value of a reply.
        """
        try:
            yield
        except ATCError:
            raise
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            problem = f"{type(error).__name__} in {Path(frame.filename).name}, line {frame.lineno}"
            self._own_errors.setdefault(name, problem)
            finding = self.findings[name]
            if not finding.is_complete:
                finding.outcome = "internal_error"
                finding.reason = f"an error of atc, not of the service: {problem}; please report it"

    def _open_findings(self) -> list[ToolFinding]:
        """The findings of requested tools that are not complete."""
        open_tools = filter(self._is_open, self.protocol.tools)
        return [self.findings[tool.name] for tool in open_tools if tool.name in self._only]

    def _is_open(self, tool: Tool) -> bool:
        finding = self.findings[tool.name]
        return not (finding.is_complete and finding.program) and self._permission.allows(tool)

    def _run_round(self, number: int) -> bool:
        """Try every open tool with what is known; True if one was completed, or its errors say what it lacks.

        Creating tools come after those that read, so that existing objects are listed before any is created. Tools with
        path arguments come after lists, so that no name is invented that is observed later. Tools that were not
        requested come last, and only while a requested one is open.
        """
        graph = ProtocolGraph(self.observations.observed_protocol)
        progress = False

        def turn(tool: Tool) -> tuple[bool, bool, bool]:
            return tool.name not in self._only, self._permission.creates(tool), _has_path_argument(tool)

        for tool in sorted(self.protocol.tools, key=turn):
            if not self._is_open(tool) or (tool.name not in self._only and not self._open_findings()):
                continue
            with self._guarded(tool.name):
                progress |= self._try_tool(tool, graph, number)
        return progress

    def _try_tool(self, tool: Tool, graph: ProtocolGraph, number: int) -> bool:
        """Try the programs of a tool until one completes it; True if one did, or errors named arguments to try next."""
        finding, program, best_program = self.findings[tool.name], "", ""
        demanded = len(self.observations.missing.get(tool.name, {}))
        tries_left = _EMPTY_RETRIES if finding.outcome == "always_empty" else None
        writer = ProgramWriter(tool, graph, self.observations, self._permission, self._samples)
        for program, word in writer.programs():
            if not self._is_worth(tool.name, program):
                continue  # it failed before
            if tries_left is not None:
                if not tries_left:
                    break
                tries_left -= 1
            self._search_words[tool.name, program] = word
            self._created_before[tool.name, program] = len(self._permission.created)
            self.run(tool.name, program)
            if finding.is_complete:
                best_program = program
                break
            if not best_program and finding.outcome == "always_empty":  # better than an error
                best_program = program
        program = best_program or program
        if best_program and not finding.is_complete:
            self._empty_programs[tool.name] = best_program
        if finding.is_complete and program:
            self._finish(finding, question(tool), program, number)
            return True
        if not finding.is_complete:
            self._explain(tool, graph)
        return len(self.observations.missing.get(tool.name, {})) > demanded

    def _is_worth(self, tool: str, program: str) -> bool:
        """True for a new program, and for one that found an empty list before an object was created."""
        place = tool, program
        created_since = len(self._permission.created) > self._created_before.get(place, 0)
        is_empty = self.findings[tool].outcome == "always_empty"
        return place not in self._search_words or (is_empty and created_since)

    def _finish_empty(self) -> None:
        """Record the program of each tool whose list was always empty."""
        for name, program in self._empty_programs.items():
            finding = self.findings[name]
            if not finding.is_complete and finding.outcome == "always_empty":
                self.observations.finish(finding, question(self.protocol.tool(name)), program)
                self._on_finding(finding)

    def _run_model_round(self, number: int) -> bool:
        """Let the model write programs for the open tools; True if one was completed."""
        if self._llm_prober is None or self._limit_reached:
            return False
        graph = ProtocolGraph(self.observations.observed_protocol)
        complete = len(self.observations.complete)
        progress = False
        for finding in self._open_findings():
            is_known = finding.is_complete or finding.outcome == "always_empty"
            if is_known or self._asked_after.get(finding.tool) == complete:
                continue  # nothing was learned since the last question
            self._asked_after[finding.tool] = complete
            with self._guarded(finding.tool):
                progress |= self._ask_model(self._llm_prober, finding, graph, number)
            if self._limit_reached:
                break
        return progress

    def _ask_model(self, prober: LLMProber, finding: ToolFinding, graph: ProtocolGraph, number: int) -> bool:
        """Run programs of the model for a tool; True if one completed it."""
        tool = self.protocol.tool(finding.tool)
        tried: list[tuple[str, str]] = []
        for _ in range(self._samples):
            try:
                sampled_question, program = prober.probe(tool, graph, tried)
            except LimitReached as reached:
                self._limit_reached = str(reached)
                return False
            except ModelError as error:
                finding.outcome, finding.reason = "model_failed", str(error)
                return False
            run = self.run(tool.name, program) if program else None
            if finding.is_complete:
                self._finish(finding, sampled_question or question(tool), program, number)
                return True
            tried.append((program, self._failure(tool, run)))
        if not finding.requests:
            finding.outcome = "model_failed"
            finding.reason = "none of the programs that the model wrote called it"
        return False

    def _failure(self, tool: Tool, run: Run | None) -> str:
        """The reason why a program of the model failed."""
        if run is None:
            return "There is no program in it."
        if run.error is not None:
            return f"{run.error.type}: {self.observations.redact(run.error.message)}"
        if not any(call.tool == tool.name for call in run.calls):
            return f"It did not call {tool.name}."
        return "; ".join(self.findings[tool.name].errors) or "It found nothing."

    def _finish(self, finding: ToolFinding, question_text: str, program: str, number: int) -> None:
        """Complete a tool, and the others that its program called."""
        finding.reason = ""
        completed = {finding.tool: question_text}
        for name, other_finding in self.findings.items():
            if other_finding.is_complete and not other_finding.program and called(program, [name]):
                completed.setdefault(name, question(self.protocol.tool(name)))
        for name, text in completed.items():
            self.findings[name].iteration = number
            self._programs[name] = program
            self.observations.finish(self.findings[name], text, program)
            self._on_finding(self.findings[name])

    def _explain(self, tool: Tool, graph: ProtocolGraph) -> None:
        finding = self.findings[tool.name]
        if tool.name in self._own_errors:
            return
        if finding.outcome == "always_empty":
            finding.reason = "it answered, but its list was empty each time: what its items are is not known"
            return
        problem = self._call_problems.get(tool.name, "")
        not_allowed = _NOT_ALLOWED if problem == _NOT_ALLOWED else ""
        if not finding.requests and (reason := self._permission.why_unrecognizable(tool) or not_allowed):
            finding.outcome, finding.reason = "refused_by_policy", reason
            return
        if not finding.requests and not problem and self._permission.creator(tool) is not None:
            finding.outcome, finding.reason = "unreachable_argument", "nothing could be made that it may be called on"
            return
        problems = filter(None, [self.observations.unanswered.get(tool.name), problem])
        finding.outcome = "only_errors"
        finding.reason = "; ".join([*finding.errors, *problems]) or "no answer"
        lacking = unprovided_arguments(tool, graph, self.observations.complete)
        if not finding.requests and (lacking or (not problem and _required_arguments(tool))):
            finding.outcome = "unreachable_argument"
            lacking = lacking or self._without_value(tool, graph)
            value = f"a value for {', '.join(lacking)}"
            together = f"values that belong together for {', '.join(_required_arguments(tool))}"
            finding.reason = f"no answer held {value if lacking else together}"
        elif unmet := self._unmet_demands(tool):
            finding.outcome = "unreachable_argument"
            finding.reason += f"; no answer held a value for {', '.join(unmet)}"

    def _without_value(self, tool: Tool, graph: ProtocolGraph) -> list[str]:
        """The required arguments for which neither the document nor an answer has a value."""
        lacking = []
        for param in tool.arguments:
            reference = graph.reference(tool.name, param.argument)
            held = reference is not None and any(self.observations.identifiers([reference]))
            if param.required and not held and documented_value(param) is None and not self._has_value(tool, param):
                lacking.append(param.argument)
        return lacking

    def _has_value(self, tool: Tool, parameter: Parameter) -> bool:
        return any(True for _ in self.observations.values.candidates(tool, parameter))

    def _unmet_demands(self, tool: Tool) -> list[str]:
        """The arguments that all errors of a tool ask for, and for which no answer held a value."""
        demanded = self.observations.missing.get(tool.name, {})
        params = [param for param in tool.arguments if param.argument in demanded and documented_value(param) is None]
        unmet = [param.argument for param in params if not self._has_value(tool, param)]
        return unmet if set(self.findings[tool.name].statuses) <= _DEMANDS else []

    def _enrich(self, name: str) -> None:
        """Call a complete tool with other arguments and on other entities, to learn which fields are optional."""
        tool = self.protocol.tool(name)
        program = self._programs.get(name) or self.findings[name].program
        if not program or tool.writes:
            return
        for variant in argument_variants(program, tool):
            self.run(name, variant)
        word = self._search_words.get((name, program), "")
        for variant in item_variants(program, tool, word, list(self.observations.names)):
            if self._body_count(name) >= MAX_ITEMS:
                return
            self.run(name, variant)
        while (before := self._body_count(name)) < MIN_SAMPLES:
            self.run(name, program)
            if self._body_count(name) == before:
                return

    def _body_count(self, name: str) -> int:
        return len(self.observations.bodies.get(name, ()))

    def run(self, tool: str, program: str, *, again: bool = False) -> Run:
        """Run a program that calls a tool and record its calls; repeat it once after the wait of a busy service.

        Raises: LimitReached: No request is left, or the wait is too long. KeyboardInterrupt.
        """
        remaining = None if self._budget is None else self._budget - self.observations.requests
        if remaining is not None and remaining <= 0:
            raise LimitReached(f"the budget of {self._budget} requests is used up")
        self._on_try(tool, self.observations.redact(program))
        run = self._sandbox.run(program, remaining)
        self._record(run)
        wait = max((call.retry_after or 0.0 for call in run.calls), default=0.0)
        if wait and run.outcome != "interrupted" and not again:
            self._wait(tool, wait)
            return self.run(tool, program, again=True)
        self._call_problems[tool] = ""
        if unsent := [call.error for call in run.calls if call.tool == tool and not call.attempts and call.error]:
            self._call_problems[tool] = self.observations.redact(f"the call could not be sent: {unsent[-1]}")
        if any(call.refused and call.tool == tool for call in run.calls):
            self._call_problems[tool] = _NOT_ALLOWED
        refused = [call for call in run.calls if call.status is None and "refused" in (call.error or "")]
        if refused and any(call.attempts for call in refused):
            raise APIError(f"the service cannot be reached: {refused[0].error}; check the base URL (--base-url)")
        if run.outcome == "interrupted":
            raise KeyboardInterrupt
        if not again:
            self._confirm_created(tool)
        return run

    def _confirm_created(self, tool: str) -> None:
        """List the collections of objects that no response confirmed."""
        for program in self._list_programs(self._permission.unconfirmed(tool)):
            if not self._permission.unconfirmed(tool):
                return
            self._record(self._sandbox.run(program))

    def _list_programs(self, names: Collection[str]) -> list[str]:
        """Programs that list a collection, as a whole and by names of the probe's own."""
        listed = []
        for lister in dict.fromkeys(lister for name in names for lister in self._permission.list_tools(name)):
            listed.append(self.findings[lister].program or printing(Call(lister)))
            params = self.protocol.tool(lister).arguments
            if search := next((param.argument for param in params if param.argument.lower() in SEARCHES), None):
                listed += [printing(Call(lister, ((search, Literal(name, observed=True)),))) for name in names]
        return listed

    def _wait(self, tool: str, seconds: float) -> None:
        """Wait as long as a busy service asks. Raises: LimitReached: That is too long."""
        if seconds > MAX_WAIT:
            raise LimitReached(f"the service asks to be left alone for {seconds:,.0f} s: --resume goes on then")
        self._on_try(tool, f"waiting for {seconds:,.0f} s, as the service asks")
        time.sleep(seconds)

    def _record(self, run: Run) -> None:
        for call in run.calls:
            self.observations.record(call)

    def _save_created(self) -> None:
        with suppress(UsageError):  # reported when the document can't be written; objects are removed anyway
            self.observations.save_created(self._permission.created, self._permission.unremovable)

    def _remove_created(self) -> list[str]:
        """Remove created objects; the calls of those that could not be removed."""
        for is_last in (False, True):  # some can be removed only after those that refer to them
            for created in reversed(self._permission.created[:]):
                if created in self._permission.created:
                    self._run_removal(created.program)
            if not is_last:
                for program in self._list_programs(self._permission.names):
                    self._run_removal(program)
        programs = [created.program for created in self._permission.created]
        return [self.observations.redact(text) for text in (*self._permission.unremovable, *programs)]

    def _run_removal(self, program: str) -> None:
        run = self._sandbox.run(program)
        with suppress(UsageError):  # even with a full disk, objects are removed
            self._record(run)


def _has_path_argument(tool: Tool) -> bool:
    return any(argument.required and argument.location == "path" for argument in tool.arguments)


def _required_arguments(tool: Tool) -> list[str]:
    return [argument.argument for argument in tool.arguments if argument.required]
