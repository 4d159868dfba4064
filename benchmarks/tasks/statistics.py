"""What a set of tasks is made of, as the ATC paper's Tables 8 and 9 have it: tools, gold calls, documentation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from benchmarks.tasks.datasets import Dataset
from benchmarks.tasks.task_files import Task
from protocols.model import Protocol, Tool
from protocols.render import estimate, render_full

__all__ = ["TaskFigures", "TaskStatistics", "statistics", "summarized"]


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


@dataclass(frozen=True, slots=True)
class TaskFigures:
    """What they are computed from: the names of the gold calls of each task, the tokens of each tool's documentation,
    and the kinds of interface."""

    domain: str
    solutions: Sequence[Sequence[str]]
    sizes: Mapping[str, int]
    interfaces: Sequence[str]

    @classmethod
    def joined(cls, domain: str, parts: Sequence[TaskFigures]) -> TaskFigures:
        """Those of several domains together."""
        solutions = [solution for part in parts for solution in part.solutions]
        sizes = {name: size for part in parts for name, size in part.sizes.items()}
        return cls(domain, solutions, sizes, tuple(dict.fromkeys(kind for part in parts for kind in part.interfaces)))


def summarized(figures: TaskFigures) -> TaskStatistics:
    """The means."""
    return TaskStatistics(
        figures.domain,
        len(figures.solutions),
        len(figures.sizes),
        _mean([len(solution) for solution in figures.solutions]),
        _mean([len(set(solution)) for solution in figures.solutions]),
        _mean(list(figures.sizes.values())),
        ", ".join(figures.interfaces),
    )


def statistics(dataset: Dataset) -> list[TaskStatistics]:
    """The figures of each domain, and last those of all tasks; only the latter where each task has its own APIs."""
    tasks: dict[str, list[Task]] = {}
    for task in dataset.tasks:
        tasks.setdefault(task.domain, []).append(task)
    figures = [_figures(domain, of_domain, dataset.protocols[domain]) for domain, of_domain in tasks.items()]
    total = summarized(TaskFigures.joined("all", figures))
    return [total] if dataset.own_protocols or len(figures) == 1 else [*map(summarized, figures), total]


def _figures(domain: str, tasks: Sequence[Task], protocol: Protocol) -> TaskFigures:
    solutions = [[name for name, count in task.gold.calls.items() for _ in range(count)] for task in tasks]
    sizes = {f"{protocol.title}.{tool.name}": estimate(render_full([tool])) for tool in protocol.tools}
    return TaskFigures(domain, solutions, sizes, tuple(dict.fromkeys(map(_interface, protocol.tools))))


def _interface(tool: Tool) -> str:
    """How a tool is called, in the paper's words."""
    if tool.function is not None:
        return "Python function"
    return "virtual API server" if tool.envelope is not None else "RESTful API"


def _mean(numbers: Sequence[int]) -> float:
    return round(sum(numbers) / max(len(numbers), 1), 2)
