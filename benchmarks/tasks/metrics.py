"""Measures of the papers for one task, and their means over many.

Let C be the tool calls of the final attempt, C2 those of them that were answered 2xx, and G the gold calls. They are
sets of tool names, or multisets where the gold says how often a tool is to be called.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from atc.solution import Solution
    from sandbox.records import CallRecord

__all__ = [
    "Gold",
    "Metrics",
    "Score",
    "category",
    "mean",
    "percent",
    "score",
]


@dataclass(frozen=True, slots=True)
class Gold:
    """The calls that a right answer needs: how often each tool; `counted` says whether the numbers matter."""

    calls: Mapping[str, int]
    counted: bool = False

    def bag(self, tools: Iterable[str]) -> Counter[str]:
        """Tool names as the gold counts them: each once, unless the numbers matter."""
        return Counter(tools if self.counted else set(tools))

    @property
    def needed(self) -> Counter[str]:
        """G of the papers."""
        return Counter(self.calls) if self.counted else Counter(set(self.calls))


@dataclass(frozen=True, slots=True)
class Score:
    """One task, each measure between 0 and 1. `success_any` is ours: over all attempts, whatever the status."""

    success: float
    path: float
    precision: float
    success_any: float


@dataclass(frozen=True, slots=True)
class Metrics(Score):
    """The figures of one task, as its file holds them: without times.

    `correct` is whether the answer is right, None where no reference tells. Tokens and calls are those of all
    attempts, `prompt_tokens` include the cached ones. `failed_runs` are runs that ended in an error, `wasted_calls`
    what these had sent; `gold_calls` is how many the task needs; `error` why it is no success (see `category`).
    `standing` and the number of `findings` are those of the answer; None and 0 in results of earlier versions.
    `turns` are the messages of a search, `usable_turns` those with calls, all of functions that exist.
    """

    correct: bool | None = None
    answered: bool = False
    status: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    model_calls: int = 0
    tool_calls: int = 0
    failed_runs: int = 0
    wasted_calls: int = 0
    reflections: int = 0
    gold_calls: int = 0
    gold_offered: float | None = None
    error: str | None = None
    standing: str | None = None
    findings: int = 0
    turns: int = 0
    usable_turns: int = 0

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Metrics:
        """The figures in a file, perhaps of an earlier version."""
        return cls(**{field.name: data[field.name] for field in fields(cls) if field.name in data})

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def false_success(self) -> float | None:
        """Whether the answer is wrong, 0 or 1; None without one, or where no reference tells."""
        return float(not self.correct) if self.answered and self.correct is not None else None


def score(gold: Gold, attempts: Sequence[Sequence[CallRecord]], status: str) -> Score:
    """Judge a solution by its calls.

    Args:
        gold: At least one call.
        attempts: The calls of each attempt, the final attempt last; no attempts are no calls.
        status: The solution's; only an `answered` one can be a success.
    Raises: ValueError: The gold is empty, so that nothing can be measured.
    Source: RestBench's correct path rate and the ATC paper's Success; Path and Prec are recall and precision of calls.
    """
    needed = gold.needed
    if not needed:
        raise ValueError("a task without gold calls cannot be measured")
    final = attempts[-1] if attempts else ()
    called = gold.bag(_tool_names(final))
    shared = (needed & called).total()
    return Score(
        success=float(status == "answered" and needed <= gold.bag(_tool_names(_succeeded(final)))),
        path=shared / needed.total(),
        precision=shared / called.total() if called else 0.0,
        success_any=float(needed <= gold.bag(_tool_names(_succeeded(call for calls in attempts for call in calls)))),
    )


def category(solution: Solution, judged: Score) -> str | None:
    """Why a task is no success; None if it is one.

    `gold calls missing`: answered without them; else by what went wrong last: `no program`, `refused` (by policy),
    `call rejected` (4xx, or wrong arguments), `service` (5xx or no reply), `data` (the program and a response do not
    fit), `own mistake` (of the program alone), `no answer`, `limit`.
    """
    if judged.success:
        return None
    if solution.status == "answered":
        return "gold calls missing"
    if solution.status in ("limit", "refused"):
        return solution.status
    last = solution.attempts[-1] if solution.attempts else None
    if last is None or last.fault is None or last.fault.stage == "write":
        return "no program"
    if last.fault.stage != "run":
        return "refused" if last.fault.stage == "policy" else "no answer"
    error = last.run.error if last.run else None
    if error is not None and error.call is not None and last.run is not None:
        status = last.run.calls[error.call].status
        sent = last.run.calls[error.call].attempts > 0
        return "service" if (status or 0) >= 500 or (status is None and sent) else "call rejected"
    return "data" if last.attribution is not None and last.attribution.tool else "own mistake"


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean; 0 for no values."""
    listed = list(values)
    return statistics.fmean(listed) if listed else 0.0


def percent(values: Iterable[float]) -> float:
    """The mean of values between 0 and 1 in percent, to two decimals."""
    return round(100 * mean(values), 2)


def _tool_names(calls: Iterable[CallRecord]) -> list[str]:
    """The names of the tools called; a request that fits no tool is no tool call."""
    return [call.tool for call in calls if call.tool is not None]


def _succeeded(calls: Iterable[CallRecord]) -> list[CallRecord]:
    """The calls that were answered 2xx."""
    return [call for call in calls if call.status is not None and 200 <= call.status < 300]
