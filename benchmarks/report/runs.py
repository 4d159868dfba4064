"""Read the folders that `atc bench` writes: the settings, and each task with its figures and its solution.

A folder is checked once, here, against what the rest of the report relies on; a file that is not as it should be is
named. The solutions stay plain data, the form in which they are stored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from atc.files import read_lines
from atc.search_tree import NodeOutcome
from benchmarks.report.grades import Grades, read_grades, solution_key
from benchmarks.tasks.metrics import Metrics
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

    `grades` are those that a model gave it, None where none did. `details` are further figures of its score, and
    `prompt` is the digest of its first prompt, and `picture` shows what was done, as SVG or HTML text, where the run
    records them.
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
    prompt: str = ""
    picture: str = ""

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


_TEXT, _TEXT_OR_NULL = {"type": "string"}, {"type": ["string", "null"]}
_OBJECT_OR_NULL = {"type": ["object", "null"]}
_SECONDS = {"type": "number", "minimum": 0}
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_COUNT = {"type": "integer", "minimum": 0}
_CALL = object_schema(("tool", "status"), tool=_TEXT_OR_NULL, status={"type": ["integer", "null"]})
_ATTEMPT = object_schema(
    ("program", "stage", "calls"),
    program=_TEXT,
    stage=_TEXT,
    calls={"type": "array", "items": _CALL},
    **dict.fromkeys(("run", "fault", "attribution"), _OBJECT_OR_NULL),
)
_STEP = object_schema(
    ("name", "arguments", "text"),
    **dict.fromkeys(("name", "text", "observation"), _TEXT),
    arguments={"type": "object"},
    code={"type": "integer"},
)
_NODE = object_schema(
    ("id", "parent", "thought", "outcome"),
    id={"type": "integer", "minimum": 1},
    **dict.fromkeys(("parent", "trial"), _COUNT),
    **dict.fromkeys(("thought", "correction", "tried", "why"), _TEXT),
    outcome={"enum": list(get_args(NodeOutcome))},
    steps={"type": "array", "items": _STEP},
    score={"type": ["number", "null"]},
)
_PLACE = {"type": "array", "items": {"type": ["string", "integer"]}}
_EVIDENCE = object_schema(("call", "path", "how"), call=_COUNT, path=_PLACE, how=_TEXT, said=_TEXT_OR_NULL)
_FLOW = object_schema(
    ("call", "argument", "origin", "source", "path"),
    call=_COUNT,
    argument=_TEXT,
    origin=_TEXT,
    source={"type": ["integer", "null"], "minimum": 0},
    path=_PLACE,
)
_CHOICE = object_schema(("kind", "line", "text"), kind=_TEXT, line=_COUNT, text=_TEXT)
_METRICS: dict[str, object] = {
    **dict.fromkeys(("success", "path", "precision", "success_any"), _SHARE),
    "correct": {"type": ["boolean", "null"]},
    "answered": {"type": "boolean"},
    **dict.fromkeys(("prompt_tokens", "completion_tokens", "cached_tokens"), _COUNT),
    **dict.fromkeys(("model_calls", "tool_calls", "reflections", "gold_calls"), _COUNT),
    "error": _TEXT_OR_NULL,
}
_SOLUTION = object_schema(
    ("status", "answer", "attempts"),
    status=_TEXT,
    answer=_TEXT_OR_NULL,
    attempts={"type": "array", "items": _ATTEMPT},
    calls={"type": "array", "items": _CALL},
    evidence={"type": "array", "items": _EVIDENCE},
    flow={"type": "array", "items": _FLOW},
    choices={"type": "array", "items": _CHOICE},
    findings={"type": "array", "items": {"type": "object"}},
    tree={"type": "array", "items": _NODE},
)
_TASK = Draft202012Validator(
    object_schema(
        ("id", "dataset", "query", "gold", "metrics", "solution"),
        **dict.fromkeys(("id", "dataset", "query"), _TEXT),
        gold=object_schema(["calls"], calls={"type": "object", "additionalProperties": _COUNT}),
        metrics=object_schema(_METRICS, **_METRICS),
        solution=_SOLUTION,
        details={"type": "object", "additionalProperties": {"type": "number"}},
        prompt=object_schema(["sha256"], sha256=_TEXT),
        picture=_TEXT,
    )
)
_CONFIG = Draft202012Validator(
    object_schema(
        ("benchmark", "model", "mode", "max_reflections"),
        **dict.fromkeys(("benchmark", "model", "mode"), _TEXT),
        max_reflections=_COUNT,
        files={"type": "object"},
    )
)
_TIMES = Draft202012Validator(
    object_schema(("id", "seconds"), id=_TEXT, **dict.fromkeys(("seconds", "model_seconds", "run_seconds"), _SECONDS))
)


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
    config = _object(folder / "config.json", _CONFIG)
    times = _times(folder / "times.jsonl")
    files = sorted((folder / "tasks").glob("*.json"))
    if not files:
        raise UsageError(f"{folder} holds no finished task yet; go on with `atc bench`")
    grades = read_grades(folder)
    tasks = tuple(_task(_object(file, _TASK), times, grades) for file in files)
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
        prompt=data.get("prompt", {}).get("sha256", ""),
        picture=data.get("picture", ""),
    )


def _times(file: Path) -> dict[str, TaskTimes]:
    """Seconds by task; of a task that was solved more than once the last. A line cut off by a stop is left out."""
    times = {}
    for place, data in read_lines(file):
        check(data, _TIMES, place)
        times[data["id"]] = TaskTimes(data["seconds"], data.get("model_seconds", 0.0), data.get("run_seconds", 0.0))
    return times


def _object(file: Path, schema: Draft202012Validator) -> dict[str, Any]:
    try:
        # An API may have sent NaN and infinities in a response, but no figure can be one.
        data = json.loads(file.read_text("utf-8"), parse_constant=lambda name: None)
    except (OSError, ValueError) as error:  # UnicodeDecodeError is a ValueError
        raise UsageError(f"{file} cannot be read: {error}") from None
    check(data, schema, str(file))
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
