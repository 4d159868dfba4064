"""The pages of the shop, as rows of texts and buttons, and what they look like as rich and as plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.manipulation.webshop.products import Product

__all__ = [
    "BACK",
    "BUY",
    "DETAILS",
    "NEXT",
    "PAGE_SIZE",
    "PREVIOUS",
    "SEARCH",
    "ShopPage",
    "detail_page",
    "item_page",
    "last_page",
    "plain_text",
    "results_page",
    "rich_text",
    "rows_text",
    "search_page",
]

SEARCH, BACK, NEXT, PREVIOUS, BUY = "Search", "Back to Search", "Next >", "< Prev", "Buy Now"
DETAILS = ("Description", "Features", "Reviews")
PAGE_SIZE = 10
"""Products of a page of results."""

SHOP = "WebShop"


@dataclass(frozen=True, slots=True)
class PagePart:
    """A text or a button; `chosen` marks an option that was clicked."""

    text: str
    button: bool = False
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class ShopPage:
    """A page: `notice` says what was clicked, where the page stayed the same for it."""

    instruction: str
    rows: tuple[tuple[PagePart, ...], ...]
    notice: str = ""

    @property
    def buttons(self) -> tuple[str, ...]:
        """What can be clicked, in lower case."""
        return tuple(part.text.lower() for row in self.rows for part in row if part.button)


def _text(text: str) -> tuple[PagePart, ...]:
    return (PagePart(text),)


def _buttons(*labels: str) -> tuple[PagePart, ...]:
    return tuple(PagePart(label, button=True) for label in labels)


def search_page(instruction: str) -> ShopPage:
    """Where an episode begins."""
    return ShopPage(instruction, (_buttons(SEARCH),))


def results_page(instruction: str, hits: Sequence[Product], number: int) -> ShopPage:
    """A page of the hits of a search; `number` is the page, from 1."""
    start = (number - 1) * PAGE_SIZE
    turns = [*([PREVIOUS] if number > 1 else []), *([NEXT] if number * PAGE_SIZE < len(hits) else [])]
    rows = [_buttons(BACK), _text(f"Page {number} (Total results: {len(hits)})")]
    rows += [_buttons(label) for label in turns]
    for product in hits[start : start + PAGE_SIZE]:
        rows += [_buttons(product.id), _text(product.title), _text(f"${product.price:.2f}")]
    return ShopPage(instruction, tuple(rows))


def item_page(instruction: str, product: Product, chosen: Mapping[str, str], notice: str = "") -> ShopPage:
    """A product with its options."""
    rows = [_buttons(BACK), _buttons(PREVIOUS)]
    for option, values in product.options.items():
        rows.append((PagePart(option), *(PagePart(value, True, chosen.get(option) == value) for value in values)))
    rows += [_text(product.title), _text(f"Price: ${product.price:.2f}"), _text(f"Rating: {product.rating}")]
    rows += [_buttons(label) for label in (*DETAILS, BUY)]
    return ShopPage(instruction, tuple(rows), notice)


def detail_page(instruction: str, product: Product, detail: str) -> ShopPage:
    """One of DETAILS of a product."""
    texts = {"Description": (product.description,), "Features": product.bullets, "Reviews": product.reviews}[detail]
    return ShopPage(instruction, (_buttons(BACK), _buttons(PREVIOUS), *map(_text, texts)))


def last_page(instruction: str, product: Product) -> ShopPage:
    """After the purchase."""
    return ShopPage(instruction, (_text(f"Your order of {product.id} is placed. Thank you!"),))


def rich_text(page: ShopPage) -> str:
    """A line for each row below the instruction, in which buttons are marked."""
    notice = [page.notice] if page.notice else []
    return "\n".join([*notice, SHOP, "Instruction:", page.instruction, rows_text(page)])


def rows_text(page: ShopPage) -> str:
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
    return " [SEP] ".join([SHOP, "Instruction:", page.instruction, *parts])
