"""The programs that faults are put into: ours, and those that a model wrote.

`own.txt` has questions of ours with a program each, `written.txt` what a model wrote for the tasks of `atc bench tiny`;
both are read by `injection.sections`. Every second program of each file is held, unless it says that it was seen.
What a model wrote wrong was seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from benchmarks.injection.sections import Half, read_sections
from benchmarks.tasks.datasets import open_dataset
from benchmarks.tasks.references import Reference, find_reference

__all__ = ["Origin", "Script", "scripts"]

Origin = Literal["ours", "model"]

_HERE = Path(__file__).parent
_CLAIM = "import json\n\nprint(json.dumps({}))\n"


@dataclass(frozen=True, slots=True)
class Script:
    """A question about one of the APIs with a program, and the reference that says whether an answer is right.

    `task` is what its world is made for: the task of the benchmark, or its own name.
    """

    name: str
    half: Half
    origin: Origin
    api: str
    task: str
    query: str
    program: str
    reference: Reference


@lru_cache(maxsize=1)
def scripts() -> tuple[Script, ...]:
    """All of them, in the order of the files. Raises: ValueError: A file is not as it should be."""
    return (*_own(), *_written())


def _own() -> list[Script]:
    own_scripts = []
    for place, section in enumerate(read_sections(_HERE / "own.txt")):
        headers, name, program = dict(section.headers), section.name, section.program
        after = headers.get("after") == "yes"
        claim = _CLAIM.format(headers["claim"])
        reference = Reference(claim if after else f"{program}\n{claim}", after)
        half = _half(place)
        own_scripts.append(Script(name, half, "ours", headers["api"], name, headers["query"], program, reference))
    return own_scripts


def _written() -> list[Script]:
    tasks = {task.id: task for task in open_dataset("tiny", None, ()).tasks}
    written_scripts = []
    for place, section in enumerate(read_sections(_HERE / "written.txt")):
        headers, name = dict(section.headers), section.name
        task = tasks[headers["task"]]
        reference = find_reference("tiny", task.query)
        if reference is None:
            raise ValueError(f"written.txt, {name}: there is no reference for the task {task.id}")
        half = "seen" if headers.get("half") == "seen" else _half(place)
        program = section.program
        written_scripts.append(Script(name, half, "model", task.domain, task.id, task.query, program, reference))
    return written_scripts


def _half(place: int) -> Half:
    return "held" if place % 2 else "seen"
