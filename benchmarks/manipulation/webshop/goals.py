"""What is to be bought: a product's qualities, its options, and the most that it may cost, told in one sentence."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.manipulation.webshop.products import Product, products

__all__ = ["ShopGoal"]


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

    @classmethod
    def read(cls, state: Mapping[str, Any]) -> ShopGoal:
        """The goal that a test has as its state."""
        return cls(products()[state["product"]], tuple(state["attributes"]), state["options"], state["template"])
