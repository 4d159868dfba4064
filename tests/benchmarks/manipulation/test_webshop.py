"""WebShop: products are searched for and bought in a local shop, page by page, and a reward judges the purchase."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from benchmarks.manipulation.environment import ActionResult, TestScore
from benchmarks.manipulation.webshop.products import (
    Product,
    ShopGoal,
    fitting_options,
    kind_factor,
    products,
    reward,
    token_set_ratio,
)
from benchmarks.manipulation.webshop.webshop_environment import WebShop, find
from sandbox import Sandbox

SHOP = WebShop()
COMPAT = WebShop(compat=True)
GOALS = [ShopGoal.read(test.state) for test in SHOP.tests]


def label(number: int = 0) -> list[str]:
    """The actions of one who knows the product."""
    return SHOP.tests[number].labels[0].splitlines()


def acted(lines: Sequence[str], number: int = 0, shop: WebShop = SHOP, seed: int = 0) -> ActionResult:
    """What the last of several actions led to."""
    shop.reset(shop.tests[number], seed)
    return [shop.act(line) for line in lines][-1]


def scored(lines: Sequence[str], number: int = 0, shop: WebShop = SHOP, seed: int = 0) -> TestScore:
    """The score of several actions."""
    acted(lines, number, shop, seed)
    return shop.score()


def to_product(product: Product, number: int) -> list[str]:
    """The way to another product in place of the one of a test."""
    page = find(product.title).index(product) // 10
    turns = ["click[next >]"] * page
    return [
        f"search[{product.title}]",
        *turns,
        f"click[{product.id}]",
        *label(number)[-1 - len(GOALS[number].options) :],
    ]


def _other_option(lines: list[str], goal: ShopGoal) -> list[str]:
    for name, value in goal.options.items():
        for offered in goal.product.options[name]:
            if not fitting_options([offered], [value]):
                return [f"click[{offered}]" if line == f"click[{value}]" else line for line in lines]
    raise AssertionError(f"{goal.product.title} has no other options")


MUTANTS: dict[str, Callable[[list[str], ShopGoal], list[str]]] = {
    "prose before": lambda lines, goal: [f"I will do this: {lines[0]}", *lines[1:]],
    "code block": lambda lines, goal: [f"```\n{lines[0]}\n```", *lines[1:]],
    "click for search": lambda lines, goal: [lines[0].replace("search[", "click["), *lines[1:]],
    "nothing bought": lambda lines, goal: lines[:-1],
    "option left out": lambda lines, goal: [*lines[:-2], lines[-1]],
    "other option": _other_option,
    "back before buying": lambda lines, goal: [*lines[:-1], "click[back to search]", lines[-1]],
    "other id": lambda lines, goal: [line.replace(goal.product.id.lower(), "b000000000") for line in lines],
}


@pytest.mark.parametrize("kind", MUTANTS)
def test_no_mutant_has_the_whole_reward(kind: str) -> None:
    """Of no kind of mistake an episode has the whole reward, on any test."""
    for number, goal in enumerate(GOALS):
        score = scored(MUTANTS[kind](label(number), goal), number)
        assert score.value < 1
        assert score.failure


def test_what_is_equal_by_the_shops_rule() -> None:
    """Capitals of a button, lines below an action, detours, the order of options, and a product as good are fine."""
    lines = label()

    assert scored([*lines[:-1], "click[Buy Now]"]).value == 1
    assert scored([lines[0] + "\nNext I shall look at the results.", *lines[1:]]).value == 1
    assert scored([*lines[:2], "click[reviews]", "click[< prev]", *lines[2:]]).value == 1
    assert scored([*lines[:2], lines[3], lines[2], *lines[4:]]).value == 1
    same = [
        (number, product)
        for number, goal in enumerate(GOALS)
        for product in products().values()
        if product.name == goal.product.name and product is not goal.product and product.price <= goal.limit(0)
        if set(goal.attributes) <= set(product.attributes)
        if all(value in product.options[name] for name, value in goal.options.items())
    ]
    assert len(same) > 20
    assert all(scored(to_product(product, number), number).value == 1 for number, product in same)


@pytest.mark.parametrize(
    ("first", "second", "ratio"),
    [
        ("water resistant", "resistant, water", 100),
        ("blue", "navy blue", 100),
        ("water resistant", "stain resistant", 75),
        ("8 inches", "6 inches", 88),
        ("warm", "cold", 0),
        ("", "cold", 0),
        ("linear", "linen", 73),
    ],
)
def test_likeness_of_texts(first: str, second: str, ratio: int) -> None:
    """It is the token-set ratio: words as sets, then characters in common; the figures are RapidFuzz's."""
    assert token_set_ratio(first, second) == token_set_ratio(second, first) == ratio


