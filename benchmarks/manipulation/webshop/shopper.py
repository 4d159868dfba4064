"""A shopper who knows the product: from each page the action that leads on. It writes labels and demonstrations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from benchmarks.manipulation.webshop.goals import ShopGoal
from benchmarks.manipulation.webshop.pages import BUY, NEXT, SEARCH, ShopPage
from benchmarks.manipulation.webshop.session import ShopSession

__all__ = ["Trajectory", "direct_program", "next_action", "split_action", "trajectory"]

Trajectory = Sequence[tuple[ShopPage, str]]
"""Pages, each with the action that was taken on it."""

_ACTION = re.compile(r"(search|click)\[([^\]\n]+)\]")
_RELEASED = re.compile(r"(search|click)\[(.+)\]")
"""What the released evaluator takes for an action, whatever follows it."""


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
