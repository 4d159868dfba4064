"""Solve the tasks of a benchmark, so that a run that was stopped goes on where it was.

Each finished task is one JSON file, written at once and as a whole. It holds what depends on the settings alone: no
times, no dates, no ports, which lie in `times.jsonl`. What was asked for is in `config.json`: results of other settings
are never mixed with these.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

from atc import Agent, Solution
from atc.files import to_json, write_json
from benchmarks.answers import Reference, find_reference, is_correct, read_claim
from benchmarks.metrics import Score, category, score
from benchmarks.restbench import Task
from protocols.errors import APIError, ModelError, UsageError
from sandbox import Limits, Run, Sandbox

__all__ = ["Result", "Settings", "World", "judge", "measured", "prepare", "read_results", "run_tasks"]

_TIMES = frozenset({"seconds", "ms", "wall", "cpu", "memory"})
"""Members of a solution that differ from run to run."""

BASE = "http://api.invalid"
"""What stands for the address of a task's simulated service, whose port is another one each time."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All that decides the outcome of a task. `files` has name and SHA-256 of the task file and of each document.

    `api` is "simulated" or the base URL; `now` is in ISO 8601; `candidates` is "listed" (in the task file), "all" or
    how many are drawn. The budgets are those of one task, 0 for none.
    """

    benchmark: str
    model: str
    mode: str
    max_reflections: int
    candidates: str
    seed: int
    now: str
    api: str
    files: Mapping[str, Mapping[str, str]]
    max_model_calls: int = 0
    max_tokens: int = 0
    max_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Result:
    """One finished task: what the means are taken of. `tool_calls` are those of all attempts, like the tokens.

    `gold_calls` is how many the task needs; `correct` whether the answer is right, None where no reference tells;
    `error` why it is no success (see metrics.category).
    """

    id: str
    status: str
    score: Score
    prompt_tokens: int
    completion_tokens: int
    model_calls: int
    tool_calls: int
    seconds: float
    cached_tokens: int = 0
    reflections: int = 0
    gold_calls: int = 0
    error: str | None = None
    correct: bool | None = None

    def metrics(self) -> dict[str, object]:
        """As they are written: without times."""
        return {
            **asdict(self.score),
            "correct": self.correct,
            "answered": self.status == "answered",
            "status": self.status,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cached_tokens": self.cached_tokens,
            "model_calls": self.model_calls,
            "tool_calls": self.tool_calls,
            "reflections": self.reflections,
            "gold_calls": self.gold_calls,
            "error": self.error,
        }


@dataclass(frozen=True, slots=True)
class World:
    """What a task is solved in: an agent, and the address of the service if it is one of its own."""

    agent: Agent
    base_url: str | None = None

    def run(self, program: str) -> Run:
        """Run a program of ours in it, with all tools."""
        agent = self.agent
        with Sandbox(
            agent.protocol,
            base_url=agent.base_url,
            credentials=agent.credentials,
            now=agent.now,
            seed=agent.seed,
            limits=Limits(calls=1000),
            track=False,
        ) as sandbox:
            return sandbox.run(program)


Open = Callable[[Task], AbstractContextManager[World]]


def prepare(out: Path, settings: Settings) -> None:
    """Make the results folder, or make sure that it holds results of these very settings. Raises: UsageError."""
    file = out / "config.json"
    wanted = json.loads(json.dumps(asdict(settings)))
    try:
        (out / "tasks").mkdir(parents=True, exist_ok=True)
        if not file.exists():
            write_json(file, wanted)
        found = json.loads(file.read_text("utf-8"))
        if not isinstance(found, dict):
            raise ValueError(f"{file.name} is no JSON object")
    except (OSError, ValueError) as error:
        raise UsageError(f"{out} cannot hold the results: {error}") from None
    if found != wanted:
        differ = [
            f"{name} is {wanted.get(name)!r} now and was {found.get(name)!r}"
            for name in sorted({*wanted, *found})
            if wanted.get(name) != found.get(name)
        ]
        raise UsageError(f"{out} holds results of other settings ({'; '.join(differ)}): take another --out")


def run_tasks(
    tasks: Sequence[tuple[Task, tuple[str, ...]]],
    settings: Settings,
    out: Path,
    open_world: Open,
    workers: int = 1,
) -> Iterator[Result]:
    """Yield the result of each task as it is there, solving those that have none yet.

    Args:
        tasks: Each with the names of its candidate tools.
        settings: The key of every result, together with the task.
        out: A folder that `prepare` made.
        open_world: Makes what a task is solved in, so that no task sees what another one changed.
        workers: Tasks that are solved side by side.
    Raises:
        ModelError, APIError: The model or the API could not be had. Such a task is no result; it is tried again when
            the command is repeated.
        KeyboardInterrupt: The solve was interrupted, likewise.
        OSError: A result cannot be written; those that were stay.
    """
    times = _Times(out / "times.jsonl")
    missing = []
    for task, candidates in tasks:
        found = _read(out / "tasks" / f"{task.id}.json", _key(settings, task, candidates), times)
        if found is None:
            missing.append((task, candidates))
        else:
            yield found

    def one(task: Task, candidates: tuple[str, ...]) -> Result:
        reference = find_reference(settings.benchmark, task.id, task.query) if settings.api == "simulated" else None
        with open_world(task) as world:
            solution = world.agent.solve(task.query, tools=candidates)
            correct = judge(reference, solution, world, lambda: open_world(task)) if reference else None
            result, record, spent = measured(solution, task, candidates, world.base_url, correct)
        record = {"key": _key(settings, task, candidates), **record}
        times.add(task.id, spent)
        write_json(out / "tasks" / f"{task.id}.json", record)
        return result

    if workers == 1:
        for task, candidates in missing:
            yield one(task, candidates)
        return
    with ThreadPoolExecutor(workers, "task") as pool:
        waiting: list[Future[Result]] = [pool.submit(one, *entry) for entry in missing]
        try:
            for done in as_completed(waiting):
                yield done.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def judge(
    reference: Reference, solution: Solution, world: World, fresh: Callable[[], AbstractContextManager[World]]
) -> bool:
    """Whether a solution's answer is right by its reference, which runs in the solve's own world or in a fresh one.

    Raises: UsageError: The reference does not run to its end, or claims nothing.
    """
    if solution.answer is None:
        return False
    with nullcontext(world) if reference.after else fresh() as where:
        run = where.run(reference.program)
    try:
        if run.error is not None:
            raise ValueError(f"{run.error.type}: {run.error.message} (line {run.error.line})")
        return is_correct(solution.answer, read_claim(run.stdout))
    except ValueError as error:
        raise UsageError(f"the reference for {solution.query!r} is broken: {error}") from None


def measured(
    solution: Solution, task: Task, candidates: tuple[str, ...], base_url: str | None, correct: bool | None
) -> tuple[Result, dict[str, object], dict[str, float]]:
    """Judge a solution by its calls: the result, the record of it as plain data without times, and the times."""
    _stop_if_hopeless(solution)
    judged = score(task.gold, [attempt.calls for attempt in solution.attempts], solution.status)
    result = Result(
        id=task.id,
        status=solution.status,
        score=judged,
        prompt_tokens=solution.usage.prompt_tokens,
        completion_tokens=solution.usage.completion_tokens,
        cached_tokens=solution.usage.cached_tokens,
        model_calls=solution.usage.model_calls,
        tool_calls=sum(len(attempt.calls) for attempt in solution.attempts),
        seconds=solution.seconds["total"],
        reflections=solution.reflections,
        gold_calls=task.gold.needed.total(),
        error=category(solution, judged),
        correct=correct,
    )
    record: dict[str, object] = {
        "id": task.id,
        "dataset": task.domain,
        "query": task.query,
        "gold": asdict(task.gold),
        "candidates": list(candidates),
        "metrics": result.metrics(),
        "solution": _stable(solution, base_url),
    }
    return result, record, dict(solution.seconds)


def read_results(out: Path) -> list[Result]:
    """All results of a folder, whatever their settings; in the order of their names."""
    times = _Times(out / "times.jsonl")
    found = [_read(file, None, times) for file in sorted((out / "tasks").glob("*.json"))]
    return [result for result in found if result is not None]


def _stable(solution: Solution, base_url: str | None) -> object:
    """A solution as plain data without what differs from run to run."""
    text = to_json(_without_times(solution.to_json()))
    return json.loads(text.replace(base_url, BASE) if base_url else text)


def _without_times(data: object) -> object:
    if isinstance(data, dict):
        return {
            name: value if name in ("response", "arguments") else _without_times(value)
            for name, value in data.items()
            if name not in _TIMES
        }
    return [_without_times(part) for part in data] if isinstance(data, list) else data


class _Times:
    """`times.jsonl`: a line for each time that a task was solved; the last one counts."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()

    def add(self, task: str, seconds: Mapping[str, float]) -> None:
        """Append what a task took."""
        line = {"id": task, "seconds": seconds["total"], "model_seconds": seconds["model"]}
        with self._lock, self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**line, "run_seconds": seconds["run"]}) + "\n")

    def of(self, task: str) -> float:
        """The seconds that a task took; 0 where that was lost."""
        found = 0.0
        try:
            lines = self._file.read_text("utf-8").splitlines()
        except OSError:
            return found
        for line in lines:
            try:
                entry = json.loads(line)
                found = float(entry["seconds"]) if entry["id"] == task else found
            except (ValueError, KeyError, TypeError):  # a line that a kill cut off
                continue
        return found


