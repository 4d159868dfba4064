"""How well a purchase fits a goal, from 0 to 1.

Source: Yao et al. (arXiv:2207.01206), section 3 and its released code: the qualities, options and price that fit, of
all that were asked for, times how near the kind of product is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from benchmarks.manipulation.environment import subsequence_length
from benchmarks.manipulation.webshop.products import Product, ShopGoal, catalogue

__all__ = ["fitting_options", "kind_factor", "reward", "token_set_ratio"]

_NEAR = 85
"""Texts whose ratio is above this count as equal."""

_WORD = re.compile(r"[a-z0-9]+")


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
