"""Pass rates over verdicts in StableToolBench's published form."""

from __future__ import annotations

import pytest

from benchmarks.toolbench.evaluation.pass_rate import JudgedQuery, PassEdition, Repetition, flip_coins
from benchmarks.toolbench.evaluation.results import judged_summary
from tests.benchmarks.toolbench.judging import answer

VERDICTS = {
    "1": {"0": "AnswerStatus.Solved", "1": "AnswerStatus.Unsure", "2": "AnswerStatus.Solved"},
    "2": {"0": "AnswerStatus.Unsure", "1": "AnswerStatus.Unsure", "2": "AnswerStatus.Unsure"},
    "3": {"0": "AnswerStatus.Unsolved", "1": "AnswerStatus.Solved", "2": "AnswerStatus.Unsure"},
    "4": {"0": "AnswerStatus.Solved", "1": "AnswerStatus.Solved", "2": "AnswerStatus.Solved"},
}
"""`is_solved` of a published file, by query and repetition."""


def judged(edition: PassEdition) -> list[JudgedQuery]:
    """The verdicts as judgements of an edition."""
    words = {name: [status.partition(".")[2] for status in statuses.values()] for name, statuses in VERDICTS.items()}
    return [
        JudgedQuery(name, answer(name), tuple(Repetition(word, "Solvable", word) for word in of_query), edition)
        for name, of_query in words.items()
    ]


def test_an_unsure_counts_a_half_without_a_coin() -> None:
    """Each repetition is a Solved for one and an Unsure for a half, over all queries; the rate is their mean."""
    queries = judged("sopr")

    flipped = flip_coins(queries)

    points = {"AnswerStatus.Solved": 1.0, "AnswerStatus.Unsure": 0.5}
    rates = [sum(points.get(of_query[str(time)], 0) for of_query in VERDICTS.values()) / 4 for time in range(3)]
    assert flipped == queries
    assert judged_summary(flipped, compat=True)["rate"] == pytest.approx(sum(rates) / 3)
    assert judged_summary(flipped, compat=True)["spread"]["rates"] == pytest.approx(rates, abs=1e-3)


def test_edition_2_decides_an_unsure_by_a_coin() -> None:
    """As published, and always alike."""
    flipped = flip_coins(judged("2"))

    assert all(entry.label != "Unsure" for query in flipped for entry in query.repetitions)
    assert flipped == flip_coins(judged("2"))
