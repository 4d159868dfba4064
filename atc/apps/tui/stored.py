"""The solutions in a folder, as a list shows them: found one after another, and damaged files are among them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atc.solution_file import read_json, solution_data
from protocols.errors import UsageError

__all__ = ["StoredSolution", "stored_solutions"]

DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class StoredSolution:
    """A file with a solution. Of a damaged one `status` is "damaged", and `problem` says why.

    `name` is the path below the folder; `tokens` are those read and written, `calls` those of all attempts.
    """

    file: Path
    name: str
    question: str = ""
    status: str = DAMAGED
    standing: str = ""
    attempts: int = 0
    calls: int = 0
    tokens: int = 0
    problem: str = ""

    def has(self, words: str) -> bool:
        """Whether each of the words is somewhere in the question, status, standing, name or problem; in any case."""
        text = f"{self.question} {self.status} {self.standing} {self.name} {self.problem}".casefold()
        return all(word in text for word in words.casefold().split())


def stored_solutions(place: Path) -> Iterator[StoredSolution | None]:
    """The solutions in a file or below a folder, in the order of their paths; None for each other JSON file.

    Links to folders are not followed. Other JSON files are those without attempts, such as the settings of a run.
    """
    if not place.is_dir():
        yield _stored(place, place.name) or StoredSolution(place, place.name, problem="it holds no solution")
        return
    problems: list[StoredSolution] = []

    def unreadable(error: OSError) -> None:
        folder = Path(error.filename)
        name = folder.relative_to(place).as_posix()
        problems.append(StoredSolution(folder, f"{name}/", problem=f"the folder cannot be read: {error.strerror}"))

    for folder, folders, names in os.walk(place, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.endswith(".json") and not name.startswith("."):
                file = Path(folder, name)
                yield _stored(file, file.relative_to(place).as_posix())
        yield from problems
        problems.clear()
    yield from problems


def _stored(file: Path, name: str) -> StoredSolution | None:
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            return None
        data = read_json(file)
        is_solution = isinstance(data, dict) and ("attempts" in data or "solution" in data)
        return _summary(file, name, solution_data(data, file)) if is_solution else None
    except UsageError as error:
        return StoredSolution(file, name, problem=str(error).removeprefix(f"{file} "))
    except OSError as error:
        return StoredSolution(file, name, problem=f"it cannot be read: {error.strerror or error}")


def _summary(file: Path, name: str, data: Mapping[str, Any]) -> StoredSolution:
    """The members of a solution that the list shows. Raises: UsageError: One has another form."""
    attempts, usage = data["attempts"], data.get("usage") or {}
    if not isinstance(attempts, list) or not isinstance(usage, dict):
        raise UsageError(f"{file} is damaged: its attempts are no list, or its usage no object")
    calls = [attempt.get("calls") for attempt in attempts if isinstance(attempt, dict)]
    tokens = [usage.get(kind) for kind in ("prompt_tokens", "completion_tokens")]
    return StoredSolution(
        file,
        name,
        data["query"],
        str(data.get("status") or ""),
        str(data.get("standing") or ""),
        len(attempts),
        sum(len(entries) for entries in calls if isinstance(entries, list)),
        sum(count for count in tokens if isinstance(count, int)),
    )
