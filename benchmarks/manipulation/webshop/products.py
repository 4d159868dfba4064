"""The products of the shop, made from pools of words with a fixed seed."""

from __future__ import annotations

import random
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

import yaml

__all__ = ["Product", "pools", "products"]

_CODE = string.ascii_uppercase + string.digits


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
def pools() -> Mapping[str, Any]:
    """What stands in `catalogue.yaml`."""
    data: Mapping[str, Any] = yaml.safe_load(files(__package__).joinpath("catalogue.yaml").read_text("utf-8"))
    return data


@cache
def products() -> Mapping[str, Product]:
    """All products by id, the same each time."""
    data = pools()
    rng = random.Random(data["seed"])
    listed = [_product(kind, data, rng) for kind in data["kinds"] for _ in range(data["per_kind"])]
    return MappingProxyType({product.id: product for product in listed})


def _product(kind: Mapping[str, Any], data: Mapping[str, Any], rng: random.Random) -> Product:
    """One of a kind; all its qualities but the last stand in its title."""
    name, brand = kind["name"], rng.choice(data["brands"])
    attributes = tuple(rng.sample(kind["attributes"], rng.randint(3, 4)))
    title = ", ".join([f"{brand} {name}", *attributes[:-1], rng.choice(kind["parts"])]).title()
    words = {"name": name, "brand": brand, "use": kind["use"], "attributes": _listed(attributes)}
    bullets = [
        rng.choice(data["bullets"]).format(attribute=attribute, Attribute=attribute.capitalize(), **words)
        for attribute in attributes
    ]
    rng.shuffle(bullets)
    low, high = kind["price"]
    return Product(
        "B0" + "".join(rng.choices(_CODE, k=8)),
        name,
        kind["query"],
        tuple(kind["path"]),
        title,
        attributes,
        {option: _some(values, rng) for option, values in kind["options"].items()},
        round(rng.uniform(low, high)) + rng.choice((-0.01, 0.49, 0.0)),
        rng.randint(30, 50) / 10,
        tuple(bullets),
        rng.choice(data["descriptions"]).format(**words),
        tuple(rng.sample(data["reviews"], 2)),
    )


def _some(values: Sequence[str], rng: random.Random) -> tuple[str, ...]:
    """At least two of the values, in their order."""
    chosen = rng.sample(values, rng.randint(min(2, len(values)), len(values)))
    return tuple(value for value in values if value in chosen)


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"
