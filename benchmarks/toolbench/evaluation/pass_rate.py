"""Judge single answers: pass rate, solvable pass rate (SoPR) and final answer completeness (FAC).

Editions: `2` asks for the answer's and the task's status (ToolLLM, second version); `sopr` and `fac` are
StableToolBench's. Where the published code draws lots, we count a half: `--compat` does as published, with its defects.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from benchmarks.toolbench.evaluation.judge import (
    AGAIN,
    ANSWER_STATUS,
    COMPLETENESS,
    SOLVABILITY,
    STEPS_STATUS,
    Judge,
    Verdict,
    answer_values,
    task_values,
)
from benchmarks.toolbench.evaluation.judged import JudgedAnswer

__all__ = [
    "COMBINED",
    "MISSING",
    "TIE",
    "TIMES",
    "JudgedQuery",
    "PassEdition",
    "Repetition",
    "flip_coins",
    "judge_answer",
    "majority",
    "pass_prompts",
]

PassEdition = Literal["2", "sopr", "fac"]

TIMES: Mapping[str, int] = {"2": 4, "sopr": 3, "fac": 1}
"""How often each answer is judged, by edition, as published."""

MISSING, TIE = "Missing", "Tie"
"""The labels of a query without an answer, and of one whose repetitions have no majority."""

COMBINED: Mapping[tuple[str, str], str] = {
    ("Solved", "Solvable"): "Passed",
    ("Solved", "Unsure"): "Passed",
    ("Solved", "Unsolvable"): "Passed",
    ("Unsolved", "Solvable"): "Failed",
    ("Unsolved", "Unsure"): "Unsure",
    ("Unsolved", "Unsolvable"): "Passed",
    ("Unsure", "Solvable"): "Unsure",
    ("Unsure", "Unsure"): "Unsure",
    ("Unsure", "Unsolvable"): "Passed",
}
"""The label of an answer by its status and that of its task."""

_SCORES: Mapping[str, float] = {
    "Passed": 1.0,
    "Solved": 1.0,
    "Unsure": 0.5,
    TIE: 0.5,
    "Failed": 0.0,
    "Unsolved": 0.0,
    MISSING: 0.0,
}


@dataclass(frozen=True, slots=True)
class Repetition:
    """One judgement of an answer: the status of the answer, that of the task, and the label that follows.

    `unparsed` counts the replies of the judge that could not be read.
    """

    solved: str
    solvable: str
    label: str
    reason: str = ""
    unparsed: int = 0


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """All judgements of one query; `answer` is None, and there are none, where the method has no answer."""

    query_id: str
    answer: JudgedAnswer | None
    repetitions: tuple[Repetition, ...] = ()
    edition: PassEdition = "2"

    @property
    def label(self) -> str:
        """The label of most repetitions, `Tie` where two have as many, `Missing` without an answer."""
        return majority([repetition.label for repetition in self.repetitions])

    @property
    def score(self) -> float:
        """From 0 to 1: by the label; in the editions of StableToolBench the mean of the repetitions."""
        if self.edition in ("sopr", "fac") and self.repetitions:
            return sum(self.scores) / len(self.repetitions)
        return _SCORES[self.label]

    @property
    def scores(self) -> list[float]:
        """The score of each repetition; FAC knows no half."""
        halves = self.edition != "fac"
        return [_SCORES[entry.label] if halves or entry.label == "Solved" else 0.0 for entry in self.repetitions]

    @property
    def unparsed(self) -> int:
        """Replies of the judge that could not be read."""
        return sum(repetition.unparsed for repetition in self.repetitions)


def majority(labels: Sequence[str]) -> str:
    """The most frequent label; `Tie` if there is no single one, `Missing` of none."""
    counts = Counter(labels).most_common(2)
    if not counts:
        return MISSING
    return TIE if len(counts) > 1 and counts[0][1] == counts[1][1] else counts[0][0]


def pass_prompts(edition: PassEdition) -> tuple[str, ...]:
    """The templates of an edition."""
    status = (ANSWER_STATUS.name, STEPS_STATUS.name)
    names = {"2": (*status, SOLVABILITY.name), "sopr": status, "fac": (COMPLETENESS.name,)}[edition]
    return (*names, AGAIN)


def judge_answer(
    answer: JudgedAnswer, judge: Judge, edition: PassEdition, times: int, compat: bool = False
) -> tuple[Repetition, ...]:
    """Judge an answer `times` times. Raises: ModelError: The judge cannot be had."""
    if edition == "fac":
        return tuple(_completeness(answer, judge, repetition, compat) for repetition in range(times))
    return tuple(status_of(answer, judge, repetition, edition, compat) for repetition in range(times))


def status_of(
    answer: JudgedAnswer, judge: Judge, repetition: int, edition: PassEdition = "2", compat: bool = False
) -> Repetition:
    """One judgement by status. Without Finish as last call an answer has failed, and nobody is asked."""
    combined = edition == "2"
    if not answer.finished:
        return Repetition("Unsolved", "Solvable", "Failed" if combined else "Unsolved", "the last call is not Finish")
    verdicts = _answer_status(answer, judge, repetition, compat)
    status, unparsed = verdicts[-1].word, sum(not verdict.parsed for verdict in verdicts)
    reason = verdicts[-1].reason
    if not combined:
        # A judgement that came to nothing is worth nothing in the published sum.
        label = "Unsolved" if compat and not verdicts[-1].parsed else status
        return Repetition(status, "Solvable", label, reason, unparsed)
    task = "Solvable"
    if status != "Solved":
        values = task_values(answer)
        verdict = judge.ask(SOLVABILITY, values, answer.query_id, [answer.task_hash], repetition)
        task, unparsed = verdict.word, unparsed + (not verdict.parsed)
        reason = f"{reason}\n{verdict.reason}".strip()
    return Repetition(status, task, COMBINED[status, task], reason, unparsed)


def _answer_status(answer: JudgedAnswer, judge: Judge, repetition: int, compat: bool) -> list[Verdict]:
    """The verdicts on an answer, the last one counts: by its text, and where that leaves doubt by its calls."""
    if answer.gave_up:
        return [Verdict("Unsolved", "no final answer")]
    values, hashes = answer_values(answer, raw=compat), [answer.content_hash]
    verdict = judge.ask(ANSWER_STATUS, values, answer.query_id, hashes, repetition)
    if verdict.word != "Unsure":
        return [verdict]
    return [verdict, judge.ask(STEPS_STATUS, values, answer.query_id, hashes, repetition)]


def _completeness(answer: JudgedAnswer, judge: Judge, repetition: int, compat: bool) -> Repetition:
    """Query and final answer alone; an empty one, and unless `compat` one that gives up, is incomplete unasked."""
    if not answer.final_answer if compat else answer.gave_up:
        return Repetition("Unsolved", "Solvable", "Unsolved", "no final answer")
    values = answer_values(answer, raw=compat)
    verdict = judge.ask(COMPLETENESS, values, answer.query_id, [answer.content_hash], repetition)
    return Repetition(verdict.word, "Solvable", verdict.word, verdict.reason, int(not verdict.parsed))


def flip_coins(queries: Sequence[JudgedQuery], seed: int = 42) -> list[JudgedQuery]:
    """As published: each Unsure of edition 2 becomes Passed or Failed by a coin, in the order of the queries.

    The other editions count an Unsure as it is.
    """
    draw = random.Random(seed)
    flipped = []
    for query in queries:
        repetitions = tuple(
            replace(entry, label=draw.choice(("Passed", "Failed")))
            if (entry.label, query.edition) == ("Unsure", "2")
            else entry
            for entry in query.repetitions
        )
        flipped.append(replace(query, repetitions=repetitions))
    return flipped
