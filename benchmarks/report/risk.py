"""How far the standing of an answer can be relied on: the wrong ones that carry a warning, and risk over coverage.

Risk is the share of wrong answers among those that are accepted, coverage the share of all answers that are accepted,
when answers with more than so many findings are left out (El-Yaniv and Wiener 2010, selective classification).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.tasks.metrics import Metrics, percent

__all__ = ["RiskPoint", "risk_coverage", "warned_shares"]


@dataclass(frozen=True, slots=True)
class RiskPoint:
    """Answers with at most `findings` findings: their share of all answers, and the wrong ones among them, 0 to 1."""

    findings: int
    answers: int
    coverage: float
    risk: float


def _judged(metrics: Iterable[Metrics]) -> list[Metrics]:
    """The answers that a reference tells right or wrong, and whose standing is known."""
    return [task for task in metrics if task.false_success is not None and task.standing is not None]


def warned_shares(metrics: Iterable[Metrics]) -> dict[str, float | None]:
    """In percent: wrong answers with a warning, right ones with one, wrong ones among the supported, and these of all.

    None where there are no such answers.
    """
    judged = _judged(metrics)
    wrong, right = ([task for task in judged if task.correct is correct] for correct in (False, True))
    supported = [task for task in judged if task.standing == "supported"]
    shares = {
        "wrong_warned": [task.standing != "supported" for task in wrong],
        "right_warned": [task.standing != "supported" for task in right],
        "risk": [not task.correct for task in supported],
        "coverage": [task.standing == "supported" for task in judged],
    }
    return {name: percent(values) if values else None for name, values in shares.items()}


def risk_coverage(metrics: Iterable[Metrics]) -> list[RiskPoint]:
    """A point for each number of findings, the most certain answers first; an unsupported answer comes last."""
    judged = _judged(metrics)
    doubts = [task.findings + _UNSUPPORTED * (task.standing == "unsupported") for task in judged]
    points = []
    for most in sorted(set(doubts)):
        accepted = [task for task, doubt in zip(judged, doubts, strict=True) if doubt <= most]
        wrong = sum(not task.correct for task in accepted)
        points.append(RiskPoint(most, len(accepted), len(accepted) / len(judged), wrong / len(accepted)))
    return points


_UNSUPPORTED = 100
"""More than any answer has findings."""
