"""The measurement of `atc serve`."""

from __future__ import annotations

from benchmarks.micro.server import measure


def test_a_few_solves_are_measured() -> None:
    """Every part runs: simulated API, model endpoint, server, load; all answers are right."""
    figures = measure(12, 4, 0.1, 1)

    assert (figures["solves"], figures["failures"]) == (12, 0), figures["reasons"]
    assert figures["model_calls_per_solve"] > 1 and figures["prompt_tokens_per_solve"] > 500
