"""Pairs tried in a service, else the simulated one: a program is right if it runs and its answer rests on responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from random import Random

from atc.agent import SIMULATED_NOW, Agent
from atc.assist.check import check
from atc.assist.language.question import Question
from atc.assist.rules import readings
from atc.evidence import facts, is_unsupported
from atc.prompting.conversation import PREFILL
from benchmarks.learning.pairs.code import print_program, shape
from benchmarks.learning.pairs.draft import Draft, NoQuestion, QuestionPair
from benchmarks.learning.pairs.reach import Pools, Reach
from benchmarks.learning.pairs.views import APIViews, ListView
from benchmarks.learning.pairs.writes import reading_back
from protocols.calls.auth import credential
from protocols.json_path import Step
from protocols.model import Protocol
from protocols.simulator import Session, Simulator
from sandbox import Run, Sandbox

__all__ = ["EMPTY", "RealService", "Trial", "TriedPair"]

EMPTY = frozenset({"", "[]", "{}", "None", "0", "0.0", "None None"})
"""Answers that say nothing."""
_SAMPLES = 2
"""Replies of each tool that the values of its fields are taken from."""
_TELLING = 7
"""Characters that hardly stand in a response by chance."""
_LONGEST = 1500
"""Characters of an answer."""


@dataclass(frozen=True, slots=True)
class RealService:
    """A service that is only read from; `auth` as `KIND:SOURCE`."""

    base_url: str | None = None
    auth: tuple[str, ...] = ()

    def sandbox(self, protocol: Protocol) -> Sandbox:
        """Runs programs against the service; a write ends them. Raises: UsageError: No server, or no credential."""
        credentials = [credential(text, protocol) for text in self.auth]
        return Sandbox(protocol, base_url=self.base_url, credentials=credentials, writes="deny")


@dataclass(frozen=True, slots=True)
class TriedPair:
    """What became of a pair: why it was dropped, or its line of the file."""

    dropped: str = ""
    detail: str = ""
    line: Mapping[str, object] = field(default_factory=dict)


class Trial:
    """Tries pairs of one protocol.

    Args:
        candidates: Tools that are offered in the prompt; 0 leaves the messages out.
        profile: That of the prompt (see atc.profile).
        service: Asked in place of the simulated one.
    """

    def __init__(
        self,
        protocol: Protocol,
        seed: int,
        candidates: int,
        profile: str = "tiny",
        service: RealService | None = None,
    ) -> None:
        self.protocol = protocol
        self._candidates = candidates
        self._service = service.sandbox(protocol) if service is not None else None
        self._simulator = Simulator(protocol, seed=seed, now=SIMULATED_NOW)
        base_url = service.base_url if service is not None else None
        self._agent = Agent(
            protocol, None, base_url=base_url, now=SIMULATED_NOW, max_tools=candidates or None, profile=profile
        )
        self.graph = self._agent.graph

    @property
    def is_real(self) -> bool:
        """True where a service is asked, which is only read from."""
        return self._service is not None

    @cached_property
    def views(self) -> APIViews:
        """What the API can be asked about."""
        return APIViews(self.graph)

    def close(self) -> None:
        """Stop the simulated service."""
        self._simulator.stop()
        self._agent.close()

    def pools(self) -> Pools:
        """The values that the fields of each list and object have in the simulated service."""
        reach = Reach(self.views, {})
        seen: dict[tuple[str, tuple[Step, ...]], dict[str, list[object]]] = {}
        for tool in self.views.reads:
            for number in range(_SAMPLES):
                draft = Draft(Random(f"{tool.name} {number}"))
                try:
                    reply = reach.reply(draft, tool, 0, next(iter(self.views.of_tool(tool.name)), None))
                except NoQuestion:
                    continue
                draft.add("CALL", CALL=reply.call)
                run = self.run(print_program(draft.body), ". ".join(f'"{name}"' for name in draft.values))
                if run.outcome == "ok" and run.calls:
                    self._collect(tool.name, run.calls[-1].response, seen)
        return {place: {name: tuple(values) for name, values in by_name.items()} for place, by_name in seen.items()}

    def _collect(
        self, tool: str, response: object, seen: dict[tuple[str, tuple[Step, ...]], dict[str, list[object]]]
    ) -> None:
        for view in self.views.lists.values():
            if view.tool == tool:
                by_name = seen.setdefault((tool, view.path), {})
                for item in _items(response, view):
                    for name in view.fields:
                        by_name.setdefault(name, []).append(item.get(name))

    def run(self, program: str, question: str, task: str = "") -> Run:
        """Run a program in a world of its own, where what its question names exists, or at the service.

        Args:
            task: The id of a benchmark's task, whose world it is.
        """
        if self._service is not None:
            return self._service.run(program)
        with self._simulator.session(query=question, task=task) as session:
            return self._sandbox(session).run(program)

    def _run_with_reads(self, pair: QuestionPair) -> tuple[Run, bool]:
        """Run a program; True beside it if the service shows every write in it.

        Its answers to reads hold what was written, or differ from those in a fresh world, which is the same before the
        writes.
        """
        if not pair.writes:
            return self.run(pair.program, pair.question), True
        with self._simulator.session(query=pair.question) as session:
            run = self._sandbox(session).run(pair.program)
            for call in run.calls:
                if not call.writes:
                    continue
                reads = reading_back(self.protocol, call)
                after = _printed(self._sandbox(session).run(reads)) if reads else ""
                is_there = call.method != "DELETE" and any(value in after for value in _texts(call.arguments))
                if not after or (not is_there and after == _printed(self.run(reads, pair.question))):
                    return run, False
        return run, True

    def _sandbox(self, session: Session) -> Sandbox:
        return Sandbox(
            self.protocol,
            base_url=session.url,
            credentials=session.credentials,
            writes="allow",
            now=SIMULATED_NOW,
        )

    def __call__(self, id: str, pair: QuestionPair, form: str) -> TriedPair:
        """Try a pair."""
        question = Question(pair.question)
        diagnostics = check(pair.program, self._agent.knowledge.contract, None, question, self.graph)
        if diagnostics:
            return TriedPair("check", f"{diagnostics[0].rule}: {diagnostics[0].message}")
        run, is_changed = self._run_with_reads(pair)
        if (why := self._why_not(pair, run, question, is_changed)) is not None:
            return why
        line: dict[str, object] = {
            "id": id,
            "question": pair.question,
            "program": pair.program,
            "tools": list(pair.tools),
            "answer": run.stdout.strip(),
            "shape": shape(pair.program),
            "form": form,
        }
        return TriedPair(line=line | self._prompted(pair))

    def _why_not(self, pair: QuestionPair, run: Run, question: Question, is_changed: bool) -> TriedPair | None:
        """Why a run is no right answer; None where it is one."""
        if run.outcome != "ok":
            return TriedPair("run", f"{run.error.type}: {run.error.message}" if run.error else str(run.limit))
        bad = next((call for call in run.calls if call.status is None or call.status >= 300), None)
        if bad is not None:
            return TriedPair("response", f"{bad.tool} was answered {bad.status}")
        answer = run.stdout.strip()
        if (
            answer in EMPTY
            or len(answer) > _LONGEST
            or any(line.split()[-1:] == ["None"] for line in answer.split("\n"))
        ):
            return TriedPair("empty" if len(answer) <= _LONGEST else "long", answer[:80])
        if not is_changed:
            return TriedPair("write", answer[:80])
        if is_unsupported(pair.program, run):
            return TriedPair("unsupported", answer[:80])
        findings = (
            *facts(pair.program, run, self.graph),
            *readings(pair.program, run, question, self.graph),
        )
        return TriedPair("doubtful", findings[0].warning()) if findings else None

    def _prompted(self, pair: QuestionPair) -> dict[str, object]:
        """The messages, and the number of needed tools that the choice of tools had left out."""
        if not self._candidates:
            return {}
        today = SIMULATED_NOW.date().isoformat()
        opened = self._agent.opening(pair.question, today=today)
        missing = [name for name in dict.fromkeys(pair.tools) if name not in opened.tools]
        if missing:
            names = {*opened.tools, *missing}
            offered = [tool.name for tool in self.protocol.tools if tool.name in names]
            opened = self._agent.opening(pair.question, offered, today)
        messages = [{"role": message.role, "content": message.content} for message in opened.messages()]
        messages.append({"role": "assistant", "content": f"{PREFILL}{pair.program}\n```"})
        return {"messages": messages, "added": len(missing)}


def _printed(run: Run) -> str:
    """What a run printed, and the error that ended it."""
    return run.stdout + (run.error.message if run.error else "")


def _texts(arguments: Mapping[str, object]) -> list[str]:
    """The texts in the arguments of a write that are long enough to tell it by."""
    texts = [str(value) for value in arguments.values() for value in (value if isinstance(value, list) else [value])]
    return [part for text in texts for part in text.split(",") if len(part) > _TELLING]


def _items(response: object, view: ListView) -> list[Mapping[str, object]]:
    """The objects of a list in a response."""
    value = response
    for step in view.path:
        value = value.get(step) if isinstance(value, dict) and isinstance(step, str) else None
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, dict)]
