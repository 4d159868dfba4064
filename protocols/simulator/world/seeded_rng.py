"""Reproducible randomness: numbers drawn from a hash of their purpose.

Python's `random` would tie every value to the order of the draws. Here a value depends on its own name alone, so the
order of requests does not change any entity.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

__all__ = ["SeededRNG"]

T = TypeVar("T")
_LEAST = 1 << 64
"""What has to be left of a hash for another number."""


class SeededRNG:
    """An endless source of numbers for one name under one seed."""

    __slots__ = ("_key", "_pool", "_round")

    def __init__(self, *name: object) -> None:
        self._key = "\x1f".join(map(str, name)).encode()
        self._pool = 0
        self._round = 0

    def below(self, limit: int) -> int:
        """A whole number from 0 to limit - 1. Args: limit: at least 1, far below 2**60."""
        if self._pool < _LEAST:
            self._round += 1
            self._pool = int.from_bytes(blake2b(self._key, digest_size=32, salt=str(self._round).encode()).digest())
        self._pool, drawn = divmod(self._pool, limit)
        return drawn

    def between(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + self.below(max(high - low, 0) + 1)

    def fraction(self) -> float:
        """A number from 0 to below 1."""
        return self.below(1 << 30) / (1 << 30)

    def choose(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.below(len(options))]

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        """Up to `count` different options, in the order drawn."""
        rest = list(options)
        return [rest.pop(self.below(len(rest))) for _ in range(min(count, len(rest)))]
