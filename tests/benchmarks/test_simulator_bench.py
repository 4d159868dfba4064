"""The throughput of a simulated API: that it can be measured, and is not a fraction of what is promised."""

from __future__ import annotations

from benchmarks.micro.simulator import measure
from protocols.samples import sample


def test_a_simulated_api_answers_fifty_thousand_requests_a_minute_on_one_core() -> None:
    """By its processor time, so that a busy machine does not matter; new reads and known ones."""
    rates = measure(str(sample("cinema")), seconds=1.0, connections=2)

    assert set(rates) == {"known", "new"}
    assert all(rate > 50_000 for rate in rates.values())
