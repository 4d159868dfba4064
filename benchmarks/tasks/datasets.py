"""The reader of a benchmark: its tasks, and the API documents behind them.

A benchmark has one API, or (ToolFlow) one for each domain that its tasks are labelled with. Its files are named on the
command line, or found under `ATC_DATA` or in the cache folder; those of our own benchmark come with the package.

An agent may see another document than the one that its service is simulated and its calls are scored by, such as one
that `atc probe` learned from the service (the ATC paper's Figure 4).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.harness.registry import Benchmark, benchmarks
from benchmarks.tasks.download import folders
from benchmarks.tasks.query_tasks import Retrieve, find_subset, query_tasks
from benchmarks.tasks.task_files import Task, read_entries, read_tasks, with_gold_tools
from protocols import load
from protocols.errors import UsageError
from protocols.model import Protocol, Tool

__all__ = ["Dataset", "answers_digest", "file_digest", "named_documents", "open_dataset", "with_learned"]


@dataclass(frozen=True, slots=True)
class Dataset:
    """Tasks with their protocols by domain. `files` has the name and SHA-256 of every file that was read.

    `learned` has, by domain, what the agent sees in place of the protocol.
    With `own_protocols` each task has a protocol of its own, whose domain is the id of the task. So many `completed`
    tasks got a required tool among their candidates that their file does not list.
    """

    benchmark: str
    tasks: tuple[Task, ...]
    protocols: Mapping[str, Protocol]
    files: Mapping[str, Mapping[str, str]]
    warnings: tuple[str, ...] = field(default=())
    learned: Mapping[str, Protocol] = field(default_factory=dict)
    own_protocols: bool = False
    completed: int = 0

    @property
    def candidates(self) -> str:
        """Which tools are offered, as the settings of a run say it: "all" where the tasks list none."""
        listed = any(task.candidates for task in self.tasks)
        return "listed and required" if self.completed and listed else "listed" if listed else "all"


def open_dataset(
    name: str,
    task_file: Path | None,
    apis: Sequence[str],
    subset: str = "",
    server: str = "",
    retrieve: Retrieve | None = None,
    as_listed: bool = False,
) -> Dataset:
    """Read a benchmark.

    Args:
        task_file: In place of the one under `ATC_DATA`.
        apis: API documents, `SPEC` or `DOMAIN=SPEC`, in place of those under `ATC_DATA`.
        subset: Which of ToolBench's query files to take. server: The virtual API server behind its queries.
        retrieve: Finds the APIs of a query, in place of those that it lists.
        as_listed: Leave the candidates as they are, where they lack a required tool.
    Raises: UsageError: A file is not there or not readable; no task is of a domain with a document.
    """
    benchmark = benchmarks()[name]
    if benchmark.subset:
        if task_file and subset:
            raise UsageError("--tasks FILE and --subset NAME both name the queries: give one of them")
        return _open_queries(benchmark, task_file or subset, apis, server, retrieve)
    if subset:
        raise UsageError(f"--subset is of ToolBench's queries; {name} has none")
    if server:
        raise UsageError(f"--server answers ToolBench's queries; give the service of {name} with --base-url")
    specs = named_documents("--api", apis)
    places = (benchmark.folder,) if benchmark.fictional else folders()
    task_places = (benchmark.folder,) if benchmark.tasks_shipped else places
    tasks_file = task_file or _find_file(benchmark.tasks, task_places, f"--tasks FILE: the tasks of {name}")
    theirs = task_file is not None and benchmark.tasks_shipped
    labels = read_domains(tasks_file, [name] if theirs else [*benchmark.apis, name])
    protocols: dict[str, Protocol] = {}
    files = {"tasks": file_digest(tasks_file)}
    missing: dict[str, str] = {}
    for domain in dict.fromkeys(labels):
        spec = specs.get(domain) or (specs.get("") if len(set(labels)) == 1 else None)
        try:
            if spec is None and domain not in benchmark.apis:
                raise UsageError(f"{tasks_file} has tasks of {domain!r}; name its API with --api {domain}=SPEC")
            spec = spec or str(
                _find_file((benchmark.apis[domain],), places, f"--api {domain}=SPEC: the API of its tasks")
            )
        except UsageError as error:
            missing[domain] = str(error)
            continue
        protocols[domain] = load(spec)
        files[domain] = {"file": Path(urlsplit(spec).path).name, "sha256": protocols[domain].digest}
    if not protocols:
        raise UsageError(next(iter(missing.values())))
    tasks, warnings = read_tasks(tasks_file, protocols, labels)
    left_out = [f"{labels.count(label)} tasks of {label!r} are left out: {why}" for label, why in missing.items()]
    whole, completed = (tuple(tasks), 0) if as_listed else with_gold_tools(tasks)
    if completed:
        left_out.append(
            f"{completed} of {len(tasks)} tasks got a required tool that they do not list (--as-listed: not)"
        )
    return Dataset(name, whole, protocols, files, (*left_out, *warnings), completed=completed)


def _open_queries(
    benchmark: Benchmark, source: Path | str, apis: Sequence[str], server: str, retrieve: Retrieve | None
) -> Dataset:
    """Queries of a file or a subset."""
    if apis:
        raise UsageError(f"--api: the queries of {benchmark.name} list their own APIs")
    file = source if isinstance(source, Path) else find_subset(source or benchmark.subset, folders())
    tasks, protocols, warnings = query_tasks(file, server, retrieve)
    return Dataset(benchmark.name, tasks, protocols, {"tasks": file_digest(file)}, warnings, own_protocols=True)


def read_domains(file: Path, domains: Sequence[str]) -> list[str]:
    """The domain that each task of a file is labelled with; the benchmark's own where there is no label."""
    labels = [entry.get("dataset") if isinstance(entry, Mapping) else None for entry in read_entries(file)]
    return [str(label or domains[0]) for label in labels]


