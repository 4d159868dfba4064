"""The products of the shop, all names invented, and what is to be bought of them: `catalogue.json.gz` has both."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

__all__ = ["Product", "ShopGoal", "catalogue", "products"]


@dataclass(frozen=True, slots=True)
class Product:
    """What is sold: `id` has ten capitals and digits, `name` is its kind, `query` the search that it was found by.

    `path` are its categories, the widest first, and `options` the values of what is to be chosen. The price is in
    dollars.
    """

    id: str
    name: str
    query: str
    path: tuple[str, ...]
    title: str
    attributes: tuple[str, ...]
    options: Mapping[str, tuple[str, ...]]
    price: float
    rating: float
    bullets: tuple[str, ...]
    description: str
    reviews: tuple[str, ...]


@cache
def catalogue() -> Mapping[str, Any]:
    """`products`, `nouns` that tell kinds of products apart, and base `colors`: one counts as the first in its name."""
    data: Mapping[str, Any] = json.loads(gzip.decompress(Path(__file__).with_name("catalogue.json.gz").read_bytes()))
    return data


@cache
def products() -> Mapping[str, Product]:
    """All products by id, the same each time."""
    return MappingProxyType({record["id"]: _product(record) for record in catalogue()["products"]})


def _product(record: Mapping[str, Any]) -> Product:
    """Lists become tuples."""
    options = {name: tuple(values) for name, values in record["options"].items()}
    texts = {name: tuple(record[name]) for name in ("path", "attributes", "bullets", "reviews")}
    return Product(**{**record, **texts, "options": options})


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
