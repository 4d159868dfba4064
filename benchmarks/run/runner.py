"""Solve the tasks of a benchmark, so that a run that was stopped goes on where it was.

Each finished task is one JSON file, written at once and as a whole. It holds what depends on the settings alone: no
times, no dates, no ports, which lie in `times.jsonl`. What was asked for is in `config.json`: results of other settings
are never mixed with these.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from atc.files import append_line, write_json
from atc.options import Effort, SearchSettings
from benchmarks.tasks.metrics import Metrics
from benchmarks.tasks.task_files import Task
from protocols.errors import UsageError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["BEST", "Engine", "RunSettings", "SolvedTask", "TaskResult", "prepare_folder", "run_tasks", "stored_seconds"]


_TIMES = {"total": "seconds", "model": "model_seconds", "run": "run_seconds"}
"""What `times.jsonl` calls the seconds of a solution."""

BEST = "best "
"""The prefix of `candidates` in the settings where the agent chooses them, before their number."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """All that decides the outcome of a task. `files` has name and SHA-256 of the task file and of each document, with
    `learned-DOMAIN` for one that only the agent sees, and `usage-DOMAIN` where the examples in that one are shown (then
    it is the SHA-256 of these).

    `api` is "simulated" or the base URL; `now` is in ISO 8601; `candidates` is "listed" (in the task file), "all",
    how many are drawn, or "best N" where the agent chooses them. The budgets are those of one task, 0 for none.
    `profile` is a name or a file, empty for that of the model; `without` names features that are off (see atc.profile).
    `learn`: whether tasks go by what earlier ones of the run found out of responses. `writes`: whether calls that may
    change something are sent. `repeat` is added to `seed` for the model alone: worlds and
    candidates stay the same. `effort` and `search` are those of the agent.
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
    without: Sequence[str] = ()
    profile: str = ""
    learn: bool = False
    writes: Literal["allow", "deny", "simulate"] = "allow"
    repeat: int = 0
    effort: Effort = "normal"
    search: SearchSettings = field(default_factory=SearchSettings)

    @property
    def chosen(self) -> int | None:
        """The number of candidates that the agent chooses; None where it does not."""
        return int(self.candidates.removeprefix(BEST)) if self.candidates.startswith(BEST) else None


@dataclass(frozen=True, slots=True)
class TaskResult:
    """One finished task, and the seconds that it took."""

    id: str
    metrics: Metrics
    seconds: float


@dataclass(frozen=True, slots=True)
class SolvedTask:
    """A task that was solved: its result, the record of it as plain data without times, and the times."""

    task: Task
    result: TaskResult
    record: Mapping[str, object]
    seconds: Mapping[str, float]


Engine = Callable[[Sequence[tuple[Task, tuple[str, ...]]]], Iterator[SolvedTask]]
"""Solves tasks, each with its candidate tools; see engines.py."""


def prepare_folder(out: Path, settings: DataclassInstance) -> None:
    """Make the results folder, or make sure that it holds results of these very settings. Raises: UsageError."""
    file = out / "config.json"
    config = json.loads(json.dumps(asdict(settings)))
    try:
        (out / "tasks").mkdir(parents=True, exist_ok=True)
        for half in (out / "tasks").glob(".*.tmp"):  # of a run that was killed
            half.unlink(missing_ok=True)
        if not file.exists():
            write_json(file, config)
        stored = json.loads(file.read_text("utf-8"))
        if not isinstance(stored, dict):
            raise ValueError(f"{file.name} is no JSON object")
    except (OSError, ValueError) as error:
        raise UsageError(f"{out} cannot hold the results: {error}") from None
    if stored != config:
        differ = [
            f"{name} is {config.get(name)!r} now and was {stored.get(name)!r}"
            for name in sorted({*config, *stored})
            if config.get(name) != stored.get(name)
        ]
        raise UsageError(f"{out} holds results of other settings ({'; '.join(differ)}): take another --out")


def run_tasks(
    tasks: Sequence[tuple[Task, tuple[str, ...]]], settings: RunSettings, out: Path, engine: Engine
) -> Iterator[TaskResult]:
    """Yield the result of each task as it is there, solving those that have none yet.

    Args:
        tasks: Each with the names of its candidate tools.
        settings: The key of every result, together with the task.
        out: A folder that `prepare` made.
        engine: Solves tasks, in whatever order.
    Raises:
        ModelError, APIError: The model or the API could not be had. Such a task is no result; it is tried again when
            the command is repeated.
        KeyboardInterrupt: The solve was interrupted, likewise.
        UsageError: A result cannot be written; those that were stay.
    """
    times = out / "times.jsonl"
    seconds = stored_seconds(times)
    missing = []
    keys = {task.id: _key(settings, task, candidates) for task, candidates in tasks}
    for task, candidates in tasks:
        result = _read(out / "tasks" / f"{task.id}.json", keys[task.id], seconds)
        if result is None:
            missing.append((task, candidates))
        else:
            yield result
    for solved in engine(missing):
        write_json(out / "tasks" / f"{solved.task.id}.json", {"key": keys[solved.task.id], **solved.record})
        line = {"id": solved.task.id, **{title: solved.seconds[name] for name, title in _TIMES.items()}}
        append_line(times, json.dumps(line))
        yield solved.result


def stored_seconds(file: Path) -> dict[str, float]:
    """The seconds of each task by `times.jsonl`; the last line of a task counts."""
    seconds: dict[str, float] = {}
    for line in file.read_text("utf-8").splitlines() if file.is_file() else ():
        try:
            entry = json.loads(line)
            seconds[entry["id"]] = float(entry["seconds"])
        except (ValueError, KeyError, TypeError):  # a line that a kill cut off
            continue
    return seconds


def _key(settings: RunSettings, task: Task, candidates: tuple[str, ...]) -> str:
    """A hash of all that a result depends on."""
    parts = [asdict(settings), asdict(task), candidates]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _read(file: Path, key: str, seconds: Mapping[str, float]) -> TaskResult | None:
    """The result in a file, if it is one of this very task."""
    try:
        data = json.loads(file.read_text("utf-8"))
        if data.get("key") != key:
            return None
        return TaskResult(data["id"], Metrics.read(data["metrics"]), seconds.get(data["id"], 0.0))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{file} cannot be read ({error}); remove it to have the task solved again") from None
