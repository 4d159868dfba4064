"""A simulated service made from a protocol alone: real HTTP, consistent invented data, and writes that persist."""

from protocols.simulator.http.server import Simulator
from protocols.simulator.http.session import Session

__all__ = ["Session", "Simulator"]
