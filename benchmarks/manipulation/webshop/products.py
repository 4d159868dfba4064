"""The products of the shop, all names invented, and the words by which a purchase is judged: `catalogue.json.gz`."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

__all__ = ["Product", "catalogue", "products"]


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
