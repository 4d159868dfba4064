"""The environment of Trip Booking."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.manipulation.criteria.environment import CriteriaEnvironment
from benchmarks.manipulation.criteria.state import CriteriaState
from benchmarks.manipulation.trip.api import Date, Loc, TripBookingAPI

__all__ = ["TripBooking"]


class TripBooking(CriteriaEnvironment):
    """120 tests of tickets, hotels and both, and 11 demonstrations."""

    name = "trip"
    max_tokens = 300
    folder = Path(__file__).parent
    test_count = 120
    template_count = 30

    def namespace(self, state: CriteriaState) -> Mapping[str, object]:
        """The object `API` over a state, and the classes of places and days."""
        return {"API": TripBookingAPI(state), "Loc": Loc, "Date": Date}
