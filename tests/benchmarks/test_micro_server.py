"""The measurement of `atc serve`, and what is computed from it."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from benchmarks.micro.capacity import UNITS, capacity, main
from benchmarks.micro.server import measure, measure_kill

COSTS = dict(zip(UNITS, (0.05, 1.5, 2000, 100, 40_000, 250), strict=True))


def test_a_few_solves_are_measured() -> None:
    """Every part runs: simulated API, model endpoint, server, load; all answers are right."""
    figures = measure(12, 4, 0.1, 1)

    assert (figures["solves"], figures["failures"]) == (12, 0), figures["reasons"]
    assert figures["model_calls_per_solve"] > 1 and figures["prompt_tokens_per_solve"] > 500
    assert set(UNITS) <= figures.keys()


def test_a_kill_loses_nothing_and_repeats_nothing() -> None:
    """After two kills each accepted solve has ended, and no write was done twice."""
    figures = measure_kill(12, 6, 0.2, 1)

    assert figures["kills"] >= 1
    assert (figures["accepted"], figures["ended"], figures["lost"]) == (12, 12, 0)
    wrong = ("writes_twice", "answers_that_differ", "answered_without_all_writes")
    assert [figures[name] for name in wrong] == [0, 0, 0]


def test_capacity_follows_from_unit_costs(tmp_path: Path) -> None:
    """A million solves a day are 11.6 a second, and three times that at the peak."""
    needed = capacity(COSTS, 1_000_000, 3.0, 0.6, 10_000, 2.0)

    assert (needed["solves_per_second_mean"], needed["solves_per_second_peak"]) == (11.57, 34.72)
    assert (needed["cores"], needed["gpus"], needed["in_flight_peak"]) == (3, 13, 113)
    file = tmp_path / "figures.json"
    file.write_text(json.dumps(COSTS))
    assert "1,000,000 solves a day" in CliRunner().invoke(main, [str(file)]).output
    file.write_text("{}")
    assert "has no figures of benchmarks.micro.server" in CliRunner().invoke(main, [str(file)]).output