def _stop_if_hopeless(solution: Solution) -> None:
    """Refuse to count as a result what says nothing about the model: it never had its chance."""
    if solution.status == "interrupted":
        raise KeyboardInterrupt
    again = "repeat the command to go on from here"
    if solution.status == "model_error":
        raise ModelError(f"{solution.message}; {again}")
    answered = any((call.status or 0) // 100 == 2 for attempt in solution.attempts for call in attempt.calls)
    if solution.status == "api_error" and not answered:
        raise APIError(f"{solution.message}; {again}")


def _key(settings: Settings, task: Task, candidates: tuple[str, ...]) -> str:
    """What a result depends on, as a hash."""
    parts = [asdict(settings), asdict(task), candidates]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _read(file: Path, key: str | None, times: _Times) -> Result | None:
    """The result in a file, if it is one of this very task (any, without a key)."""
    try:
        data = json.loads(file.read_text("utf-8"))
        if key is not None and data.get("key") != key:
            return None
        found = data["metrics"]
        return Result(
            id=data["id"],
            status=found["status"],
            score=Score(*(found[name] for name in ("success", "path", "precision", "success_any"))),
            seconds=times.of(data["id"]),
            **{name: found[name] for name in _KEPT},
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{file} cannot be read ({error}); remove it to have the task solved again") from None


_KEPT = (
    *("prompt_tokens", "completion_tokens", "cached_tokens", "model_calls", "tool_calls", "reflections", "gold_calls"),
    *("error", "correct"),
)
