"""The programs that faults are put into: ours, and those that a model wrote.

`own.txt` has questions of ours with a program each, `written.txt` what a model wrote for the tasks of `atc bench tiny`;
both are read from top to bottom: `### name`, lines `key: value`, an empty line, the program. Every second one of each
file is held, unless it says that it was seen: it is there for the figures at the end, and not to be looked at while
rules are worked on. What a model wrote wrong was seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from benchmarks.tasks.datasets import open_dataset
from benchmarks.tasks.references import Reference, find_reference

__all__ = ["APIS", "Half", "Origin", "Script", "scripts"]

Half = Literal["seen", "held"]
Origin = Literal["ours", "model"]

APIS = ("museum", "parcels", "cinema", "films", "shop")

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
    for place, (name, headers, program) in enumerate(_sections("own.txt")):
        after = headers.get("after") == "yes"
        claim = _CLAIM.format(headers["claim"])
        reference = Reference(claim if after else f"{program}\n{claim}", after)
        own_scripts.append(
            Script(name, _half(place), "ours", headers["api"], name, headers["query"], program, reference)
        )
    return own_scripts


def _written() -> list[Script]:
    tasks = {task.id: task for task in open_dataset("tiny", None, ()).tasks}
    written_scripts = []
    for place, (name, headers, program) in enumerate(_sections("written.txt")):
        task = tasks[headers["task"]]
        reference = find_reference("tiny", task.query)
        if reference is None:
            raise ValueError(f"written.txt, {name}: there is no reference for the task {task.id}")
        half = "seen" if headers.get("half") == "seen" else _half(place)
        written_scripts.append(Script(name, half, "model", task.domain, task.id, task.query, program, reference))
    return written_scripts


def _half(place: int) -> Half:
    return "held" if place % 2 else "seen"


def _sections(file: str) -> list[tuple[str, Mapping[str, str], str]]:
    """The name, headers and program of each section of a file."""
    sections: list[tuple[str, Mapping[str, str], str]] = []
    for section in (_HERE / file).read_text("utf-8").split("\n### ")[1:]:
        head, _, program = section.partition("\n\n")
        name, *lines = head.splitlines()
        headers = dict(line.split(": ", 1) for line in lines)
        sections.append((name.strip(), headers, program.strip("\n") + "\n"))
    return sections
