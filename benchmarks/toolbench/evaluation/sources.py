"""What is judged: the answers of a run, or of a converted file, under the names of a method and a subset."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.toolbench.evaluation.convert import convert_files
from benchmarks.toolbench.evaluation.judged import JudgedAnswer, by_id, read_converted
from protocols.errors import UsageError
from protocols.private_files import read_whole

__all__ = ["JudgedRun", "open_answers", "read_ids"]

_FORMS = "name a folder of `atc bench toolbench --out`, a folder of answers, or a file of `atc eval convert`"


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """The answers of one method to one subset, by query id."""

    method: str
    subset: str
    answers: Mapping[str, JudgedAnswer]


def open_answers(source: Path, method: str | None = None) -> JudgedRun:
    """Read what `source` holds: a run's `answers/`, a folder of answer files, or a converted file.

    The method is called after the folder, of a converted file after the folder that it is in; the subset after the
    task file of the run, or after the converted file.
    Raises: UsageError: There is nothing to judge, or a file is malformed.
    """
    if source.is_file():
        return JudgedRun(source.resolve().parent.name or "answers", source.stem, read_converted(source))
    if not source.is_dir():
        raise UsageError(f"{source}: there is no such folder or file; {_FORMS}")
    files = sorted((source / "answers").glob("*.json"))
    answers = convert_files(files or sorted(source.glob("*_*.json")), method)
    converted = {answer.query_id: answer for answer in answers}
    if not converted:
        chosen = f" whose name has {method!r}" if method else ""
        raise UsageError(f"{source} holds no answer{chosen}; {_FORMS}")
    return JudgedRun(source.resolve().name, _subset(source), converted)


def _subset(folder: Path) -> str:
    """The name of the run's task file; without one, that of the folder."""
    try:
        return Path(json.loads(read_whole(folder / "config.json"))["files"]["tasks"]["file"]).stem
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return folder.resolve().name


def read_ids(file: Path) -> tuple[str, ...]:
    """The query ids in a file: the keys of an object, as published, or a list. Raises: UsageError."""
    try:
        data = json.loads(read_whole(file))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from None
    if not isinstance(data, (dict, list)) or not data or not all(isinstance(entry, (str, int)) for entry in data):
        raise UsageError(f"{file} holds no query ids: an object with the ids as keys, or a list of them, is needed")
    return tuple(sorted(dict.fromkeys(map(str, data)), key=by_id))
