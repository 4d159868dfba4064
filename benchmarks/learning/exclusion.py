"""The tasks of benchmarks that training data leaves out: by the sets of tools that answer them."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.tasks.gold_tools import match_gold
from benchmarks.tasks.task_files import gold_item, read_entries
from benchmarks.toolbench.corpus.queries import ToolQuery, read_queries
from protocols.documents.tool_records import identifiers
from protocols.errors import UsageError
from protocols.model import Protocol

__all__ = ["GoldSets", "read_gold"]


Gold = frozenset[str]
"""The tools of a task, each once."""


class GoldSets:
    """The tools of tasks. Its length is the number of tasks."""

    def __init__(self, golds: Sequence[Gold]) -> None:
        self._tasks = len(golds)
        self._golds = frozenset(golds)

    def __len__(self) -> int:
        return self._tasks

    @property
    def digest(self) -> str:
        """A hash of what is left out, 12 hex digits; empty where nothing is."""
        text = json.dumps(sorted(map(sorted, self._golds)))
        return hashlib.sha256(text.encode()).hexdigest()[:12] if self._golds else ""

    def __call__(self, tools: Sequence[str]) -> bool:
        """True if the tools of these calls are those of a task, however often each is called."""
        return frozenset(tools) in self._golds


def read_gold(files: Sequence[Path], protocol: Protocol, say: Callable[[str], None]) -> GoldSets:
    """The gold of the tasks in files that is of one protocol; tasks of other APIs are passed over.

    Read are task files of RestBench and ToolFlow, of our own, and ToolBench's queries.

    Args:
        say: Is told of each file how many of its tasks are passed over, and which gold was taken for another.
    Raises: UsageError: A file cannot be read.
    """
    golds: list[Gold] = []
    for file in files:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            count, of_file, reason = _golds(file, protocol)
        for text in dict.fromkeys(str(warning.message) for warning in caught):
            say(f"{file}: {text}")
        if reason:
            say(
                f"{file}: {count - len(of_file)} of {count} tasks are passed over, not all of their calls are of this "
                f"API: {reason}"
            )
        golds += of_file
    return GoldSets(golds)


def _golds(file: Path, protocol: Protocol) -> tuple[int, list[Gold], str]:
    """The number of a file's tasks, the gold of those of a protocol, and why the first other one is none."""
    entries = read_entries(file)
    if all(isinstance(entry, Mapping) and "api_list" in entry and "query_id" in entry for entry in entries):
        queries = read_queries(file)
        tools = [_relevant_tools(query, protocol) for query in queries]
        reason = next((f"query {query.id}" for query, names in zip(queries, tools, strict=True) if not names), "")
        return len(queries), [frozenset(names) for names in tools if names], reason
    golds: list[Gold] = []
    reason = ""
    for position, entry in enumerate(entries):
        where = f"{file}, task {position}"
        solution = entry.get("solution") if isinstance(entry, Mapping) else None
        if not isinstance(solution, list) or not solution:
            raise UsageError(f"{where}: no `solution`; --exclude takes task files")
        names = [gold_item(item, where) for item in solution]
        try:
            golds.append(frozenset(match_gold(protocol, name) for name, _ in names))
        except UsageError as error:
            reason = reason or f"task {position}, {error}"
    return len(entries), golds, reason


def _relevant_tools(query: ToolQuery, protocol: Protocol) -> list[str]:
    """The tools of a protocol that a query is about; none if one of them is not of it."""
    names: list[str] = []
    for tool, api in query.relevant:
        spellings = (query.identifier(tool, api), *identifiers([(api, tool)]))
        names += [name for name in spellings if name is not None and name in protocol][:1] or [""]
    return list(dict.fromkeys(names)) if all(names) else []
