"""The few statistics of a comparison: a mean with its uncertainty, and whether two runs really differ.

Plain Python with a seeded generator: the same runs give the same numbers everywhere.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Difference", "Estimate", "difference", "estimate", "sign_flip", "spearman"]

RESAMPLES = 2000
"""Of a bootstrap; its ends then vary by about half a point with the seed, for 100 tasks and a share near 80 %."""

FLIPS = 10_000
TAIL = 0.025
"""The share that an interval leaves out on each side."""

EXACT = 14
"""Up to so many pairs that differ, all ways to flip their signs are counted instead of drawn."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over `n` values with its 95 % bootstrap interval; all three are None for no values."""

    mean: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between two runs on the same `n` tasks.

    `mean` is second minus first, `p` the two-sided p-value of a paired sign-flip test: how often a difference at least
    as large comes about where each pair is as likely one way round as the other. `more` and `fewer` count the tasks.
    """

    mean: float
    low: float
    high: float
    p: float
    more: int
    fewer: int
    n: int


def estimate(values: Sequence[float], seed: int = 0, share: bool = False) -> Estimate:
    """Mean and percentile bootstrap interval (Efron and Tibshirani, 1993, section 13.3).

    Args:
        share: The values are 0 or 1. Where all are the same, a bootstrap knows no doubt; then the interval is the exact
            one of Clopper and Pearson (1934).
    """
    if not values:
        return Estimate(None, None, None, 0)
    mean = statistics.fmean(values)
    if min(values) == max(values):
        beyond = TAIL ** (1 / len(values)) if share else 0.0
        low = beyond if share and mean == 1 else mean
        high = 1 - beyond if share and mean == 0 else mean
        return Estimate(mean, low, high, len(values))
    draw = random.Random(seed)
    means = sorted(statistics.fmean(draw.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return Estimate(mean, means[int(0.025 * RESAMPLES)], means[math.ceil(0.975 * RESAMPLES) - 1], len(values))


def difference(first: Sequence[float], second: Sequence[float], seed: int = 0) -> Difference:
    """Compare two runs task by task. Raises: ValueError: No pairs, or not as many values in both."""
    apart = [b - a for a, b in zip(first, second, strict=True)]
    if not apart:
        raise ValueError("there are no pairs to compare")
    around = estimate(apart, seed)
    assert around.mean is not None and around.low is not None and around.high is not None
    increased, decreased = sum(value > 0 for value in apart), sum(value < 0 for value in apart)
    return Difference(around.mean, around.low, around.high, sign_flip(apart, seed), increased, decreased, len(apart))


def sign_flip(differences: Sequence[float], seed: int = 0) -> float:
    """Two-sided p-value of the paired permutation test. For differences of one size it is the exact sign test."""
    sizes = [abs(value) for value in differences if value]
    if not sizes:
        return 1.0
    if min(sizes) == max(sizes):
        positive = sum(value > 0 for value in differences)
        tail = sum(math.comb(len(sizes), k) for k in range(min(positive, len(sizes) - positive) + 1))
        return min(1.0, 2 * tail / (1 << len(sizes)))
    least = abs(math.fsum(differences)) * (1 - 1e-9)
    if len(sizes) <= EXACT:
        sums = [0.0]
        for size in sizes:
            sums = [total + sign for total in sums for sign in (size, -size)]
        return sum(abs(total) >= least for total in sums) / len(sums)
    draw = random.Random(seed)
    as_large = sum(abs(math.fsum(draw.choice((size, -size)) for size in sizes)) >= least for _ in range(FLIPS))
    return (as_large + 1) / (FLIPS + 1)


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's rank correlation, equal values with their mean rank; None where one side does not vary."""
    if len(set(first)) < 2 or len(set(second)) < 2:
        return None
    return statistics.correlation(_ranks(first), _ranks(second))


def _ranks(values: Sequence[float]) -> list[float]:
    """The standard library ranks for a correlation from Python 3.12 on."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]
