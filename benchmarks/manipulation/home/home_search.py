"""Home Search.

A search names the place first, then whether to buy or to rent, then the criteria.

Source: Xu et al. (arXiv:2305.16504), appendix A.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from benchmarks.manipulation.criteria.criteria_environment import CriteriaEnvironment, CriteriaState

__all__ = ["HomeSearch"]

HOME_TYPES: Mapping[str, tuple[str, ...]] = {
    "buy": ("House", "Townhouse", "Condo", "Land", "Multi-family", "Mobile", "Co-op"),
    "rent": ("House", "Townhouse", "Condo", "Apartment"),
}

HomeType = Literal["House", "Townhouse", "Condo", "Land", "Multi-family", "Mobile", "Co-op", "Apartment"]


class HomeSearchAPI:
    """The object `API` of a program; each call changes the state."""

    def __init__(self, state: CriteriaState) -> None:
        self._state = state

    def set_location(self, location: str) -> None:
        """Set where to search, as the first call.

        Args:
            location: The name of the place.
        """
        self._state.call("set_location")
        if self._state.criteria:
            raise ValueError("say the location before all else")
        self._state.criteria["location"] = location

    def set_buy_or_rent(self, buy_or_rent: Literal["buy", "rent"]) -> None:
        """Set whether the home is for sale or for rent, as the second call."""
        self._state.call("set_buy_or_rent")
        if list(self._state.criteria) != ["location"]:
            raise ValueError("set_buy_or_rent must be the second call, after set_location")
        if buy_or_rent not in HOME_TYPES:
            raise ValueError(f"set_buy_or_rent takes 'buy' or 'rent', not {buy_or_rent!r}")
        self._state.criteria["buy_or_rent"] = buy_or_rent

    def select_home_type(self, home_types: list[HomeType]) -> None:
        """Select the types of home, any of which will do; Apartment, House, Townhouse and Condo are for rent, and all
        but Apartment are for sale.
        """
        self._state.call("select_home_type")
        mode = self._state.criteria.get("buy_or_rent")
        if mode is None:
            raise ValueError("select_home_type comes after set_buy_or_rent")
        allowed = HOME_TYPES[str(mode)]
        for home_type in home_types:
            if home_type not in allowed:
                raise ValueError(f"to {mode}, the home types are {', '.join(allowed)}, not {home_type!r}")
        self._state.criteria["home_type"] = ",".join(sorted(home_type.lower() for home_type in home_types))

    def set_min_price(self, min_price: int) -> None:
        """Set the lowest price, in dollars; of a home for rent it is that of a month."""
        self._set("min_price", min_price)

    def set_max_price(self, max_price: int) -> None:
        """Set the highest price, in dollars; of a home for rent it is that of a month."""
        self._set("max_price", max_price)

    def set_min_square_feet(self, min_square_feet: int) -> None:
        """Set the smallest size, in square feet."""
        self._set("min_square_feet", min_square_feet)

    def set_max_square_feet(self, max_square_feet: int) -> None:
        """Set the largest size, in square feet."""
        self._set("max_square_feet", max_square_feet)

    def set_num_beds(self, num_beds: int) -> None:
        """Set the number of bedrooms."""
        self._set("num_beds", num_beds)

    def set_num_baths(self, num_baths: float) -> None:
        """Set the number of bathrooms, which may be a half one more: 1.5."""
        self._set("num_baths", num_baths)

    def set_num_garages(self, num_garages: int) -> None:
        """Set the number of garages."""
        self._set("num_garages", num_garages)

    def set_num_swimming_pools(self, num_swimming_pools: int) -> None:
        """Set the number of swimming pools."""
        self._set("num_swimming_pools", num_swimming_pools)

    def set_num_balconies(self, num_balconies: int) -> None:
        """Set the number of balconies."""
        self._set("num_balconies", num_balconies)

    def set_floor_number(self, floor_number: int) -> None:
        """Set the floor that the home is on."""
        self._set("floor_number", floor_number)

    def set_max_commute_time(self, max_commute_time: int) -> None:
        """Set the longest way to work, in minutes."""
        self._set("max_commute_time", max_commute_time)

    def search(self) -> dict[str, Any]:
        """Submit the criteria, as the last call.

        Returns: The criteria by name.
        """
        self._state.call("search")
        self._state.criteria.setdefault("min_price", 0)
        self._state.criteria.setdefault("min_square_feet", 0)
        return dict(self._state.criteria)

    def _set(self, criterion: str, value: float) -> None:
        function = f"set_{criterion}"
        self._state.call(function)
        if "buy_or_rent" not in self._state.criteria:
            raise ValueError(f"{function} comes after set_buy_or_rent")
        self._state.criteria[criterion] = value


class HomeSearch(CriteriaEnvironment):
    """100 tests and 10 demonstrations, in which three of the 15 functions never occur."""

    name = "home"
    max_tokens = 128
    folder = Path(__file__).parent

    def namespace(self, state: CriteriaState) -> Mapping[str, object]:
        """The object `API` over a state."""
        return {"API": HomeSearchAPI(state)}
