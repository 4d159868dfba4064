"""A simulated service made from a protocol alone: real HTTP, consistent invented data, and writes that persist."""

from protocols.simulator.demand import Demand
from protocols.simulator.http.server import Session, Simulator

__all__ = ["Demand", "Session", "Simulator"]
