"""The products of the shop, all names invented, what is to be bought of them, and how well a purchase fits that.

Source: Yao et al. (arXiv:2207.01206), section 3 and its released code, for the reward, from 0 to 1: the qualities,
options and price that fit, of all that were asked for, times how near the kind of product is.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchmarks.manipulation.environment import subsequence_length

__all__ = ["Product", "ShopGoal", "fitting_options", "kind_factor", "products", "reward", "token_set_ratio"]

_NEAR = 85
"""Texts whose ratio is above this count as equal."""
_WORD = re.compile(r"[a-z0-9]+")


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


def reward(product: Product, options: Mapping[str, str], goal: ShopGoal, limit: float) -> float:
    """The reward of buying a product with the options chosen."""
    fits = sum(_has(product, attribute) for attribute in goal.attributes)
    fits += fitting_options(options.values(), goal.options.values()) + (product.price <= limit)
    return kind_factor(product, goal.product) * fits / (len(goal.attributes) + len(goal.options) + 1)


def kind_factor(product: Product, target: Product) -> float:
    """1 for the same search, two shared categories or a like title; 0.5 for others; less where titles share nothing."""
    nouns = _nouns(target.title)
    shared = len(nouns & _nouns(product.title)) / len(nouns) if nouns else 0.2
    if shared < 0.1:
        return 0.1 if shared else 0.0
    of_one_kind = product.query == target.query or len(set(product.path) & set(target.path)) >= 2
    return 1.0 if of_one_kind or shared > 0.2 else 0.5


def fitting_options(chosen: Iterable[str], goals: Iterable[str]) -> int:
    """How many of the values wanted were chosen; of a color only its base color counts."""
    values = [_base_color(value) for value in chosen]
    return sum(any(token_set_ratio(value, _base_color(goal)) > _NEAR for value in values) for goal in goals)


def _has(product: Product, attribute: str) -> bool:
    if any(token_set_ratio(own, attribute) > _NEAR for own in product.attributes):
        return True
    return attribute in "\n".join((product.title, *product.bullets, product.description)).lower()


def _nouns(title: str) -> set[str]:
    return {word for word in _WORD.findall(title.lower()) if word in catalogue()["nouns"]}


def _base_color(value: str) -> str:
    return next((color for color in catalogue()["colors"] if color in value.lower()), value)


@lru_cache(65536)
def token_set_ratio(first: str, second: str) -> int:
    """The likeness of two texts as sets of words, 0 to 100: the greatest ratio of what they share, alone and with the
    rest of either. It is 100 where one has all words of the other."""
    first_words, second_words = set(_WORD.findall(first.lower())), set(_WORD.findall(second.lower()))
    if not first_words or not second_words:
        return 0
    shared = sorted(first_words & second_words)
    if shared and (first_words <= second_words or second_words <= first_words):
        return 100
    texts = [
        " ".join(shared),
        " ".join([*shared, *sorted(first_words - second_words)]),
        " ".join([*shared, *sorted(second_words - first_words)]),
    ]
    pairs = [(texts[1], texts[2]), *([(texts[0], texts[1]), (texts[0], texts[2])] if shared else [])]
    return max(round(_ratio(*pair)) for pair in pairs)


def _ratio(first: str, second: str) -> float:
    """Twice the characters of the longest common subsequence, of all characters of both, in percent."""
    return 200 * subsequence_length(first, second) / (len(first) + len(second))
