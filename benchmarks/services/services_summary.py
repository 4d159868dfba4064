"""The figures of a run over services: right answers, right ones in one model call, calls and tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.report.tables import TextTable

__all__ = ["ServiceAnswer", "ServicesScorer", "services_tables"]


@dataclass(frozen=True, slots=True)
class ServiceAnswer:
    """What came of a task, with its cost."""

    id: str
    service: str
    right: bool
    faults: Sequence[str]
    model_calls: int
    prompt_tokens: int
    completion_tokens: int


class ServicesScorer:
    """The scorer of judged answers."""

    def figures(self, record: Mapping[str, Any], seconds: float) -> ServiceAnswer:
        """Its verdict, as it is in its file."""
        return ServiceAnswer(**{name: record[name] for name in ServiceAnswer.__slots__})

    def line(self, figures: ServiceAnswer) -> str:
        """Right, or what is wrong."""
        return "right" if figures.right else f"wrong: {'; '.join(figures.faults) or 'no answer'}"

    def progress(self, figures: Sequence[ServiceAnswer]) -> tuple[str, str]:
        """How many are right so far, and their model calls."""
        calls = sum(answer.model_calls for answer in figures)
        return f"right {sum(answer.right for answer in figures)} of {len(figures)}", f"{calls} model calls"

    def summary(self, figures: Sequence[ServiceAnswer]) -> dict[str, Any]:
        """Figures of all tasks, and of each service by its name; the keys are part of the interface."""
        names = sorted({answer.service for answer in figures})
        services = {name: _sums([answer for answer in figures if answer.service == name]) for name in names}
        wrong = {answer.id: list(answer.faults) for answer in figures if not answer.right}
        return {**_sums(figures), "services": services, "wrong": wrong}


def _sums(answers: Sequence[ServiceAnswer]) -> dict[str, int]:
    return {
        "n": len(answers),
        "right": sum(answer.right for answer in answers),
        "right_in_one_call": sum(answer.right and answer.model_calls == 1 for answer in answers),
        "model_calls": sum(answer.model_calls for answer in answers),
        "prompt_tokens": sum(answer.prompt_tokens for answer in answers),
        "completion_tokens": sum(answer.completion_tokens for answer in answers),
    }


def services_tables(summary: Mapping[str, Any]) -> list[TextTable]:
    """A row for each service and one for all, and what is wrong."""
    names = ("right", "right_in_one_call", "model_calls", "prompt_tokens", "completion_tokens")
    rows = [
        (title, f"{sums['n']}", *(f"{sums[name]:,}" for name in names))
        for title, sums in [*summary["services"].items(), ("all", summary)]
    ]
    columns = ("service", "tasks", "right", "right in one call", "model calls", "tokens read", "written")
    notes = tuple(f"{task}: {'; '.join(faults) or 'no answer'}" for task, faults in summary["wrong"].items())
    return [TextTable(f"Services: {summary['model']}, mode {summary['mode']}", columns, tuple(rows), notes, 1)]
