"""Learn what the tools of an API return by calling them (ATC paper, section 4 and Algorithm 1).

Tools that can be called from nothing come first. What they answer is written down as a schema, so that the data flow
between the tools (protocols.dataflow.graph) grows with every answer; from it follow programs for tools that need an
identifier, which run in the sandbox. Values that were seen are tried before a model is asked, and a model is asked only
of the tools that are left when nothing new is learned without it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

from atc.models import Model
from atc.program.source import called
from probing.prober.findings import ProbeReport, ToolFinding
from probing.prober.llm_prober import LLMProber
from probing.prober.observations import Observations
from probing.prober.permission import WritePermission
from probing.prober.programs import (
    MAX_ITEMS,
    argument_variants,
    item_variants,
    programs,
    question,
    unprovided_arguments,
)
from probing.schema.infer import MIN_SAMPLES
from protocols.dataflow.graph import ProtocolGraph
from protocols.errors import APIError, LimitReached, ModelError, UsageError
from protocols.model import Protocol, Tool
from protocols.text.words import SEARCHES
from sandbox import Run, Sandbox

__all__ = ["MAX_WAIT", "Prober"]

_EMPTY_RETRIES = 2
"""Programs in a round for a list that was empty in an earlier one."""
MAX_WAIT = 600.0
"""Seconds that a busy service may ask for and that are waited."""


class Prober:
    """Finds out what the tools of a protocol return.

    Args:
        model: Writes programs for the tools that are not reached without it; None to do without.
        sandbox: Runs the programs. Where tools that write may be called, its writes policy is `permission`, and
            `permission.saw` is told of each call.
        permission: Which tools may be called; by default none that writes.
        iterations: Rounds after the first through the tools that did not answer yet (the paper's beta).
        samples: Programs for a tool in each round (the paper's N).
        chain: Whether tools may be called with what others answered; without it each stands alone.
        budget_calls: The most requests in all; None for no limit. What was made is removed beyond it.
        budget_tokens: The most tokens the model reads and writes; None for no limit.
        only: The tools to find out about; others are called where these need them. All by default.
        log: A file to go on from, and to keep what is learned in (see probing.prober.observations).
        on_finding: Told of each tool as it is done with.
        on_try: Told of each tool and program before it runs.
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
        chain: bool = True,
        budget_calls: int | None = None,
        budget_tokens: int | None = None,
        only: Collection[str] = (),
        seed: int = 0,
        log: Path | None = None,
        service: str = "",
        on_finding: Callable[[ToolFinding], None] = lambda finding: None,
        on_try: Callable[[str, str], None] = lambda tool, program: None,
    ) -> None:
        self.protocol = protocol
        self.learned = Observations(protocol, log, seed, service)
        self._model = model.name if model is not None else None
        self._asker = LLMProber(model, self.learned, budget_tokens) if model is not None else None
        self._sandbox = sandbox
        self._permission = permission or WritePermission(protocol)
        self._permission.made.extend(self.learned.made)
        self._permission.lost.extend(self.learned.lost)
        self._permission.changed = self._keep_made
        self._iterations, self._samples, self._chain = iterations, samples, chain
        self._budget = budget_calls
        self._only = frozenset(protocol.tool(name).name for name in only) or frozenset(
            tool.name for tool in protocol.tools
        )
        self._seed = seed
        self._told, self._tries = on_finding, on_try
        self._problem: dict[str, str] = {}
        self._words: dict[tuple[str, str], str] = {}
        self._made_before: dict[tuple[str, str], int] = {}
        self._empty: dict[str, str] = {}
        self._is_unreachable = False
        self._programs: dict[str, str] = {}
        self._asked: dict[str, int] = {}
        self._spent = ""

    @property
    def found(self) -> dict[str, ToolFinding]:
        """By tool, how it went."""
        return self.learned.found

    @property
    def known(self) -> Protocol:
        """The protocol with what is known of responses so far."""
        return self.learned.known

    def probe(self) -> ProbeReport:
        """Go round until every tool answered, nothing new is learned, or a budget ends it."""
        rounds, ended, left_behind, explained = 0, "", [], False
        for tool in self.protocol.tools:
            if not self._permission.allows(tool) and not self.found[tool.name].done:
                self.found[tool.name].outcome = "refused_by_policy"
                self.found[tool.name].reason = self._permission.why_not(tool)
        try:
            while rounds <= self._iterations and self._left():
                if not self._round(rounds) and not self._asking_round(rounds):
                    break
                rounds += 1
            explained = not self._spent  # what is left now says why; the rest is to know more of what answered
            for name, finding in self.found.items():
                if finding.outcome == "documented" and name in self._only:
                    self._enrich(name)
            self._end_empty()
            ended = self._spent
        except KeyboardInterrupt:
            ended = "interrupted"
        except LimitReached as reached:
            ended = str(reached)
        except APIError as error:
            ended, self._is_unreachable = str(error), True
        finally:
            left_behind = self._remove()
            self.learned.write_down()
        for finding in self._left() if ended else ():
            if ended == "interrupted":
                finding.reason = finding.reason or "it was not tried: interrupted"
            elif self._is_unreachable and not finding.requests:
                finding.outcome, finding.reason = "unreachable_service", ended
            elif self._is_unreachable:
                finding.outcome, finding.reason = "only_errors", finding.reason or ended
            elif not explained:
                finding.outcome, finding.reason = "budget", ended
        tools = tuple(self.found[tool.name] for tool in self.protocol.tools if tool.name in self._only)
        return ProbeReport(
            tools,
            rounds,
            self.learned.requests,
            self.protocol.digest,
            self._seed,
            self._model,
            ended,
            tuple(left_behind),
            self._is_unreachable,
        )

    def _left(self) -> list[ToolFinding]:
        """The findings that are still wanted."""
        return [self.found[tool.name] for tool in self.protocol.tools if tool.name in self._only and self._open(tool)]

    def _open(self, tool: Tool) -> bool:
        finding = self.found[tool.name]
        return not (finding.done and finding.program) and self._permission.allows(tool)

    def _round(self, number: int) -> bool:
        """Try every tool that has not answered with what is known; whether one of them did.

        Tools that make objects come after those that read, so that what is there is listed before anything is made;
        and what is about one thing after what lists things, so that no name is made up for one that is seen later.
        Tools that are not asked for come last, and only while one is left that is.
        """
        graph = ProtocolGraph(self.known)
        news = False
        by_turn = sorted(
            self.protocol.tools,
            key=lambda tool: (tool.name not in self._only, self._permission.makes(tool), _has_path_argument(tool)),
        )
        for tool in by_turn:
            if not self._open(tool) or (tool.name not in self._only and not self._left()):
                continue
            finding, program, best_program = self.found[tool.name], "", ""
            tries_left = _EMPTY_RETRIES if tool.name in self.learned.hollow else None
            for program, word in programs(
                tool, graph, self.learned, self._permission, self._samples, chain=self._chain
            ):
                if not self._is_worth(tool.name, program):
                    continue  # it did not do before
                if tries_left is not None:
                    if not tries_left:
                        break
                    tries_left -= 1
                self._words[tool.name, program] = word
                self._made_before[tool.name, program] = len(self._permission.made)
                self.run(tool.name, program)
                if finding.done:
                    best_program = program
                    break
                if (
                    not best_program and tool.name in self.learned.hollow
                ):  # it found nothing, which is more than an error
                    best_program = program
            program = best_program or program
            if best_program and not finding.done:
                self._empty[tool.name] = best_program
            if finding.done and program:
                self._end(finding, question(tool), program, number)
                news = True
            elif not finding.done:
                self._explain(tool, graph)
        return news

    def _is_worth(self, tool: str, program: str) -> bool:
        """Whether a program is new, or asks again for a list that was empty before something was made."""
        place = tool, program
        created_since = len(self._permission.made) > self._made_before.get(place, 0)
        return place not in self._words or (tool in self.learned.hollow and created_since)

    def _end_empty(self) -> None:
        """Write down how a tool was called whose list was always empty."""
        for name, program in self._empty.items():
            finding = self.found[name]
            if not finding.done and finding.outcome == "always_empty":
                self.learned.end(finding, question(self.protocol.tool(name)), program)
                self._told(finding)

    def _asking_round(self, number: int) -> bool:
        """Have the model write programs for the tools that are left; whether one of them answered."""
        if self._asker is None or self._spent:
            return False
        graph = ProtocolGraph(self.known)
        done_count = sum(finding.done for finding in self.found.values())
        news = False
        for finding in self._left():
            if finding.done or finding.outcome == "always_empty" or self._asked.get(finding.tool) == done_count:
                continue  # nothing was learned since it was asked of
            self._asked[finding.tool] = done_count
            tool = self.protocol.tool(finding.tool)
            tried: list[tuple[str, str]] = []
            for _ in range(self._samples):
                try:
                    sample = self._asker.probe(tool, graph, tried, chain=self._chain)
                except LimitReached as reached:
                    self._spent = str(reached)
                    return news
                except ModelError as error:
                    finding.outcome, finding.reason = "model_failed", str(error)
                    break
                run = self.run(tool.name, sample.program) if sample.program else None
                if finding.done:
                    self._end(finding, sample.question or question(tool), sample.program, number)
                    news = True
                    break
                tried.append((sample.program, self._failed(tool, run)))
            else:
                if not finding.requests:
                    finding.outcome = "model_failed"
                    finding.reason = "none of the programs that the model wrote called it"
        return news

    def _failed(self, tool: Tool, run: Run | None) -> str:
        """Why a program of the model did not do."""
        if run is None:
            return "There is no program in it."
        if run.error is not None:
            return f"{run.error.type}: {self.learned.text(run.error.message)}"
        if not any(call.tool == tool.name for call in run.calls):
            return f"It did not call {tool.name}."
        errors = [f"{status}: {text}" for status, text in self.found[tool.name].statuses.items()]
        return "; ".join(errors) or "It found nothing."

    def _end(self, finding: ToolFinding, question_text: str, program: str, number: int) -> None:
        """A tool is done with; so are others that its program called besides."""
        finding.iteration = number
        finding.reason = ""
        self._programs[finding.tool] = program
        self.learned.end(finding, question_text, program)
        self._told(finding)
        for name, other_finding in self.found.items():
            if other_finding.done and not other_finding.program and called(program, [name]):
                other_finding.iteration = number
                self._programs[name] = program
                self.learned.end(other_finding, question(self.protocol.tool(name)), program)
                self._told(other_finding)

    def _explain(self, tool: Tool, graph: ProtocolGraph) -> None:
        finding = self.found[tool.name]
        if finding.outcome == "always_empty":
            finding.reason = "it answered, but its list was empty each time: what its items are is not known"
            return
        if not finding.requests and (unsure := self._permission.unsure(tool)):
            finding.outcome, finding.reason = "refused_by_policy", unsure
            return
        if not finding.requests and self._permission.owner(tool) is not None and not self._problem.get(tool.name):
            finding.outcome, finding.reason = "unreachable_argument", "nothing could be made that it may be called on"
            return
        among = [name for name, finding in self.found.items() if finding.done] if self._chain else []
        lacks = unprovided_arguments(tool, graph, among)
        if lacks and not finding.requests:
            finding.outcome = "unreachable_argument"
            finding.reason = f"no answer held a value for {', '.join(lacks)}"
        elif not finding.requests and not self._problem.get(tool.name) and (needed := _required_arguments(tool)):
            finding.outcome = "unreachable_argument"
            finding.reason = f"the lists that should hold a value for {', '.join(needed)} were empty or lack it"
        else:
            finding.outcome = "only_errors"
            errors = [f"{status}: {text}" for status, text in finding.statuses.items()]
            problems = [self.learned.unanswered.get(tool.name, ""), self._problem.get(tool.name, "")]
            finding.reason = "; ".join([*errors, *filter(None, problems)]) or "no answer"

    def _enrich(self, name: str) -> None:
        """Ask a tool that answered in all ways, and of several things: then it is known what only some have."""
        tool = self.protocol.tool(name)
        program = self._programs.get(name) or self.found[name].program
        if not program or tool.writes:
            return
        for variant in argument_variants(program, tool):
            self.run(name, variant)
        if len(self.learned.bodies.get(name, ())) >= MAX_ITEMS:
            return
        for variant in item_variants(program, tool, self._words.get((name, program), ""), list(self.learned.names)):
            self.run(name, variant)
            if len(self.learned.bodies.get(name, ())) >= MAX_ITEMS:
                return
        while len(self.learned.bodies.get(name, ())) < MIN_SAMPLES:
            before = len(self.learned.bodies.get(name, ()))
            self.run(name, program)
            if len(self.learned.bodies.get(name, ())) == before:
                return

    def run(self, tool: str, program: str, *, again: bool = False) -> Run:
        """Run a program that calls a tool, and learn from it; once more where the service was busy.

        Raises: LimitReached: No request is left, or the service wants to be left alone for long. KeyboardInterrupt.
        """
        remaining = None if self._budget is None else self._budget - self.learned.requests
        if remaining is not None and remaining <= 0:
            raise LimitReached(f"the budget of {self._budget} requests is used up")
        self._tries(tool, self.learned.text(program))
        run = self._sandbox.run(program, remaining)
        self._take(run)
        wait = max((call.retry_after or 0.0 for call in run.calls), default=0.0)
        if wait and run.outcome != "interrupted" and not again:
            self._wait(tool, wait)
            return self.run(tool, program, again=True)
        withheld = any(call.refused and call.tool == tool for call in run.calls)
        unsent = [call.error for call in run.calls if call.tool == tool and not call.attempts and call.error]
        self._problem[tool] = self.learned.text(f"the call could not be sent: {unsent[-1]}") if unsent else ""
        if withheld:
            self._problem[tool] = "the call was not allowed: what it changes or names may be somebody else's"
        refused = [call for call in run.calls if call.status is None and "refused" in (call.error or "")]
        if refused and any(call.attempts for call in refused):
            raise APIError(f"the service cannot be reached: {refused[0].error}; check the base URL (--base-url)")
        if run.outcome == "interrupted":
            raise KeyboardInterrupt
        if not again:
            self._look_for_made(tool)
        return run

    def _look_for_made(self, tool: str) -> None:
        """List what there is, where a reply did not say for sure what was made."""
        for program in self._listing(self._permission.in_doubt(tool)):
            if not self._permission.in_doubt(tool):
                return
            self._take(self._sandbox.run(program))

    def _listing(self, names: Collection[str]) -> list[str]:
        """Programs that list a collection, as it is and looked for by the names of one's own."""
        listed = []
        for lister in dict.fromkeys(name for own in names for name in self._permission.listers(own)):
            plain = self.found[lister].program or f"print({lister}())"
            searches = [a.argument for a in self.protocol.tool(lister).arguments if a.argument.lower() in SEARCHES]
            listed += [plain, *(f"print({lister}({searches[0]}={name!r}))" for name in names if searches)]
        return listed

    def _wait(self, tool: str, seconds: float) -> None:
        """Leave a busy service alone for as long as it asks. Raises: LimitReached: That is too long."""
        if seconds > MAX_WAIT:
            raise LimitReached(f"the service asks to be left alone for {seconds:,.0f} s: --resume goes on then")
        self._tries(tool, f"waiting for {seconds:,.0f} s, as the service asks")
        time.sleep(seconds)

    def _take(self, run: Run) -> None:
        for call in run.calls:
            self.learned.take(call)

    def _keep_made(self) -> None:
        with suppress(UsageError):  # told when the answer itself can't be written; things are removed all the same
            self.learned.keep_made(self._permission.made, self._permission.lost)

    def _remove(self) -> list[str]:
        """Remove what was made; what would not go, as the calls that should have removed it."""
        for is_last in (False, True):  # what others referred to can be removed once they are gone
            for created in reversed(self._permission.made[:]):
                if created in self._permission.made:
                    self._send(created.program)
            if not is_last:
                for program in self._listing(self._permission.names):
                    self._send(program)
        return [
            self.learned.text(call) for call in (*self._permission.lost, *(m.program for m in self._permission.made))
        ]

    def _send(self, program: str) -> None:
        run = self._sandbox.run(program)
        with suppress(UsageError):  # a full disk is no reason to leave things behind
            self._take(run)


def _has_path_argument(tool: Tool) -> bool:
    return any(argument.required and argument.location == "path" for argument in tool.arguments)


def _required_arguments(tool: Tool) -> list[str]:
    return [argument.argument for argument in tool.arguments if argument.required]
