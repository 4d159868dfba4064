"""Have queries solved, keep the solutions that passed, and export them.

The runner is that of `atc bench`, so a stopped run goes on, and its folder is judged by `atc eval` like any other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from atc import Agent
from atc.files import write_text
from atc.modes import parse
from benchmarks.harness.engines import thread_engine
from benchmarks.harness.run_folders import run_folder
from benchmarks.harness.runner import Runner
from benchmarks.learning.annotation.exports import ExportForm, export, is_solvable, published_steps, solved_query
from benchmarks.report.summary import MetricsScorer
from benchmarks.run.agent_environment import AgentEnvironment, RunSettings
from benchmarks.tasks.datasets import Dataset
from benchmarks.tasks.query_tasks import query_tasks
from benchmarks.tasks.task_files import Task, offered_tasks
from benchmarks.toolbench.corpus.answer_files import write_answers
from benchmarks.toolbench.corpus.queries import split_server

__all__ = ["AnnotationCounts", "Annotator"]


@dataclass
class AnnotationCounts:
    """What came of the queries. `calls` and `steps` are those of kept solutions; a step is a call, or the answer."""

    queries: int = 0
    answered: int = 0
    passed: int = 0
    kept: int = 0
    calls: int = 0
    lines: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain data; the keys are part of the interface."""
        means = {
            "mean_calls": round(self.calls / self.kept, 2) if self.kept else None,
            "mean_steps": round((self.calls + self.kept) / self.kept, 2) if self.kept else None,
        }
        return {**asdict(self), **means}


@dataclass(frozen=True)
class Annotator:
    """Annotates the queries of a file.

    Args:
        settings: Of the run; `api` names the service in them, whatever its address is.
        server: The base URL of the virtual API server. out: The folder of the run and of the exports.
        record, reuse: As `atc.models.open_model` takes them.
    """

    settings: RunSettings
    file: Path
    server: str
    out: Path
    record: Path | None = None
    reuse: Path | None = None

    def solve(self, workers: int, limit: int | None, warn: Callable[[str], None]) -> None:
        """Solve the queries that have no result yet; `warn` is told what is wrong with some.

        Raises: ModelError, APIError, UsageError: As `Runner.run`.
        """
        tasks, protocols, warnings = query_tasks(self.file, self.server)
        for warning in warnings:
            warn(f"warning: {warning}")
        base, _ = split_server(self.server)
        dataset = Dataset(self.settings.benchmark, tasks, protocols, {}, own_protocols=True)
        environment = AgentEnvironment(self.settings, dataset, base, (), self.record, self.reuse)
        with closing(environment):
            runner = Runner(self.settings, environment, MetricsScorer(), thread_engine(environment, workers))
            run_folder(runner, offered_tasks(tasks[:limit], protocols), self.out)
        write_answers(self.out, protocols.queries, *parse(self.settings.mode), asdict(self.settings.search))

    def export(
        self,
        forms: Sequence[ExportForm],
        limit: int | None,
        keep_all: bool,
        as_lines: bool,
        wrap: Callable[[Sequence[Task]], Iterable[Task]] = iter,
    ) -> AnnotationCounts:
        """Write `toolllama.json`, the array that published code loads, and `<form>.jsonl` for other forms, and count.

        Args:
            keep_all: Export answered queries that did not pass, too.
            as_lines: Write `toolllama.jsonl` in place of the array.
            wrap: Shows the progress over the queries.
        Raises: UsageError: A file cannot be written.
        """
        tasks, protocols, _ = query_tasks(self.file)
        search = self.settings.search
        counts = AnnotationCounts()
        lines: dict[ExportForm, list[str]] = {form: [] for form in forms}
        for task in wrap(tasks[:limit]):
            record = json.loads((self.out / "tasks" / f"{task.id}.json").read_text("utf-8"))
            query = protocols.queries[task.id]
            solved = solved_query(record["solution"], query)
            counts.queries += 1
            if solved is None:
                continue
            counts.answered += 1
            passed = is_solvable(solved)
            counts.passed += passed
            if passed or keep_all:
                counts.kept, counts.calls = counts.kept + 1, counts.calls + len(solved.calls)
                for form, written in lines.items():
                    if form == "toolllama" and search.compat:
                        rows = published_steps(record["solution"], query, *parse(self.settings.mode), asdict(search))
                    else:
                        rows = export(solved, form, self._agent)
                    written += [json.dumps(row, default=str) for row in rows]
        for form, written in lines.items():
            is_array = form == "toolllama" and not as_lines
            text = "[\n" + ",\n".join(written) + "\n]\n" if is_array else "".join(f"{line}\n" for line in written)
            counts.lines[form] = len(written)
            write_text(self.out / (f"{form}.json" if is_array else f"{form}.jsonl"), text)
        return counts

    @property
    def _agent(self) -> partial[Agent]:
        """Makes an agent with these settings for a protocol; it asks no model."""
        return partial(
            Agent,
            model=self.settings.model,
            mode=self.settings.mode,
            now=datetime.fromisoformat(self.settings.now),
            max_tools="all",
            writes=self.settings.writes,
        )
