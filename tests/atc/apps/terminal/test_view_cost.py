"""The measurement of what the live view costs runs to its end and tells what it measured."""

from __future__ import annotations

from benchmarks.micro.terminal import measure


def test_the_view_is_measured() -> None:
    """Solves with the view and without it, of the same script; the interval contains the ratio."""
    cost = measure(rounds=3, reply=0.0)

    assert cost.rounds == 3
    assert cost.without > 0
    assert cost.low <= cost.ratio <= cost.high
