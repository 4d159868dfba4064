"""Solve the tasks of a benchmark one after the other, so that a run that was stopped goes on where it was.

Each finished task is one JSON file, written at once and as a whole. What was asked for is in `settings.json` beside
them: results of other settings are never mixed with these.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from atc import Agent, Solution
from atc.files import write_json
from benchmarks.metrics import Score, score
from benchmarks.restbench import Task
from protocols.errors import APIError, ModelError, UsageError

__all__ = ["Result", "Settings", "prepare", "run_tasks", "solve_task"]


@dataclass(frozen=True, slots=True)
class Settings:
    """All that decides the outcome of a task. `protocol` and `task_file` have the keys file and sha256.

    `api` is "simulated" or the base URL; `now` is in ISO 8601; `candidates` is "listed" (in the task file), "all" or
    how many are drawn.
    """

    benchmark: str
    model: str
    mode: str
    max_reflections: int
    candidates: str
    seed: int
    now: str
    api: str
    protocol: Mapping[str, str]
    task_file: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Result:
    """One finished task: what the means are taken of. `tool_calls` are those of all attempts, like the tokens."""

    id: str
    status: str
    score: Score
    prompt_tokens: int
    completion_tokens: int
    model_calls: int
    tool_calls: int
    seconds: float


def prepare(out: Path, settings: Settings) -> None:
    """Make the results folder, or make sure that it holds results of these very settings. Raises: UsageError."""
    file = out / "settings.json"
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
    open_agent: Callable[[], Agent],
) -> Iterator[Result]:
    """Yield the result of each task in turn, solving those that have none yet.

    Args:
        tasks: Each with the names of its candidate tools.
        settings: The key of every result, together with the task.
        out: A folder that `prepare` made.
        open_agent: Makes a fresh agent, so that no task sees what another one changed at a simulated API.
    Raises:
        ModelError, APIError: The model or the API could not be had. Such a task is no result; it is tried again when
            the command is repeated.
        KeyboardInterrupt: The solve was interrupted, likewise.
    """
    for task, candidates in tasks:
        file = out / "tasks" / f"{task.position:04d}.json"
        key = _key(settings, task, candidates)
        result = _read(file, key)
        if result is None:
            with open_agent() as agent:
                result, record = solve_task(agent, task, candidates)
            write_json(file, {"key": key, **record})
        yield result


def solve_task(agent: Agent, task: Task, candidates: tuple[str, ...]) -> tuple[Result, dict[str, object]]:
    """Solve one task and judge it: the result, and the record of it as plain data with the whole solution."""
    solution = agent.solve(task.query, tools=candidates)
    _stop_if_hopeless(solution)
    judged = score(task.gold, [attempt.calls for attempt in solution.attempts], solution.status)
    result = Result(
        id=task.id,
        status=solution.status,
        score=judged,
        prompt_tokens=solution.usage.prompt_tokens,
        completion_tokens=solution.usage.completion_tokens,
        model_calls=solution.usage.model_calls,
        tool_calls=sum(len(attempt.calls) for attempt in solution.attempts),
        seconds=solution.seconds["total"],
    )
    record: dict[str, object] = {
        "result": asdict(result),
        "gold": asdict(task.gold),
        "candidates": list(candidates),
        "solution": solution.to_json(),
    }
    return result, record


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


def _read(file: Path, key: str) -> Result | None:
    """The result in a file, if it is one of this very task."""
    try:
        data = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} cannot be read ({error}); remove it to have the task solved again") from None
    if data.get("key") != key:
        return None
    found = data["result"]
    return Result(**{**found, "score": Score(**found["score"])})
