"""A visit to the shop: searches and clicks lead from page to page, until something is bought or the visit is over."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy

from benchmarks.manipulation.webshop.goals import ShopGoal
from benchmarks.manipulation.webshop.pages import (
    BACK,
    BUY,
    DETAILS,
    NEXT,
    PREVIOUS,
    SEARCH,
    ShopPage,
    detail_page,
    item_page,
    last_page,
    results_page,
    rows_text,
    search_page,
)
from benchmarks.manipulation.webshop.products import Product, products
from benchmarks.manipulation.webshop.reward import reward

__all__ = ["MOST_STEPS", "ShopSession", "ShopTools", "find"]

MOST_STEPS = 25
"""Actions of a visit, also those that cannot be done."""

_MOST_HITS = 50

_WORD = re.compile(r"\w+")


@cache
def _index() -> tuple[Any, Sequence[Product]]:
    """BM25 over what the shop says of its products, and the products."""
    import bm25s

    listed = tuple(products().values())
    index = bm25s.BM25()
    index.index([_searched(product) for product in listed], show_progress=False)
    return index, listed


def _searched(product: Product) -> list[str]:
    options = [text for name, values in product.options.items() for text in (name, *values)]
    return _words(" ".join([product.title, product.description, product.bullets[0], *options]))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


@lru_cache(4096)
def find(text: str) -> tuple[Product, ...]:
    """The best 50 products that have a word of the text, the best first."""
    index, listed = _index()
    known_words = [word for word in _words(text) if word in index.vocab_dict]
    scores = index.get_scores(known_words) if known_words else numpy.zeros(len(listed))
    order = numpy.argsort(-scores, kind="stable")
    return tuple(listed[place] for place in order[scores[order] > 0][:_MOST_HITS])


class ShopSession:
    """A visit with a goal. An action that cannot be done changes nothing but the number of steps.

    Attributes:
        page: What is seen now.
        called: The functions of all actions, also of those that could not be done.
        steps: Actions, also those that are none of a function.
        value: The reward, None before a purchase.

    Args:
        search_anywhere: Search from every page, as in the released shop, also where no button offers it.
    """

    def __init__(self, goal: ShopGoal, seed: int = 0, *, search_anywhere: bool = False) -> None:
        self.goal = goal
        self.called: list[str] = []
        self.steps = 0
        self.value: float | None = None
        self._seed = seed
        self._search_anywhere = search_anywhere
        self._hits: tuple[Product, ...] = ()
        self._number = 1
        self._product: Product | None = None
        self._chosen: dict[str, str] = {}
        self.page = search_page(goal.instruction(seed))

    @property
    def done(self) -> bool:
        """True if something was bought, or there are no steps left."""
        return self.value is not None or self.steps >= MOST_STEPS

    @property
    def _instruction(self) -> str:
        return self.goal.instruction(self._seed)

    def search(self, text: str) -> ShopPage:
        """The first page of results. Raises: ValueError: There is no search on this page."""
        self.step("search")
        if SEARCH.lower() not in self.page.buttons and not self._search_anywhere:
            raise ValueError(f"there is no search on this page; {self._offered()}")
        self._hits, self._number, self._product = find(text), 1, None
        self.page = self._results()
        return self.page

    def click(self, button: str) -> ShopPage:
        """The page behind a button. Raises: ValueError: There is no such button on this page."""
        self.step("click")
        label = button.strip().lower()
        if label not in self.page.buttons or label == SEARCH.lower():
            raise ValueError(f"there is no button {button!r} to click on this page; {self._offered()}")
        self.page = self._turn(label)
        return self.page

    def step(self, *called: str) -> None:
        """Count an action, with the function that it calls. Raises: ValueError: The visit is over."""
        if self.done:
            raise ValueError("the visit to the shop is over")
        self.steps += 1
        self.called += called

    def _offered(self) -> str:
        return f"it has the buttons {', '.join(self.page.buttons)}"

    def _turn(self, label: str) -> ShopPage:
        """What a button of the page leads to, `label` in lower case."""
        turns: dict[str, Callable[[], ShopPage]] = {
            BACK.lower(): lambda: search_page(self._instruction),
            NEXT.lower(): lambda: self._results(1),
            PREVIOUS.lower(): self._back,
        }
        if label in turns:
            return turns[label]()
        product = self._product
        if product is None:
            self._product = products()[label.upper()]
            self._chosen = {}
            return item_page(self._instruction, self._product, self._chosen)
        if label == BUY.lower():
            self.value = reward(product, self._chosen, self.goal, self.goal.limit(self._seed))
            return last_page(self._instruction, product)
        if label.capitalize() in DETAILS:
            return detail_page(self._instruction, product, label.capitalize())
        option = next(name for name, values in product.options.items() if label in values)
        self._chosen[option] = label
        return item_page(self._instruction, product, self._chosen, f"You chose {label}.")

    def _back(self) -> ShopPage:
        """From a detail to its product, from a product to the results, from them to the page before."""
        if self._product is None:
            return self._results(-1)
        if BUY.lower() in self.page.buttons:
            self._product = None
            return self._results()
        return item_page(self._instruction, self._product, self._chosen)

    def _results(self, turn: int = 0) -> ShopPage:
        self._number += turn
        return results_page(self._instruction, self._hits, self._number)


class ShopTools:
    """A shop on the web. What is done leads to another page, whose text is the result.

    Args:
        session: Gives the present visit.
    """

    def __init__(self, session: Callable[[], ShopSession]) -> None:
        self._session = session

    def search(self, text: str) -> str:
        """Search for products; only where the page has the button Search.

        Args:
            text: What the product should be.

        Returns:
            The first page of results: of each product a button with its id, then a line with its title and one with
            its price.
        """
        return rows_text(self._session().search(text))

    def click(self, button: str) -> str:
        """Click a button of the present page: a product, an option's value, another page, or Buy Now, which ends all.

        Args:
            button: The text of the button.

        Returns:
            The page that it leads to.
        """
        return rows_text(self._session().click(button))
