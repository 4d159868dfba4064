"""The tasks of benchmarks that training data leaves out: by the multisets of tools that answer them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from benchmarks.tasks.query_tasks import query_tasks
from benchmarks.tasks.task_files import gold_item, read_entries
from protocols.calls.path_matching import match_gold
from protocols.errors import UsageError
from protocols.model import Protocol

__all__ = ["GoldSets", "read_gold"]


class GoldSets:
    """The tools of tasks: each with the number of its calls where the file counts them, else each once.

    Its length is the number of tasks.
    """

    def __init__(self, golds: Sequence[tuple[Mapping[str, int], bool]]) -> None:
        self._tasks = len(golds)
        self._counted = {_frozen(calls) for calls, counted in golds if counted}
        self._once = {frozenset(calls) for calls, _ in golds}

    def __len__(self) -> int:
        return self._tasks

    @property
    def digest(self) -> str:
        """A hash of what is left out, 12 hex digits; empty where nothing is."""
        parts = [sorted(map(sorted, self._counted)), sorted(map(sorted, self._once))]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12] if self._once else ""

    def __call__(self, tools: Sequence[str]) -> bool:
        """True if these calls, or each of their tools once, are the gold of a task."""
        return _frozen(Counter(tools)) in self._counted or frozenset(tools) in self._once


def read_gold(files: Sequence[Path], protocol: Protocol) -> GoldSets:
    """The gold of the tasks in files that is of one protocol; tasks of other APIs are passed over.

    Read are task files of RestBench and ToolFlow, of our own (JSON or YAML), and ToolBench's queries.
    Raises: UsageError: A file cannot be read.
    """
    return GoldSets([gold for file in files for gold in _golds(file, protocol)])


def _golds(file: Path, protocol: Protocol) -> list[tuple[Mapping[str, int], bool]]:
    entries = _entries(file)
    if all(isinstance(entry, Mapping) and "api_list" in entry and "query_id" in entry for entry in entries):
        tasks, _, _ = query_tasks(file)
        return [(task.gold.calls, task.gold.counted) for task in tasks if all(n in protocol for n in task.gold.calls)]
    golds: list[tuple[Mapping[str, int], bool]] = []
    for position, entry in enumerate(entries):
        where = f"{file}, task {position}"
        solution = entry.get("solution") if isinstance(entry, Mapping) else None
        if not isinstance(solution, list) or not solution:
            raise UsageError(f"{where}: no `solution`; --exclude takes task files")
        names = [gold_item(item, where) for item in solution]
        calls: Counter[str] = Counter()
        try:
            for name, number in names:
                calls[match_gold(protocol, name)] += number or 1
        except UsageError:
            continue  # a task of another API
        golds.append((calls, any(number is not None for _, number in names)))
    return golds


def _entries(file: Path) -> list[object]:
    if file.suffix in (".yaml", ".yml"):
        try:
            data = yaml.safe_load(file.read_text("utf-8"))
        except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
            raise UsageError(f"{file} cannot be read as YAML: {' '.join(str(error).split())}") from None
        tasks = data.get("tasks") if isinstance(data, Mapping) else data
        if not isinstance(tasks, list) or not tasks:
            raise UsageError(f"{file} is no task file: it must hold a list of tasks")
        return tasks
    return read_entries(file)


def _frozen(calls: Mapping[str, int]) -> frozenset[tuple[str, int]]:
    return frozenset(calls.items())
