"""Write instructions until there are enough: draw APIs, ask, check, and keep what came of it.

Each attempt is a line in `queries.attempts.jsonl` beside the query file `queries.json`, refused ones included; the
query file is made of the accepted ones. A repeated command goes on after the last attempt. An attempt depends on its
number, on the settings and on the model's seed for it; whether it is new depends on the attempts before it.
"""

from __future__ import annotations

import json
from collections import Counter
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
from benchmarks.toolbench.server.upstream import Upstream
from protocols.errors import LimitReached, PromptRefused, UsageError

__all__ = ["GenerationSettings", "InstructionRun", "attempts_file", "generate"]

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
    """What came of all attempts so far; `reached` and `passed` count them by check."""

    attempts: int = 0
    queries: list[dict[str, Any]] = field(default_factory=list)
    reached: Counter[str] = field(default_factory=Counter)
    passed: Counter[str] = field(default_factory=Counter)
    stopped: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain data; the keys are part of the interface."""
        checks = {
            name: {
                "reached": self.reached[name],
                "passed": self.passed[name],
                "rate": round(self.passed[name] / self.reached[name], 3),
            }
            for name in CHECKS
            if self.reached[name]
        }
        lengths = [len(query["query"].split()) for query in self.queries]
        relevant = [query["relevant APIs"] for query in self.queries]
        return {
            "attempts": self.attempts,
            "accepted": len(self.queries),
            "rate": round(len(self.queries) / self.attempts, 3) if self.attempts else None,
            "checks": checks,
            "words": round(fmean(lengths), 2) if lengths else None,
            "relevant_apis": round(fmean(map(len, relevant)), 2) if relevant else None,
            "relevant_tools": round(fmean(len({tool for tool, _ in pairs}) for pairs in relevant), 2)
            if relevant
            else None,
            "stopped": self.stopped,
        }

    def count(self, refused_by: str, checks: Sequence[str]) -> None:
        """Count an attempt, by the check that refused it; empty for an accepted one."""
        self.attempts += 1
        for name in checks:
            self.reached[name] += 1
            if name == refused_by:
                return
            self.passed[name] += 1


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
    names = [name for name in CHECKS if name != "runs" or server is not None]
    run = _resume(file, settings, names)
    checks = InstructionChecks(SeenTexts(query["query"] for query in run.queries), server)
    progress(run)
    try:
        while len(run.queries) < count:
            if run.attempts >= _TRIES * (count + 5):
                run.stopped = (
                    f"{run.attempts} attempts gave {len(run.queries)}; to go on, repeat the command with a larger "
                    "--count"
                )
                break
            try:
                entry = _attempt(pool, collections, settings, run, model, checks)
            except LimitReached as error:
                run.stopped = str(error)
                break
            append_line(file, json.dumps(entry, ensure_ascii=False))
            _take(entry, run, names)
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
    number, kind, seed = run.attempts, settings.kind, settings.seed
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


def _resume(file: Path, settings: GenerationSettings, names: Sequence[str]) -> InstructionRun:
    """What the attempts in a file came to. Raises: UsageError: They are of other settings, or the file is damaged."""
    run = InstructionRun()
    for where, entry in resumed_lines(file, settings):
        if not _is_attempt(entry, run.attempts):
            raise UsageError(
                f"{where}: this is not attempt {run.attempts}; delete this line and all after it to go on from there, "
                "or the file to begin anew"
            )
        _take(entry, run, names)
    return run


def _is_attempt(entry: object, number: int) -> bool:
    """True of what `_attempt` makes under this number."""
    if not isinstance(entry, dict) or entry.get("number") != number or entry.get("refused_by") not in ("", *CHECKS):
        return False
    query = entry.get("query")
    if entry["refused_by"] or not isinstance(query, dict):
        return bool(entry["refused_by"])
    pairs = query.get("relevant APIs")
    return (
        isinstance(query.get("query"), str)
        and isinstance(query.get("api_list"), list)
        and isinstance(pairs, list)
        and all(isinstance(pair, list) and list(map(type, pair)) == [str, str] for pair in pairs)
    )


def _take(entry: Mapping[str, Any], run: InstructionRun, names: Sequence[str]) -> None:
    """Count an attempt, and keep its query if it has one."""
    run.count(entry["refused_by"], names)
    if not entry["refused_by"]:
        run.queries.append(entry["query"])
