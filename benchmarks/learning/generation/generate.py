"""Write instructions until there are enough: draw APIs, ask, check, and keep what came of it.

Each attempt is a line in `queries.attempts.jsonl` beside the query file `queries.json`, refused ones included; the
query file is made of the accepted ones. A repeated command goes on after the last attempt. An attempt depends on its
number, on the settings and on the model's seed for it; whether it is new depends on the attempts before it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from atc.files import append_line, write_json
from atc.models import Model
from benchmarks.harness.runner import resumed_lines
from benchmarks.learning.generation.checks import CHECKS, FORM, InstructionChecks, SeenTexts
from benchmarks.learning.generation.pool import InstructionKind, ToolKey, ToolPool
from benchmarks.learning.generation.writing import (
    BadInstructionError,
    WrittenInstruction,
    ask_text,
    ask_values,
    read_text,
    read_values,
)
from benchmarks.toolbench.server.reply_sources import Upstream
from protocols.errors import LimitReached, PromptRefused, UsageError

__all__ = ["GenerationSettings", "InstructionRun", "generate"]

_TRIES = 6
"""Attempts for each wanted instruction, and some more, before a run gives up."""


@dataclass(frozen=True, slots=True)
class GenerationSettings:
    """All that decides an attempt beside its number. `pool` is a digest of what is drawn from.

    `runs` tells where calls are tried: "simulated", a URL, or empty where they are not.
    """

    kind: InstructionKind
    seed: int
    model: str
    pool: str
    runs: str


@dataclass(slots=True)
class InstructionRun:
    """What came of all attempts so far: their lines, and the queries of those that pass all `checks`."""

    checks: Sequence[str]
    entries: list[Mapping[str, Any]] = field(default_factory=list)
    queries: list[dict[str, Any]] = field(default_factory=list)
    stopped: str = ""

    def add(self, entry: Mapping[str, Any]) -> None:
        """Count an attempt, and keep its query if it has one."""
        self.entries.append(entry)
        if not entry["refused_by"]:
            self.queries.append(entry["query"])

    def to_json(self) -> dict[str, Any]:
        """Plain data; the keys are part of the interface."""
        refused = [entry["refused_by"] for entry in self.entries]
        passed = [self.checks.index(name) if name else len(self.checks) for name in refused]
        counts = {
            name: (sum(count >= place for count in passed), sum(count > place for count in passed))
            for place, name in enumerate(self.checks)
        }
        relevant = [query["relevant APIs"] for query in self.queries]
        return {
            "attempts": len(self.entries),
            "accepted": len(self.queries),
            "rate": round(len(self.queries) / len(self.entries), 3) if self.entries else None,
            "checks": {
                name: {"reached": reached, "passed": kept, "rate": round(kept / reached, 3)}
                for name, (reached, kept) in counts.items()
                if reached
            },
            "words": _mean([len(query["query"].split()) for query in self.queries]),
            "relevant_apis": _mean(list(map(len, relevant))),
            "relevant_tools": _mean([len({tool for tool, _ in pairs}) for pairs in relevant]),
            "stopped": self.stopped,
        }


def _mean(numbers: Sequence[int]) -> float | None:
    return round(fmean(numbers), 2) if numbers else None


def attempts_file(out: Path) -> Path:
    """The file with all attempts for a query file."""
    return out.with_name(f"{out.stem}.attempts.jsonl")


def generate(
    pool: ToolPool,
    collections: Sequence[Sequence[ToolKey]],
    settings: GenerationSettings,
    count: int,
    model: Model,
    server: Upstream | None,
    out: Path,
    progress: Callable[[InstructionRun], None] = lambda run: None,
) -> InstructionRun:
    """Write `count` instructions into a query file, those that it has already included; more if it has more.

    A spent budget ends the run, and so do too many refused attempts; `stopped` then says why.

    Args:
        collections: The tools of each collection, for I3.
        server: What the calls of an instruction are tried against; None leaves that check out.
        progress: Called with what there is already, and after each attempt.
    Raises:
        ModelError, APIError: The model or the server cannot be had. What there is is in the file.
        UsageError: The file holds instructions of other settings or queries of another source, or cannot be written.
    """
    file = attempts_file(out)
    if out.exists() and not file.exists():
        raise UsageError(f"{out} exists, and was not made by this command: {file.name} is not beside it; name another")
    run = InstructionRun([name for name in CHECKS if name != "runs" or server is not None])
    _resume(file, settings, run)
    checks = InstructionChecks(SeenTexts(query["query"] for query in run.queries), server)
    progress(run)
    try:
        while len(run.queries) < count:
            if (attempts := len(run.entries)) >= _TRIES * (count + 5):
                run.stopped = (
                    f"{attempts} attempts gave {len(run.queries)}; to go on, repeat the command with a larger --count"
                )
                break
            try:
                entry = _attempt(pool, collections, settings, run, model, checks)
            except LimitReached as error:
                run.stopped = str(error)
                break
            append_line(file, json.dumps(entry, ensure_ascii=False))
            run.add(entry)
            if not entry["refused_by"]:
                checks.seen.add(entry["query"]["query"])
            progress(run)
    finally:
        if run.queries:
            write_json(out, run.queries)
    return run


def _attempt(
    pool: ToolPool,
    collections: Sequence[Sequence[ToolKey]],
    settings: GenerationSettings,
    run: InstructionRun,
    model: Model,
    checks: InstructionChecks,
) -> dict[str, Any]:
    """The next attempt, as a line of the file."""
    number, kind, seed = len(run.entries), settings.kind, settings.seed
    drawn = pool.draw(kind, number, seed, collections)
    apis = pool.needed(kind, number, seed, drawn)
    model_seed = seed * 1_000_003 + number + 1
    entry: dict[str, Any] = {"number": number, "refused_by": "", "why": ""}
    try:
        entry["values"] = ask_values(model, apis, model_seed)
        values = read_values(entry["values"], apis)
        entry["text"] = ask_text(model, apis, values, model_seed)
        instruction = WrittenInstruction(read_text(entry["text"]), values)
    except (BadInstructionError, PromptRefused) as error:
        return {**entry, "refused_by": FORM, "why": str(error)[:200]}
    entry["refused_by"], entry["why"] = checks.refusal(instruction, apis)
    if not entry["refused_by"]:
        entry["query"] = {
            "query_id": len(run.queries),
            "query": instruction.text,
            "api_list": [dict(api.record) for api in drawn],
            "relevant APIs": [list(pair) for pair in dict.fromkeys((api.tool, api.name) for api in apis)],
        }
    return entry


def _resume(file: Path, settings: GenerationSettings, run: InstructionRun) -> None:
    """Count the attempts in a file. Raises: UsageError: They are of other settings, or the file is damaged."""
    for where, entry in resumed_lines(file, settings):
        number = len(run.entries)
        is_attempt = isinstance(entry, dict) and entry.get("number") == number
        if not is_attempt or not ("query" in entry or entry.get("refused_by") in run.checks):
            raise UsageError(
                f"{where}: this is not attempt {number}; delete this line and all after it to go on from there, "
                "or the file to begin anew"
            )
        run.add(entry)
