"""What a set of tasks is made of, as the ATC paper's Tables 8 and 9 have it: tools, gold calls, documentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from benchmarks.tasks.datasets import Dataset
from benchmarks.tasks.task_files import Task
from protocols.model import Protocol, Tool
from protocols.render import render_full
from protocols.text.prose import estimate

__all__ = ["TaskStatistics", "statistics"]


@dataclass(frozen=True, slots=True)
class TaskStatistics:
    """Figures of the tasks of one domain, or of all.

    `gold_calls` and `gold_tools` are means for a task: the calls that its solution makes, and the different tools in
    them. `documentation_tokens` is the mean for a tool of its documentation in the papers' style, estimated as a third
    of its characters.
    """

    domain: str
    tasks: int
    tools: int
    gold_calls: float
    gold_tools: float
    documentation_tokens: float
    interface: str

    def to_json(self) -> dict[str, object]:
        """Plain data."""
        return asdict(self)


def statistics(dataset: Dataset) -> list[TaskStatistics]:
    """The figures of each domain, and last those of all tasks; only the latter where each task has its own APIs."""
    tasks: dict[str, list[Task]] = {}
    for task in dataset.tasks:
        tasks.setdefault(task.domain, []).append(task)
    total = _figures("all", dataset.tasks, [dataset.protocols[domain] for domain in tasks])
    if dataset.own_protocols or len(tasks) == 1:
        return [total]
    return [*(_figures(domain, of_domain, [dataset.protocols[domain]]) for domain, of_domain in tasks.items()), total]


def _figures(domain: str, tasks: Sequence[Task], protocols: Sequence[Protocol]) -> TaskStatistics:
    solutions = [task.gold.calls for task in tasks]
    tools = {f"{protocol.title}.{tool.name}": tool for protocol in protocols for tool in protocol.tools}
    return TaskStatistics(
        domain,
        len(tasks),
        len(tools),
        _mean([sum(calls.values()) for calls in solutions]),
        _mean([len(calls) for calls in solutions]),
        _mean([estimate(render_full([tool])) for tool in tools.values()]),
        ", ".join(dict.fromkeys(map(_interface, tools.values()))),
    )


def _interface(tool: Tool) -> str:
    """How a tool is called, in the paper's words."""
    if tool.function is not None:
        return "Python function"
    return "virtual API server" if tool.envelope is not None else "RESTful API"


def _mean(numbers: Sequence[int]) -> float:
    return round(sum(numbers) / max(len(numbers), 1), 2)