def named_documents(option: str, texts: Sequence[str]) -> dict[str, str]:
    """The documents that an option names by domain; "" for one without."""
    documents: dict[str, str] = {}
    for text in texts:
        labelled = re.fullmatch(r"(\w+)=(.+)", text)
        domain, spec = (labelled[1], labelled[2]) if labelled else ("", text)
        if domain in documents:
            raise UsageError(f"{option} names {'two documents' if not domain else f'two documents for {domain}'}")
        documents[domain] = spec
    return documents


def _find_file(names: Sequence[str], places: Sequence[Path], option: str) -> Path:
    """The first of these files that is there, under `ATC_DATA` or in the cache folder, or among our own."""
    for name in names:
        for place in places:
            if (file := place / name).is_file():
                return file
    sought = f"none of {', '.join(names)} is in {' or '.join(map(str, places))}"
    source = names[0].partition("/")[0]
    raise UsageError(f"give {option}; {sought}; atc data pull {source} fetches the public files (or set ATC_DATA)")


def file_digest(file: Path) -> dict[str, str]:
    """Name and SHA-256 of a file."""
    try:
        return {"file": file.name, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}") from None


def answers_digest(model: str) -> dict[str, dict[str, str]]:
    """For the settings of a run: the file whose answers the model `replay:FILE` gives; empty for another model."""
    return {"replay": file_digest(Path(model.removeprefix("replay:")))} if model.startswith("replay:") else {}


def with_learned(dataset: Dataset, documents: Sequence[str]) -> Dataset:
    """The same tasks for an agent that sees other documents than those that its service is simulated from.

    Args:
        documents: `FILE` or `DOMAIN=FILE`. A domain that is given none keeps its own, with a warning.
    Raises: UsageError: A document cannot be read, or cannot stand for the other one.
    """
    specs = named_documents("--learned", documents)
    domains = list(dict.fromkeys(task.domain for task in dataset.tasks))
    if "" in specs and (len(domains) > 1 or len(specs) > 1):
        raise UsageError(f"the tasks are of {', '.join(domains)}: write --learned {domains[0]}={specs['']}")
    if strange := [domain for domain in specs if domain and domain not in domains]:
        raise UsageError(f"--learned {strange[0]}={specs[strange[0]]}: the tasks are of {', '.join(domains)}")
    files, warnings = dict(dataset.files), list(dataset.warnings)
    learned: dict[str, Protocol] = {}
    for domain in domains:
        name = specs.get(domain) or specs.get("")
        if name is None:
            warnings.append(f"--learned names no document of {domain}: the agent sees the API's own")
            continue
        learned[domain] = _signed_in_as(load(Path(name)), dataset.protocols[domain])
        tasks = [task for task in dataset.tasks if task.domain == domain]
        warnings += _compatibility_warnings(name, learned[domain], dataset.protocols[domain], tasks)
        files[f"learned-{domain}"] = file_digest(Path(name))
    return replace(dataset, files=files, warnings=tuple(warnings), learned=learned)


def _signed_in_as(learned: Protocol, own: Protocol) -> Protocol:
    """A document whose calls are signed as the simulated service wants it, whatever credential the document names."""
    tools = tuple(
        replace(tool, security=own.tool(tool.name).security) if tool.name in own else tool for tool in learned.tools
    )
    return replace(learned, tools=tools, security_schemes=own.security_schemes)


def _compatibility_warnings(name: str, learned: Protocol, own: Protocol, tasks: Sequence[Task]) -> Iterator[str]:
    """Make sure that calls by a learned document are those of the service; warnings where their form may differ.

    Raises: UsageError: It lacks a tool that a task may offer or needs, or has it at another place or with other
        arguments.
    """
    needed = {tool for task in tasks for tool in (*task.candidates, *task.gold.calls)}
    listed = all(task.candidates for task in tasks)
    tools = [tool for tool in own.tools if tool.name in needed or not listed]
    if lacks := [tool.name for tool in tools if tool.name not in learned]:
        rest = f" and {len(lacks) - 5} more" if len(lacks) > 5 else ""
        raise UsageError(f"--learned {name} lacks tools that tasks offer: {', '.join(lacks[:5])}{rest}")
    for tool in tools:
        learned_tool = learned.tool(tool.name)
        if (learned_tool.method, learned_tool.path) != (tool.method, tool.path):
            places = f"{learned_tool.method} {learned_tool.path} there and {tool.method} {tool.path} at the service"
            raise UsageError(f"--learned {name}: {tool.name} is {places}")
        if differ := _differing_arguments(learned_tool, tool, "name", "location"):
            raise UsageError(f"--learned {name}: {tool.name} does not have the service's arguments: {differ}")
        if differ := _differing_arguments(learned_tool, tool, "style", "explode"):
            yield f"--learned {name}: {tool.name} sends {differ} in another form than the service documents"


def _differing_arguments(first: Tool, second: Tool, *features: str) -> str:
    """The arguments that one of two tools has and the other has not, or not with the same features."""
    described = attrgetter("argument", *features)
    differ = {described(parameter) for parameter in first.arguments} ^ {described(p) for p in second.arguments}
    return ", ".join(sorted({argument for argument, *_ in differ}))
