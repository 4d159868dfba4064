"""The task WebShop: a product that is told of in a sentence is searched for, chosen and bought, page by page.

A page is rows of texts and buttons. By default the pages have the form of the demonstrations. The released evaluator
shows plain text instead, takes a search on every page and whatever follows an action on its line, and counts each
purchase as a success; so does `compat`.

Source: Xu et al. (arXiv:2305.16504), section 5 and appendix A; Yao et al. (arXiv:2207.01206) for the shop.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy

from benchmarks.manipulation.environment import (
    ActionResult,
    Environment,
    FunctionDocument,
    ManipulationTest,
    TestScore,
    failure_of,
)
from benchmarks.manipulation.webshop.products import Product, ShopGoal, products, reward
from protocols import Protocol

__all__ = ["WebShop", "find"]

MOST_STEPS = 25
"""Actions of a visit, also those that cannot be done."""

_SEARCH, _BACK, _NEXT, _PREVIOUS, _BUY = "Search", "Back to Search", "Next >", "< Prev", "Buy Now"
_DETAILS = ("Description", "Features", "Reviews")
_PAGE_SIZE, _MOST_HITS = 10, 50
"""Products of a page of results, and of all its pages."""
_SHOP = "WebShop"
_WORD = re.compile(r"\w+")

_ACTION = re.compile(r"(search|click)\[([^\]\n]+)\]")
_RELEASED = re.compile(r"(search|click)\[(.+)\]")
"""What the released evaluator takes for an action, whatever follows it."""
_FUNCTIONS = (
    FunctionDocument(
        "search", "search[text]", "Search for products. It can be used on a page that has the button Search."
    ),
    FunctionDocument(
        "click", "click[button]", "Click a button of the page. Buy Now buys the product with the options clicked."
    ),
)


@dataclass(frozen=True, slots=True)
class PagePart:
    """A text or a button; `chosen` marks an option that was clicked."""

    text: str
    button: bool = False
    chosen: bool = False


Row = tuple[PagePart, ...]


@dataclass(frozen=True, slots=True)
class ShopPage:
    """A page: `notice` says what was clicked, where the page stayed the same for it."""

    instruction: str
    rows: tuple[Row, ...]
    notice: str = ""

    @property
    def buttons(self) -> tuple[str, ...]:
        """What can be clicked, in lower case."""
        return tuple(part.text.lower() for row in self.rows for part in row if part.button)


def rich_text(page: ShopPage) -> str:
    """A line for each row below the instruction, in which buttons are marked."""
    notice = [page.notice] if page.notice else []
    return "\n".join([*notice, _SHOP, "Instruction:", page.instruction, _rows_text(page)])


def _rows_text(page: ShopPage) -> str:
    """The same without the instruction, for a program whose goal is told anyway."""
    return "\n".join(" ".join(map(_marked, row)) for row in page.rows)


def _marked(part: PagePart) -> str:
    if not part.button:
        return part.text
    mark = "clicked button" if part.chosen else "button"
    return f"[{mark}] {part.text} [{mark}_]"


def plain_text(page: ShopPage) -> str:
    """All that is to be read, without marks."""
    parts = (part.text for row in page.rows for part in row)
    return " [SEP] ".join([_SHOP, "Instruction:", page.instruction, *parts])


def _texts(*texts: str) -> list[Row]:
    return [(PagePart(text),) for text in texts]


def _buttons(*labels: str) -> list[Row]:
    return [(PagePart(label, button=True),) for label in labels]


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
        self.page = self._page(_buttons(_SEARCH))

    @property
    def done(self) -> bool:
        """True if something was bought, or there are no steps left."""
        return self.value is not None or self.steps >= MOST_STEPS

    def search(self, text: str) -> ShopPage:
        """The first page of results. Raises: ValueError: There is no search on this page."""
        self.step("search")
        if _SEARCH.lower() not in self.page.buttons and not self._search_anywhere:
            raise ValueError(f"there is no search on this page; {self._offered()}")
        self._hits, self._number, self._product = find(text), 1, None
        self.page = self._results()
        return self.page

    def click(self, button: str) -> ShopPage:
        """The page behind a button. Raises: ValueError: There is no such button on this page."""
        self.step("click")
        label = button.strip().lower()
        if label not in self.page.buttons or label == _SEARCH.lower():
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
        product = self._product
        if label == _BACK.lower():
            return self._page(_buttons(_SEARCH))
        if label == _NEXT.lower():
            return self._results(1)
        if label == _PREVIOUS.lower():
            return self._before()
        if product is None:
            self._product, self._chosen = products()[label.upper()], {}
            return self._item(self._product)
        if label == _BUY.lower():
            self.value = reward(product, self._chosen, self.goal, self.goal.limit(self._seed))
            return self._page(_texts(f"Your order of {product.id} is placed. Thank you!"))
        if label.capitalize() in _DETAILS:
            texts = dict(zip(_DETAILS, ((product.description,), product.bullets, product.reviews), strict=True))
            return self._page([*_buttons(_BACK, _PREVIOUS), *_texts(*texts[label.capitalize()])])
        option = next(name for name, values in product.options.items() if label in values)
        self._chosen[option] = label
        return self._item(product, f"You chose {label}.")

    def _before(self) -> ShopPage:
        """From a detail to its product, from a product to the results, from them to the page before."""
        if self._product is None:
            return self._results(-1)
        if _BUY.lower() in self.page.buttons:
            self._product = None
            return self._results()
        return self._item(self._product)

    def _page(self, rows: Sequence[Row], notice: str = "") -> ShopPage:
        return ShopPage(self.goal.instruction(self._seed), tuple(rows), notice)

    def _results(self, turn: int = 0) -> ShopPage:
        """A page of the hits of a search."""
        self._number += turn
        end, total = self._number * _PAGE_SIZE, len(self._hits)
        rows = [*_buttons(_BACK), *_texts(f"Page {self._number} (Total results: {total})")]
        rows += _buttons(*[_PREVIOUS] * (self._number > 1), *[_NEXT] * (end < total))
        for product in self._hits[end - _PAGE_SIZE : end]:
            rows += [*_buttons(product.id), *_texts(product.title, f"${product.price:.2f}")]
        return self._page(rows)

    def _item(self, product: Product, notice: str = "") -> ShopPage:
        """A product with its options."""
        rows = _buttons(_BACK, _PREVIOUS)
        for option, values in product.options.items():
            chosen = self._chosen.get(option)
            rows.append((PagePart(option), *(PagePart(value, True, chosen == value) for value in values)))
        rows += _texts(product.title, f"Price: ${product.price:.2f}", f"Rating: {product.rating}")
        return self._page([*rows, *_buttons(*_DETAILS, _BUY)], notice)


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
        return _rows_text(self._session().search(text))

    def click(self, button: str) -> str:
        """Click a button of the present page: a product, an option's value, another page, or Buy Now, which ends all.

        Args:
            button: The text of the button.

        Returns:
            The page that it leads to.
        """
        return _rows_text(self._session().click(button))


class WebShop(Environment):
    """100 visits. An action is one line; what stands below it is not read.

    The demonstrations are whole episodes, the shortest of those of one who knows the product; their pages leave out
    four of five other products, as the short ones of the paper. A sample is a page of such an episode with its action.
    """

    name = "webshop"
    folder = Path(__file__).parent
    functions = _FUNCTIONS
    metric = "reward"
    steps = MOST_STEPS

    def __init__(self, *, compat: bool = False) -> None:
        super().__init__(compat=compat)
        self._session: ShopSession | None = None
        self._unread = 0

    def reset(self, test: ManipulationTest, seed: int = 0) -> str:
        """Begin a session; each seed draws its own limit of the price. Returns: The first page."""
        self._test = test
        self._session = ShopSession(ShopGoal.read(test.state), seed, search_anywhere=self.compat)
        self._unread = 0
        return self._seen()

    @property
    def session(self) -> ShopSession:
        """The present visit. Raises: ValueError: The environment was not reset."""
        if self._session is None:
            raise ValueError("reset the environment with a test first")
        return self._session

    def _seen(self) -> str:
        return plain_text(self.session.page) if self.compat else rich_text(self.session.page)

    @cached_property
    def tools(self) -> Protocol:
        """`search(text)` and `click(button)`, which give the page as text."""
        return Protocol.from_functions({"": ShopTools(lambda: self.session)}, name=self.name)

    def act(self, text: str) -> ActionResult:
        """Do the action in the first line. One that cannot be done leaves the page as it is."""
        session = self.session
        first, _, _ = text.partition("\n")
        call = _split_action(first.strip(), whole=not self.compat)
        try:
            if call is None:
                session.step()
                self._unread += 1
                raise ValueError("write one action: search[text] or click[button]")
            name, argument = call
            _ = session.search(argument) if name == "search" else session.click(argument)
        except ValueError as error:
            return ActionResult(call[:1] if call else (), self._seen(), str(error), session.done)
        return ActionResult((name,), self._seen(), done=session.done)

    def score(self) -> TestScore:
        """The reward; `success` is 1 for a purchase that is worth something, `steps` are the actions."""
        session = self.session
        bought = session.value is not None
        value = session.value or 0.0
        success = bought if self.compat else value > 0
        executed = bool(session.called) and not self._unread
        failure = "" if value == 1 else failure_of(executed, session.called, self.test)
        return TestScore(value, failure, {"success": float(success), "steps": float(session.steps)})


def _split_action(line: str, *, whole: bool) -> tuple[str, str] | None:
    """Function and argument of an action; None where the text is no action.

    Args:
        whole: Nothing may follow the action, and no bracket is in it.
    """
    matched = _ACTION.fullmatch(line) if whole else _RELEASED.match(line)
    return (matched[1], matched[2]) if matched else None
