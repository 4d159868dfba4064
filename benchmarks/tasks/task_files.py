"""Read task files of RestBench and ToolFlow: questions, the calls that answer them, the tools to choose from if listed.

Two formats are in use. The original one names gold calls as `METHOD /path`; the files with candidate tools name the
tools themselves, list the candidates, and may say how often a gold call is needed (`["GET_search", 3]`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.tasks.metrics import Gold
from protocols.bounded_files import read_whole
from protocols.errors import UsageError
from protocols.model import Protocol
from protocols.naming import tool_name

__all__ = [
    "OfferedTask",
    "Task",
    "candidate_tools",
    "gold_item",
    "match_gold",
    "offered_tasks",
    "read_entries",
    "read_tasks",
    "with_gold_tools",
]


_VARIABLE = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class Task:
    """One question of a domain. `position` is its place in the file, from 0; `id` is unique in it; `candidates` are
    empty where the file lists none."""

    position: int
    id: str
    query: str
    gold: Gold
    candidates: tuple[str, ...] = ()
    domain: str = ""


@dataclass(frozen=True, slots=True)
class OfferedTask:
    """A task with the names of the tools that it is solved with."""

    task: Task
    candidates: tuple[str, ...]

    @property
    def id(self) -> str:
        """The task's."""
        return self.task.id


def read_entries(file: Path) -> list[object]:
    """The entries of a task file. Raises: UsageError."""
    try:
        data = json.loads(read_whole(file))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{file} cannot be read as JSON: {error}") from None
    if not isinstance(data, list) or not data:
        raise UsageError(f"{file} is no task file: it must be a JSON list of tasks")
    return data


def read_tasks(file: Path, protocols: Mapping[str, Protocol], domains: Sequence[str]) -> tuple[list[Task], list[str]]:
    """The tasks of a file in either format, and warnings about names that fit only nearly.

    Args:
        protocols: By domain; tasks of another one are left out. domains: That of each task.
    Raises: UsageError: Not such a file, a gold call that the protocol does not have, or two tasks with the same
        identifier; the message says which task.
    """
    notes: dict[str, None] = {}
    tasks = [
        _task(entry, position, domain, file, protocols[domain], notes)
        for position, (entry, domain) in enumerate(zip(read_entries(file), domains, strict=True))
        if domain in protocols
    ]
    twice = [name for name, count in Counter(task.id for task in tasks).items() if count > 1]
    if twice:
        raise UsageError(f"{file}: two tasks are called {twice[0]} (`dataset` and `qid`)")
    return tasks, list(notes)


def with_gold_tools(tasks: Sequence[Task]) -> tuple[tuple[Task, ...], int]:
    """Tasks whose candidates hold every tool that is required, and how many of them the file lists without one.

    Source: ATC paper (arXiv:2405.16533), section 6.1.
    """
    lacking = {task.id: [name for name in task.gold.calls if name not in task.candidates] for task in tasks}
    whole = tuple(
        replace(task, candidates=(*task.candidates, *lacking[task.id])) if task.candidates else task for task in tasks
    )
    return whole, sum(before != after for before, after in zip(tasks, whole, strict=True))


def candidate_tools(task: Task, protocol: Protocol) -> tuple[str, ...]:
    """The names of the tools that the model may choose from: those that the task lists, else all.

    They come in the order of the API's document: the files list the gold tools first, which would give them away.
    """
    names = [tool.name for tool in protocol.tools]
    chosen = set(task.candidates or names)
    return tuple(name for name in names if name in chosen)


def offered_tasks(tasks: Iterable[Task], protocols: Mapping[str, Protocol]) -> list[OfferedTask]:
    """Tasks with their candidate tools (see `candidate_tools`)."""
    return [OfferedTask(task, candidate_tools(task, protocols[task.domain])) for task in tasks]


