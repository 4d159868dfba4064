"""The benchmarks that there are: where their tasks and API documents lie, and how the two are read together.

A benchmark has one API, or (ToolFlow) one for each domain that its tasks are labelled with. Its files are named on the
command line, or found under `ATC_DATA` or in the cache folder; those of our own benchmark come with the package.

An agent may see another document than the one that its service is simulated and its calls are scored by, such as one
that `atc probe` learned from the service (the ATC paper's Figure 4).
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from urllib.parse import urlsplit

from atc.demonstrations import Demonstration
from atc.programs import parsed
from benchmarks.pull import folders
from benchmarks.restbench import Task, entries, read_tasks
from protocols import load
from protocols.documents import parse, read
from protocols.errors import UsageError
from protocols.model import Protocol, Tool
from protocols.openapi import operations

__all__ = ["BENCHMARKS", "Benchmark", "Dataset", "described", "open_dataset", "with_learned"]


SHIPPED = Path(__file__).parent / "data"
"""Where the files of a benchmark of our own lie."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark by its name: task files to look for, the best first, and the API document of each domain.

    One that is `made_up` comes with its files, and its APIs can only be simulated.
    """

    name: str
    tasks: tuple[str, ...]
    apis: Mapping[str, str]
    made_up: bool = False


@dataclass(frozen=True, slots=True)
class Dataset:
    """Tasks with their protocols by domain. `files` has the name and SHA-256 of every file that was read.

    `learned` has, by domain, what the agent sees in place of the protocol; `usage` the examples in it that are shown.
    """

    benchmark: str
    tasks: tuple[Task, ...]
    protocols: Mapping[str, Protocol]
    files: Mapping[str, Mapping[str, str]]
    warnings: tuple[str, ...] = field(default=())
    learned: Mapping[str, Protocol] = field(default_factory=dict)
    usage: Mapping[str, tuple[Demonstration, ...]] = field(default_factory=dict)

    @property
    def listed(self) -> bool:
        """Whether the tasks list their candidate tools themselves."""
        return any(task.candidates for task in self.tasks)


def _either(*names: str) -> tuple[str, ...]:
    """Task files, whole or only the development split."""
    return tuple(f"{name}{split}.json" for name in names for split in ("", ".dev"))


BENCHMARKS: Mapping[str, Benchmark] = {
    one.name: one
    for one in (
        Benchmark(
            "restbench-tmdb",
            (
                "toolflow/tmdb.candidates.json",
                "toolflow/tmdb.candidates.dev.json",
                "restbench/tmdb.json",
                "restbench/tmdb.dev.json",
            ),
            {"tmdb": "restbench/tmdb_oas.json"},
        ),
        Benchmark(
            "restbench-spotify",
            (
                "toolflow/spotify.candidates.json",
                "toolflow/spotify.candidates.dev.json",
                "restbench/spotify.json",
                "restbench/spotify.dev.json",
            ),
            {"spotify": "restbench/spotify_oas.json"},
        ),
        Benchmark(
            "toolflow",
            _either("toolflow/toolflow"),
            {name: f"toolflow/{name}.tools.json" for name in ("food", "weather", "music", "tmdb", "game")},
        ),
        Benchmark(
            "tiny",
            ("tiny/tasks.json",),
            {"museum": "tiny/museum.yaml", "parcels": "tiny/parcels.yaml"},
            made_up=True,
        ),
    )
}


def open_dataset(name: str, task_file: Path | None, apis: Sequence[str]) -> Dataset:
    """Read a benchmark.

    Args:
        task_file: In place of the one under `ATC_DATA`.
        apis: API documents, `SPEC` or `DOMAIN=SPEC`, in place of those under `ATC_DATA`.
    Raises: UsageError: A file is not there or not readable; a task is of a domain without a document.
    """
    benchmark = BENCHMARKS[name]
    given = _given("--api", apis)
    places = (SHIPPED,) if benchmark.made_up else folders()
    tasks_in = task_file or _found(benchmark.tasks, places, f"--tasks FILE: the tasks of {name}")
    domains = list(benchmark.apis)
    labels = read_domains(tasks_in, domains)
    protocols: dict[str, Protocol] = {}
    files = {"tasks": described(tasks_in)}
    for domain in dict.fromkeys(labels):
        spec = given.get(domain) or (given.get("") if len(set(labels)) == 1 else None)
        if spec is None:
            if domain not in benchmark.apis:
                raise UsageError(f"{tasks_in} has tasks of {domain!r}; name its API with --api {domain}=SPEC")
            spec = str(_found((benchmark.apis[domain],), places, f"--api {domain}=SPEC: the API of its tasks"))
        protocols[domain] = load(spec)
        files[domain] = {"file": Path(urlsplit(spec).path).name, "sha256": protocols[domain].digest}
    tasks, warnings = read_tasks(tasks_in, protocols, labels)
    return Dataset(name, tuple(tasks), protocols, files, tuple(warnings))


def with_learned(dataset: Dataset, documents: Sequence[str], usage: bool = False) -> Dataset:
    """The same tasks for an agent that sees other documents than those that its service is simulated from.

    Args:
        documents: `FILE` or `DOMAIN=FILE`. A domain that is given none keeps its own, with a warning.
        usage: Whether the usage examples in them (`x-usage` of an operation) are shown with questions like them.
    Raises: UsageError: A document cannot be read, cannot stand for the other one, or has no usage examples.
    """
    given = _given("--learned", documents)
    domains = list(dict.fromkeys(task.domain for task in dataset.tasks))
    if "" in given and (len(domains) > 1 or len(given) > 1):
        raise UsageError(f"the tasks are of {', '.join(domains)}: write --learned {domains[0]}={given['']}")
    if strange := [domain for domain in given if domain and domain not in domains]:
        raise UsageError(f"--learned {strange[0]}={given[strange[0]]}: the tasks are of {', '.join(domains)}")
    files, warnings = dict(dataset.files), list(dataset.warnings)
    learned: dict[str, Protocol] = {}
    shown: dict[str, tuple[Demonstration, ...]] = {}
    for domain in domains:
        name = given.get(domain) or given.get("")
        if name is None:
            warnings.append(f"--learned names no document of {domain}: the agent sees the API's own")
            continue
        learned[domain] = load(Path(name))
        tasks = [task for task in dataset.tasks if task.domain == domain]
        warnings += _compared(name, learned[domain], dataset.protocols[domain], tasks)
        files[f"learned-{domain}"] = described(Path(name))
        if usage:
            shown[domain] = _examples(name, learned[domain], [task.query for task in dataset.tasks])
            told = json.dumps([asdict(one) for one in shown[domain]])
            digest = hashlib.sha256(told.encode()).hexdigest()
            files[f"usage-{domain}"] = {"file": Path(name).name, "sha256": digest}
    return replace(dataset, files=files, warnings=tuple(warnings), learned=learned, usage=shown)


def _compared(name: str, learned: Protocol, own: Protocol, tasks: Sequence[Task]) -> Iterator[str]:
    """Make sure that calls by a learned document are those of the service; warnings where their form may differ.

    Raises: UsageError: It lacks a tool that a task may offer or needs, or has it at another place or with other
        arguments.
    """
    needed = {tool for task in tasks for tool in (*task.candidates, *task.gold.calls)}
    listed = all(task.candidates for task in tasks)
    tools = [tool for tool in own.tools if tool.name in needed or not listed]
    if lacks := [tool.name for tool in tools if tool.name not in learned]:
        more = f" and {len(lacks) - 5} more" if len(lacks) > 5 else ""
        raise UsageError(f"--learned {name} lacks tools that tasks offer: {', '.join(lacks[:5])}{more}")
    for tool in tools:
        told = learned.tool(tool.name)
        if (told.method, told.path) != (tool.method, tool.path):
            places = f"{told.method} {told.path} there and {tool.method} {tool.path} at the service"
            raise UsageError(f"--learned {name}: {tool.name} is {places}")
        if differ := _differing(told, tool, "name", "location"):
            raise UsageError(f"--learned {name}: {tool.name} does not have the service's arguments: {differ}")
        if differ := _differing(told, tool, "style", "explode", "slashes"):
            yield f"--learned {name}: {tool.name} sends {differ} in another form than the service documents"


def _differing(one: Tool, other: Tool, *features: str) -> str:
    """The arguments that one of two tools has and the other has not, or not with the same features."""
    described = attrgetter("argument", *features)
    differ = {described(parameter) for parameter in one.arguments} ^ {described(p) for p in other.arguments}
    return ", ".join(sorted({argument for argument, *_ in differ}))


def _examples(name: str, learned: Protocol, questions: Collection[str]) -> tuple[Demonstration, ...]:
    """The usage examples of a document; one that has the question of a task is left out.

    Raises: UsageError: There is none, or one is no question with its program.
    """
    asked = {question.casefold() for question in questions}
    found = []
    for path, method, _, operation in operations(parse(read(Path(name))[0], name)):
        usage = operation.get("x-usage") if isinstance(operation, Mapping) else None
        if usage is None:
            continue
        match usage:
            case {"question": str(question), "program": str(program)} if (tree := parsed(program)) is not None:
                called = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in learned]
                if question.strip().casefold() not in asked:
                    found.append(Demonstration(question, program, tuple(dict.fromkeys(called))))
            case _:
                where = f"{name}, {method.upper()} {path}"
                raise UsageError(f"{where}: `x-usage` must have a `question` and a Python `program`")
    if not found:
        raise UsageError(f"--usage: {name} has no usage examples (`x-usage` of operations); `atc probe` writes them")
    return tuple(found)


def read_domains(file: Path, domains: Sequence[str]) -> list[str]:
    """The domain that each task of a file is labelled with; the benchmark's own where there is no label."""
    labels = [entry.get("dataset") if isinstance(entry, Mapping) else None for entry in entries(file)]
    return [str(label or domains[0]) for label in labels]


def _given(option: str, texts: Sequence[str]) -> dict[str, str]:
    """The documents that an option names by domain; "" for one without."""
    found: dict[str, str] = {}
    for text in texts:
        labelled = re.fullmatch(r"(\w+)=(.+)", text)
        domain, spec = (labelled[1], labelled[2]) if labelled else ("", text)
        if domain in found:
            raise UsageError(f"{option} names {'two documents' if not domain else f'two documents for {domain}'}")
        found[domain] = spec
    return found


def _found(names: Sequence[str], places: Sequence[Path], what: str) -> Path:
    """The first of these files that is there, under `ATC_DATA` or in the cache folder, or among our own."""
    for name in names:
        for place in places:
            if (file := place / name).is_file():
                return file
    sought = f"none of {', '.join(names)} is in {' or '.join(map(str, places))}"
    source = names[0].partition("/")[0]
    raise UsageError(f"give {what}; {sought}; atc data pull {source} fetches the public files (or set ATC_DATA)")


def described(file: Path) -> dict[str, str]:
    """Name and SHA-256 of a file."""
    try:
        return {"file": file.name, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}") from None
