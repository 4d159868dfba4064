"""Run the tasks of a benchmark, so that a run that was stopped goes on where it was.

Each finished task is one JSON file, written at once and as a whole. It holds what depends on the settings alone: no
times, no dates, no ports, which lie in `times.jsonl`. What was asked for is in `config.json`: results of other settings
are never mixed with these.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from atc.files import append_line, cut_unfinished, read_lines, write_json
from benchmarks.harness import Identified, Outcome, Scorer, TaskEnvironment
from protocols.bounded_files import read_bounded, read_whole
from protocols.errors import UsageError
from protocols.private_files import make_private_folder

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["Engine", "Finished", "Runner", "prepare_folder", "repeated", "resumed_lines", "selected", "write_summary"]

TaskT = TypeVar("TaskT", bound=Identified)
FiguresT = TypeVar("FiguresT")
SettingsT = TypeVar("SettingsT", bound="DataclassInstance")

Engine = Callable[[Sequence[TaskT]], Iterator[tuple[TaskT, Outcome]]]
"""Runs tasks in whatever order; see `benchmarks.harness.engines`."""


@dataclass(frozen=True, slots=True)
class Finished(Generic[FiguresT]):
    """A finished task: its record and seconds, and its figures."""

    id: str
    record: Mapping[str, Any]
    seconds: float
    figures: FiguresT


@dataclass(frozen=True)
class Runner(Generic[TaskT, FiguresT]):
    """Runs tasks and keeps what came of them in a folder.

    Args:
        settings: All that decides the outcome of a task, beside the task: `config.json`, and part of each result's key.
        engine: Runs episodes of the environment.
    """

    settings: DataclassInstance
    environment: TaskEnvironment[TaskT]
    scorer: Scorer[FiguresT]
    engine: Engine[TaskT]

    def run(self, tasks: Sequence[TaskT], folder: Path) -> Iterator[Finished[FiguresT]]:
        """Yield each finished task as it is there, running those that have no result yet.

        Raises:
            ModelError, APIError: The model or the API could not be had. Such a task is no result; it is tried again
                when the command is repeated.
            KeyboardInterrupt: The run was interrupted, likewise.
            UsageError: The folder holds results of other settings, or a result cannot be written; those that were stay.
        """
        prepare_folder(folder, self.settings)
        times = folder / "times.jsonl"
        seconds = _stored_seconds(times)
        missing = []
        keys = {task.id: _key(self.settings, self.environment.key(task)) for task in tasks}
        for task in tasks:
            record = _read(_file(folder, task), keys[task.id])
            if record is None:
                missing.append(task)
            else:
                yield self._finished(folder, task, record, seconds.get(task.id, 0.0))
        for task, outcome in self.engine(missing):
            record = {"key": keys[task.id], **outcome.record}
            write_json(_file(folder, task), record)
            append_line(times, json.dumps({"id": task.id, **outcome.seconds}))
            yield self._finished(folder, task, record, outcome.seconds["seconds"])

    def _finished(self, folder: Path, task: TaskT, record: Mapping[str, Any], seconds: float) -> Finished[FiguresT]:
        try:
            return Finished(task.id, record, seconds, self.scorer.figures(record, seconds))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise _damaged(_file(folder, task), error) from None


def selected(tasks: Sequence[TaskT], half: str | None, limit: int | None) -> list[TaskT]:
    """The tasks of a half, `even` from the first on or `odd` from the second, and of those the first `limit`."""
    chosen = tasks if half is None else tasks[half == "odd" :: 2]
    return list(chosen[:limit])


def repeated(out: Path, settings: SettingsT, times: int | None) -> dict[Path, SettingsT]:
    """The settings of each run by its folder: `out` for a single one, else `out/1` and so on, with `repeat` from 0."""
    if times is None:
        return {out: settings}
    changed: Callable[..., SettingsT] = replace
    return {out / str(number + 1): changed(settings, repeat=number) for number in range(times)}


def prepare_folder(out: Path, settings: DataclassInstance) -> None:
    """Make the results folder, or make sure that it holds results of these very settings. Raises: UsageError."""
    try:
        make_private_folder(out / "tasks")
        for half in (out / "tasks").glob(".*.tmp"):  # of a run that was killed
            half.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{out} cannot hold the results: {error}") from None
    _keep_settings(out / "config.json", settings, out)


def resumed_lines(file: Path, settings: DataclassInstance) -> list[tuple[str, Any]]:
    """The lines of a file that is appended to, each with its place; what a stop left unfinished is cut off.

    The settings stand in `FILE.config.json` beside it: without these the lines are somebody's.
    Raises: UsageError: The file is of other settings or of something else, or a line of it is no JSON.
    """
    config = file.with_name(f"{file.name}.config.json")
    if file.exists() and not config.exists():
        raise UsageError(f"{file} was not made by this command: {config.name} is not beside it; name another --out")
    if not file.exists():  # an attempt that came to nothing binds nobody
        config.unlink(missing_ok=True)
    _keep_settings(config, settings, file)
    cut_unfinished(file)
    return list(read_lines(file))


def _keep_settings(file: Path, settings: DataclassInstance, out: Path) -> None:
    """Write the settings of results into a file, or compare them with those that it has. Raises: UsageError."""
    config = json.loads(json.dumps(asdict(settings)))
    try:
        if not file.exists():
            write_json(file, config)
        stored = json.loads(read_whole(file))
        if not isinstance(stored, dict):
            raise ValueError(f"{file.name} is no JSON object")
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{out} cannot hold the results: {error}") from None
    if stored != config:
        differ = [
            f"{name} is {config.get(name)!r} now and was {stored.get(name)!r}"
            for name in sorted({*config, *stored})
            if config.get(name) != stored.get(name)
        ]
        raise UsageError(f"{out} holds results of other settings ({'; '.join(differ)}): take another --out")


def write_summary(folder: Path, figures: Mapping[str, Any], settings: DataclassInstance) -> dict[str, Any]:
    """Write `summary.json`: figures, settings and the date. Gives what it holds.

    The seed in it is that of the run: `repeat` is added.
    """
    noted = asdict(settings)
    if "repeat" in noted:
        noted["seed"] += noted.pop("repeat")
    summary = json.loads(json.dumps({**figures, **noted, "date": datetime.now(UTC).date().isoformat()}))
    write_json(folder / "summary.json", summary)
    return dict(summary)


def _file(folder: Path, task: Identified) -> Path:
    return folder / "tasks" / f"{task.id}.json"


def _key(settings: DataclassInstance, task_key: object) -> str:
    """A hash of all that a result depends on."""
    text = json.dumps([asdict(settings), task_key], sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    raise TypeError(f"{value!r} is no plain data, so it cannot be part of a result's key")


def _read(file: Path, key: str) -> dict[str, Any] | None:
    """The record in a file, if it is one of this very task."""
    try:
        data = json.loads(read_whole(file))
        return dict(data) if data.get("key") == key else None
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise _damaged(file, error) from None


def _damaged(file: Path, error: Exception) -> UsageError:
    reason = f"it has no {error}" if isinstance(error, KeyError) else error
    return UsageError(f"{file} cannot be read ({reason}); remove it to have the task solved again")


def _stored_seconds(file: Path) -> dict[str, float]:
    """The seconds of each task by `times.jsonl`; the last line of a task counts."""
    seconds: dict[str, float] = {}
    for line in read_bounded(file, 1 << 28).splitlines() if file.is_file() else ():
        try:
            entry = json.loads(line)
            seconds[entry["id"]] = float(entry["seconds"])
        except (ValueError, KeyError, TypeError):  # a line that a kill cut off
            continue
    return seconds