def test_the_reward() -> None:
    """Two of three qualities, the option and the price: 4 of 5, and half of it for another kind of product."""
    wanted = replace(GOALS[0].product, title="Boots, Sole, Collar, Laces, Lining", attributes=("warm", "dry", "odd"))
    goal = ShopGoal(wanted, ("warm", "dry", "odd"), {"size": "8"}, "")
    near = replace(wanted, attributes=("warm", "dry"), bullets=(), description="", price=30.0)
    other = replace(near, title="Boots", query="hats", path=("a", "b"))

    assert reward(near, {"size": "8"}, goal, 30) == pytest.approx(0.8)
    assert reward(near, {"size": "8"}, goal, 29) == pytest.approx(0.6)
    assert reward(replace(near, description="How odd."), {"size": "8"}, goal, 30) == 1
    assert reward(other, {"size": "8"}, goal, 30) == pytest.approx(0.4)
    assert kind_factor(replace(other, path=wanted.path), wanted) == 1
    assert kind_factor(replace(other, title="Boots, Sole"), wanted) == 1
    assert kind_factor(replace(other, title="Tea"), wanted) == 0
    assert kind_factor(other, replace(wanted, title="Something")) == 0.5
    many = replace(wanted, title="boots sandals slippers jacket shirt socks scarf backpack speaker cable lamp")
    assert kind_factor(replace(near, title="Boots"), many) == 0.1


def test_pages() -> None:
    """Results come by ten, up to 50, and lead on and back; a product has options and pages of its own."""
    first = acted(["search[boots sandals slippers jacket mug]"]).observation
    last = acted(["search[boots sandals slippers jacket mug]", *["click[next >]"] * 4]).observation
    lines = label()

    assert "Page 1 (Total results: 50)" in first
    assert len(re.findall(r"\[button\] B0\w{8} \[button_\]\n.+\n\$\d+\.\d\d", first)) == 10
    assert "[button] Next > [button_]" in first
    assert "< Prev" not in first
    assert "Page 5 " in last
    assert "Next >" not in last
    assert acted(["search[boots sandals slippers jacket mug]", "click[next >]", "click[< prev]"]).observation == first
    assert "(Total results: 0)" in acted(["search[xylophone]"]).observation
    item = acted(lines[:2]).observation
    assert all(f"[button] {name} [button_]" in item for name in ("Description", "Features", "Reviews", "Buy Now"))
    assert acted([*lines[:2], "click[< prev]"]).observation == acted(lines[:1]).observation
    assert acted([*lines[:2], "click[< prev]", *lines[1:]]).done
    chosen = acted(lines[:3]).observation
    value = lines[2][6:-1]
    assert chosen.startswith(f"You chose {value}.\n")
    assert f"[clicked button] {value} [clicked button_]" in chosen
    features = acted([*lines[:3], "click[features]"]).observation
    assert all(bullet in features for bullet in GOALS[0].product.bullets)
    assert acted([*lines[:3], "click[features]", "click[< prev]", *lines[3:]]).done
    assert all(test.goal in SHOP.reset(test) for test in SHOP.tests)


def test_actions_that_cannot_be_done() -> None:
    """They change nothing, say what could be done, and count; after 25 actions the visit is over."""
    page = acted(label()[:1]).observation
    result = SHOP.act("click[buy now]")

    assert result.observation == page
    assert "there is no button 'buy now' to click on this page; it has the buttons back to search" in result.error
    assert (result.names, result.done) == (("click",), False)
    assert "there is no search on this page" in SHOP.act("search[tea]").error
    assert SHOP.act("buy it").names == ()
    for _ in range(21):
        result = SHOP.act("click[buy now]")
    assert result.done
    assert SHOP.act(label()[1]).error == "the visit to the shop is over"
    assert SHOP.score().details["steps"] == 25


def test_compat() -> None:
    """The released evaluator shows plain text, searches anywhere, reads on after an action, and takes any purchase."""
    lines = label()
    number, goal = 0, GOALS[0]
    worthless = next(product for product in products().values() if kind_factor(product, goal.product) == 0)
    page = acted(lines[:1], shop=COMPAT).observation

    assert page.startswith(f"WebShop [SEP] Instruction: [SEP] {goal.instruction(0)} [SEP] Back to Search [SEP] Page 1")
    assert "[button]" not in page
    assert scored([lines[0], *lines], shop=COMPAT).value == 1
    assert scored([f"{lines[0]} finds it", *lines[1:]], shop=COMPAT).value == 1
    assert scored(to_product(worthless, number), shop=COMPAT).details["success"] == 1


def test_programs() -> None:
    """A program buys within one run; an action that cannot be done ends it."""
    with Sandbox(SHOP.protocol(), track=False) as sandbox:
        for test in SHOP.tests[::25]:
            SHOP.reset(test)
            assert sandbox.run(test.programs[0]).outcome == "ok"
            assert SHOP.session.value == 1
        SHOP.reset(SHOP.tests[0])
        run = sandbox.run('page = search("tea")\nprint(page.splitlines()[1])\nclick("Buy Now")')

    assert run.stdout == "Page 1 (Total results: 14)\n"
    assert run.error is not None
    assert (run.error.type, run.error.line, run.error.tool) == ("ValueError", 3, "click")
    assert SHOP.score().failure == "wrong API"
