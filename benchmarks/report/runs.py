"""Read the folders that `atc bench` writes: the settings, and each task with its figures and its solution.

A folder is checked once, here, against what the rest of the report relies on; a file that is not as it should be is
named. The solutions stay plain data, the form in which they are stored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from atc.files import read_lines
from benchmarks.report.grades import Grades, read_grades, solution_key
from benchmarks.tasks.metrics import Metrics
from protocols.bounded_files import read_whole
from protocols.errors import UsageError

__all__ = ["RunFolder", "TaskRecord", "TaskTimes", "check", "object_schema", "read_run", "read_runs"]


@dataclass(frozen=True, slots=True)
class TaskTimes:
    """Wall-clock seconds of one task: in all, waiting for the model, running programs."""

    seconds: float
    model_seconds: float
    run_seconds: float


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """One task of a run. `gold` is how often each tool is to be called, which matters where it is `counted`; `solution`
    is a Solution's JSON.

    `grades` are those that a model gave it, None where none did. `details` are further figures of its score.
    """

    id: str
    dataset: str
    query: str
    gold: Mapping[str, int]
    metrics: Metrics
    solution: Mapping[str, Any]
    times: TaskTimes | None
    grades: Grades | None = None
    counted: bool = False
    details: Mapping[str, float] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, str]:
        """The identity of a task over all runs: ids alone repeat between task files."""
        return self.dataset, self.id, self.query


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A results folder. `name` tells it from the others in the same report; `tasks` are in the order of their files."""

    name: str
    config: Mapping[str, Any]
    tasks: tuple[TaskRecord, ...]
    folder: Path = Path()

    @property
    def mode(self) -> str:
        return str(self.config.get("mode", "?"))

    @property
    def model(self) -> str:
        return str(self.config.get("model", "?"))

    @property
    def task_file(self) -> object:
        """Name and SHA-256 of the file that the tasks are from."""
        return self.config.get("files", {}).get("tasks")


def object_schema(required: Iterable[str], **properties: object) -> dict[str, object]:
    """The schema of an object."""
    return {"type": "object", "required": list(required), "properties": properties}


@cache
def _validator(part: str) -> Draft202012Validator:
    """The schema of a task, of the settings (`config`) or of a line of `times`, in `runs.yaml`."""
    schema = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
    return Draft202012Validator({**schema, "$ref": f"#/$defs/{part}"})


def read_runs(folders: Sequence[Path]) -> list[RunFolder]:
    """Read several run folders; what `--repeat` made, a folder of runs, stands for all of them.

    A folder's name tells its run from the others, with as much of its path as that needs. Raises: UsageError.
    """
    places = list(dict.fromkeys(place for folder in folders for place in _runs_in(folder.resolve())))
    return [read_run(place, name) for place, name in zip(places, _names(places), strict=True)]


def read_run(folder: Path, name: str = "") -> RunFolder:
    """Read one run folder. Raises: UsageError: No such folder, no run in it, or a malformed file."""
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder")
    if not (folder / "config.json").is_file():
        raise UsageError(f"{folder} holds no run: there is no config.json; name a folder that `atc bench --out` wrote")
    config = _object(folder / "config.json", "config")
    times = _times(folder / "times.jsonl")
    files = sorted((folder / "tasks").glob("*.json"))
    if not files:
        raise UsageError(f"{folder} holds no finished task yet; go on with `atc bench`")
    grades = read_grades(folder)
    tasks = tuple(_task(_object(file, "task"), times, grades) for file in files)
    return RunFolder(name or folder.name, config, tasks, folder)


def _runs_in(folder: Path) -> list[Path]:
    """The folder itself, or the run folders `1`, `2`, … in it."""
    if (folder / "config.json").is_file() or not folder.is_dir():
        return [folder]
    repeats = [place.parent for place in folder.glob("*/config.json") if place.parent.name.isdigit()]
    return sorted(repeats, key=lambda place: int(place.name)) or [folder]


def _task(data: Mapping[str, Any], times: Mapping[str, TaskTimes], grades: Mapping[str, Grades]) -> TaskRecord:
    return TaskRecord(
        id=data["id"],
        dataset=data["dataset"],
        query=data["query"],
        gold=data["gold"]["calls"],
        counted=bool(data["gold"].get("counted")),
        metrics=Metrics.read(data["metrics"]),
        solution=data["solution"],
        times=times.get(data["id"]),
        grades=grades.get(solution_key(data["query"], data["solution"])),
        details=data.get("details", {}),
    )


def _times(file: Path) -> dict[str, TaskTimes]:
    """Seconds by task; of a task that was solved more than once the last. A line cut off by a stop is left out."""
    times = {}
    for place, data in read_lines(file):
        check(data, _validator("times"), place)
        times[data["id"]] = TaskTimes(data["seconds"], data.get("model_seconds", 0.0), data.get("run_seconds", 0.0))
    return times


def _object(file: Path, part: str) -> dict[str, Any]:
    try:
        # An API may have sent NaN and infinities in a response, but no figure can be one.
        data = json.loads(read_whole(file), parse_constant=lambda name: None)
    except (OSError, ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        raise UsageError(f"{file} cannot be read: {error}") from None
    check(data, _validator(part), str(file))
    return dict(data)


def check(data: object, schema: Draft202012Validator, place: str) -> None:
    """Raises: UsageError: Data does not follow a schema."""
    wrong = best_match(schema.iter_errors(data))
    if wrong is not None:
        where = wrong.json_path.removeprefix("$").lstrip(".")
        raise UsageError(f"{place}: {where + ': ' if where else ''}{wrong.message[:300]}")


def _names(places: Sequence[Path]) -> list[str]:
    """The shortest ends of the paths that differ from one another."""
    for length in range(1, max((len(place.parts) for place in places), default=1) + 1):
        names = ["/".join(place.parts[-length:]) for place in places]
        if len(set(names)) == len(names):
            return names
    return [str(place) for place in places]
