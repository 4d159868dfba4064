"""The corpus of faulty runs says of itself what is true, and the bench counts what it says."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
from click.testing import CliRunner

from benchmarks.injection.corpus import scripts
from benchmarks.injection.mutations import KINDS, injected_faults
from benchmarks.injection.services import CorpusServices
from benchmarks.micro.verify import CHECKS, judge, main, sample_runs


def test_the_halves_share_no_program() -> None:
    """Programs of ours and of a model, about all APIs, in both halves."""
    corpus = scripts()

    assert len({script.name for script in corpus}) == len(corpus)
    assert {script.api for script in corpus} == {"museum", "parcels", "cinema", "films", "shop"}
    halves = Counter((script.half, script.origin) for script in corpus)
    assert min(halves[half, "ours"] for half in ("seen", "held")) >= 25
    development_programs = {script.program for script in corpus if script.half == "seen"}
    assert not development_programs & {script.program for script in corpus if script.half == "held"}


@pytest.mark.parametrize("place", range(0, 58, 6))
def test_programs_of_ours_are_right(place: int) -> None:
    """In several worlds, by their references."""
    script = [script for script in scripts() if script.origin == "ours"][place]
    with CorpusServices() as services:
        for seed in (0, 1):
            verdict = judge(services, script, seed)

            assert verdict is not None, script.name
            assert verdict.correct


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_can_be_put_into_a_program(kind: str) -> None:
    """A fault is a program of its own, drawn from a seed, and the bench keeps those that do harm and end well."""
    script = next(script for script in scripts() if script.name == "parcels_lisbon")
    with CorpusServices() as services:
        with services.world(script, 0) as world, services.world(script, 1) as elsewhere:
            run, other_run = world.run(script.program), elsewhere.run(script.program)
        first, second = (injected_faults(kind, script, run, other_run, random.Random(3)) for _ in range(2))
        verdicts = [judge(services, script, 0, kind, number) for number in range(len(first))]

    assert [fault.program for fault in first] == [fault.program for fault in second]
    harmful = [verdict for verdict in verdicts if verdict is not None]
    assert harmful
    assert not any(verdict.correct for verdict in harmful)


def test_runs_are_spread_evenly_and_drawn_alike() -> None:
    """As many of each kind, and as many right ones; the same ones each time."""
    with CorpusServices() as services:
        first = list(sample_runs(services, "seen", "ours", 1))
        again = list(sample_runs(services, "seen", "ours", 1))

    assert first == again
    assert Counter(verdict.kind for verdict in first) == Counter([*KINDS, *["right"] * len(KINDS)])
    assert all(verdict.correct == (verdict.kind == "right") for verdict in first)
    assert not any(verdict.doubted["none"] for verdict in first)


def test_the_bench_prints_what_it_found() -> None:
    """As a table for people, or as data."""
    table = CliRunner().invoke(main, ["--half", "seen", "--each", "1"], catch_exceptions=False)
    data = CliRunner().invoke(main, ["--half", "seen", "--each", "1", "--json"], catch_exceptions=False)

    assert "false success" in table.stdout
    verdicts = json.loads(data.stdout)["verdicts"]
    assert {name for verdict in verdicts for name in verdict["doubted"]} == set(CHECKS)
