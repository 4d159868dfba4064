"""What is to be bought: a product's qualities, its options, and the most that it may cost, told in one sentence.

The products are shuffled, and so divided: the first 100 are the sessions of the tests, and the others are for training.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product as every_choice
from typing import Any

from benchmarks.manipulation.webshop.products import Product, pools, products

__all__ = ["SESSIONS", "ShopGoal", "session_goals", "training_goals"]

SESSIONS = 100
TRAINING_GOALS = 1533
"""As many as the paper's demonstrations with whole pages."""

_ORDER = 233
"""The seed of the order of products."""


@dataclass(frozen=True)
class ShopGoal:
    """A product with the qualities and options that are asked for; `template` is a sentence."""

    product: Product
    attributes: tuple[str, ...]
    options: Mapping[str, str]
    template: str

    def limit(self, seed: int) -> int:
        """The most that may be paid: the larger of two, drawn from the next four multiples of ten above the price.

        Each seed draws anew.
        """
        above = int(self.product.price // 10) * 10
        drawn = random.Random(f"limit {seed} {self.product.id} {sorted(self.options.values())}")
        return max(drawn.sample([above + 10 * step for step in range(1, 5)], 2))

    def instruction(self, seed: int) -> str:
        """The sentence, with the limit of a seed."""
        options = " and ".join(f"{name} {value}" for name, value in self.options.items())
        item = f"{', '.join(self.attributes)} {self.product.name}"
        text = self.template.format(item=item, options=options, limit=self.limit(seed))
        return text[0].upper() + text[1:]

    @property
    def query(self) -> str:
        """What one who reads the sentence searches for."""
        return f"{' '.join(self.attributes)} {self.product.name}"

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {"product": self.product.id, "attributes": list(self.attributes), "options": dict(self.options)}


def _order() -> list[Product]:
    shuffled = list(products().values())
    random.Random(_ORDER).shuffle(shuffled)
    return shuffled


@cache
def session_goals() -> tuple[ShopGoal, ...]:
    """One for each session of the tests."""
    rng = random.Random("sessions")
    return tuple(_goal(product, _choice(product, rng), rng) for product in _order()[:SESSIONS])


@cache
def training_goals() -> tuple[ShopGoal, ...]:
    """Several for each of the other products, with different options; a product comes again after all the others."""
    rng = random.Random("training")
    choices = [(product, _choices(product, rng)) for product in _order()[SESSIONS:]]
    goals: list[ShopGoal] = []
    for turn in range(max(len(options) for _, options in choices)):
        goals += [_goal(product, options[turn], rng) for product, options in choices if turn < len(options)]
    return tuple(goals[:TRAINING_GOALS])


def _choices(product: Product, rng: random.Random) -> list[dict[str, str]]:
    chosen = [dict(zip(product.options, values, strict=True)) for values in every_choice(*product.options.values())]
    rng.shuffle(chosen)
    return chosen


def _choice(product: Product, rng: random.Random) -> dict[str, str]:
    return {name: rng.choice(values) for name, values in product.options.items()}


def _goal(product: Product, options: Mapping[str, str], rng: random.Random) -> ShopGoal:
    attributes = tuple(rng.sample(product.attributes, rng.randint(1, 3)))
    return ShopGoal(product, attributes, options, rng.choice(pools()["instructions"]))
