"""Tasks for an API of a user's own: questions with programs that were tried, and the calls of those programs as gold.

As for the ATC paper's ToolFlow (section A.2), a task is kept only if its solution, run again, gives the same: two runs
have to make the same calls with the same arguments, and to print the same answer.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from atc.files import write_json
from benchmarks.learning.pairs.pair_file import PairSource, Tally
from benchmarks.learning.pairs.trial import EMPTY, RealService, Trial
from protocols.errors import UsageError
from protocols.model import Protocol

__all__ = ["NewTasks", "TaskSettings", "make_tasks"]

_PAIRS = 4
"""Pairs for a task that are run twice at most."""

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


@dataclass(frozen=True, slots=True)
class NewTasks:
    """What became of it: the tasks, and why drafts and pairs were dropped, each reason with its number."""

    tasks: tuple[Mapping[str, object], ...]
    drafts: int
    dropped: Mapping[str, int] = field(default_factory=dict)


def make_tasks(protocol: Protocol, settings: TaskSettings, on_progress: Callable[[int], None]) -> NewTasks:
    """Write a task file. It may hold fewer tasks where there is no more to ask.

    Args:
        on_progress: Told of the number of tasks.
    Raises: UsageError: Nothing can be asked of the API, or a file cannot be written.
    """
    tally = Tally()
    tasks: list[Mapping[str, object]] = []
    with closing(Trial(protocol, settings.seed, 0, service=settings.service)) as trial:
        source = PairSource(trial, settings.seed, tally, lambda tools: False)
        for pair in islice(source.pairs(), _PAIRS * settings.count):
            task, reason = _task(pair, trial)
            if task is None:
                tally.drop(reason)
                continue
            tasks.append(task)
            on_progress(len(tasks))
            if len(tasks) >= settings.count:
                break
    if not tasks:
        raise UsageError(
            f"no task came of {tally.drafts} drafts for {protocol.title}: nothing that was asked had an answer twice; "
            "rehearse with --simulate, or check --base-url and --auth"
        )
    write_json(settings.out, tasks)
    return NewTasks(tuple(tasks), tally.drafts, dict(tally.dropped.most_common()))


def _task(pair: Mapping[str, object], trial: Trial) -> tuple[Mapping[str, object] | None, str]:
    """The task of a pair, or None and why there is none."""
    program, question, identifier = str(pair["program"]), str(pair["question"]), str(pair["id"])
    runs = [trial.run(program, question, f"{LABEL}-{identifier}") for _ in range(2)]
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