def _task(entry: object, position: int, domain: str, file: Path, protocol: Protocol, notes: dict[str, None]) -> Task:
    where = f"{file}, task {position}"
    query = entry.get("query") if isinstance(entry, Mapping) else None
    if not isinstance(entry, Mapping) or not isinstance(query, str) or not query.strip():
        raise UsageError(f"{where}: no `query`; is this a RestBench file?")
    solution = entry.get("solution")
    if not isinstance(solution, list) or not solution:
        raise UsageError(f"{where}: no `solution`, so there is nothing to measure against")
    counts: Counter[str] = Counter()
    counted = False
    for item in solution:
        name, number = gold_item(item, where)
        counted = counted or number is not None
        counts[_resolve(name, where, protocol, notes)] += number or 1
    return Task(
        position=position,
        id=re.sub(r"[^A-Za-z0-9._-]", "_", f"{domain}-{entry.get('qid', position)}"),
        query=query.strip(),
        gold=Gold(dict(counts), counted),
        candidates=_candidates(entry.get("api_list"), where, protocol, notes),
        domain=domain,
    )


def gold_item(item: object, where: str) -> tuple[str, int | None]:
    """A gold call's name, and how often it is needed where the file says so. Raises: UsageError."""
    match item:
        case str(name):
            return name, None
        case [str(name), int(number)] if number > 0:
            return name, number
    raise UsageError(f"{where}: {item!r} in `solution` is neither a call nor [call, number]")


def _candidates(listed: object, where: str, protocol: Protocol, notes: dict[str, None]) -> tuple[str, ...]:
    if listed is None:
        return ()
    if not isinstance(listed, (list, dict)):  # a dict has the names as its keys
        raise UsageError(f"{where}: `api_list` is no list")
    names: list[str] = []
    for item in listed:
        name = item.get("api_name") if isinstance(item, Mapping) else item
        if not isinstance(name, str):
            raise UsageError(f"{where}: {item!r} in `api_list` names no tool")
        names.append(_resolve(name, where, protocol, notes))
    return tuple(dict.fromkeys(names))


def _resolve(name: str, where: str, protocol: Protocol, notes: dict[str, None]) -> str:
    """The name of the tool that a task file means."""
    try:
        tool, note = match_gold(protocol, name)
    except UsageError as error:
        spellings = [text for tool in protocol.tools for text in (tool.name, f"{tool.method} {tool.path}")]
        near = get_close_matches(name, spellings, n=1)
        hint = f" (the nearest is {near[0]})" if near else ""
        raise UsageError(f"{where}: {error}{hint}; is --api the document of this benchmark?") from None
    if note:
        notes[note] = None
    return tool


def match_gold(protocol: Protocol, gold: str) -> tuple[str, str]:
    """The name of the tool that a line of a benchmark means: `GET /person/{person_id}` or a tool's name.

    Names of path variables do not matter. An unknown path matches the only tool of that method whose path differs by a
    plural `s`.

    Returns: The name, and a note where the match is not exact, else empty.
    Raises: UsageError: No tool matches, or more than one.
    """
    method, _, path = gold.strip().partition(" ")
    if not path:
        if method in protocol:
            return method, ""
        raise UsageError(f"{gold!r} is no tool of {protocol.title!r}")
    path = _path_within_server(protocol, path.strip())
    if tool_name(method, path) in protocol:
        return tool_name(method, path), ""
    tools = [tool for tool in protocol.tools if tool.method == method.upper()]
    for form in (_anonymous, _singular):
        candidates = [tool for tool in tools if form(tool.path) == form(path)]
        if len(candidates) == 1:
            tool = candidates[0]
            return tool.name, f"{gold!r} is no tool; taken for {tool.name} ({tool.path})" if form is _singular else ""
    raise UsageError(f"{gold!r} is no tool of {protocol.title!r}")


def _path_within_server(protocol: Protocol, path: str) -> str:
    for server in protocol.servers:
        if path.startswith(server.url + "/"):
            return path[len(server.url) :]
    try:
        return urlsplit(path).path if "://" in path else path
    except ValueError:  # an address that is none, such as http://[
        return path


def _anonymous(path: str) -> str:
    return _VARIABLE.sub("{}", path).rstrip("/")


def _singular(path: str) -> str:
    return "/".join(segment.removesuffix("s") for segment in _anonymous(path).split("/"))
