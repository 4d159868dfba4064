"""The throughput of a simulated API can be measured."""

from __future__ import annotations

from benchmarks.micro.simulator import measure
from protocols.samples import sample


def test_new_and_known_reads_are_measured() -> None:
    """The sample has no write without arguments, so nothing is mixed."""
    rates = measure(str(sample("cinema")), seconds=1.0, connections=2)

    assert set(rates) == {"known", "new"}
    assert all(rate > 0 for rate in rates.values())
