"""The corpus of faulty runs says of itself what is true, and the bench counts what it says."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
from click.testing import CliRunner

from benchmarks.injection.answers import KINDS, CorpusServices, FaultKind, injected_faults, scripts
from benchmarks.micro.verify import CHECKS, judge, main, sample_runs


def test_the_halves_share_no_program() -> None:
    """Programs of ours and of a model, about all APIs, in both halves."""
    found = scripts()

    assert len({script.name for script in found}) == len(found)
    assert {script.api for script in found} == {"museum", "parcels", "cinema", "films", "shop"}
    halves = Counter((script.half, script.origin) for script in found)
    assert min(halves[half, "ours"] for half in ("seen", "held")) >= 25
    seen = {script.program for script in found if script.half == "seen"}
    assert not seen & {script.program for script in found if script.half == "held"}


@pytest.mark.parametrize("place", range(0, 58, 6))
def test_programs_of_ours_are_right(place: int) -> None:
    """In several worlds, by their references."""
    script = [one for one in scripts() if one.origin == "ours"][place]
    with CorpusServices() as services:
        for seed in (0, 1):
            verdict = judge(services, script, seed)

            assert verdict is not None, script.name
            assert verdict.correct


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_can_be_put_into_a_program(kind: FaultKind) -> None:
    """A fault is a program of its own, drawn from a seed, and the bench keeps those that do harm and end well."""
    script = next(one for one in scripts() if one.name == "parcels_lisbon")
    with CorpusServices() as services:
        with services.place(script, 0) as place, services.place(script, 1) as elsewhere:
            run, other = place.run(script.program), elsewhere.run(script.program)
        once, again = (injected_faults(kind, script, run, other, random.Random(3)) for _ in range(2))
        verdicts = [judge(services, script, 0, kind, number) for number in range(len(once))]

    assert [one.program for one in once] == [one.program for one in again]
    kept = [verdict for verdict in verdicts if verdict is not None]
    assert kept
    assert not any(verdict.correct for verdict in kept)


def test_runs_are_spread_evenly_and_drawn_alike() -> None:
    """As many of each kind, and as many right ones; the same ones each time."""
    with CorpusServices() as services:
        once = list(sample_runs(services, "seen", "ours", 1))
        again = list(sample_runs(services, "seen", "ours", 1))

    assert once == again
    assert Counter(one.kind for one in once) == Counter([*KINDS, *["right"] * len(KINDS)])
    assert all(one.correct == (one.kind == "right") for one in once)
    assert not any(one.doubted["none"] for one in once)


def test_the_bench_prints_what_it_found() -> None:
    """As a table for people, or as data."""
    shown = CliRunner().invoke(main, ["--half", "seen", "--each", "1"], catch_exceptions=False)
    data = CliRunner().invoke(main, ["--half", "seen", "--each", "1", "--json"], catch_exceptions=False)

    assert "false success" in shown.stdout
    verdicts = json.loads(data.stdout)["verdicts"]
    assert {name for one in verdicts for name in one["doubted"]} == set(CHECKS)
