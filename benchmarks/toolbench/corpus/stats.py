"""Count ToolBench's files: tools, APIs, queries and the searches that answered them.

The columns are those of the paper's Tables 1 and 6.

Source: ToolLLM (arXiv:2307.16789), sections 2 and 3.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from atc.files import read_lines
from benchmarks.toolbench.corpus.answers import AnswerCounts, answer_counts, read_answer
from benchmarks.toolbench.corpus.queries import ToolQuery, read_queries
from protocols.documents.record_names import category_folder, standard_name
from protocols.errors import UsageError

__all__ = ["CorpusStats", "corpus_stats"]


_EXPORTS = ("toolllama.jsonl", "openai.jsonl", "program.jsonl")
"""The files that `atc toolbench annotate` exports to."""


@dataclass
class CorpusStats:
    """What some files hold. Means are per query, or per answer for `trace`; None where there are none.

    `records` counts the APIs of queries each time, `apis` the different ones; so for tool files. `calls` are those of
    all branches of a search, `trace` the calls on the chosen path. `unread` names files that could not be read.
    """

    queries: int = 0
    records: int = 0
    instances: int = 0
    answers: int = 0
    calls: int = 0
    words: float | None = None
    relevant_apis: float | None = None
    relevant_tools: float | None = None
    relevant_categories: float | None = None
    trace: float | None = None
    unread: list[str] = field(default_factory=list)
    _apis: set[tuple[str, str, str]] = field(default_factory=set)
    _pairs: dict[tuple[Path, int], int] = field(default_factory=dict)

    @property
    def apis(self) -> int:
        """Different APIs."""
        return len(self._apis)

    @property
    def tools(self) -> int:
        """Different tools, each within its category."""
        return len({(category, tool) for category, tool, _ in self._apis})

    @property
    def categories(self) -> int:
        """Different categories."""
        return len({category for category, _, _ in self._apis})

    @property
    def pairs(self) -> int:
        """Queries with an exported solution."""
        return len(self._pairs)

    @property
    def pair_calls(self) -> int:
        """The calls of exported solutions."""
        return sum(self._pairs.values())

    @property
    def steps(self) -> float | None:
        """The calls and the answer of an exported solution, as a mean."""
        return (self.pair_calls + self.pairs) / self.pairs if self.pairs else None

    def to_json(self) -> dict[str, Any]:
        """Plain data; the keys are part of the interface."""
        own = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        exported = {"pairs": self.pairs, "pair_calls": self.pair_calls, "steps": self.steps}
        counted = {"categories": self.categories, "tools": self.tools, "apis": self.apis, **own, **exported}
        return {name: round(value, 2) if isinstance(value, float) else value for name, value in counted.items()}


def corpus_stats(places: Sequence[Path]) -> CorpusStats:
    """Count the query, tool and answer files in some folders, or these files. Raises: UsageError: There are none."""
    stats = CorpusStats()
    queries: list[ToolQuery] = []
    answers: list[AnswerCounts] = []
    for place in places:
        files = sorted(_files(place)) if place.is_dir() else [place]
        for file in (file for file in files if "response_examples" not in file.parts):
            try:
                _count(file, stats, queries, answers)
            except UsageError as error:
                stats.unread.append(str(error))
    if not (queries or answers or stats.apis or stats.pairs):
        why = f": {stats.unread[0]}" if stats.unread else ""
        raise UsageError(f"{', '.join(map(str, places))}: no query, tool or answer file is there{why}")
    stats.queries, stats.answers = len(queries), len(answers)
    stats.instances = sum(answer.instances for answer in answers)
    stats.calls = sum(len(answer.calls) for answer in answers)
    traces = [len(answer.trace) for answer in answers if answer.trace is not None]
    stats.trace = fmean(traces) if traces else None
    if queries:
        stats.words = fmean(len(query.text.split()) for query in queries)
        _count_relevant(queries, stats)
    return stats


def _files(folder: Path) -> Iterator[Path]:
    yield from (file for file in folder.rglob("*.json") if not _is_of_run(file))
    yield from (file for file in folder.rglob("*.jsonl") if file.name in _EXPORTS)


def _is_of_run(file: Path) -> bool:
    """True of settings, figures and tasks in the folder of a run; its answers are in files of their own."""
    is_task = file.parent.name == "tasks"
    if not is_task and file.name not in ("config.json", "summary.json"):
        return False
    folder = file.parent.parent if is_task else file.parent
    return (folder / "config.json").is_file() and (folder / "tasks").is_dir()


def _count(file: Path, stats: CorpusStats, queries: list[ToolQuery], answers: list[AnswerCounts]) -> None:
    """Add one file. Raises: UsageError: It is of none of the kinds."""
    if file.suffix == ".jsonl":
        _count_export(file, stats)
        return
    try:
        data = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from None
    if isinstance(data, Mapping) and "answer_generation" in data:
        answers.append(answer_counts(read_answer(file)))
    elif isinstance(data, Mapping) and isinstance(data.get("api_list"), list) and "query" not in data:
        tool, category = str(data.get("tool_name") or file.stem), category_folder(file.parent.name)
        names = [str(api.get("name")) for api in data["api_list"] if isinstance(api, Mapping)]
        stats.records += len(names)
        stats._apis.update((category, standard_name(tool), name) for name in names)
    elif isinstance(data, list) and data and isinstance(data[0], Mapping) and "query" in data[0]:
        for query in read_queries(file):
            queries.append(query)
            stats.records += len(query.records)
            stats._apis.update(_api_keys(query.records))
    else:
        raise UsageError(f"{file} is no query, tool or answer file")


def _count_export(file: Path, stats: CorpusStats) -> None:
    """Add an export; a query of a folder counts once, with the longest line. Raises: UsageError: It is none."""
    for place, line in read_lines(file):
        try:
            key, calls = (file.parent, int(line["query_id"])), _exported_calls(line)
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
            raise UsageError(f"{place}: this is no line of an export of `atc toolbench annotate`") from None
        stats._pairs[key] = max(stats._pairs.get(key, 0), calls)


def _exported_calls(line: Mapping[str, Any]) -> int:
    """The calls in a line: those of a program, tool calls, or the results in a conversation."""
    if "program" in line:
        return int(line["calls"])
    return sum(turn["role"] == "tool" for turn in line["messages"])


def _api_keys(records: Iterable[Mapping[str, Any]]) -> Iterable[tuple[str, str, str]]:
    for record in records:
        tool = standard_name(str(record["tool_name"]))
        yield category_folder(str(record.get("category_name") or "")), tool, str(record["api_name"])


def _count_relevant(queries: Sequence[ToolQuery], stats: CorpusStats) -> None:
    """The means of what queries are about: APIs, their tools and the categories of these."""
    described = [query for query in queries if query.relevant]
    if not described:
        return
    stats.relevant_apis = fmean(len(set(query.relevant)) for query in described)
    stats.relevant_tools = fmean(len(_tools_of(query)) for query in described)
    placed = [
        {category_folder(name.category) for name in query.names if standard_name(name.tool) in _tools_of(query)}
        for query in described
        if query.records
    ]
    stats.relevant_categories = fmean(map(len, placed)) if placed else None


def _tools_of(query: ToolQuery) -> set[str]:
    """The standardized names of the tools that a query is about."""
    return {standard_name(tool) for tool, _ in query.relevant}
