"""A simulated service, made from a protocol alone: real HTTP, made-up but consistent data, writes that stay."""

from protocols.simulator.server import Simulator
from protocols.simulator.session import Session

__all__ = ["Session", "Simulator"]
