"""Compare the answers of two methods: win rate by the criteria of ToolEval, and SoWR.

Each pair is put to the judge in both orders; a disagreement is a tie. The verdicts of an order are stored under the two
answers, so swapping the methods swaps the result and asks nothing anew.
Source: ToolLLM, second version, "Details for Win Rate" (edition `2`); StableToolBench (edition `sowr`).
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

from benchmarks.toolbench.evaluation.judge import (
    AGAIN,
    PREFERENCE,
    Judge,
    Verdict,
    pair_values,
)
from benchmarks.toolbench.evaluation.judged import JudgedAnswer
from benchmarks.toolbench.evaluation.pass_rate import TIE, JudgedQuery, PassEdition, pass_prompts

__all__ = ["WIN_TIMES", "ComparedQuery", "WinEdition", "compare_answers", "pass_edition", "win_prompts"]

WinEdition = Literal["2", "sowr"]
Winner = Literal["reference", "candidate", "tie"]

WIN_TIMES = 4
"""How often each pair is compared, unless told otherwise."""

_SEED = 42


@dataclass(frozen=True, slots=True)
class Round:
    """One comparison of a pair: who won it, by which rule, and how many replies could not be read."""

    winner: Winner
    rule: str
    unparsed: int = 0


@dataclass(frozen=True, slots=True)
class ComparedQuery:
    """All comparisons of one query; an answer is None where the method has none."""

    query_id: str
    reference: JudgedAnswer | None
    candidate: JudgedAnswer | None
    rounds: tuple[Round, ...]

    @property
    def points(self) -> tuple[int, int]:
        """Rounds won by the reference and by the candidate."""
        winners = [entry.winner for entry in self.rounds]
        return winners.count("reference"), winners.count("candidate")

    @property
    def winner(self) -> Winner:
        """Who won more rounds."""
        reference, candidate = self.points
        return "tie" if reference == candidate else "reference" if reference > candidate else "candidate"

    @property
    def score(self) -> float:
        """Of the candidate: 1 for a win, a half for a tie."""
        return {"reference": 0.0, "tie": 0.5, "candidate": 1.0}[self.winner]

    @property
    def unparsed(self) -> int:
        """Replies of the judge that could not be read."""
        return sum(entry.unparsed for entry in self.rounds)


def pass_edition(edition: WinEdition) -> PassEdition:
    """The edition by which single answers are judged before pairs are compared."""
    return "2" if edition == "2" else "sopr"


def win_prompts(edition: WinEdition) -> tuple[str, ...]:
    """The templates of an edition, those for single answers included."""
    single = tuple(name for name in pass_prompts(pass_edition(edition)) if name != AGAIN)
    return (*single, PREFERENCE.name, AGAIN)


def compare_answers(
    reference: JudgedQuery, candidate: JudgedQuery, judge: Judge, edition: WinEdition, times: int, compat: bool = False
) -> ComparedQuery:
    """Compare two judged answers `times` times.

    Args:
        reference: With at least `times` judgements by `pass_edition(edition)`, where it has an answer; so `candidate`.
        compat: As published: one order, drawn; the statuses stay in the order in which they were (a defect); lots in
            place of ties; SoWR's shortcut by status never takes place.
    Raises: ModelError: The judge cannot be had.
    """
    first, second = reference.answer, candidate.answer
    if first is None or second is None:
        both = first is second and not compat  # as published, the reference is looked for first
        winner: Winner = "tie" if both else "candidate" if first is None else "reference"
        return ComparedQuery(reference.query_id, first, second, (Round(winner, "missing"),) * times)
    labels = (_label(reference, compat), _label(candidate, compat))
    if edition == "2" and set(labels) == {"Passed", "Failed"}:
        winner = "reference" if labels[0] == "Passed" else "candidate"
        return ComparedQuery(reference.query_id, first, second, (Round(winner, "pass label"),) * times)
    rounds = []
    for repetition in range(times):
        statuses = (reference.repetitions[repetition].solved, candidate.repetitions[repetition].solved)
        pair = _Pair(first, second, statuses, judge, repetition, compat)
        rounds.append(pair.by_status() if edition == "2" else pair.by_solved())
    return ComparedQuery(reference.query_id, first, second, tuple(rounds))


def _label(query: JudgedQuery, compat: bool) -> str:
    """The label of a query; as published, a coin decides a tie."""
    if compat and query.label == TIE and query.answer is not None:
        return random.Random(f"{_SEED}:label:{query.answer.content_hash}").choice(("Passed", "Failed"))
    return query.label


@dataclass(frozen=True, slots=True)
class _Pair:
    """A pair in one repetition; `statuses` are those of reference and candidate."""

    reference: JudgedAnswer
    candidate: JudgedAnswer
    statuses: tuple[str, str]
    judge: Judge
    repetition: int
    compat: bool

    def by_status(self) -> Round:
        """Edition 2: the only solved answer wins; else the only unsure one; else the judge chooses.

        As published the answers are shuffled before, and the statuses are not.
        """
        return self._by_statuses(swapped=self.compat and self._shuffled())

    def _by_statuses(self, swapped: bool) -> Round:
        for status in ("Solved", "Unsure"):
            matches = [entry == status for entry in self.statuses]
            if all(matches):
                break
            if any(matches):
                return Round(self._by_place(matches.index(True) ^ swapped), f"only one {status}")
        return self._choose()

    def by_solved(self) -> Round:
        """SoWR: a solved answer beats an unsolved one; else the judge chooses.

        As published the statuses are a text in which the shortcut finds nothing, so every pair is judged from scratch.
        """
        if self.compat:
            return self._by_statuses(swapped=False)
        if set(self.statuses) == {"Solved", "Unsolved"}:
            return Round(self._by_place(self.statuses.index("Solved")), "only one Solved")
        return self._choose()

    def _choose(self) -> Round:
        """The judge's choice; the same answers tie."""
        if self.reference.content_hash == self.candidate.content_hash:
            return Round(self._lot() if self.compat else "tie", "same answers")
        if self.compat:
            return self._choose_once()
        forward = self._ask(self.reference, self.candidate)
        backward = self._ask(self.candidate, self.reference)
        unparsed = sum(not verdict.parsed for verdict in (forward, backward))
        if (forward.word, backward.word) == ("First", "Second"):
            return Round("reference", "judge", unparsed)
        if (forward.word, backward.word) == ("Second", "First"):
            return Round("candidate", "judge", unparsed)
        agreed = forward.word == backward.word == "Tie"
        return Round("tie", "unparsed" if unparsed else "judge" if agreed else "the orders disagree", unparsed)

    def _choose_once(self) -> Round:
        """As published: in the order that was drawn, and by lot without a choice."""
        shuffled = self._shuffled()
        answers = (self.candidate, self.reference) if shuffled else (self.reference, self.candidate)
        verdict = self._ask(*answers)
        if verdict.word in ("First", "Second"):
            place = ("First", "Second").index(verdict.word)
            return Round(self._by_place(place ^ shuffled), "judge")
        return Round(self._lot(), "lot", int(not verdict.parsed))

    def _ask(self, first: JudgedAnswer, second: JudgedAnswer) -> Verdict:
        values = pair_values(first, second, raw=self.compat)
        hashes = [first.content_hash, second.content_hash]
        return self.judge.ask(PREFERENCE, values, first.query_id, hashes, self.repetition)

    @staticmethod
    def _by_place(place: int) -> Winner:
        return "candidate" if place else "reference"

    def _shuffled(self) -> bool:
        return self._draw("order").random() < 0.5

    def _lot(self) -> Winner:
        return self._by_place(self._draw("lot").randrange(2))

    def _draw(self, purpose: str) -> random.Random:
        return random.Random(f"{_SEED}:{purpose}:{self.reference.query_id}:{self.repetition}")
