"""The benchmark of our own cost measures what it says."""

from __future__ import annotations

from benchmarks.micro.overhead import measure
from protocols.samples import sample


def test_every_figure_is_there() -> None:
    rows = dict(measure(str(sample("cinema")), runs=1))

    assert len(rows) == 6
    assert all(figure.endswith(" ms") or "/" in figure for figure in rows.values())
