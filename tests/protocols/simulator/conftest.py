"""The simulated services that the tests talk to."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocols import Protocol, load
from protocols.samples import sample
from protocols.simulator import Simulator
from tests.protocols.simulator.simulated_apis import Client


@pytest.fixture(scope="session")
def cinema_protocol() -> Protocol:
    return load(sample("cinema"))


@pytest.fixture(scope="session")
def music_protocol(data: Path) -> Protocol:
    return load(data / "restbench" / "spotify_oas.json")


@pytest.fixture
def cinema(cinema_protocol: Protocol) -> Client:
    return Client(Simulator(cinema_protocol))


@pytest.fixture(scope="session")
def movies(data: Path) -> Client:
    """Nothing writes to it, so all tests share its worlds."""
    return Client(Simulator(load(data / "restbench" / "tmdb_oas.json")))


@pytest.fixture
def music(music_protocol: Protocol) -> Client:
    return Client(Simulator(music_protocol))
