"""Tasks for an API of a user's own: questions with programs that were tried, and the calls of those programs as gold.

As for the ATC paper's ToolFlow (section A.2), a task is kept only if its solution, run again, gives the same: two runs
have to make the same calls with the same arguments, and to print the same answer.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from atc.agent import SIMULATED_NOW
from atc.files import read_lines, write_json
from benchmarks.learning.pairs.generation import PairSettings, generate
from benchmarks.learning.pairs.trial import EMPTY, RealService
from protocols.errors import UsageError
from protocols.model import Protocol
from protocols.simulator import Simulator
from sandbox import Run, Sandbox

__all__ = ["NewTasks", "TaskSettings", "make_tasks"]

_ROUNDS = 4
"""How often more pairs are made in place of those that were dropped."""

_TRIALS = 20
"""Drafts for a task that a real service is asked with at most."""

LABEL = "own"
"""What `atc bench own` calls tasks without a label; their worlds depend on it."""


@dataclass(frozen=True, slots=True)
class TaskSettings:
    """What is made: `count` tasks in the file `out`. `seed` is that of questions and of the simulated service.

    service: Asked in place of the simulated one, and only read from.
    """

    out: Path
    count: int
    seed: int = 0
    service: RealService | None = None

    @property
    def pairs(self) -> Path:
        """The file of pairs under way, with which a repeated call goes on; it is removed at the end."""
        return self.out.with_name(f"{self.out.name}.pairs.jsonl")


@dataclass(frozen=True, slots=True)
class NewTasks:
    """What became of it: the tasks, and why drafts and pairs were dropped, each reason with its number."""

    tasks: tuple[Mapping[str, object], ...]
    drafts: int
    dropped: Mapping[str, int] = field(default_factory=dict)


def make_tasks(protocol: Protocol, settings: TaskSettings, on_progress: Callable[[str, int], None]) -> NewTasks:
    """Write a task file; to go on after a stop, call it again. It may hold fewer tasks where there is no more to ask.

    Args:
        on_progress: Told of the step, "drafted" or "solved twice", and the number of tasks that have come through it.
    Raises: UsageError: Nothing can be asked of the API, or a file cannot be written.
    """
    tasks: list[Mapping[str, object]] = []
    dropped: Counter[str] = Counter()
    drafts = checked = 0
    with ExitStack() as stack:
        solve = stack.enter_context(_solver(protocol, settings))
        for _ in range(_ROUNDS):
            wanted = checked + settings.count - len(tasks)
            pair_settings = PairSettings(
                settings.pairs,
                wanted,
                settings.seed,
                candidates=0,
                service=settings.service,
                trials=_TRIALS * settings.count if settings.service is not None else None,
            )
            tally = generate(protocol, pair_settings, _none_excluded, partial(on_progress, "drafted"))
            drafts += tally.drafts
            dropped.update(tally.dropped)
            pairs = [pair for _, pair in read_lines(settings.pairs)]
            for pair in pairs[checked:wanted]:
                task, reason = _task(pair, protocol, solve)
                dropped.update([reason] * bool(reason))
                if task is not None:
                    tasks.append(task)
                on_progress("solved twice", len(tasks))
            exhausted = len(pairs) < wanted
            checked = min(len(pairs), wanted)
            if exhausted or len(tasks) >= settings.count:
                break
    if not tasks:
        raise UsageError(
            f"no task came of {drafts} drafts for {protocol.title}: nothing that was asked had an answer twice; "
            "rehearse with --simulate, or check --base-url and --auth"
        )
    write_json(settings.out, tasks)
    settings.pairs.unlink(missing_ok=True)
    return NewTasks(tuple(tasks), drafts, dict(dropped.most_common()))


def _none_excluded(tools: Sequence[str]) -> bool:
    return False


@contextmanager
def _solver(protocol: Protocol, settings: TaskSettings) -> Iterator[Callable[[str, str, str], Run]]:
    """Runs the program for a question and a task's id, each time in the world in which that task begins."""
    if settings.service is not None:
        sandbox = settings.service.sandbox(protocol)
        yield lambda program, question, task: sandbox.run(program)
        return
    with Simulator(protocol, seed=settings.seed, now=SIMULATED_NOW) as simulator:

        def solve(program: str, question: str, task: str) -> Run:
            with simulator.session(query=question, task=task) as session:
                sandbox = Sandbox(
                    protocol, base_url=session.url, credentials=session.credentials, now=SIMULATED_NOW, writes="allow"
                )
                return sandbox.run(program)

        yield solve


def _task(
    pair: Mapping[str, object], protocol: Protocol, solve: Callable[[str, str, str], Run]
) -> tuple[Mapping[str, object] | None, str]:
    """The task of a pair, or None and why there is none."""
    program, question, identifier = str(pair["program"]), str(pair["question"]), str(pair["id"])
    runs = [solve(program, question, f"{LABEL}-{identifier}") for _ in range(2)]
    if any(run.outcome != "ok" for run in runs):
        return None, "run"
    if any(run.stdout.strip() in EMPTY for run in runs):
        return None, "empty"
    if any(call.status is None or call.status >= 300 or call.tool is None for run in runs for call in run.calls):
        return None, "response"
    first, second = (
        json.dumps([[[call.tool, call.arguments] for call in run.calls], run.stdout], sort_keys=True, default=str)
        for run in runs
    )
    if first != second:
        return None, "disagreement"
    calls = runs[0].calls
    return {
        "qid": identifier,
        "query": question,
        "solution": [[name, number] for name, number in Counter(str(call.tool) for call in calls).items()],
        "calls": [{"tool": call.tool, "arguments": dict(call.arguments)} for call in calls],
        "program": program,
        "answer": runs[0].stdout.strip(),
    }, ""
