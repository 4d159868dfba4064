"""A simulated service, made from a protocol alone: real HTTP, made-up but consistent data, writes that stay."""

from protocols.simulator.http.server import Simulator
from protocols.simulator.http.session import Session

__all__ = ["Session", "Simulator"]
