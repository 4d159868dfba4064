"""ToolBench's queries as tasks: each has a protocol of its own, made when it is needed."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.tasks.metrics import Gold
from benchmarks.tasks.task_files import Task
from benchmarks.toolbench.corpus.queries import ToolQuery, query_gaps, query_protocol, read_queries, served_protocol
from protocols.errors import UsageError
from protocols.model import Protocol

__all__ = ["QueryProtocols", "Retrieve", "find_subset", "query_tasks", "task_id"]

SUBSET_FOLDERS = (
    "stabletoolbench",
    "stabletoolbench/solvable_queries/test_instruction",
    "solvable_queries/test_instruction",
    "toolbench/test_instruction",
    "test_instruction",
)
"""Where the queries of a subset lie under a data folder, as the releases have them."""

_KEPT = 16
"""Protocols that are kept at a time."""


class QueryProtocols(Mapping[str, Protocol]):
    """The protocols of queries by task id; only the last ones that were asked for are kept.

    Args:
        server: The base URL of a virtual API server that their calls go through; empty without one.
    """

    def __init__(self, queries: Mapping[str, ToolQuery], server: str = "") -> None:
        self.queries = queries
        self._server = server
        self._kept: OrderedDict[str, Protocol] = OrderedDict()

    def __getitem__(self, name: str) -> Protocol:
        """The protocol of a task. Raises: KeyError; ProtocolError: None of its APIs can be used."""
        protocol = self._kept.get(name)
        if protocol is None:
            protocol = self._kept[name] = self._protocol(self.queries[name])
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return protocol

    def _protocol(self, query: ToolQuery) -> Protocol:
        return served_protocol(query, self._server) if self._server else query_protocol(query)

    def __iter__(self) -> Iterator[str]:
        return iter(self.queries)

    def __len__(self) -> int:
        return len(self.queries)

    def __contains__(self, name: object) -> bool:
        return name in self.queries


Retrieve = Callable[[str], Sequence[Mapping[str, Any]]]
"""The records of the APIs that are retrieved for a question."""


def query_tasks(
    file: Path, server: str = "", retrieve: Retrieve | None = None
) -> tuple[tuple[Task, ...], QueryProtocols, tuple[str, ...]]:
    """The queries of a file as tasks sorted by their id, their protocols, and a warning for each gap.

    A query that lists no API is left out; one without a usable gold call is not. With `retrieve` every query gets the
    APIs that this finds for it, whatever it lists; a relevant API that is not among them stays a gold call, which
    cannot be made. `server` is that of QueryProtocols.

    Raises: UsageError: It is no query file, no query lists an API, or two have the same id.
    """
    tasks: list[Task] = []
    queries: dict[str, ToolQuery] = {}
    warnings: list[str] = []
    listed = read_queries(file)
    if twice := [number for number, count in Counter(query.id for query in listed).items() if count > 1]:
        raise UsageError(f"{file}: two queries have the id {twice[0]}; are these files of several subsets in one?")
    for position, query in sorted(enumerate(listed), key=lambda placed: placed[1].id):
        name = task_id(query)
        gold = query.gold
        if retrieve is not None:
            query = replace(query, records=tuple(retrieve(query.text)))
            gold = query.gold_anywhere
        else:
            warnings += [f"{name}: {gap}" for gap in query_gaps(query)]
        if not query.records:
            continue
        if not gold:
            warnings.append(f"{name}: it names no gold call, so its Success and Path count as 0")
        queries[name] = query
        tasks.append(Task(position, name, query.text, Gold(dict.fromkeys(gold, 1)), domain=name))
    if not tasks:
        raise UsageError(f"{file}: no query lists an API (`api_list`), so there is nothing to call")
    return tuple(tasks), QueryProtocols(queries, server), tuple(warnings)


def task_id(query: ToolQuery) -> str:
    """The id of a query's task."""
    return f"q{query.id}"


def find_subset(name: str, places: Sequence[Path]) -> Path:
    """The query file of a subset under data folders. Raises: UsageError: There is none; it says which there are."""
    folders = [place / folder for place in places for folder in SUBSET_FOLDERS]
    for folder in folders:
        if (file := folder / f"{name}.json").is_file():
            return file
    there = sorted({file.stem for folder in folders if folder.is_dir() for file in folder.glob("G*.json")})
    advice = (
        f"there are {', '.join(there)}" if there else "atc data pull stabletoolbench fetches some (or set ATC_DATA)"
    )
    raise UsageError(f"there is no subset {name!r} in {' or '.join(map(str, places))}; {advice}; or give --tasks FILE")
