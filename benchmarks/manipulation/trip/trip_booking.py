"""Trip Booking.

A booking names its type first. What it needs besides follows from the type, and is looked at when it is submitted.

Source: Xu et al. (arXiv:2305.16504), appendix A.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchmarks.manipulation.criteria.criteria_environment import CriteriaEnvironment, CriteriaState

__all__ = ["TripBooking"]

_BOOKING_TYPES = ("hotels", "trip tickets", "both")
_TRANSPORTATION = ("flight", "train", "bus", "cruise")

_ROUTE = ("means_of_transportation", "location_from", "location_to")
_STAY = ("location", "checkin_date", "checkout_date")
_NEEDED: Mapping[object, tuple[str, ...]] = {
    "trip tickets": (*_ROUTE, "departure_date"),
    "hotels": _STAY,
    "both": (*_ROUTE, *_STAY),
}


@dataclass(frozen=True, slots=True)
class Loc:
    """A place.

    Args:
        name: As people call it.
    """

    name: str


@dataclass(frozen=True, slots=True)
class Date:
    """A day.

    Args:
        month: From 1 to 12.
    """

    month: int
    day: int
    year: int


class TripBookingAPI:
    """The object `API` of a program; each call changes the state."""

    def __init__(self, state: CriteriaState) -> None:
        self._state = state

    def select_booking_type(self, booking_type: Literal["hotels", "trip tickets", "both"]) -> None:
        """Select what to book, as the first call."""
        self._state.call("select_booking_type")
        if self._state.criteria:
            raise ValueError("choose the booking type before all else")
        if booking_type not in _BOOKING_TYPES:
            raise ValueError(f"the booking types are {', '.join(_BOOKING_TYPES)}, not {booking_type!r}")
        self._state.criteria["booking_type"] = booking_type

    def select_transportation(self, transportation: Literal["flight", "train", "bus", "cruise"]) -> None:
        """Select how to travel; tickets need it."""
        self._state.call("select_transportation")
        if transportation not in _TRANSPORTATION:
            raise ValueError(f"the means of transportation are {', '.join(_TRANSPORTATION)}, not {transportation!r}")
        self._state.criteria["means_of_transportation"] = transportation

    def set_origin(self, origin: Loc) -> None:
        """Set where the trip begins; tickets need it."""
        self._place("set_origin", "location_from", origin)

    def set_destination(self, destination: Loc) -> None:
        """Set where the trip leads to; tickets need it."""
        self._place("set_destination", "location_to", destination)

    def set_departure_date(self, departure_date: Date) -> None:
        """Set the day of the trip, which tickets need; with a hotel it is the check-in date if it is not set."""
        self._day("set_departure_date", "departure_date", departure_date)

    def set_return_date(self, return_date: Date) -> None:
        """Set the day of the trip back; with a hotel it is the check-out date if it is not set."""
        self._day("set_return_date", "return_date", return_date)

    def set_num_adults(self, num_adults: int) -> None:
        """Set how many adults travel."""
        self._set("set_num_adults", "num_adults", num_adults)

    def set_num_children(self, num_children: int) -> None:
        """Set how many children travel."""
        self._set("set_num_children", "num_children", num_children)

    def set_min_ticket_price(self, min_ticket_price: int) -> None:
        """Set the lowest price of a ticket, in dollars."""
        self._set("set_min_ticket_price", "min_price_ticket", min_ticket_price)

    def set_max_ticket_price(self, max_ticket_price: int) -> None:
        """Set the highest price of a ticket, in dollars."""
        self._set("set_max_ticket_price", "max_price_ticket", max_ticket_price)

    def set_hotel_location(self, hotel_location: Loc) -> None:
        """Set where the hotel is; hotels need it."""
        self._place("set_hotel_location", "location", hotel_location)

    def set_checkin_date(self, checkin_date: Date) -> None:
        """Set the first day in the hotel; hotels need it."""
        self._day("set_checkin_date", "checkin_date", checkin_date)

    def set_checkout_date(self, checkout_date: Date) -> None:
        """Set the last day in the hotel; hotels need it."""
        self._day("set_checkout_date", "checkout_date", checkout_date)

    def set_num_rooms(self, num_rooms: int) -> None:
        """Set how many rooms are booked; one if it is not set."""
        self._set("set_num_rooms", "num_rooms", num_rooms)

    def select_room_type(self, room_type: str) -> None:
        """Select the type of the rooms: King Bed, Queen Bed, Double or Luxury."""
        self._set("select_room_type", "room_type", room_type)

    def set_min_room_price(self, min_room_price: int) -> None:
        """Set the lowest price of a room, in dollars a night."""
        self._set("set_min_room_price", "min_price_room", min_room_price)

    def set_max_room_price(self, max_room_price: int) -> None:
        """Set the highest price of a room, in dollars a night."""
        self._set("set_max_room_price", "max_price_room", max_room_price)

    def search(self) -> dict[str, Any]:
        """Submit the booking, as the last call; all that its type needs is set before.

        Returns: The criteria by name.
        """
        self._state.call("search")
        criteria = self._state.criteria
        booking_type = criteria.get("booking_type")
        if booking_type is None:
            raise ValueError("search needs select_booking_type before it")
        criteria.setdefault("min_price_room", 0)
        criteria.setdefault("min_price_ticket", 0)
        missing = [name for name in _NEEDED[booking_type] if name not in criteria]
        if missing:
            raise ValueError(f"search of {booking_type} needs {', '.join(missing)}")
        if booking_type == "both":
            criteria.setdefault("departure_date", criteria["checkin_date"])
            criteria.setdefault("return_date", criteria["checkout_date"])
        if booking_type != "trip tickets":
            criteria.setdefault("num_rooms", 1)
        return dict(criteria)

    def _set(self, function: str, criterion: str, value: object) -> None:
        self._state.call(function)
        self._state.criteria[criterion] = value

    def _place(self, function: str, criterion: str, place: Loc) -> None:
        self._state.call(function)
        if not isinstance(place, Loc):
            raise TypeError(f"{function} takes a Loc, not {place!r}")
        self._state.criteria[criterion] = place.name

    def _day(self, function: str, criterion: str, day: Date) -> None:
        self._state.call(function)
        if not isinstance(day, Date):
            raise TypeError(f"{function} takes a Date, not {day!r}")
        self._state.criteria[criterion] = f"{day.month}-{day.day}-{day.year}"


class TripBooking(CriteriaEnvironment):
    """120 tests of tickets, hotels and both, and 11 demonstrations."""

    name = "trip"
    max_tokens = 300
    folder = Path(__file__).parent

    def namespace(self, state: CriteriaState) -> Mapping[str, object]:
        """The object `API` over a state, and the classes of places and days."""
        return {"API": TripBookingAPI(state), "Loc": Loc, "Date": Date}
