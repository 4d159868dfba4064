"""An agent may see another document than the one that its service is simulated and its calls are scored by, such as one
that `atc probe` learned from the service (the ATC paper's Figure 4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

from benchmarks.tasks.datasets import Dataset, file_digest, named_documents
from benchmarks.tasks.task_files import Task
from protocols import load
from protocols.errors import UsageError
from protocols.model import Protocol, Tool

__all__ = ["with_learned"]


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
