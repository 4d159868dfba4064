"""The simulated services that the tests talk to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from protocols import Protocol, load
from protocols.samples import sample
from protocols.simulator import Simulator
from tests.protocols.simulator.simulated_apis import Client


@pytest.fixture(scope="module")
def cinema_protocol() -> Protocol:
    return load(sample("cinema"))


@pytest.fixture
def cinema(cinema_protocol: Protocol) -> Iterator[Client]:
    with Simulator(cinema_protocol) as simulator:
        yield Client(simulator)


@pytest.fixture(scope="module")
def movies(data: Path) -> Iterator[Client]:
    with Simulator(load(data / "restbench" / "tmdb_oas.json")) as simulator:
        yield Client(simulator)


@pytest.fixture
def music(data: Path) -> Iterator[Client]:
    with Simulator(load(data / "restbench" / "spotify_oas.json")) as simulator:
        yield Client(simulator)
