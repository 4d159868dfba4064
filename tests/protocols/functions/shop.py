"""The functions that programs of these tests call: a cart, a search, and sums of money."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from protocols import Protocol

__all__ = ["Amount", "Cart", "Tag", "depth", "find", "shop"]


@dataclass(frozen=True)
class Amount:
    """A sum of money."""

    value: float
    currency: Literal["EUR", "USD"] = "EUR"

    def __post_init__(self) -> None:
        if self.value < 0:
            raise ValueError("a sum is never negative")


class Tag:
    """A word to sort by.

    Args:
        word: The word itself.
    """

    def __init__(self, word: str) -> None:
        self.word = word


@dataclass
class Folder:
    """A folder and those in it."""

    name: str
    folders: list[Folder] = field(default_factory=list)


def depth(folder: Folder) -> int:
    """How deep a folder goes."""
    return 1 + max(map(depth, folder.folders), default=0)


class EmptyCartError(Exception):
    """There is nothing to pay for."""


class Cart:
    """What somebody buys."""

    def __init__(self) -> None:
        self.items: list[tuple[str, int]] = []
        self.most: Amount | None = None
        self.orders: list[tuple[str, int]] = []

    def add(self, name: str, count: int = 1, *, gift: bool = False) -> int:
        """Put a thing into the cart.

        Args:
            name: The name of the thing,
                as find gives it.
            count: How many.
        Returns: The things in the cart.
        """
        if count < 1:
            raise ValueError("count must be at least 1")
        self.items.append((name, count))
        return sum(number for _, number in self.items)

    def total(self) -> Amount:
        """The price of all that is in the cart."""
        if not self.items:
            raise EmptyCartError("the cart is empty")
        return Amount(2.5 * sum(number for _, number in self.items))

    def limit(self, most: Amount | None) -> None:
        """Limit what the cart may cost."""
        self.most = most

    def sort(self, *orders: tuple[str, Literal["asc", "des"]], **options: bool) -> list[tuple[str, int]]:
        """Sort the cart."""
        self.items.sort(reverse=orders[0][1] == "des")
        return self.items

    def tagged(self, tag: Tag) -> list[Tag]:
        """The tag twice."""
        return [tag, tag]

    def broken(self) -> object:
        """Give what has no form in JSON."""
        return {"at": 1j}

    def _private(self) -> None: ...


def find(*words: str) -> list[str]:
    """Find the names of things by words."""
    return [f"red {word}" for word in words]


def shop(cart: Cart) -> Protocol:
    """The tools of a shop with this cart."""
    return Protocol.from_functions({"cart": cart, "find": find}, name="shop", reads=["find", "cart.total", "sort"])
