"""How far the standing of an answer can be relied on, as figures and as a curve."""

from __future__ import annotations

from benchmarks.report.plots import Point, lines
from benchmarks.report.risk import risk_coverage, warned_shares
from benchmarks.tasks.metrics import Metrics


def answer(correct: bool | None, standing: str | None, findings: int = 0) -> Metrics:
    return Metrics(1, 1, 1, 1, correct=correct, answered=True, standing=standing, findings=findings)


ANSWERS = [
    answer(True, "supported"),
    answer(True, "supported"),
    answer(False, "supported"),
    answer(True, "doubtful", 1),
    answer(False, "doubtful", 2),
    answer(False, "unsupported", 1),
    answer(None, "supported"),
    answer(False, None),
    Metrics(0, 0, 0, 0, correct=False),
]
"""The last three do not count: no reference, an earlier version, no answer."""


def test_shares_of_answers_with_a_warning() -> None:
    """Of three wrong answers two have one, of three right ones one; of three that are supported one is wrong."""
    assert warned_shares(ANSWERS) == {"wrong_warned": 66.67, "right_warned": 33.33, "risk": 33.33, "coverage": 50.0}
    assert set(warned_shares([]).values()) == {None}


def test_risk_rises_with_coverage() -> None:
    """The most certain answers come first; an unsupported one last."""
    points = risk_coverage(ANSWERS)

    assert [(point.findings, point.answers) for point in points] == [(0, 3), (1, 4), (2, 5), (101, 6)]
    assert [round(point.risk, 2) for point in points] == [0.33, 0.25, 0.4, 0.5]
    assert points[-1].coverage == 1
    assert risk_coverage([]) == []


def test_a_curve_over_percent_has_a_tick_at_each_quarter() -> None:
    """Whatever the points are."""
    plot = lines([[Point(50, 10, "a"), Point(97, 20, "b")]], "accepted, %", "wrong %", most=100)

    assert [text for _, (text,) in plot.ticks] == ["0", "25", "50", "75", "100"]
