"""Read RestBench's task files: questions, the calls that answer them, and the tools to choose from where they say so.

Two formats are in use. The original one names gold calls as `METHOD /path`; the files with candidate tools name the
tools themselves, list the candidates, and may say how often a gold call is needed (`["GET_search", 3]`).
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from benchmarks.metrics import Gold
from protocols import match_gold
from protocols.errors import UsageError
from protocols.model import Protocol

__all__ = ["Task", "draw_candidates", "read_tasks"]


@dataclass(frozen=True, slots=True)
class Task:
    """One question. `position` is its place in the file, from 0; `candidates` are empty where the file lists none."""

    position: int
    id: str
    query: str
    gold: Gold
    candidates: tuple[str, ...] = ()


def read_tasks(file: Path, protocol: Protocol) -> tuple[list[Task], list[str]]:
    """The tasks of a file in either format, and warnings about names that fit only nearly.

    Raises: UsageError: Not such a file, or a gold call that the protocol does not have; the message says which task.
    """
    try:
        data = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} cannot be read as JSON: {error}") from None
    if not isinstance(data, list) or not data:
        raise UsageError(f"{file} is no task file: it must be a JSON list of tasks")
    warnings: dict[str, None] = {}
    tasks = [_task(entry, position, file, protocol, warnings) for position, entry in enumerate(data)]
    return tasks, list(warnings)


def draw_candidates(task: Task, protocol: Protocol, count: int, seed: int) -> tuple[str, ...]:
    """The gold tools of a task among seeded random others, `count` in all (or as many as there are gold tools).

    The order is random too, so that it gives nothing away; it depends on the seed and the task alone.
    """
    chance = random.Random(f"{seed} {task.position} {task.query}")
    gold = sorted(task.gold.calls)
    others = [tool.name for tool in protocol.tools if tool.name not in task.gold.calls]
    drawn = gold + chance.sample(others, min(max(count - len(gold), 0), len(others)))
    chance.shuffle(drawn)
    return tuple(drawn)


def _task(entry: object, position: int, file: Path, protocol: Protocol, warnings: dict[str, None]) -> Task:
    where = f"{file}, task {position}"
    if not isinstance(entry, Mapping) or not isinstance(entry.get("query"), str):
        raise UsageError(f"{where}: no `query`; is this a RestBench file?")
    solution = entry.get("solution")
    if not isinstance(solution, list) or not solution:
        raise UsageError(f"{where}: no `solution`, so there is nothing to measure against")
    counts: Counter[str] = Counter()
    counted = False
    for item in solution:
        name, number = _gold_item(item, where)
        counted = counted or number is not None
        counts[_resolve(name, where, protocol, warnings)] += number or 1
    return Task(
        position=position,
        id=str(entry.get("qid", position)),
        query=entry["query"].strip(),
        gold=Gold(dict(counts), counted),
        candidates=_candidates(entry.get("api_list"), where, protocol, warnings),
    )


def _gold_item(item: object, where: str) -> tuple[str, int | None]:
    """A gold call's name, and how often it is needed where the file says so."""
    match item:
        case str(name):
            return name, None
        case [str(name), int(number)] if number > 0:
            return name, number
    raise UsageError(f"{where}: {item!r} in `solution` is neither a call nor [call, number]")


def _candidates(listed: object, where: str, protocol: Protocol, warnings: dict[str, None]) -> tuple[str, ...]:
    if listed is None:
        return ()
    if not isinstance(listed, list):
        raise UsageError(f"{where}: `api_list` is no list")
    names: list[str] = []
    for item in listed:
        name = item.get("api_name") if isinstance(item, Mapping) else item
        if not isinstance(name, str):
            raise UsageError(f"{where}: {item!r} in `api_list` names no tool")
        names.append(_resolve(name, where, protocol, warnings))
    return tuple(dict.fromkeys(names))


def _resolve(name: str, where: str, protocol: Protocol, warnings: dict[str, None]) -> str:
    """The name of the tool that a task file means."""
    tool, warning = match_gold(protocol, name)
    if tool is None:
        near = get_close_matches(name, _known(protocol), n=1)
        hint = f"; the nearest is {near[0]}" if near else ""
        raise UsageError(f"{where}: {protocol.title} has no tool {name!r}{hint}. Is --api the right document?")
    if warning:
        warnings[warning] = None
    return tool.name


def _known(protocol: Protocol) -> Iterable[str]:
    return [spelling for tool in protocol.tools for spelling in (tool.name, f"{tool.method} {tool.path}")]
