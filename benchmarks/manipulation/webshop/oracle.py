"""A shopper who knows the product: from each page the action that leads on. It writes labels and demonstrations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from benchmarks.manipulation.webshop.goals import ShopGoal
from benchmarks.manipulation.webshop.pages import BUY, NEXT, SEARCH, ShopPage, rows_text
from benchmarks.manipulation.webshop.session import MOST_STEPS, ShopSession

__all__ = ["Trajectory", "direct_program", "looking_program", "next_action", "split_action", "trajectory"]

Trajectory = Sequence[tuple[ShopPage, str]]
"""Pages, each with the action that was taken on it."""

_ACTION = re.compile(r"(search|click)\[([^\]\n]+)\]")
_RELEASED = re.compile(r"(search|click)\[(.+)\]")
"""What the released evaluator takes for an action, whatever follows it."""

_LOOKING = """\
lines = search({query}).splitlines()
for button, title, price in zip(lines, lines[1:], lines[2:]):
    if {name} in title.lower() and price.startswith("$") and float(price[1:]) <= {limit}:
        page = click(button.split()[1]) + click("Features")
        click("< Prev")
        if all(text in page.lower() for text in {texts}):
            break
        click("< Prev")
{rest}"""
"""A program that reads the first results, and takes one with all that is asked for."""


def split_action(line: str, *, whole: bool = True) -> tuple[str, str] | None:
    """Function and argument of an action; None where the text is no action.

    Args:
        whole: Nothing may follow the action, and no bracket is in it.
    """
    matched = _ACTION.fullmatch(line) if whole else _RELEASED.match(line)
    return (matched[1], matched[2]) if matched else None


def next_action(page: ShopPage, goal: ShopGoal) -> str:
    """The action to be taken on a page. Raises: ValueError: The page does not lead to the product."""
    if SEARCH.lower() in page.buttons:
        return f"search[{goal.query}]"
    if BUY.lower() in page.buttons:
        chosen = {part.text for row in page.rows for part in row if part.chosen}
        return f"click[{next((value for value in goal.options.values() if value not in chosen), BUY.lower())}]"
    for button in (goal.product.id.lower(), NEXT.lower()):
        if button in page.buttons:
            return f"click[{button}]"
    raise ValueError(f"no product {goal.product.id} among the results of {goal.query!r}")


def trajectory(goal: ShopGoal, *, cut: bool = False) -> Trajectory:
    """The way to the purchase, on whole or shortened pages."""
    return tuple(_steps(ShopSession(goal, cut=cut), goal))


def _steps(session: ShopSession, goal: ShopGoal) -> Iterator[tuple[ShopPage, str]]:
    while True:
        page, action = session.page, next_action(session.page, goal)
        yield page, action
        name, argument = split_action(action) or ("", "")
        if argument == BUY.lower():
            return
        _ = session.search(argument) if name == "search" else session.click(argument)


def direct_program(actions: Sequence[str]) -> str:
    """The actions as a program."""
    calls = [split_action(action) for action in actions]
    return "\n".join(f"{call[0]}({json.dumps(call[1])})" for call in calls if call)


def looking_program(goal: ShopGoal, actions: Sequence[str]) -> str:
    """A program that looks for a product which has all that is asked for; the actions, where that takes too long."""
    texts = [*goal.attributes, *(f"[button] {value} [button_]" for value in goal.options.values())]
    last = direct_program(actions[-1 - len(goal.options) :])
    if not _can_be_looked_for(goal, texts, 1 + len(goal.options)):
        return direct_program(actions)
    query, name, listed = map(json.dumps, (goal.query, goal.product.name, texts))
    return _LOOKING.format(query=query, name=name, limit=goal.limit(0), texts=listed, rest=last)


def _can_be_looked_for(goal: ShopGoal, texts: Sequence[str], last: int) -> bool:
    """Whether the looking program finds a product, with so many actions left that it can buy it."""
    session = ShopSession(goal)
    lines = rows_text(session.search(goal.query)).splitlines()
    for button, title, price in zip(lines, lines[1:], lines[2:], strict=False):
        if goal.product.name not in title.lower() or not price.startswith("$") or float(price[1:]) > goal.limit(0):
            continue
        if session.steps + 3 + last > MOST_STEPS:
            return False
        page = rows_text(session.click(button.split()[1])) + rows_text(session.click("Features"))
        session.click("< Prev")
        if all(text in page.lower() for text in texts):
            return True
        if session.done:
            return False
        session.click("< Prev")
    return False
